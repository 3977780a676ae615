"""A model that plays the orchestrator and its specialists, each by a script of its own."""

import json
from collections import defaultdict, deque
from collections.abc import Callable, Sequence
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from kb_pipeline_tests.app.model_servers import OwnModel, chunk, streamed

Calls = list[tuple[str, dict[str, Any]]]
Turn = str | Calls | Response | Callable[[dict[str, Any]], Response]
"""What the model does when it is called: it writes a text, calls tools, or the endpoint responds otherwise."""
PROMPT, COMPLETION = 100, 10


class ScriptedModel(OwnModel):
    """``scripts`` are the turns of each agent, by its name. A specialist without a script answers at once."""

    def __init__(self, **scripts: Sequence[Turn]) -> None:
        super().__init__(self._turn)
        self._scripts = {name: deque(turns) for name, turns in scripts.items()}
        self.asked: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
        """The requests of each agent, oldest first."""

    def _turn(self, body: dict[str, Any], request: Request) -> Response:
        agent = _agent(body["messages"][0]["content"])
        self.asked[agent].append(body)
        script = self._scripts.get(agent)
        turn: Turn = script.popleft() if script else f"{agent} found nothing."
        if isinstance(turn, Response):
            return turn
        return turn(body) if callable(turn) else say(turn)


def say(turn: str | Calls) -> Response:
    """A whole response of a model, with its usage."""
    usage = json.dumps(
        {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [],
         "usage": {"prompt_tokens": PROMPT, "completion_tokens": COMPLETION, "total_tokens": PROMPT + COMPLETION}}
    )  # fmt: skip
    last = f"data: {usage}\n\n"
    if isinstance(turn, str):
        return streamed(chunk(turn), chunk(finish="stop"), last)
    calls = [
        {"index": at, "id": f"call_{at}_{id(turn)}", "type": "function",
         "function": {"name": name, "arguments": json.dumps(arguments)}}
        for at, (name, arguments) in enumerate(turn)
    ]  # fmt: skip
    return streamed(chunk(tool_calls=calls), chunk(finish="tool_calls"), last)


def _agent(prompt: str) -> str:
    for name in ("GraphExplorerAgent", "TelemetryAgent", "RunbookKBAgent", "HistoricalTicketAgent"):
        if prompt.startswith(f"You are {name}"):
            return name
    assert prompt.startswith("You are the orchestrator")
    return "Orchestrator"
