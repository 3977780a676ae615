"""The queue in a folder: one subfolder for each contribution, to which files and lines are only ever added.

<id>/contribution.json    what was handed in, without its text
<id>/content.md           its text
<id>/upload               the file, if it is one; its name is in contribution.json, so that no name is ever trusted
<id>/decisions.jsonl      what was decided, one line each
"""

import json
import os
import re
import shutil
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path

from filelock import FileLock
from pydantic import ValidationError
from upath import UPath

from kb_pipeline.contributions.base import Contribution, ContributionQueue, Decision, QueueListing
from kb_pipeline.errors import ContributionNotFoundError, StorageError, storage_errors
from kb_pipeline.steps.fingerprint import sha256
from kb_pipeline.store.files import names_in, read_bytes, settle

_ID = re.compile(r"\d{8}-[0-9a-f]{8}")
_FACTS, _CONTENT, _FILE, _DECISIONS = "contribution.json", "content.md", "upload", "decisions.jsonl"


class FolderQueue(ContributionQueue):
    """Keeps contributions in a local folder, which is made with the first of them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._in_process = threading.Lock()

    def add(self, contribution: Contribution) -> None:
        self._add(contribution, {})

    def add_file(self, contribution: Contribution, data: bytes) -> None:
        self._add(contribution, {_FILE: data})

    def file(self, contribution_id: str) -> bytes:
        contribution = self.get(contribution_id)
        path = self.folder / contribution.id / _FILE
        if contribution.upload is None:
            return super().file(contribution_id)
        data = read_bytes(path)
        if sha256(data) != contribution.content_hash:
            raise StorageError(f"{path} was changed since it was handed in; restore it, or reject the contribution")
        return data

    def _add(self, contribution: Contribution, files: Mapping[str, bytes]) -> None:
        facts = contribution.model_dump_json(indent=2, exclude={"content", "decision"})
        contents = {_CONTENT: contribution.content.encode(), **files, _FACTS: facts.encode()}
        half = self.folder / f".{contribution.id}"
        with self._translated("write"):
            try:
                half.mkdir(parents=True)
                for name, data in contents.items():
                    (half / name).write_bytes(data)
                settle([half / name for name in contents])
                half.rename(self.folder / contribution.id)  # whole, or not at all
            except OSError:
                shutil.rmtree(half, ignore_errors=True)
                raise
        settle([self.folder / contribution.id])

    def read_all(self) -> QueueListing:
        if self.folder.exists() and not self.folder.is_dir():
            raise StorageError(
                f"cannot list {self.folder}, which is no folder; move it away, or set KB_CONTRIBUTIONS to another one"
            )
        contributions: list[Contribution] = []
        damages: list[str] = []
        for contribution_id in sorted(name for name in names_in(UPath(self.folder)) if _ID.fullmatch(name)):
            try:
                contributions.append(self._read(contribution_id))
            except StorageError as exc:  # one must not hide the others
                damages.append(str(exc))
        contributions.sort(key=lambda one: (one.contributed_at, one.id), reverse=True)
        return QueueListing(tuple(contributions), tuple(damages))

    def get(self, contribution_id: str) -> Contribution:
        if not _ID.fullmatch(contribution_id) or not (self.folder / contribution_id).is_dir():
            shown = contribution_id[:80]
            raise ContributionNotFoundError(f"there is no contribution {shown!r}; kb contributions lists them")
        return self._read(contribution_id)

    def _read(self, contribution_id: str) -> Contribution:
        folder = self.folder / contribution_id
        decisions = self._decisions(folder / _DECISIONS)
        try:
            facts = json.loads(read_bytes(folder / _FACTS))
            content = read_bytes(folder / _CONTENT).decode()
            return Contribution.model_validate(
                {**facts, "content": content, "decision": decisions[-1] if decisions else None}
            )
        except (ValueError, TypeError) as exc:
            raise StorageError(f"{folder} is damaged ({type(exc).__name__}); restore it, or move it away") from exc

    @staticmethod
    def _decisions(path: Path) -> Sequence[Decision]:
        if not path.exists():
            return []
        decisions = []
        for line in read_bytes(path).splitlines():
            with suppress(ValidationError):  # a process was killed while it wrote this line
                decisions.append(Decision.model_validate_json(line))
        return decisions

    def _append(self, contribution_id: str, decision: Decision) -> None:
        path = self.folder / contribution_id / _DECISIONS
        with self._translated("write"), path.open("ab") as file:
            # the line break comes first: a line that was cut off stays alone
            file.write(b"\n" + decision.model_dump_json(exclude_defaults=True).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())

    @contextmanager
    def held(self) -> Iterator[None]:
        with self._in_process, self._translated("lock"):
            self.folder.mkdir(parents=True, exist_ok=True)
            lock = FileLock(self.folder / ".lock", thread_local=False)
            lock.acquire()
        try:
            yield
        finally:
            lock.release()

    def _translated(self, action: str) -> AbstractContextManager[None]:
        advice = "check that it may be written, or set KB_CONTRIBUTIONS to a folder that may"
        return storage_errors(f"{action} the contributions in", self.folder, advice)
