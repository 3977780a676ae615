"""A long document is published without the pages that could not be read, and says which these are."""

from pathlib import Path

import pytest

from kb_pipeline.flow.layers.serving_article import load_manifest
from kb_pipeline.flow.workspace import Workspace
from kb_pipeline.records import PageInfo
from kb_pipeline.settings import Settings
from kb_pipeline.sources import Source, SourceDocument
from kb_pipeline.sources.base import page_element
from kb_pipeline.store.state import load_state
from kb_pipeline.upkeep.status import overview
from kb_pipeline_tests.conftest import Build
from kb_pipeline_tests.steps.chunk.articles import sentence


class Forgetful(Source):
    """Reads a manual of 25 pages, and loses the words of the twelfth."""

    version = "forgetful-1"

    def read(self, article_id: str, name: str, data: bytes) -> SourceDocument:
        texts = {page: sentence(f"p{page}x", 80) for page in range(1, 26)}
        read = {page: "" if page == 12 else f"<h2>Chapter {page}</h2><p>{text}</p>" for page, text in texts.items()}
        html = "<h1>Manual</h1>" + "".join(page_element(page) + text for page, text in read.items())
        return SourceDocument(html, pages=tuple(PageInfo(number=page) for page in texts), control=texts)


@pytest.fixture(autouse=True)
def manual(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    (Path(settings.staging) / "manual.pdf").write_bytes(b"%PDF-1.7")
    monkeypatch.setattr(Workspace, "source_of", lambda *_, **__: Forgetful())


def test_the_article_its_manifest_and_the_status_name_the_page(settings: Settings, build_here: Build) -> None:
    assert build_here()["manual.pdf"].error is None
    layout = Workspace(settings).layout
    folder = layout.serving_root / "manual.pdf"
    assert "<!-- page 12 -->\n\n*Page 12 could not be read completely." in (folder / "article.md").read_text()
    manifest = load_manifest(folder)
    assert [page.number for page in manifest.pages if page.read_by == "unread"] == [12]
    assert manifest.warnings == ("page 12 could not be read completely, so that words of it are missing",)
    failed = overview([load_state(layout, "manual.pdf")]).checks["pages_are_read"].failed
    assert failed["manual.pdf"].message.startswith("1 page not read completely: '12'.")


def test_a_document_that_is_not_longer_than_the_setting_fails(build_here: Build) -> None:
    error = str(build_here(unread_pages_above=25)["manual.pdf"].error)
    assert "1 page incomplete: '12: 80 of 80 words lost: " in error
