"""The authors' staging folder, as we find it: which folders are articles, what lies in one.

We only ever read here. Names, links and sizes in it are hostile until checked.
"""

import errno
import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby
from pathlib import Path

from upath import UPath

from kb_pipeline.errors import InvalidArticleIdError, StorageError, UnreadableArticleError
from kb_pipeline.records import StagedArticle, StagedFile
from kb_pipeline.staging_files import FileFacts, files_below, local_files, remote_files, signature_of
from kb_pipeline.steps.article_ids import check_article_id
from kb_pipeline.steps.fingerprint import fingerprint, sha256

INDEX_FILE = "index.html"
METADATA_FILE = "metadata.json"
_ITS_OWN = {errno.EACCES, errno.EPERM, errno.ELOOP, errno.ENAMETOOLONG}
"""Errors that are one folder's, and do not mean that the store is away."""


@dataclass(frozen=True)
class StagingListing:
    """Article ids in order of name, and the folders that are none, with the reason."""

    article_ids: tuple[str, ...]
    refused: dict[str, str]


@dataclass(frozen=True)
class StagingScan:
    """What is staged, without a file having been opened.

    ``signatures`` of the articles; ``newest`` change of each folder, refused ones included, in seconds;
    ``refused`` folders with the reason.
    """

    signatures: dict[str, str] = field(default_factory=dict)
    newest: dict[str, float] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)

    @cached_property
    def fingerprint(self) -> str:
        """Equal scans have equal fingerprints."""
        return fingerprint(self.signatures, self.refused)


