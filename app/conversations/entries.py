"""The entries that make up a conversation. Each is a piece of JSON, and entries are only ever added."""

import base64
import binascii
import json
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import Any, Literal, NamedTuple, Self

from app.schema.conversations import ConversationSummary
from kb_pipeline.errors import StorageError
from kb_pipeline.pasted import is_pasted, question_of

Json = Mapping[str, Any]
Kind = Literal["question", "answer", "ended", "feedback", "item", "step", "response", "picture", "opened", "share"]
"""``question`` and ``answer``: a turn before and after it was answered; ``ended``: the turn has ended. ``item``: an
input or output of a response. ``step``: which response it follows, and which items it has. ``response``: its
envelope. ``picture``: what came with the question. ``opened``: a reader opened one of the sources. ``share``: others
may read the answer by a link, whose secret is the key, or no longer."""

QUIET_KINDS: frozenset[Kind] = frozenset({"feedback", "opened", "share"})
"""Entries that do not move their conversation to the top of the list."""


def damaged_entry(response_id: str) -> StorageError:
    """Make the error for an entry that is not as it was written; what it says is not repeated."""
    return StorageError(
        f"a conversation cannot be read: its entry of the response {response_id[:80]} is damaged; delete that "
        "conversation, or put a backup of the store in its place"
    )


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of a conversation. Of several with the same kind and key the last one counts.

    Every entry belongs to a response and is deleted with it. ``key`` is the id to find it by: that of an item, else
    that of the response. ``body`` is JSON text, ``at`` is ISO 8601 in UTC.
    """

    kind: Kind
    key: str
    response_id: str
    body: str
    at: str

    @property
    def value(self) -> Json:
        """What it says.

        Raises:
            StorageError: it is damaged.
        """
        try:
            value: object = json.loads(self.body)
        except ValueError as exc:
            raise damaged_entry(self.response_id) from exc
        if not isinstance(value, dict):
            raise damaged_entry(self.response_id)
        return value


@dataclass(frozen=True, slots=True)
class StoredEntry:
    """An entry and the conversation that contains it."""

    conversation_id: str
    entry: Entry


@dataclass(frozen=True)
class Addition:
    """Entries that are added together. A ``title`` is for a new conversation; without one it must already exist."""

    entries: tuple[Entry, ...]
    title: str | None

    @cached_property
    def questions(self) -> int:
        return sum(entry.kind == "question" for entry in self.entries)

    @cached_property
    def active_at(self) -> str | None:
        """When the conversation was continued; ``None`` if all entries are of quiet kinds."""
        return max((entry.at for entry in self.entries if entry.kind not in QUIET_KINDS), default=None)


def entry(kind: Kind, response_id: str, value: Json, *, key: str | None = None) -> Entry:
    """An entry with the current time."""
    return Entry(kind, key or response_id, response_id, whole_text(json.dumps(value, ensure_ascii=False)), now())


def latest(entries: Iterable[Entry]) -> dict[str, Entry]:
    """The last entry with each key, in the order in which the keys first appear."""
    return {item.key: item for item in entries}


def whole_text(text: str) -> str:
    """Text that any store can keep: lone surrogates, which JSON allows, become replacement characters."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def now(ago: float = 0) -> str:
    """The time some seconds ago, in a form that sorts as text."""
    return (datetime.now(UTC) - timedelta(seconds=ago)).isoformat(timespec="microseconds")


_TIME = re.compile(r"[0-9T:.+Z-]{1,40}", re.ASCII)
_ID = re.compile(r"[A-Za-z0-9_-]{1,128}")


class Position(NamedTuple):
    """A position in the list of conversations, which is ordered by time, newest first, then by id."""

    updated_at: str
    id: str


def write_position(last: ConversationSummary) -> str:
    """A token for the position after a conversation."""
    return base64.urlsafe_b64encode(json.dumps([last.updated_at, last.id]).encode()).decode()


