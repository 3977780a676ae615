"""Articles are printed by a real browser, read by a service from the print, and made whole from their HTML."""

import sys
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb_pipeline.analyzers import open_analyzer
from kb_pipeline.analyzers.read_by_service import share_read
from kb_pipeline.errors import ArticleError, MissingExtraError, ServiceError, SettingsError
from kb_pipeline.records import ConvertedArticle, ImageInfo
from kb_pipeline.services.usage import metering
from kb_pipeline.settings import Settings
from kb_pipeline.steps.html import convert_html
from kb_pipeline.steps.images.probe import probe_image
from kb_pipeline.steps.markers import find_markers
from kb_pipeline_tests.mistral_reader import recognised_lines
from kb_pipeline_tests.mistral_service import Answer, document_service, mistral_service
from kb_pipeline_tests.pictures import DIALOG, screenshot

pytestmark = pytest.mark.slow("prints pages with a browser")

SAMPLES = Path(__file__).parents[3] / "samples" / "staging"


@pytest.fixture(scope="module")
def values() -> Iterator[dict[str, Any]]:
    with mistral_service() as values:
        yield values


def images_of(article_id: str) -> dict[str, ImageInfo]:
    return {file.name: probe_image(file.name, file.read_bytes()) for file in (SAMPLES / article_id).glob("*.image")}


def convert(values: dict[str, Any], article_id: str) -> ConvertedArticle:
    html = (SAMPLES / article_id / "index.html").read_bytes()
    return open_analyzer(Settings(**values)).convert(article_id, html, images_of(article_id))


def markers(converted: ConvertedArticle) -> list[str]:
    return [marker.file for marker in find_markers(converted.markdown)]


@pytest.mark.browser
def test_an_article_is_printed_read_and_restored(values: dict[str, Any]) -> None:
    article_id = "users-and-permissions"
    with metering() as used:
        converted = convert(values, article_id)
    local = convert_html(article_id, (SAMPLES / article_id / "index.html").read_bytes(), images_of(article_id))
    assert markers(converted) == markers(local)
    assert (converted.title, converted.images, converted.unplaced_images) == (local.title, local.images, 0)
    assert "| Administrator |" in converted.markdown
    assert [usage.pages for usage in used] == [3]


@pytest.mark.browser
def test_places_of_images_survive_recognition_of_the_printed_pixels() -> None:
    with mistral_service(recognised_lines) as values:
        converted = convert(values, "sla-policies")
    article = SAMPLES / "sla-policies" / "index.html"
    local = convert_html("sla-policies", article.read_bytes(), images_of("sla-policies"))
    assert markers(converted) == markers(local)
    assert converted.unplaced_images == 0


@pytest.mark.browser
@pytest.mark.parametrize(("kept", "problem"), [(0.8, None), (0.3, ServiceError)])
def test_text_that_was_passed_over_is_told(kept: float, problem: type[Exception] | None) -> None:
    def shorten(answer: Answer) -> None:
        for page in answer["pages"]:
            page["markdown"] = page["markdown"][: int(kept * len(page["markdown"]))]

    with document_service() as service, pytest.raises(problem) if problem else nullcontext():
        service.changes.append(shorten)
        values = service.settings | {"openai_api_key": "unused"}
        converted = convert(values, "sla-policies")
        assert [line for line in converted.warnings if "of the article's text" in line]


@given(st.text(min_size=9, max_size=200))
def test_what_was_read_completely_is_read_to_the_whole(text: str) -> None:
    assert share_read(text, [text]) == 1.0
    assert share_read(text, [text[:4], text[4:]]) == 1.0


def test_spaces_and_marks_do_not_matter_and_lost_lines_do() -> None:
    article = "# Cut\n\nUse the [menu](menu.html#cut).\n\nThen *save* the file."
    assert share_read(article, ["Cut Use themenu. Then save the file."]) == 1.0
    assert 0.4 < share_read(article, ["Cut", "", "Then save the file."]) < 0.7
    assert share_read(article, [""]) == 0.0


def test_an_article_of_images_alone_has_no_text_to_miss() -> None:
    assert share_read("[[IMG:a%20long%20name.image]]\n\n[[IMG:b.image]]", ["[[IMG:1-a-long.image]]", ""]) == 1.0


@pytest.mark.browser
def test_a_page_of_three_words_and_an_image_show_whether_it_works(values: dict[str, Any]) -> None:
    with metering() as used:
        assert open_analyzer(Settings(**values)).check() == "mistral-document-ai-2512 and gpt-4.1 answer"
    assert [(usage.model, usage.calls, usage.pages) for usage in used] == [
        ("mistral-document-ai-2512", 1, 1),
        ("gpt-4.1", 1, 0),
    ]


def test_what_is_no_article_is_neither_printed_nor_paid_for(values: dict[str, Any]) -> None:
    with metering() as used, pytest.raises(ArticleError):
        open_analyzer(Settings(**values)).convert("page", b"<body><nav>Menu</nav></body>", {})
    assert used == []


def test_images_are_described_by_the_vision_model(values: dict[str, Any]) -> None:
    analyzer = open_analyzer(Settings(**values))
    assert "Save changes" in analyzer.describe(screenshot("Invite a member", "Save changes", size=DIALOG)).ui_elements


def test_model_and_version_are_part_of_its_name(values: dict[str, Any]) -> None:
    ours = open_analyzer(Settings(**values))
    other = open_analyzer(Settings(**values, mistral_model="mistral-document-ai-2505", vision_model="gpt-5"))
    assert ours.converter.startswith("mistral-doc-ai-mistral-document-ai-2512-1")
    assert (ours.image_model, other.image_model) == ("gpt-4.1", "gpt-5")
    assert ours.converter != other.converter
    assert (ours.convert_pool, ours.describe_pool) == ("mistral", "openai")


@pytest.mark.parametrize("missing", ["mistral_endpoint", "openai_azure_endpoint"])
def test_opening_needs_both_addresses(values: dict[str, Any], missing: str) -> None:
    without = {key: value for key, value in values.items() if key != missing and key != "openai_api_key"}
    with pytest.raises(SettingsError, match=f"KB_{missing.upper()}"):
        open_analyzer(Settings(**without))


@pytest.mark.parametrize("package", ["mistralai", "playwright", "pypdf"])
def test_a_missing_package_names_the_extra(
    values: dict[str, Any], monkeypatch: pytest.MonkeyPatch, package: str
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtraError, match=r"pip install 'kb-pipeline\[azure\]'"):
        open_analyzer(Settings(**values))
