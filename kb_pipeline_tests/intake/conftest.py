"""A tree of pages, and the source that reads it: as a folder, as a ZIP, in a repository."""

import subprocess
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from kb_pipeline.intake.folder import FolderOptions, FolderSource, TreeSource
from kb_pipeline.intake.git import GitOptions, GitSource
from kb_pipeline.settings import Settings

PROSE = "Open the valve slowly, and wait until the gauge shows three bars before you go on."
Put = Callable[[str, str | bytes], None]


def page(body: str = f"<p>{PROSE}</p>", title: str = "A page") -> str:
    """A page with an article."""
    return f"<html><head><title>{title}</title></head><body><h1>{title}</h1>{body}</body></html>"


class FolderTree:
    """A folder that a test changes."""

    def __init__(self, root: Path) -> None:
        self.root = root / "manual"
        self.root.mkdir()
        self.path = self.root

    def put(self, name: str, data: str | bytes) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data if isinstance(data, bytes) else data.encode())

    def remove(self, name: str) -> None:
        (self.root / name).unlink()

    def source(self, settings: Settings, **options: object) -> TreeSource:
        return FolderSource("manual", FolderOptions.model_validate({"path": self.path, **options}), settings)


class ZipTree(FolderTree):
    """The same in a ZIP."""

    def source(self, settings: Settings, **options: object) -> TreeSource:
        self.path = self.root.with_suffix(".zip")
        with zipfile.ZipFile(self.path, "w", zipfile.ZIP_DEFLATED) as archive:
            for path in sorted(self.root.rglob("*")):
                archive.write(path, path.relative_to(self.root))
        return super().source(settings, **options)


class GitTree(FolderTree):
    """The same in a repository."""

    def source(self, settings: Settings, **options: object) -> TreeSource:
        def git(*arguments: str) -> None:
            who = ("-c", "user.name=A", "-c", "user.email=a@example.org")
            subprocess.run(["git", "-C", str(self.root), *who, *arguments], check=True)

        git("init", "--quiet")
        git("add", "-A")
        git("commit", "--quiet", "--allow-empty", "-m", "docs")
        given = {"repository": str(self.root), **options}
        return GitSource("manual", GitOptions.model_validate(given), settings)


@pytest.fixture
def tree(tmp_path: Path) -> FolderTree:
    return FolderTree(tmp_path)


@pytest.fixture
def staging(settings: Settings) -> Path:
    return Path(settings.staging)
