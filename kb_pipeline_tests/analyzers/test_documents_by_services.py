"""Documents that a service reads itself: pages, pictures and what it leaves out, with both services."""

import io
import shutil
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from pypdf import PdfReader

from kb_pipeline.analyzers.content_understanding.analyzer import PAGE_ANALYZER, ContentUnderstandingAnalyzer
from kb_pipeline.analyzers.mistral.pdf import print_pdf
from kb_pipeline.flow.layers.converted_markdown import load_converted
from kb_pipeline.flow.workspace import Workspace, open_workspace
from kb_pipeline.records import ConvertedArticle
from kb_pipeline.settings import Settings
from kb_pipeline.steps.checks import Control, check_conversion
from kb_pipeline.steps.main_file import format_of
from kb_pipeline.steps.markers import find_markers
from kb_pipeline.steps.pages import split_marks
from kb_pipeline.upkeep.estimate import estimate
from kb_pipeline.upkeep.remove import remove_all
from kb_pipeline_tests.conftest import Article, Build
from kb_pipeline_tests.content_understanding_service import content_understanding_service
from kb_pipeline_tests.mistral_reader import recognised_lines
from kb_pipeline_tests.mistral_service import document_service, mistral_service
from kb_pipeline_tests.openai_server import openai_server
from kb_pipeline_tests.sources.decks import presentation, slide

SAMPLES = Path(__file__).parents[2] / "samples" / "staging"
HANDBOOK = "administrator-handbook.pdf"
WORD = "onboarding-guide.docx"


@contextmanager
def content_understanding() -> Iterator[dict[str, Any]]:
    with content_understanding_service() as running:
        yield running.settings()


@contextmanager
def mistral() -> Iterator[dict[str, Any]]:
    with mistral_service() as values:
        yield values


@pytest.fixture(scope="module", params=[content_understanding, mistral], ids=["content-understanding", "mistral"])
def values(request: pytest.FixtureRequest) -> Iterator[dict[str, Any]]:
    with request.param() as values:
        yield values


def read(values: dict[str, Any], name: str, data: bytes, home: Path) -> ConvertedArticle:
    """The document as a service and the checks have it."""
    workspace = Workspace(Settings(**values, home=str(home), staging=str(SAMPLES)))
    document = workspace.source_of("document", format_of(name), by_ocr=False).read("document", name, data)
    images = {inside: workspace.images.probe(inside, png) for inside, png in document.images.items()}
    converted = workspace.analyzer.convert_document("document", name, data, document, images)
    converted = converted.model_copy(update={"pages": document.pages})
    control = Control(document.control, document.left_out, document.outline)
    assert [check for check in check_conversion(converted, control) if not check.passed] == []
    return converted


def pages_of(converted: ConvertedArticle) -> list[str]:
    paged = split_marks(converted.markdown)
    return [paged.of_page(page_break.page) for page_break in paged.breaks]


def test_a_manual_keeps_its_pages_labels_tables_code_and_pictures(values: dict[str, Any], tmp_path: Path) -> None:
    converted = read(values, HANDBOOK, (SAMPLES / HANDBOOK).read_bytes(), tmp_path)
    pages = pages_of(converted)
    assert [mark.label for mark in split_marks(converted.markdown).breaks] == ["i", "ii", *"123456"]
    assert "| 50 | 4 | 8 GB | 60 GB |" in pages[2]
    assert "wrendesk init --database" in pages[3] and "wrendesk backup --to" in pages[4]
    assert [marker.file for marker in find_markers(pages[5])] == [f"{HANDBOOK}/figure-p6-1.png"]
    assert "Confidential" not in converted.markdown


@pytest.mark.rare("a long document")
@pytest.mark.browser
def test_a_long_pdf_is_read_in_parts_with_all_pages_in_order(tmp_path: Path) -> None:
    chapters = (
        f"<h1>Chapter {number}</h1>" + f"<p>{' '.join(f'word{number}x{place}' for place in range(80))}</p>" * 5
        for number in range(1, 32)
    )
    pdf = print_pdf("".join(chapters))
    count = len(PdfReader(io.BytesIO(pdf)).pages)
    with document_service() as service, openai_server() as vision:
        converted = read(service.settings | vision.settings, "long.pdf", pdf, tmp_path)
    assert service.page_counts == [30, count - 30]
    pages = pages_of(converted)
    assert len(pages) == count
    found = [number for page in pages for number in range(1, 32) if f"word{number}x0 " in page]
    assert list(dict.fromkeys(found)) == list(range(1, 32))


