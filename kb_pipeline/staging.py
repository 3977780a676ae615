"""The authors' staging folder, as we find it: which folders are articles, what lies in one.

We only ever read here. Names, links and sizes in it are hostile until checked.
"""

import os
from collections.abc import Iterator
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
        accepted = [name for name in sorted(self._folders()) if self._accept(name, refused)]
        return StagingListing(tuple(accepted), refused)

    def _folders(self) -> list[str]:
        try:
            return [child.name for child in self.root.iterdir() if child.is_dir() and self._is_inside(child)]
        except OSError as exc:
            raise SettingsError(f"cannot list the staging folder {self.root} ({exc.strerror}); set KB_STAGING") from exc

    def _is_inside(self, folder: UPath) -> bool:
        # a link that leads out of staging could publish anything this machine can read
        return not isinstance(folder, Path) or folder.resolve().is_relative_to(Path(self.root).resolve())

    @staticmethod
    def _accept(name: str, refused: dict[str, str]) -> bool:
        if name.startswith("."):
            return False
        try:
            check_article_id(name)
        except InvalidArticleIdError as exc:
            refused[name] = str(exc)
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
        return StagedArticle(
            article_id=article_id, files=files, content_hash=fingerprint([(file.name, file.sha256) for file in files])
        )

    def read(self, article_id: str, name: str) -> bytes:
        """Read one file of an article that :meth:`inventory` listed."""
        return self._read(self.root / check_article_id(article_id) / name)

    def _hashed(self, article_id: str) -> Iterator[StagedFile]:
        folder = self.root / check_article_id(article_id)
        if not folder.is_dir() or not self._is_inside(folder):
            raise UnreadableArticleError(
                f"{article_id}: there is no folder {folder}; was the article deleted or renamed?"
            )
        for name, path in _files_below(folder):
            data = self._read(path)
            yield StagedFile(name=name, size=len(data), sha256=sha256(data))

    @staticmethod
    def _read(path: UPath) -> bytes:
        try:
            return path.read_bytes()
        except OSError as exc:
            raise StorageError(f"cannot read {path} ({exc.strerror}); check the staging folder's permissions") from exc


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
            if path.is_file() and path.resolve().is_relative_to(inside):
                yield path.relative_to(folder).as_posix(), UPath(path)
