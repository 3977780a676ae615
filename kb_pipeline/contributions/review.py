"""Accepts and rejects contributions. Only here is anything written to the staging folder, at a reviewer's command.

Accepting is recorded before and after the file is written. The footnote in the file holds the contribution's id, so
it is known after any interruption whether it was written: a contribution is put there once, or not at all.
"""

import difflib
import os
import re
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from kb_pipeline.contributions.base import (
    LOCAL,
    Contribution,
    ContributionQueue,
    Decision,
    QueueListing,
    Upload,
    is_listed,
)
from kb_pipeline.contributions.content import harmless
from kb_pipeline.contributions.placing import (
    MARKDOWN_FILE,
    Target,
    everything_is_seen,
    find_target,
    footnote_of,
    ids_in,
    metadata_for,
    target_section,
    with_contribution,
)
from kb_pipeline.contributions.proposing import LONGEST_SECTION
from kb_pipeline.contributions.uploads import metadata_of
from kb_pipeline.errors import ContributionDecidedError, ContributionError, storage_errors
from kb_pipeline.flow.access import AccessLists
from kb_pipeline.flow.layers.serving_article import load_manifest
from kb_pipeline.settings import Settings
from kb_pipeline.steps.fingerprint import sha256
from kb_pipeline.steps.metadata import METADATA_FILE
from kb_pipeline.store.files import read_bytes, settle, write_bytes
from kb_pipeline.store.layout import Layout
from kb_pipeline.store.staging import Staging
from kb_pipeline.store.state import load_state

_LONGEST_REASON = 1000
"""Characters: a paragraph for the proposer."""


def is_whoever_uses_it(reviewers: Sequence[str], *, is_local: bool) -> bool:
    """Return whether somebody decides as the user of this machine, who may be the only person there is."""
    return is_local and LOCAL in (reviewers or (LOCAL,))


def may_review(reviewers: Sequence[str], names: Sequence[str], *, is_local: bool) -> bool:
    """Return whether somebody with these names may accept and reject; without ``reviewers`` only the local user may."""
    return is_listed(reviewers or (LOCAL,), names, is_local=is_local)


def is_for_another(contribution: Contribution, settings: Settings, names: Sequence[str], *, is_local: bool) -> bool:
    """Return whether another reviewer than one with these names must accept a contribution, because it is their own."""
    is_exempt = settings.accept_own or is_whoever_uses_it(settings.reviewers, is_local=is_local)
    return not is_exempt and contribution.is_by(names)


def titles_in(layout: Layout) -> Callable[[str], str]:
    """Return a function that gives the titles of published articles."""

    def title_of(article_id: str) -> str:
        version = load_state(layout, article_id).published_version
        return load_manifest(layout.version(article_id, version)).title if version else ""

    return title_of


def readers_in(layout: Layout) -> Callable[[str], Sequence[str]]:
    """Return a function that gives the recorded readers of articles, also of those that were removed."""
    lists = AccessLists(layout)

    def readers_of(article_id: str) -> Sequence[str]:
        newest = lists.get(article_id)
        return newest.readers if newest else ()

    return readers_of


_WRITABLE = "check that it may be written, or use --output FILE"


@dataclass(frozen=True)
class FileChange:
    """What accepting would change: the text of a file, and the section, "" for a whole article.

    ``upload``: the file is put there instead, with the target's metadata.
    """

    target: Target
    section: str
    after: str
    upload: Upload | None = None

    @property
    def file(self) -> str:
        """The name of the file that is written."""
        return self.upload.name if self.upload else MARKDOWN_FILE

    @property
    def diff(self) -> str:
        """The change as a unified diff below the staging folder, which ``git apply`` and ``patch -p1`` understand.

        Of a file that is uploaded it only says that it is there.
        """
        if self.upload:
            added = f"{self.target.article_id}/{self.upload.name}"
            metadata = _diff(f"{self.target.article_id}/{METADATA_FILE}", None, self.target.metadata or "")
            return f"Binary files /dev/null and b/{added} differ\n{metadata}"
        files = [(MARKDOWN_FILE, self.target.text, self.after)]
        if self.target.text is None and self.target.metadata:
            files.append((METADATA_FILE, None, self.target.metadata))
        return "".join(_diff(f"{self.target.article_id}/{name}", before, after) for name, before, after in files)


