"""What OCR reads on scanned pages lies beside the original, so that readers see where a sentence stands."""

from pathlib import Path

import pytest
from PIL import Image

from kb_pipeline.flow import page_reader
from kb_pipeline.flow.layers import Run
from kb_pipeline.flow.layers.serving_article import OCR_LINES, load_manifest
from kb_pipeline.flow.stale import stale_articles
from kb_pipeline.flow.workspace import Workspace
from kb_pipeline.records import PageLines
from kb_pipeline.settings import Settings
from kb_pipeline.steps.describe import OcrLine
from kb_pipeline.steps.fingerprint import sha256
from kb_pipeline.upkeep.reconcile import compare, repair
from kb_pipeline.upkeep.verify import verify
from kb_pipeline.upkeep.versions import pin
from kb_pipeline_tests.conftest import Build
from kb_pipeline_tests.sources.pdfs import Sheet, Text, pdf, text_pdf

SCAN = pdf(Sheet(image=Image.new("RGB", (600, 800), "white")), Sheet([Text("The pump is switched on with the key.")]))
READ = [OcrLine("The pump needs ten", 0.9, 150, 150, 500, 180), OcrLine("minutes to warm up.", 0.9, 150, 190, 500, 220)]


@pytest.fixture
def staged(settings: Settings) -> Path:
    return Path(settings.staging) / "agreement.pdf"


@pytest.fixture
def served(settings: Settings) -> Path:
    return Path(settings.home) / "serving" / "agreement.pdf"


@pytest.fixture
def workspace(settings: Settings) -> Workspace:
    return Workspace(settings)


@pytest.fixture
def published(staged: Path, build_here: Build, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_reader, "recognise", lambda image: READ)
    staged.write_bytes(SCAN)
    assert build_here()["agreement.pdf"].error is None


def test_the_lines_of_scanned_pages_are_published_with_the_original(
    published: None, served: Path, workspace: Workspace
) -> None:
    assert "The pump needs ten minutes to warm up." in (served / "article.md").read_text()
    data = (served / OCR_LINES).read_bytes()
    document = load_manifest(workspace.layout.serving("agreement.pdf")).document
    assert document and document.ocr_lines == sha256(data)
    pages = PageLines.model_validate_json(data).pages
    assert list(pages) == [1], "the other page has its own text"
    assert [" ".join(word for word, _, _ in line.words) for line in pages[1]] == [line.text for line in READ]
    assert compare(workspace).is_good
    assert verify(workspace, "agreement.pdf").problems == ()
    assert stale_articles(workspace) == []


def test_a_document_without_scanned_pages_has_none(
    staged: Path, served: Path, build_here: Build, workspace: Workspace
) -> None:
    staged.write_bytes(text_pdf(("The pump is switched on with the key.",)))
    assert build_here()["agreement.pdf"].error is None
    assert [path.name for path in (served / "document").iterdir()] == ["agreement.pdf"]
    assert "ocr_lines" not in (served / "manifest.json").read_text()


def test_they_go_and_come_back_with_their_version(
    published: None, staged: Path, served: Path, build_here: Build, workspace: Workspace
) -> None:
    before = (served / OCR_LINES).read_bytes()
    staged.write_bytes(text_pdf(("The pump is switched on with the key.",)))
    assert build_here()["agreement.pdf"].error is None
    assert not (served / OCR_LINES).exists()
    pin(workspace, "agreement.pdf", None, Run("rollback", "2026-01-02T00:00:00+00:00"))
    assert build_here()["agreement.pdf"].error is None
    assert (served / OCR_LINES).read_bytes() == before


@pytest.mark.parametrize("place", ["serving", "versions"])
def test_damaged_ones_are_found_and_put_right(published: None, served: Path, workspace: Workspace, place: str) -> None:
    data = (served / OCR_LINES).read_bytes()
    made = Path(str(workspace.layout.version_document("agreement.pdf", sha256(data))))
    damaged = served / OCR_LINES if place == "serving" else made
    damaged.unlink()
    damaged.write_bytes(b"damaged")
    found = verify(workspace, "agreement.pdf").problems
    assert f"{damaged} is not the text of scanned pages that was published" in found[0]
    assert repair(workspace).restored == ("agreement.pdf",)
    assert (served / OCR_LINES).read_bytes() == made.read_bytes() == data
    assert verify(workspace, "agreement.pdf").problems == ()


def test_lines_that_no_version_needs_are_forgotten(
    published: None, staged: Path, build_here: Build, workspace: Workspace
) -> None:
    for key in ("green", "red"):
        staged.write_bytes(text_pdf((f"The pump is switched on with the {key} key.",)))
        assert build_here(keep_versions=1)["agreement.pdf"].error is None
    documents = Path(str(workspace.layout.versions("agreement.pdf"))) / "documents"
    assert len(list(documents.iterdir())) == 2
    assert all(file.read_bytes().startswith(b"%PDF") for file in documents.iterdir())