class Staging:
    """A staging folder, local or remote."""

    def __init__(self, root: UPath) -> None:
        self.root = root

    def list_articles(self) -> StagingListing:
        """List the article folders.

        Raises:
            StorageError: the staging folder does not exist or cannot be listed.
        """
        refused: dict[str, str] = {}
        with self._listed():
            accepted = [name for name, is_link in self._folders() if self._accept(name, refused, is_link=is_link)]
        return StagingListing(tuple(accepted), refused)

    def scan(self) -> StagingScan:
        """A signature of every article from names, sizes, and times or ETags, in one pass.

        Raises:
            StorageError: the store cannot be reached or listed; nothing is known then about any article.
        """
        scan = StagingScan()
        with self._listed():
            if isinstance(self.root, Path):
                self._scan_locally(scan)
            else:
                self._scan_remotely(scan)
        return scan

    def _folders(self) -> list[tuple[str, bool]]:
        """Names of the folders, in order, and whether each is a link."""
        if not isinstance(self.root, Path):
            self.root.fs.invalidate_cache(self.root.path)
            return sorted((child.name, False) for child in self.root.iterdir() if child.is_dir())
        with os.scandir(str(self.root)) as entries:
            return sorted((entry.name, entry.is_symlink()) for entry in entries if _is_folder(entry))

    def _scan_locally(self, scan: StagingScan) -> None:
        for name, is_link in self._folders():
            if self._accept(name, scan.refused, is_link=is_link):
                try:
                    self._note(scan, name, list(local_files(f"{self.root}/{name}")))
                except (FileNotFoundError, NotADirectoryError):
                    self.root.stat()  # one article was taken away just now, or all of them?
                except OSError as exc:
                    if exc.errno not in _ITS_OWN:
                        raise
                    scan.refused[name] = f"{name} cannot be read ({exc.strerror}); check the folder's permissions"

    def _scan_remotely(self, scan: StagingScan) -> None:
        files = ((*file.name.partition("/"), file) for file in remote_files(self.root))
        below = sorted((name, file._replace(name=rest)) for name, slash, rest, file in files if slash)
        for name, group in groupby(below, key=lambda item: item[0]):
            if self._accept(name, scan.refused, is_link=False):
                self._note(scan, name, [file for _, file in group])

    def _note(self, scan: StagingScan, name: str, files: list[FileFacts]) -> None:
        if any(file.name == INDEX_FILE for file in files):
            scan.signatures[name] = signature_of(files)
            scan.newest[name] = max(file.changed for file in files)
        else:
            scan.refused[name] = f"{name}: there is no {INDEX_FILE} in {self.root / name}; every article needs one"
            scan.newest[name] = max((file.changed for file in files), default=self._changed(name))

    def _changed(self, name: str) -> float:
        # only a local folder can be there and hold nothing
        return (self.root / name).stat().st_mtime

    def signature(self, article_id: str) -> str:
        """The article's signature as :meth:`scan` has it; empty when there is no such folder.

        Raises:
            StorageError: the folder cannot be listed.
        """
        folder = self.root / check_article_id(article_id)
        with _explained(folder):
            return signature_of(files_below(folder)) if self._is_there(folder) else ""

    @contextmanager
    def _listed(self) -> Iterator[None]:
        try:
            yield
        except Exception as exc:  # each store's client has its own
            problem = getattr(exc, "strerror", None) or str(exc) or type(exc).__name__
            raise StorageError(
                f"cannot list the staging folder {self.root} ({problem}); "
                "check that it can be reached, or set KB_STAGING"
            ) from exc

    def _is_there(self, folder: UPath) -> bool:
        return folder.is_dir() and self._is_inside(folder)

    def _is_inside(self, folder: UPath) -> bool:
        # a link that leads out of staging could publish anything this machine can read
        try:
            return not isinstance(folder, Path) or folder.resolve().is_relative_to(Path(self.root).resolve())
        except RuntimeError:
            return False  # it leads in a circle

    def _accept(self, name: str, refused: dict[str, str], *, is_link: bool) -> bool:
        if name.startswith("."):
            return False
        try:
            check_article_id(name)
        except InvalidArticleIdError as exc:
            refused[_writable(name)] = str(exc)
            return False
        if is_link and not self._is_inside(self.root / name):
            refused[name] = f"{name} is a link that leads out of the staging folder; copy the folder instead"
            return False
        return True

    def inventory(self, article_id: str) -> StagedArticle:
        """Read and hash every file of an article.

        Raises:
            UnreadableArticleError: there is no ``index.html``.
            StorageError: a file cannot be read.
        """
        files = tuple(sorted(self._hashed(article_id), key=lambda file: file.name))
        if not any(file.name == INDEX_FILE for file in files):
            raise UnreadableArticleError(
                f"{article_id}: there is no {INDEX_FILE} in {self.root / article_id}; every article folder needs one"
            )
        self._check_metadata_file(article_id, {file.name for file in files})
        return StagedArticle(
            article_id=article_id, files=files, content_hash=fingerprint([(file.name, file.sha256) for file in files])
        )

    def read(self, article_id: str, name: str, expected_sha256: str) -> bytes:
        """Read one file of an article as :meth:`inventory` listed it.

        Raises:
            StorageError: it cannot be read, or was changed meanwhile.
        """
        path = self.root / check_article_id(article_id) / name
        with _explained(path):
            data: bytes = path.read_bytes()
        if sha256(data) != expected_sha256:
            raise StorageError(f"{path} was changed while the article was being read; ingest it again")
        return data

    def _hashed(self, article_id: str) -> Iterator[StagedFile]:
        folder = self.root / check_article_id(article_id)
        with _explained(folder):
            names = [file.name for file in files_below(folder)] if self._is_there(folder) else None
        if names is None:
            raise UnreadableArticleError(
                f"{article_id}: there is no folder {folder}; was the article deleted or renamed?"
            )
        for name in names:
            with _explained(folder / name):
                yield _hashed_file(name, folder / name)

    def _check_metadata_file(self, article_id: str, names: set[str]) -> None:
        """Refuse a metadata file that would be passed over: it may say who may read the article."""
        for child in (self.root / article_id).iterdir():
            if child.name.casefold() == METADATA_FILE and child.name not in names & {METADATA_FILE}:
                raise UnreadableArticleError(
                    f"{article_id}: {child.name} is a link or is not spelt {METADATA_FILE}; "
                    "it may restrict who reads the article, so rename or replace it"
                )


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError as exc:
        if exc.errno not in _ITS_OWN:
            raise
        return True  # a link, and where it leads cannot be looked at: like a folder that cannot be


def _writable(name: str) -> str:
    """The name with what is no Unicode escaped, so that it can be put down in any file."""
    return name.encode(errors="backslashreplace").decode()


def _hashed_file(name: str, path: UPath) -> StagedFile:
    digest, size = hashlib.sha256(), 0
    with path.open("rb") as file:
        while block := file.read(1 << 20):  # attachments may be larger than memory
            digest.update(block)
            size += len(block)
    return StagedFile(name=name, size=size, sha256=digest.hexdigest())


@contextmanager
def _explained(path: UPath) -> Iterator[None]:
    try:
        yield
    except OSError as exc:
        problem = exc.strerror or exc
        raise StorageError(f"cannot read {path} ({problem}); check the staging folder's permissions") from exc
