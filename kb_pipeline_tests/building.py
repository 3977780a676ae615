"""Building in the test's own process, where calls can be counted and code can be changed."""

import atexit
import os
import shutil
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from shutil import copy2
from tempfile import mkdtemp

import pytest

from kb_pipeline.analyzers.local import LocalAnalyzer
from kb_pipeline.flow.build import ArticleResult, build_article
from kb_pipeline.flow.layers import LAYER_NAMES, Run
from kb_pipeline.flow.publish import publish
from kb_pipeline.flow.workspace import open_workspace
from kb_pipeline.models.hashing import HashingEmbedder
from kb_pipeline.settings import Settings
from kb_pipeline_tests.doubles import GlancingAnalyzer

AT = "2026-01-01T00:00:00+00:00"

_made: dict[tuple[Callable[[Settings], object], str], Path] = {}


def made_once(make: Callable[[Settings], object], settings: Settings) -> None:
    """Fill the folders of these settings as ``make`` does, which is called once in a process: its work is copied.

    It is a function of a module that stages and publishes, and finds both folders empty. What it puts beside its home
    is put beside this one.
    """
    key = make, settings.model_dump_json(exclude={"staging", "home"})
    if key not in _made:
        folder = Path(mkdtemp())
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        staging, home = folder / "staging", folder / "home"
        staging.mkdir()
        make(settings.model_copy(update={"staging": str(staging), "home": str(home)}))
        _made[key] = folder
    places = {"staging": settings.staging, "home": settings.home}
    for made in _made[key].iterdir():
        place = places.get(made.name, Path(settings.home).parent / made.name)
        shutil.copytree(made, place, symlinks=True, dirs_exist_ok=True, copy_function=_copier())


def _copier() -> Callable[[str, str], object]:
    """Copies files, and those that are one file under several names as such."""
    copied: dict[int, str] = {}

    def copy(source: str, target: str) -> object:
        first = copied.setdefault(Path(source).stat().st_ino, target)
        return copy2(source, target) if first == target else os.link(first, target)

    return copy


def stage(settings: Settings, article_id: str, html: str | bytes, files: Mapping[str, bytes] | None = None) -> Path:
    """Stage an article with its files; returns its folder."""
    folder = Path(settings.staging) / article_id
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "index.html").write_bytes(html if isinstance(html, bytes) else html.encode())
    for name, data in (files or {}).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    return folder


def build_here(
    settings: Settings, *article_ids: str, run_id: str = "run-1", layers: Collection[str] = LAYER_NAMES
) -> dict[str, ArticleResult]:
    """Build and publish what is staged (or the named articles); returns the results by article id."""
    run = Run(run_id, AT)
    ids = article_ids or sorted(folder.name for folder in Path(settings.staging).iterdir())
    results = [build_article(settings, article_id, layers, run) for article_id in ids]
    return {result.article_id: result for result in publish(open_workspace(settings), results, layers, run)}


def page(title: str, words: str = "plain words") -> str:
    """A page of two sections, each long enough to be a chunk of its own."""
    section = f"Some {words} about {title} that say what it is. " * 3
    return f"<body><h1>{title}</h1><p>{section}</p><h2>More</h2><p>More {section}</p></body>"


def forbid_models(monkeypatch: pytest.MonkeyPatch) -> None:
    """From now on nothing may be described or embedded."""

    def refuse(*_: object) -> None:
        raise AssertionError("a model was called")

    for analyzer in (LocalAnalyzer, GlancingAnalyzer):
        monkeypatch.setattr(analyzer, "describe", refuse)
    monkeypatch.setattr(HashingEmbedder, "embed_batch", refuse)


def unstage(settings: Settings, article_id: str) -> None:
    """Take the article away from the staging folder."""
    shutil.rmtree(Path(settings.staging) / article_id)


def listing(folder: Path) -> dict[str, bytes]:
    """All files below a folder with their content."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}
