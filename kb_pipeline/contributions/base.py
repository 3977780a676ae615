"""The contract of a queue of contributions: proposals for the knowledge base, and what was decided about each."""

import secrets
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from typing import Literal, get_args

from kb_pipeline.errors import ContributionDecidedError, ContributionError, ContributionNotFoundError
from kb_pipeline.records import ContributionSource, ContributionState, ContributionType, Record
from kb_pipeline.steps.fingerprint import sha256

TYPES: tuple[ContributionType, ...] = get_args(ContributionType)
STATES: tuple[ContributionState, ...] = get_args(ContributionState)
DEFAULT_SECTIONS: Mapping[ContributionType, str] = MappingProxyType(
    {
        "Pitfall": "Common Pitfalls",
        "Service pattern update": "Patterns",
        "New service": "",
        "Tool pattern": "Tools",
        "Language pattern": "Languages",
        "Answer": "Questions and answers",
    }
)
"""The section that each type goes to unless another one is named; "" is the whole article."""
LOCAL = "local"
"""The name, among those whom a setting lists, of whoever uses this machine."""


def is_listed(listed: Sequence[str], names: Sequence[str], *, is_local: bool) -> bool:
    """Return whether a setting lists somebody with these names; ``local`` in it is whoever uses this machine."""
    return (is_local and LOCAL in listed) or not {name for name in listed if name != LOCAL}.isdisjoint(names)


class NearPassage(Record):
    """A published passage about the same. ``similarity`` is the cosine of the meanings, at most 1."""

    chunk_id: str
    article_id: str
    title: str
    section: str
    similarity: float


class Decision(Record):
    """What a reviewer decided, ISO 8601 in UTC.

    "accepting" is recorded before the text is written to ``file``, so that it is known later what was going on when a
    process was killed; the contribution is still pending then. ``content`` is the text as the reviewer edited it,
    ``None`` if it was not edited.
    """

    state: Literal["accepting", "accepted", "rejected"]
    by: str
    at: str
    reason: str = ""
    article_id: str = ""
    section: str = ""
    file: str = ""
    content: str | None = None


class UploadCheck(Record):
    """A check of the conversion of an uploaded file; ``problem`` is empty if it passed."""

    name: str
    problem: str = ""


class Upload(Record):
    """A file that was handed in as a whole article: its name, and what is said of it. ``title`` may be the file's own.

    ``checks`` and ``warnings`` are those of the conversion that made the text for the reviewer.
    """

    name: str
    size: int
    title: str = ""
    topics: tuple[str, ...] = ()
    readers: tuple[str, ...] = ()
    checks: tuple[UploadCheck, ...] = ()
    warnings: tuple[str, ...] = ()


class Contribution(Record):
    """A proposal: ``content`` (Markdown) for a section of the article ``article_id``, as known when it was made.

    ``section`` is the one that was asked for, "" if none was; ``target_section`` is where it would go, "" for a whole
    article. ``contributed_by`` is empty for what the service hands in by itself. ``embedding`` is the vector of its
    text by ``embedding_model``, as base64 of 32-bit floats; "" if there was no model.

    ``rests_on`` are the articles of the answer that a reader commented on: the comment may repeat what they say. It is
    ``None`` for what comments on no answer. ``commented_by`` is that reader, as :func:`commenter` writes it.

    ``upload``: it is a file. Its text is what the conversion made of it then, and ``content_hash`` that of the file.
    """

    id: str
    service: str
    type: ContributionType
    section: str = ""
    description: str
    content: str
    content_hash: str
    contributed_by: str = ""
    contributed_at: str
    source: ContributionSource = "manual"
    article_id: str
    target_section: str = ""
    nearest: tuple[NearPassage, ...] = ()
    embedding_model: str = ""
    embedding: str = ""
    rests_on: tuple[str, ...] | None = None
    commented_by: str = ""
    upload: Upload | None = None
    decision: Decision | None = None

    @property
    def state(self) -> ContributionState:
        """What was decided; what is being accepted is pending until it is written."""
        if self.decision is None or self.decision.state == "accepting":
            return "pending"
        return self.decision.state

    def is_by(self, names: Iterable[str]) -> bool:
        """Return whether somebody with one of these names proposed it, or made the comment that it consists of."""
        mine = {name.casefold() for name in names}
        is_their_comment = self.commented_by in {commenter(self.id, name) for name in mine}
        return self.contributed_by.casefold() in mine or is_their_comment


