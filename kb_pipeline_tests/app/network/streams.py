"""What every stream of an investigation has to be, and a client that knows nothing but the seven events."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from app.schema.network import InvestigationEvent

NUMBER = (int, float)
FIELDS: Mapping[str, Mapping[str, Any]] = {
    "run_start": {"run_id": str, "alert": str, "timestamp": str},
    "step_thinking": {"agent": str, "status": str},
    "step_start": {"step": int, "agent": str},
    "step_complete": {"step": int, "agent": str, "duration": NUMBER, "query": str, "response": str},
    "message": {"text": str},
    "error": {"message": str},
    "run_complete": {"steps": int, "tokens": int, "time": NUMBER},
}


def check_stream(events: Sequence[InvestigationEvent], *, cancelled: bool = False) -> None:
    """Go through the states of a whole stream: order, pairs, fields and their types."""
    assert [event.id for event in events] == list(range(1, len(events) + 1))
    assert events[0].event == "run_start"
    assert events[-1].event == "run_complete"
    assert datetime.fromisoformat(events[0].data["timestamp"]).utcoffset() is not None
    agents: dict[int, str] = {}
    open_: set[int] = set()
    outcome = ""
    for event in events:
        fields = dict(event.data)
        if event.event == "step_complete" and "error" in fields:
            assert fields.pop("error") is True
        assert fields.keys() == FIELDS[event.event].keys(), event
        for name, kind in FIELDS[event.event].items():
            assert isinstance(fields[name], kind) and not isinstance(fields[name], bool), (event.event, name)
        match event.event:
            case "step_start":
                assert not outcome and fields["step"] == len(agents) + 1
                agents[fields["step"]] = fields["agent"]
                open_.add(fields["step"])
            case "step_complete":
                assert agents[fields["step"]] == fields["agent"]
                open_.remove(fields["step"])
                assert fields["duration"] >= 0
            case "message" | "error":
                assert not outcome
                outcome = event.event
            case "run_complete":
                assert not open_
                assert fields["steps"] == len(agents)
                assert fields["tokens"] >= 0 and fields["time"] >= 0
    assert sum(event.event in ("run_start", "run_complete") for event in events) == 2
    assert bool(outcome) != cancelled


@dataclass
class DashboardState:
    """The state of a dashboard that follows an investigation."""

    running: bool = False
    run_started: bool = False
    thinking: dict[str, str] | None = None
    steps: list[dict[str, Any]] = field(default_factory=list)
    final_message: str = ""
    error_message: str = ""
    run_meta: dict[str, Any] | None = None


def follow_as_a_dashboard(lines: Iterable[str]) -> DashboardState:
    """Read raw lines of an event stream: names and data, no ids, no comments, nothing else."""
    state = DashboardState(running=True)
    name = ""
    for line in lines:
        if line.startswith("event:"):
            name = line.removeprefix("event:").strip()
        elif line.startswith("data:"):
            data = json.loads(line.removeprefix("data:"))
            match name:
                case "run_start":
                    state.run_started = True
                case "step_thinking":
                    state.thinking = {"agent": data["agent"], "status": data["status"]}
                case "step_start":
                    state.thinking = None
                case "step_complete":
                    state.thinking = None
                    state.steps.append(data)
                case "message":
                    state.final_message = data["text"]
                case "error":
                    state.error_message = data["message"]
                case "run_complete":
                    state.run_meta, state.running = data, False
                case _:
                    raise AssertionError(f"nobody told the dashboard of {name!r}")
    return state
