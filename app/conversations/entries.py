"""What a conversation consists of: entries that are only ever added, each the JSON of something that was said."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import Any, Literal

Json = Mapping[str, Any]
Kind = Literal["question", "answer", "ended", "feedback", "item", "step", "response"]
"""``question`` and ``answer``: a turn before and after it was answered; ``ended``: that it was. ``item``: something
that went into a response or came out of it. ``step``: what a response followed and which items it had. ``response``:
its envelope."""

QUIET_KINDS: frozenset[Kind] = frozenset({"feedback"})
"""What is added without the conversation being continued by it."""


@dataclass(frozen=True, slots=True)
class Entry:
    """Something that was said. Of several with the same kind and key the last one holds.

    Every entry belongs to a response and goes with it. ``key`` is what it is found by: the id of an item, else of the
    response. ``body`` is JSON text, ``at`` ISO 8601 in UTC.
    """

    kind: Kind
    key: str
    response_id: str
    body: str
    at: str

    @property
    def value(self) -> Json:
        """The body."""
        value: Json = json.loads(self.body)
        return value


@dataclass(frozen=True, slots=True)
class Filed:
    """An entry and the conversation that it is in."""

    conversation_id: str
    entry: Entry


@dataclass(frozen=True)
class Addition:
    """Entries that are added at once. ``title`` is for a new conversation; without one it must be there already."""

    entries: tuple[Entry, ...]
    title: str | None

    @cached_property
    def questions(self) -> int:
        """How many turns longer the conversation becomes."""
        return sum(entry.kind == "question" for entry in self.entries)

    @cached_property
    def active_at(self) -> str | None:
        """When the conversation was continued by this; ``None`` if it was not."""
        return max((entry.at for entry in self.entries if entry.kind not in QUIET_KINDS), default=None)


def entry(kind: Kind, response_id: str, value: Json, *, key: str | None = None) -> Entry:
    """An entry of now."""
    return Entry(kind, key or response_id, response_id, whole_text(json.dumps(value, ensure_ascii=False)), now())


def latest(entries: Iterable[Entry]) -> dict[str, Entry]:
    """The entry that holds for each key, in the order in which the keys came first."""
    return {found.key: found for found in entries}


def whole_text(text: str) -> str:
    """Text that any store can keep: halves of characters, which JSON lets through, become replacement characters."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def now(ago: float = 0) -> str:
    """The time, or that of some seconds ago, in a form whose order as text is its order in time."""
    return (datetime.now(UTC) - timedelta(seconds=ago)).isoformat(timespec="microseconds")
