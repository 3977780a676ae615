"""Small knowledge bases of HTML articles, published and ready to be searched."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from app.library.retrieval import Retrieval
from kb_pipeline.flow.build import build_article
from kb_pipeline.flow.layers import LAYER_NAMES, Run
from kb_pipeline.flow.publish import publish
from kb_pipeline.flow.workspace import Workspace
from kb_pipeline.settings import Settings
from kb_pipeline_tests.pictures import screenshot


def searching(
    folder: Path, articles: Mapping[str, str], pictures: Mapping[str, str] | None = None, **settings: Any
) -> Iterator[Retrieval]:
    """Yield the search of these articles, by article id; ``pictures`` names the one picture of an article."""
    for article_id, html in articles.items():
        staged = folder / "staging" / article_id
        staged.mkdir(parents=True)
        (staged / "index.html").write_text(f"<html><body><main>{html}</main></body></html>")
        if picture := (pictures or {}).get(article_id):
            (staged / f"{picture}.png").write_bytes(screenshot(picture, size=(320, 120)))
    made = Settings(staging=str(folder / "staging"), home=str(folder / "home"), embedder="hashing", **settings)
    run = Run("run-1", "2026-01-01T00:00:00+00:00")
    workspace = Workspace(made)
    publish(workspace, [build_article(made, each, LAYER_NAMES, run) for each in articles], LAYER_NAMES, run)
    retrieval = Retrieval(workspace)
    yield retrieval
    retrieval.close()