class Review:
    """The decisions about the contributions of a queue, for articles in a staging folder."""

    def __init__(
        self,
        queue: ContributionQueue,
        staging: Staging,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        title_of: Callable[[str], str] = lambda _: "",
        readers_of: Callable[[str], Sequence[str]] = lambda _: (),
    ) -> None:
        """``title_of`` gives the title of a published article, "" if it was never published.

        ``readers_of`` gives the readers that an article had last. A new article of its id is for no others.
        """
        self._queue = queue
        self._staging = staging
        self._now = now
        self._title_of = title_of
        self._readers_of = readers_of

    def read_all(self) -> QueueListing:
        """Return all contributions, and what is wrong with those that are damaged.

        Raises:
            StorageError: the queue, or a file that one was being written to, cannot be read.
        """
        read = self._queue.read_all()
        return replace(read, contributions=tuple(map(self._settled, read.contributions)))

    def get(self, contribution_id: str) -> Contribution:
        """Return one contribution.

        Raises:
            ContributionNotFoundError: there is none with this id.
            StorageError: the queue, or a file that it was being written to, cannot be read.
        """
        return self._settled(self._queue.get(contribution_id))

    def change(
        self,
        contribution: Contribution,
        by: str,
        *,
        section: str = "",
        content: str | None = None,
        is_seen: Callable[[str], bool] = everything_is_seen,
    ) -> FileChange:
        """Return what accepting it would change, with another section or content if they are given.

        It is what somebody may know for whom only the articles exist that are ``is_seen``.

        Raises:
            ContributionError: it cannot be put there; the message says why.
            UnreadableArticleError: the article's metadata cannot be read.
            StorageError: the staging folder cannot be read.
        """
        if contribution.upload:
            return self._upload(contribution, contribution.upload, is_seen)
        if len(section) > LONGEST_SECTION:
            raise ContributionError(f"the section has {len(section):,} characters; it has at most {LONGEST_SECTION}")
        if content is not None:
            contribution = contribution.model_copy(update={"content": harmless(contribution.service, content)})
        target = find_target(self._staging, contribution.service, is_seen)
        if target.text is None and not target.metadata and is_seen(target.article_id):
            target = replace(target, metadata=metadata_for(self._readers_of(target.article_id)))
        chosen = target_section(target, contribution.type, section or contribution.section)
        footnote = footnote_of(contribution, by, self._at()[:10])
        title = self._title_of(contribution.service) if target.article_id != contribution.service else ""
        return FileChange(target, chosen, with_contribution(target, contribution, chosen, footnote, title))

    def accept(
        self,
        contribution_id: str,
        by: str,
        *,
        section: str = "",
        content: str | None = None,
        patch: Path | None = None,
        may_read: Callable[[str], bool] = everything_is_seen,
    ) -> Contribution:
        """Put a contribution into the staging folder, or into a file ``patch`` for somebody to apply to it.

        Accepting again what was accepted changes nothing. ``content`` is the text as the reviewer edited it. It goes to
        no article that the reviewer may not read (``may_read``).

        Raises:
            ContributionNotFoundError: there is none with this id.
            ContributionDecidedError: it was rejected.
            ContributionError: the staging folder cannot be written, or the contribution cannot be put there.
            StorageError: the queue or the staging folder cannot be used.
        """
        with self._queue.held():
            contribution = self._settled(self._queue.get(contribution_id), is_held=True)
            if contribution.state == "accepted":
                return contribution
            if contribution.state == "rejected":
                raise _decided(contribution)
            if contribution.upload and (section or content is not None or patch):
                raise ContributionError("an uploaded file is accepted as it is: without section, text or patch")
            change = self.change(contribution, by, section=section, content=content, is_seen=may_read)
            if not may_read(change.target.article_id):
                raise ContributionError("it is about an article that you may not read; another reviewer must accept it")
            is_there = contribution.id in ids_in(change.target.text or "")
            file = patch.absolute() if patch else self._writable(change)
            decision = Decision(
                state="accepting",
                by=by,
                at=self._at(),
                article_id=change.target.article_id,
                section=change.section,
                file=str(file),
                content=content,
            )
            self._queue.decide(contribution.id, decision)
            if is_there:
                pass  # it was put there before this queue knew
            elif patch:
                write_bytes(file, change.diff.encode())  # type: ignore[arg-type]
            else:
                data = self._queue.file(contribution.id) if change.upload else change.after.encode()
                self._write(contribution.id, file, change, data)
            return self._queue.decide(contribution.id, decision.model_copy(update={"state": "accepted"}))

    def reject(self, contribution_id: str, by: str, reason: str) -> Contribution:
        """Reject a contribution; its proposer may read the reason.

        Raises:
            ContributionNotFoundError: there is none with this id.
            ContributionDecidedError: it was accepted or rejected before.
            ContributionError: there is no reason.
            StorageError: the queue cannot be used.
        """
        words = " ".join(reason.split())
        if not words or len(words) > _LONGEST_REASON:
            raise ContributionError(f"say why it is rejected, in at most {_LONGEST_REASON:,} characters")
        with self._queue.held():
            contribution = self._settled(self._queue.get(contribution_id), is_held=True)
            if contribution.state != "pending":
                raise _decided(contribution)
            return self._queue.decide(contribution.id, Decision(state="rejected", by=by, at=self._at(), reason=words))

    def _at(self) -> str:
        return self._now().isoformat(timespec="seconds")

    def _settled(self, contribution: Contribution, *, is_held: bool = False) -> Contribution:
        """Complete the record of an acceptance that was interrupted after the file was written."""
        decision = contribution.decision
        if decision is None or decision.state != "accepting" or not _is_in(Path(decision.file), contribution):
            return contribution
        if is_held:
            return self._queue.decide(contribution.id, decision.model_copy(update={"state": "accepted"}))
        with self._queue.held():  # whoever is accepting it now finishes first
            return self._settled(self._queue.get(contribution.id), is_held=True)

    def _upload(self, contribution: Contribution, upload: Upload, is_seen: Callable[[str], bool]) -> FileChange:
        """Return the change that makes an article of an uploaded file.

        Raises:
            ContributionError: there is an article of its name, or there was one for fewer readers.
        """
        article_id = contribution.service
        if is_seen(article_id) and self._staging.names(article_id):
            raise ContributionError(
                f"there is an article {article_id} already, which no file replaces; reject this one, so that it is "
                "handed in under another name"
            )
        earlier = self._readers_of(article_id) if is_seen(article_id) else ()
        if earlier and not set(upload.readers) <= set(earlier):
            raise ContributionError(
                f"there was an article {article_id} for fewer readers; reject this one, so that it is handed in under "
                "another name"
            )
        allowed = upload.model_copy(update={"readers": upload.readers or tuple(earlier)})
        return FileChange(Target(article_id, None, metadata_of(allowed)), "", "", allowed)

    def _writable(self, change: FileChange) -> Path:
        """Return the file of an article in the staging folder.

        Raises:
            ContributionError: it cannot be written.
        """
        root, article_id = self._staging.root, change.target.article_id
        if not isinstance(root, Path):
            problem = "is not a local folder, so it is only read"
        elif self._staging.made_elsewhere:
            problem = "holds articles that another program made, so it is only read"
        else:
            folder = Path(root) / article_id
            file = folder / change.file
            if folder.is_symlink() or file.is_symlink():
                problem = f"has {article_id} as a link, which is not written through"
            elif not os.access(folder if folder.is_dir() else root, os.W_OK) or (
                file.exists() and not os.access(file, os.W_OK)
            ):
                problem = "may only be read by this user"
            else:
                return file
        instead = "write a patch for it instead: kb contributions accept ID --output FILE"
        if change.upload:
            instead = "give the file to whoever keeps it, and reject the contribution"
        raise ContributionError(f"the staging folder {root} {problem}; {instead}")

    def _write(self, contribution_id: str, file: Path, change: FileChange, data: bytes) -> None:
        if change.upload and file.parent.exists():
            raise ContributionError(f"{file.parent} was made in the meantime; look at the contribution again")
        now = read_bytes(file).decode() if file.exists() else None
        if now != change.target.text:
            raise ContributionError(f"{file} was changed in the meantime; accept the contribution again")
        if file.parent.is_dir():
            half = file.with_name(f".{contribution_id}")
            with storage_errors("write", file, _WRITABLE):
                half.write_bytes(data)
                if now is not None:
                    shutil.copymode(file, half)
                settle([half])
                half.replace(file)
        else:
            half = file.parent.with_name(f".{contribution_id}")  # hidden, so that no half article is ever seen
            with storage_errors("write", file, _WRITABLE):
                shutil.rmtree(half, ignore_errors=True)
                half.mkdir()
                (half / change.file).write_bytes(data)
                if change.target.metadata:
                    (half / METADATA_FILE).write_text(change.target.metadata, encoding="utf-8")
                settle(half.iterdir())
                half.rename(file.parent)
        settle([file, file.parent])


def _is_in(file: Path, contribution: Contribution) -> bool:
    if not file.is_file():
        return False
    if contribution.upload:
        return sha256(read_bytes(file)) == contribution.content_hash
    return contribution.id in ids_in(read_bytes(file).decode(errors="replace"))


def _decided(contribution: Contribution) -> ContributionDecidedError:
    decision = contribution.decision
    by, at = (decision.by, decision.at[:10]) if decision else ("", "")
    return ContributionDecidedError(f"contribution {contribution.id} was {contribution.state} by {by} on {at} already")


def _diff(name: str, before: str | None, after: str) -> str:
    old = f"a/{name}" if before is not None else "/dev/null"
    pieces = difflib.unified_diff(_lines(before or ""), _lines(after), old, f"b/{name}")
    return "".join(piece if piece.endswith("\n") else f"{piece}\n\\ No newline at end of file\n" for piece in pieces)


def _lines(text: str) -> Sequence[str]:
    """Return the lines as ``patch`` counts them, with their ends."""
    return [line for line in re.split(r"(?<=\n)", text) if line]