def read_position(token: str | None) -> Position | None:
    """The position that a token stands for; ``None`` if the token is not valid."""
    if token is None or len(token) > 1000 or not token.isascii():
        return None
    try:
        place = json.loads(base64.b64decode(token.encode(), altchars=b"-_", validate=True))
    except (binascii.Error, ValueError, RecursionError):
        return None
    match place:
        case [str(updated_at), str(conversation_id)] if _TIME.fullmatch(updated_at) and _ID.fullmatch(conversation_id):
            return Position(updated_at, conversation_id)
    return None


MOST_ITEMS = 100
"""The most that the Responses protocol lists at once."""


@dataclass(frozen=True, slots=True)
class ResponseLink:
    """Which response a response follows, and the ids of its items; ``final``: these are all of its items."""

    previous_response_id: str | None
    input: tuple[str, ...] = ()
    output: tuple[str, ...] = ()
    final: bool = False

    @classmethod
    def of(cls, entry: Entry) -> Self:
        value = entry.value
        return cls(value["previous_response_id"], tuple(value["input"]), tuple(value["output"]), value["final"])

    @property
    def items(self) -> tuple[str, ...]:
        return self.input + self.output

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def steps_of(entries: Iterable[Entry]) -> dict[str, ResponseLink]:
    """The steps among these entries by response, in their order."""
    return {key: ResponseLink.of(last) for key, last in latest(e for e in entries if e.kind == "step").items()}


def unsettled(entries: Sequence[Entry], steps: Mapping[str, ResponseLink], since: str) -> bool:
    """Whether a turn has ended since this time whose response is not kept yet."""
    ended = (entry.response_id for entry in entries if entry.kind == "ended" and entry.at > since)
    return any(response_id in steps and not steps[response_id].final for response_id in ended)


def responses_of_chain(steps: Mapping[str, ResponseLink], response_id: str | None) -> list[str]:
    """Ids of the responses up to and including one, oldest first, each of which follows the one before it."""
    chain: dict[str, None] = {}
    while response_id is not None and response_id in steps and response_id not in chain:
        chain[response_id] = None
        response_id = steps[response_id].previous_response_id
    return [*reversed(chain)]


def chain_of(steps: Mapping[str, ResponseLink], response_id: str | None) -> list[str]:
    """Ids of all items up to and including a response, oldest first, along the chain of responses it follows."""
    chain = responses_of_chain(steps, response_id)
    return list(dict.fromkeys(key for each in chain for key in steps[each].items))


def page_of(ids: Sequence[str], limit: int, ascending: bool, after: str | None, before: str | None) -> list[str]:
    """A page of a list; a cursor that is not in the list is ignored."""
    ordered = list(ids) if ascending else list(reversed(ids))
    if after in ordered:
        ordered = ordered[ordered.index(after) + 1 :]
    if before in ordered:
        ordered = ordered[: ordered.index(before)]
    return ordered[: max(1, min(MOST_ITEMS, limit))]


MOST = 80
"""Characters of a title: a line of the sidebar."""
UNTITLED = "Untitled conversation"
_LONGEST = 200
"""Characters of a line in a list."""
_ENOUGH = 4_000
"""Characters that are looked at for the line: a question may be a book."""
_UNSEEN = frozenset({"Cc", "Cs", "Cn", "Co"})
_DIRECTIONS = frozenset("\u200e\u200f\u061c\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""Marks that reorder the text around them, which would garble a list of titles."""


def title_of(question: str) -> str:
    """The beginning of a question, at most ``MOST`` characters, cut between words if possible.

    Of a pasted mail it is what that asks: half of all mails begin with the same greeting.
    """
    beginning = question[:_ENOUGH]
    line = one_line(question_of(beginning) if is_pasted(beginning) else beginning)
    if len(line) <= MOST:
        return line or UNTITLED
    cut = line[: MOST - 1]
    words = cut if line[MOST - 1] == " " else cut.rpartition(" ")[0]
    return (words or cut).rstrip() + "…"


def one_line(text: str) -> str:
    """Text for a list: no line breaks, no invisible characters except joiners, limited length."""
    words = " ".join(text[:_ENOUGH].split())
    return " ".join("".join(filter(_is_shown, words)).split())[:_LONGEST].rstrip()


def _is_shown(character: str) -> bool:
    return unicodedata.category(character) not in _UNSEEN and character not in _DIRECTIONS
