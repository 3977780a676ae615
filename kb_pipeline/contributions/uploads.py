"""Takes a file that somebody hands in as a whole article: checks it, and converts it once, so that a reviewer sees it.

Nothing of the file is trusted; how it is converted says :mod:`kb_pipeline.contributions.converting`.
"""

import json
import posixpath
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from kb_pipeline.contributions.base import Contribution, ContributionQueue, Upload, is_listed, new_id
from kb_pipeline.contributions.converting import convert_alone, text_of
from kb_pipeline.contributions.neighbours import find_neighbours
from kb_pipeline.contributions.placing import everything_is_seen
from kb_pipeline.contributions.proposing import LONGEST_DESCRIPTION, ProposalPreview
from kb_pipeline.errors import (
    ContributionError,
    InvalidArticleIdError,
    UnreadableArticleError,
)
from kb_pipeline.flow.workspace import Workspace
from kb_pipeline.search.base import SearchFilter
from kb_pipeline.steps.article_ids import check_article_id, is_article_id
from kb_pipeline.steps.fingerprint import sha256
from kb_pipeline.steps.formats import endings
from kb_pipeline.steps.main_file import INDEX_FILE, is_document, why_not_read
from kb_pipeline.steps.metadata import METADATA_FILE, checked_readers, read_metadata

EVERYBODY = "everybody"
"""The name, among those who may upload, of all who may use the service."""
MOST_PENDING = 20
"""Files of one person that wait at a time, so that nobody fills the disk."""


@dataclass(frozen=True)
class NewFile:
    """A file that somebody hands in, as they named it; what is empty follows from the file."""

    name: str
    data: bytes
    service: str = ""
    title: str = ""
    readers: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()
    contributed_by: str = ""


def may_upload(uploaders: Sequence[str], names: Sequence[str], *, is_local: bool) -> bool:
    """Return whether somebody with these names may hand in files; without ``uploaders`` nobody may."""
    return EVERYBODY in uploaders or is_listed(uploaders, names, is_local=is_local)


def taken() -> tuple[str, ...]:
    """Return the endings of the documents that can be handed in: of all that are read as articles of a folder."""
    return tuple(ending for ending in endings() if is_document(f"a{ending}"))


def metadata_of(upload: Upload) -> str:
    """Return the ``metadata.json`` of an uploaded article."""
    values = {"title": upload.title, "key_topics": upload.topics, "access_control_list": upload.readers}
    return json.dumps({name: value for name, value in values.items() if value}, indent=2, ensure_ascii=False) + "\n"


def preview_upload(
    workspace: Workspace,
    queue: ContributionQueue,
    new: NewFile,
    *,
    visible: SearchFilter | None = None,
    is_seen: Callable[[str], bool] = everything_is_seen,
    now: Callable[[], datetime] = lambda: datetime.now(UTC),
) -> ProposalPreview:
    """Check a file and convert it; nothing is kept. The parameters are those of :func:`proposing.preview`.

    Raises:
        ContributionError: it cannot become an article; the message says why.
        KnowledgeBaseError: staging, queue or index cannot be read.
    """
    earlier = queue.list()
    waiting = sum(one.upload is not None and one.is_by([new.contributed_by]) for one in earlier if _is_pending(one))
    if waiting >= MOST_PENDING:
        raise ContributionError(
            f"{waiting} files of yours wait for a reviewer already; hand in more when these are decided"
        )
    name = _checked_name(new.name)
    if not new.data:
        raise ContributionError(f"{name!a} is empty; hand in a file with content")
    if len(new.data) > workspace.settings.upload_bytes:
        raise ContributionError(
            f"{name!a} has {len(new.data):,} bytes, at most {workspace.settings.upload_bytes:,} are taken "
            "(KB_UPLOAD_BYTES); split it, or give it to whoever keeps the staging folder"
        )
    service = _checked_service(new.service or posixpath.splitext(name)[0])
    if is_seen(service) and workspace.staging.names(service):
        raise ContributionError(f"there is an article {service} already; choose another name for this one")
    upload = _described(new, name)
    files = {name: new.data, METADATA_FILE: metadata_of(upload).encode()}
    converted, checks = convert_alone(workspace.settings, service, name, files)
    title = upload.title or " ".join((converted.title or service).split())
    content = text_of(converted)
    found = find_neighbours(workspace, title, content, earlier, visible)
    at = now()
    contribution = Contribution(
        id=new_id(at),
        service=service,
        type="New service",
        description=title[:LONGEST_DESCRIPTION],
        content=content,
        content_hash=sha256(new.data),
        contributed_by=new.contributed_by,
        contributed_at=at.isoformat(timespec="seconds"),
        article_id=service,
        nearest=found.nearest,
        embedding_model=found.embedding_model,
        embedding=found.embedding,
        upload=upload.model_copy(update={"checks": checks, "warnings": converted.warnings}),
    )
    return ProposalPreview(contribution, found, is_new_article=True, is_new_section=False)


def _is_pending(contribution: Contribution) -> bool:
    return contribution.state == "pending"


def _checked_name(given: str) -> str:
    """Return the name of the file in its folder; names of folders, which some browsers send, are refused like others.

    Raises:
        ContributionError: it cannot be one, or no such file is read.
    """
    name = unicodedata.normalize("NFC", given)
    if not is_article_id(name):  # what is safe as the name of a folder is safe as that of a file
        raise ContributionError(
            f'{given[:80]!a} cannot be the name of a file here; rename it: without / \\ : * ? " < > |, invisible '
            "characters, and . or _ at its beginning"
        )
    if name != INDEX_FILE and not is_document(name):
        reason = why_not_read(name) or f"is of no format that is taken; taken are {', '.join(taken())} and {INDEX_FILE}"
        raise ContributionError(f"{name!a} {reason}")
    return name


def _checked_service(given: str) -> str:
    try:
        return check_article_id(unicodedata.normalize("NFC", given))
    except InvalidArticleIdError as exc:
        raise ContributionError(f"{exc}, or name the article yourself") from exc


def _described(new: NewFile, name: str) -> Upload:
    """Return what is said of a file, cleaned as the metadata of every article is.

    Raises:
        ContributionError: readers cannot be names of users or groups.
    """
    try:
        readers = checked_readers(new.readers)
        said = Upload(name=name, size=len(new.data), title=new.title, topics=new.topics, readers=tuple(readers))
        metadata = read_metadata(metadata_of(said).encode("utf-8", "replace")).metadata
    except ValueError as exc:
        raise ContributionError(f"the readers cannot be used: {exc}") from exc
    except UnreadableArticleError as exc:
        raise ContributionError(str(exc)) from exc
    return said.model_copy(update={"title": metadata.title or "", "topics": metadata.key_topics})
