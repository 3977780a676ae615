"""The authors' staging folder, as we find it: which folders are articles, what lies in one.

We only ever read here. Names, links and sizes in it are hostile until checked.
"""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby
from pathlib import Path

from upath import UPath

from kb_pipeline.errors import InvalidArticleIdError, KnowledgeBaseError, StorageError, UnreadableArticleError
from kb_pipeline.records import StagedArticle
from kb_pipeline.staging_contents import StagedContents
from kb_pipeline.staging_files import FileFacts, local_files, remote_files, signature_of
from kb_pipeline.steps.article_ids import check_article_id
from kb_pipeline.steps.fingerprint import fingerprint

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
        self._contents = StagedContents(root)

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
            found = self.root.fs.ls(self.root.path, detail=True)
            folders = (info["name"].rstrip("/") for info in found if info["type"] == "directory")
            return sorted((path.rpartition("/")[2], False) for path in folders)
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
        files = self._files(article_id)
        return "" if files is None else signature_of(files)

    def _files(self, article_id: str) -> list[FileFacts] | None:
        """The article's files, by one request where they are in the cloud; none when there is no such folder."""
        folder = self.root / check_article_id(article_id)
        with _explained(folder):
            if isinstance(folder, Path):
                return list(local_files(str(folder))) if folder.is_dir() and self._is_inside(folder) else None
            try:
                return list(remote_files(folder))
            except FileNotFoundError:
                return None

    @contextmanager
    def _listed(self) -> Iterator[None]:
        try:
            yield
        except KnowledgeBaseError:
            raise
        except Exception as exc:  # each store's client has its own
            problem = getattr(exc, "strerror", None) or str(exc) or type(exc).__name__
            raise StorageError(
                f"cannot list the staging folder {self.root} ({problem}); "
                "check that it can be reached, or set KB_STAGING"
            ) from exc

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
        found = self._files(article_id)
        if found is None:
            raise UnreadableArticleError(
                f"{article_id}: there is no folder {self.root / article_id}; was the article deleted or renamed?"
            )
        files = sorted(self._contents.hashed(article_id, found), key=lambda file: file.name)
        names = {file.name for file in files}
        if INDEX_FILE not in names:
            raise UnreadableArticleError(
                f"{article_id}: there is no {INDEX_FILE} in {self.root / article_id}; every article folder needs one"
            )
        self._check_metadata_file(article_id, names)
        content_hash = fingerprint([(file.name, file.sha256) for file in files])
        return StagedArticle(article_id=article_id, files=tuple(files), content_hash=content_hash)

    def read(self, article_id: str, name: str, expected_sha256: str) -> bytes:
        """Read one file of an article as :meth:`inventory` listed it.

        Raises:
            StorageError: it cannot be read, or was changed meanwhile.
        """
        return self._contents.read(check_article_id(article_id), name, expected_sha256)

    def _check_metadata_file(self, article_id: str, names: set[str]) -> None:
        """Refuse a metadata file that would be passed over: it may say who may read the article."""
        folder = self.root / article_id
        # only on a disk there are links, which are not among the names
        there = {entry.name for entry in folder.iterdir()} if isinstance(folder, Path) else names
        for name in there:
            if name.casefold() == METADATA_FILE and name not in names & {METADATA_FILE}:
                raise UnreadableArticleError(
                    f"{article_id}: {name} is a link or is not spelt {METADATA_FILE}; "
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


@contextmanager
def _explained(path: UPath) -> Iterator[None]:
    try:
        yield
    except OSError as exc:
        problem = exc.strerror or exc
        raise StorageError(f"cannot read {path} ({problem}); check the staging folder's permissions") from exc
