"""Building in the test's own process, where calls can be counted and code can be changed."""

import shutil
from collections.abc import Collection
from pathlib import Path

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