def commenter(contribution_id: str, name: str) -> str:
    """Return who commented on an answer: comparable with a name, but another text in every contribution."""
    return sha256(f"{contribution_id} {name.casefold()}".encode())


def new_id(at: datetime) -> str:
    """Return an id that sorts by the day: ``20260131-1f2e3d4c``."""
    return f"{at:%Y%m%d}-{secrets.token_hex(4)}"


@dataclass(frozen=True)
class QueueListing:
    """All that a queue holds: the contributions, the newest first, and what is wrong with those that are damaged."""

    contributions: tuple[Contribution, ...]
    damages: tuple[str, ...] = ()

    def of(self, state: ContributionState | None) -> Sequence[Contribution]:
        """The contributions in this state, or all."""
        return [one for one in self.contributions if state is None or one.state == state]


class ContributionQueue(ABC):
    """Keeps contributions and decisions. Nothing is ever changed or removed: decisions are added."""

    @abstractmethod
    def add(self, contribution: Contribution) -> None:
        """Add a contribution, whole or not at all.

        Raises:
            StorageError: it cannot be written.
        """

    def add_file(self, contribution: Contribution, data: bytes) -> None:
        """Add the contribution that is a file, whole or not at all.

        Raises:
            ContributionError: this queue keeps no files.
            StorageError: it cannot be written.
        """
        raise ContributionError("the queue of contributions (KB_CONTRIBUTIONS) keeps no files, so none can be uploaded")

    def file(self, contribution_id: str) -> bytes:
        """Return the file of a contribution that is one.

        Raises:
            ContributionNotFoundError: there is none.
            StorageError: it cannot be read.
        """
        raise ContributionNotFoundError(f"there is no file of the contribution {contribution_id[:80]!r}")

    @abstractmethod
    def read_all(self) -> QueueListing:
        """Return all contributions, and what is wrong with those that are damaged.

        Raises:
            StorageError: the queue cannot be read.
        """

    def list(self, state: ContributionState | None = None) -> Sequence[Contribution]:
        """Return the contributions in this state, or all, the newest first, without those that are damaged.

        Raises:
            StorageError: the queue cannot be read.
        """
        return self.read_all().of(state)

    @abstractmethod
    def get(self, contribution_id: str) -> Contribution:
        """Return one contribution.

        Raises:
            ContributionNotFoundError: there is none with this id.
            StorageError: the queue cannot be read.
        """

    def decide(self, contribution_id: str, decision: Decision) -> Contribution:
        """Add a decision, and return the contribution with it.

        Raises:
            ContributionNotFoundError: there is none with this id.
            ContributionDecidedError: it was accepted or rejected before.
            StorageError: the decision cannot be written.
        """
        contribution = self.get(contribution_id)
        if contribution.decision and contribution.state != "pending":
            last = contribution.decision
            raise ContributionDecidedError(
                f"contribution {contribution.id} was {last.state} by {last.by} on {last.at[:10]}; hand in a new one"
            )
        self._append(contribution.id, decision)
        return contribution.model_copy(update={"decision": decision})

    @abstractmethod
    def _append(self, contribution_id: str, decision: Decision) -> None:
        """Add the decision to those of a contribution that exists."""

    @abstractmethod
    def held(self) -> AbstractContextManager[None]:
        """Return a block in which nobody else, in this process or another, decides about this queue's contributions.

        Raises:
            StorageError: the lock cannot be acquired.
        """
