"""Knowledge that people propose."""

from operator import not_
from typing import Annotated

from pydantic import Field, StringConstraints

from app.schema.wire import Wire
from kb_pipeline.records import ContributionSource, ContributionState, ContributionType

_Name = Annotated[str, StringConstraints(max_length=300)]


class NewContribution(Wire):
    """Knowledge that somebody proposes, as Markdown. ``draft``: it is only checked, and nothing is handed in.
    ``converted``: of a draft, what readers will see is wanted, too, which takes about a second.

    ``section`` is the heading under which it belongs; by default it follows from the type.
    """

    service: Annotated[str, StringConstraints(max_length=400)]
    description: Annotated[str, StringConstraints(max_length=400)]
    content: Annotated[str, StringConstraints(max_length=300_000)]
    type: Annotated[str, StringConstraints(max_length=100)] = "Pitfall"
    section: Annotated[str, StringConstraints(max_length=400)] = ""
    draft: bool = False
    converted: bool = False


class NewUpload(Wire):
    """What is said of a file that somebody hands in; what is empty follows from the file.

    ``service`` is the id of the article that it becomes. Without ``reader`` everybody may read it.
    """

    name: Annotated[str, StringConstraints(min_length=1, max_length=400)]
    service: Annotated[str, StringConstraints(max_length=400)] = ""
    title: Annotated[str, StringConstraints(max_length=400)] = ""
    reader: Annotated[tuple[_Name, ...], Field(max_length=100)] = ()
    topic: Annotated[tuple[_Name, ...], Field(max_length=100)] = ()


class UploadRules(Wire):
    """What files the caller may hand in."""

    most_bytes: int
    endings: tuple[str, ...]


class UploadedCheck(Wire):
    """A check of the conversion; ``problem`` is empty if it passed."""

    name: str
    problem: str = ""


class UploadedFile(Wire):
    """A file that was handed in, and what the conversion said of it."""

    name: str
    size: int
    readers: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()
    checks: tuple[UploadedCheck, ...] = ()
    warnings: tuple[str, ...] = ()


class ContributionItem(Wire):
    """A contribution in a list. Times are ISO 8601 in UTC.

    ``contributed_by`` is empty for what the service handed in by itself, after what ``source`` says. ``section`` is
    where it goes in the article ``article_id``, "" for the whole of it; for those who may not read an article, both are
    as if it did not exist. ``reason`` is why it was rejected, ``file`` the name of the file that it is, if it is one.
    """

    id: str
    state: ContributionState
    service: str
    type: ContributionType
    description: str
    source: ContributionSource
    contributed_by: str
    contributed_at: str
    article_id: str
    section: str
    decided_by: str = ""
    decided_at: str = ""
    reason: str = ""
    file: str = ""


class ContributionList(Wire):
    """Contributions that the caller may see, the newest first; all of them, or those in one state.

    ``counts`` are those of all states. ``may_review``: the caller may accept and reject. ``upload``: they may hand in
    such files.
    """

    total: int
    contributions: tuple[ContributionItem, ...]
    counts: dict[ContributionState, int]
    may_review: bool
    upload: UploadRules | None = None


class NearbyPassage(Wire):
    """A published passage about the same; ``similarity`` is the cosine of the meanings, at most 1."""

    chunk_id: str
    article_id: str
    title: str
    section: str
    similarity: float


class SimilarContribution(Wire):
    """A contribution that says about the same."""

    id: str
    description: str
    state: ContributionState
    similarity: float


class ContributionDetails(ContributionItem):
    """A contribution with its text, and what accepting it would change as far as the caller may know.

    ``diff`` is a unified diff below the staging folder; ``problem`` says why it cannot be accepted as it is. Both are
    empty once it is decided. ``duplicates`` are named when it is handed in. ``published``: it was accepted, and is in
    a passage that the caller may read. ``may_accept``: the caller is a reviewer, and another person proposed it, if
    that matters. ``upload``: it is a file, and its text is what the conversion made of it when it was handed in.
    ``seen_by_readers`` is, of a draft, the Markdown that readers will see of it.
    """

    content: str
    seen_by_readers: str = Field(default="", exclude_if=not_)
    upload: UploadedFile | None = None
    content_hash: str
    nearest: tuple[NearbyPassage, ...] = ()
    duplicates: tuple[SimilarContribution, ...] = ()
    diff: str = ""
    problem: str = ""
    published: bool = False
    may_review: bool = False
    may_accept: bool = False


class Acceptance(Wire):
    """How a contribution is accepted: in another section, or with its content edited."""

    section: Annotated[str, StringConstraints(max_length=400)] = ""
    content: Annotated[str, StringConstraints(max_length=300_000)] | None = None


class Rejection(Wire):
    """Why a contribution is rejected."""

    reason: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=1000)]
