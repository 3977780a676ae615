"""The shape of a conversation of responses: what each follows, and which items it had. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Self

from app.conversations.entries import Entry, latest

MOST_ITEMS = 100


@dataclass(frozen=True, slots=True)
class Step:
    """A response's place: what it follows, and the ids of what went in and came out, all of it if it is ``final``."""

    previous_response_id: str | None
    input: tuple[str, ...] = ()
    output: tuple[str, ...] = ()
    final: bool = False

    @classmethod
    def of(cls, entry: Entry) -> Self:
        """The step that an entry tells of."""
        value = entry.value
        return cls(value["previous_response_id"], tuple(value["input"]), tuple(value["output"]), value["final"])

    @property
    def items(self) -> tuple[str, ...]:
        """Everything that was said in it."""
        return self.input + self.output

    def to_json(self) -> dict[str, Any]:
        """As it is kept."""
        return asdict(self)


def steps_of(entries: Iterable[Entry]) -> dict[str, Step]:
    """The steps that these entries tell of, in their order."""
    return {key: Step.of(each) for key, each in latest(e for e in entries if e.kind == "step").items()}


def unsettled(entries: Sequence[Entry], steps: Mapping[str, Step], since: str) -> bool:
    """Whether a turn ended after a time whose response is not kept yet."""
    ended = (entry.response_id for entry in entries if entry.kind == "ended" and entry.at > since)
    return any(response_id in steps and not steps[response_id].final for response_id in ended)


def chain_of(steps: Mapping[str, Step], response_id: str | None) -> list[str]:
    """Ids of all that was said up to and including a response, oldest first, along what each one follows."""
    chain: dict[str, Step] = {}
    while response_id is not None and response_id in steps and response_id not in chain:
        chain[response_id] = steps[response_id]
        response_id = steps[response_id].previous_response_id
    return list(dict.fromkeys(key for step in reversed(chain.values()) for key in step.items))


def page_of(ids: Sequence[str], limit: int, ascending: bool, after: str | None, before: str | None) -> list[str]:
    """A page of a list; a cursor that is not in it does not restrict."""
    ordered = list(ids) if ascending else list(reversed(ids))
    if after in ordered:
        ordered = ordered[ordered.index(after) + 1 :]
    if before in ordered:
        ordered = ordered[: ordered.index(before)]
    return ordered[: max(1, min(MOST_ITEMS, limit))]