@pytest.mark.slow("prints pages with a browser")
@pytest.mark.parametrize("service", [content_understanding, lambda: mistral_service(recognised_lines)])
def test_a_scan_is_read_by_the_service_alone(service: Any, tmp_path: Path) -> None:
    name = "signed-agreement.pdf"
    with service() as values:
        converted = read(values, name, (SAMPLES / name).read_bytes(), tmp_path)
    (page,) = pages_of(converted)
    assert "two persons who may open such tickets" in page


def test_a_word_file_has_the_pages_of_our_own_reading(tmp_path: Path) -> None:
    name = "onboarding-guide.docx"
    with content_understanding() as values:
        converted = read(values, name, (SAMPLES / name).read_bytes(), tmp_path)
    first, second = pages_of(converted)
    assert "| 3 | Answer the first ticket |" in first
    assert second.startswith("## Access")


def test_hidden_slides_are_not_sent(tmp_path: Path) -> None:
    def hidden(deck: Any) -> None:
        slide(deck, 1, "Salaries", "Nobody may read this").element.set("show", "0")

    deck = presentation(lambda made: slide(made, 1, "Plans", "Answer half of all questions"), hidden)
    with content_understanding_service() as running:
        converted = read(running.settings(), "deck.pptx", deck, tmp_path)
        (sent,) = (body for body in running.bodies if body.startswith(b"PK"))
    assert "Answer half of all questions" in converted.markdown and "Salaries" not in converted.markdown
    assert converted.converter.startswith("content-understanding")
    assert b"Salaries" not in b"".join(_unpacked(sent))


def _unpacked(data: bytes) -> Iterator[bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as container:
        yield from map(container.read, container.namelist())


def test_what_a_service_leaves_out_is_not_lost(tmp_path: Path) -> None:
    name = "quarterly-review.pptx"
    with content_understanding() as values:
        converted = read(values, name, (SAMPLES / name).read_bytes(), tmp_path)
    assert "| August | 388 | 396 |" in converted.markdown
    assert any("read 54% of the text of" in warning for warning in converted.warnings)


def test_a_document_that_the_service_does_not_take_is_converted_by_rules(
    values: dict[str, Any], tmp_path: Path
) -> None:
    text = b"# Notes\n\n> Prices are in euros.\n"
    assert "Prices are in euros." in read(values, "notes.md", text, tmp_path).markdown


@pytest.mark.slow("prints pages with a browser")
def test_a_document_on_its_way_to_readers_is_paid_for_once(settings: Settings, build_here: Build) -> None:
    (Path(settings.staging) / HANDBOOK).write_bytes((SAMPLES / HANDBOOK).read_bytes())
    with document_service() as service, openai_server() as vision:
        values = service.settings | vision.settings
        chosen = {name: getattr(Settings(**values), name) for name in values}
        assert build_here(**chosen)[HANDBOOK].error is None
        shutil.rmtree(Path(settings.home) / "converted")
        assert build_here(**chosen)[HANDBOOK].error is None
        assert service.page_counts == [8]
    converted = load_converted(Workspace(settings).layout, HANDBOOK)
    assert "mistral-doc-ai" in converted.converter and len(converted.pages) == 8


def test_a_better_restorer_is_not_paid_for(
    settings: Settings, article: Article, build_here: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    article("refunds", "<main><h1>Refunds</h1><p>Press Refund, and wait for the mail.</p></main>")
    (Path(settings.staging) / WORD).write_bytes((SAMPLES / WORD).read_bytes())
    with content_understanding_service() as running:
        chosen = running.changes()

        def paid() -> int:
            return len(running.asked("POST", PAGE_ANALYZER))

        assert not any(result.error for result in build_here(**chosen).values())
        assert paid() == 2
        monkeypatch.setattr(ContentUnderstandingAnalyzer, "converter", "content-understanding-of-tomorrow")
        workspace = open_workspace(settings.model_copy(update=chosen))
        assert "converted_markdown" not in {use.layer for use in estimate(workspace, None).models}
        assert not any(result.error for result in build_here(**chosen).values())
        assert paid() == 2
        for article_id in ("refunds", WORD):
            converted = load_converted(workspace.layout, article_id)
            assert converted.converter.endswith("content-understanding-of-tomorrow")
        (Path(settings.staging) / "refunds" / "index.html").write_text(
            "<main><h1>Refunds</h1><p>Press Refund, and be patient.</p></main>"
        )
        assert not any(result.error for result in build_here(**chosen).values())
        assert paid() == 3  # another page is another question
        remove_all(workspace, ["refunds", WORD])
        left = [file for file in Path(settings.home).rglob("*") if file.is_file() and "refunds" in str(file)]
        assert left == []
