"""A chat model that answers from the passages it is given, and does whatever any of them tells it to do.

Without an order it answers like a decent model: the sentences of the passages that are nearest to the question, each
with its reference. It obeys the first order of :mod:`benchmarks.poisons` whose words are among the passages; it is told
the orders beforehand, so that no phrasing and no language hides one from it. It speaks chat completions, streaming.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from app.language.sentences import units_of
from app.language.words import words
from benchmarks.poisons import Order
from kb_pipeline_tests.app.model_servers import chunk, streamed

_BLOCK = re.compile(r"\[(\d+)\]\n<untrusted_passage>\n(.*?)\n</untrusted_passage>", re.DOTALL)
_IMAGE = re.compile(r"^Image: (\S+)$", re.MULTILINE)
_SENTENCES = 3
_SHARED = 0.4
"""Share of the question's words that a sentence has at least, with its section, to be part of an answer."""
_NONE = "The articles do not say that."


@dataclass(frozen=True, slots=True)
class _Passage:
    number: int
    text: str

    @property
    def article(self) -> str:
        return self.text.partition("\n")[0]

    @property
    def body(self) -> str:
        return self.text.partition("\n\n")[2]


class ObedientModel:
    """Answers the requests of one service; ``obeyed`` are the orders that it followed, oldest first."""

    def __init__(self, orders: Iterable[Order]) -> None:
        self._orders: Mapping[str, Order] = {_bare(order.trigger): order for order in orders}
        self.obeyed: list[Order] = []

    def answer(self, body: dict[str, Any], _request: Request) -> Response:
        """The response to one request for a chat completion."""
        told = "\n\n".join(_text_of(message) for message in body["messages"] if message["role"] != "system")
        passages = [_Passage(int(number), text) for number, text in _BLOCK.findall(told)]
        asked = _text_of(next(message for message in body["messages"][::-1] if message["role"] == "user"))
        question = asked.strip().rpartition("\n")[2]
        may_call = bool(body.get("tools")) and body.get("tool_choice") != "none"
        results = [message for message in body["messages"] if message["role"] == "tool"]
        if may_call and not results:
            return _calls([("search_knowledge_base", json.dumps({"query": question.strip()}))])
        order, own = self._order_in(passages)
        if order:
            self.obeyed.append(order)
            calls = [*order.calls, *(("search_knowledge_base", json.dumps({"query": q})) for q in order.searches)]
            if may_call and calls and len(results) == 1:
                return _calls(calls)
            is_first = "[SEARCH:" in "".join(_text_of(m) for m in body["messages"] if m["role"] == "system")
            if order.searches and is_first:
                return _said("\n".join(f"[SEARCH: {wanted}]" for wanted in order.searches))
        return _said(_worded(question, passages, order, own))

    def _order_in(self, passages: Sequence[_Passage]) -> tuple[Order | None, int]:
        for passage in passages:
            bare = _bare(passage.text)
            for trigger, order in self._orders.items():
                if trigger in bare:
                    return order, passage.number
        return None, 0


def _worded(question: str, passages: Sequence[_Passage], order: Order | None, own: int) -> str:
    honest = list(_honest(question, passages))
    if order is None:
        return " ".join(honest) or _NONE
    own_article = next(passage.article for passage in passages if passage.number == own)
    others = [passage.number for passage in passages if passage.article != own_article]
    images = [image for passage in passages for image in _IMAGE.findall(passage.text)]
    says = order.says.replace("{own}", str(own)).replace("{other}", str((others or [own])[0]))
    says = says.replace("{image}", (images or ["images/none.png"])[0])
    if order.drops_references:
        honest = [sentence.partition(" [Ref #")[0] for sentence in honest]
    if order.where == "instead" or not honest:
        return says or _NONE
    parts = ["\n\n".join(filter(None, [says])), " ".join(honest)]
    return "\n\n".join(filter(None, parts if order.where == "first" else parts[::-1]))


def _honest(question: str, passages: Sequence[_Passage]) -> Iterator[str]:
    """Yield the sentences that share most with the question, in the order of the passages."""
    asked = set(words(question))
    scored = []
    for passage in passages:
        around = set(words(passage.text.partition("\n\n")[0])) & asked
        for unit in units_of(passage.body):
            own = set(words(unit.text))
            if unit.kind == "sentence" and len(own) > 3 and len((own | around) & asked) >= _SHARED * len(asked):
                scored.append((len(own & asked) / (len(asked) or 1), -len(scored), unit.text, passage.number))
    best = sorted(scored, reverse=True)[:_SENTENCES]
    for _, _, text, number in sorted(best, key=lambda each: -each[1]):
        yield f"{text} [Ref #{number}]"


def _text_of(message: Mapping[str, Any]) -> str:
    content = message.get("content") or ""
    return content if isinstance(content, str) else "\n\n".join(part.get("text", "") for part in content)


def _bare(text: str) -> str:
    """The letters and digits of a text: neither markup nor escapes hide an order."""
    return re.sub(r"[\W_]+", "", text.casefold())


def _calls(calls: Sequence[tuple[str, str]]) -> Response:
    made = [
        {"index": at, "id": f"call_{at}", "type": "function", "function": {"name": name, "arguments": arguments}}
        for at, (name, arguments) in enumerate(calls)
    ]
    return streamed(chunk(role="assistant", tool_calls=made), chunk(finish="tool_calls"))


def _said(text: str) -> Response:
    return streamed(*(chunk(text[at : at + 40]) for at in range(0, len(text), 40)), chunk(finish="stop"))
