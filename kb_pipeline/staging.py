"""The authors' staging folder, as we find it: which folders are articles, what lies in one.

We only ever read here. Names, links and sizes in it are hostile until checked.
"""

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from upath import UPath

from kb_pipeline.errors import InvalidArticleIdError, SettingsError, StorageError, UnreadableArticleError
from kb_pipeline.records import StagedArticle, StagedFile
from kb_pipeline.steps.article_ids import check_article_id
from kb_pipeline.steps.fingerprint import fingerprint, sha256

INDEX_FILE = "index.html"
METADATA_FILE = "metadata.json"


@dataclass(frozen=True)
class StagingListing:
    """Article ids in order of name, and the folders that are none, with the reason."""

    article_ids: tuple[str, ...]
    refused: dict[str, str]


class Staging:
    """A staging folder, local or remote."""

    def __init__(self, root: UPath) -> None:
        self.root = root

    def list_articles(self) -> StagingListing:
        """List the article folders.

        Raises:
            SettingsError: the staging folder does not exist or cannot be listed.
        """
        refused: dict[str, str] = {}
        accepted = [folder.name for folder in self._folders() if self._accept(folder, refused)]
        return StagingListing(tuple(accepted), refused)

    def _folders(self) -> list[UPath]:
        try:
            return sorted((child for child in self.root.iterdir() if child.is_dir()), key=lambda child: child.name)
        except OSError as exc:
            problem = exc.strerror or exc
            raise SettingsError(f"cannot list the staging folder {self.root} ({problem}); set KB_STAGING") from exc

    def _is_inside(self, folder: UPath) -> bool:
        # a link that leads out of staging could publish anything this machine can read
        return not isinstance(folder, Path) or folder.resolve().is_relative_to(Path(self.root).resolve())

    def _accept(self, folder: UPath, refused: dict[str, str]) -> bool:
        if folder.name.startswith("."):
            return False
        try:
            check_article_id(folder.name)
        except InvalidArticleIdError as exc:
            refused[folder.name] = str(exc)
            return False
        if not self._is_inside(folder):
            refused[folder.name] = (
                f"{folder.name} is a link that leads out of the staging folder; copy the folder instead"
            )
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
        if not folder.is_dir() or not self._is_inside(folder):
            raise UnreadableArticleError(
                f"{article_id}: there is no folder {folder}; was the article deleted or renamed?"
            )
        for name, path in _files_below(folder):
            if not name.rpartition("/")[2].startswith(".") and not name.endswith("~"):
                with _explained(path):
                    yield _hashed_file(name, path)

    def _check_metadata_file(self, article_id: str, names: set[str]) -> None:
        """Refuse a metadata file that would be passed over: it may say who may read the article."""
        for child in (self.root / article_id).iterdir():
            if child.name.casefold() == METADATA_FILE and child.name not in names & {METADATA_FILE}:
                raise UnreadableArticleError(
                    f"{article_id}: {child.name} is a link or is not spelt {METADATA_FILE}; "
                    "it may restrict who reads the article, so rename or replace it"
                )


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


def _files_below(folder: UPath) -> Iterator[tuple[str, UPath]]:
    """Regular files with their names relative to ``folder``; links out of it are passed over."""
    if not isinstance(folder, Path):
        for path in folder.rglob("*"):
            if path.is_file():
                yield path.path.removeprefix(folder.path).lstrip("/"), path
        return
    inside = folder.resolve()
    for directory, _, names in os.walk(folder):
        for name in names:
            path = Path(directory) / name
            # a name that is no valid Unicode can be in no manifest and no URL
            if _is_unicode(name) and path.is_file() and path.resolve().is_relative_to(inside):
                yield path.relative_to(folder).as_posix(), UPath(path)


def _is_unicode(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True
