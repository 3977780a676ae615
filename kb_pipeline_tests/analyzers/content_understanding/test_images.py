"""Images are described by the fields of our own analyzer."""

import io
from typing import Any

import pytest
from PIL import Image

from kb_pipeline.analyzers.base import Analyzer
from kb_pipeline.analyzers.content_understanding.analyzer import DEFINITION
from kb_pipeline.errors import ImageError
from kb_pipeline.records import ImageDescription
from kb_pipeline.steps.describe.image_fields import IMAGE_FIELDS
from kb_pipeline_tests.analyzers.content_understanding.material import MENU, WHITE, failing, spoilt_field
from kb_pipeline_tests.content_understanding_service import ContentUnderstandingService
from kb_pipeline_tests.pictures import DIALOG, encode, screenshot


def test_fields_become_a_description(analyzer: Analyzer) -> None:
    found = analyzer.describe(screenshot("Settings > Members", size=DIALOG))
    assert found.navigation_path == ("Settings", "Members")
    assert "Members" in found.description
    assert "Reset password" in analyzer.describe(MENU).ui_elements


@pytest.mark.parametrize("size", [(1, 1), (3, 90), (10_400, 60)])
def test_images_are_made_to_fit_the_service(
    service: ContentUnderstandingService, analyzer: Analyzer, size: tuple[int, int]
) -> None:
    assert analyzer.describe(encode(Image.new("RGB", size, "white"))).description
    with Image.open(io.BytesIO(service.bodies[0])) as sent:
        assert 50 <= min(sent.size) <= max(sent.size) <= 10_000


def test_a_navigation_path_in_one_text_is_one_as_well(service: ContentUnderstandingService, analyzer: Analyzer) -> None:
    service.spoil = spoilt_field("NavigationPath", {"type": "string", "valueString": "Settings > Members"})
    assert analyzer.describe(WHITE).navigation_path == ("Settings", "Members")


@pytest.mark.parametrize("field", ["UIElements", "NavigationPath"])
@pytest.mark.parametrize("value", [None, {"type": "array"}, {"type": "array", "valueArray": None}])
def test_a_field_without_value_is_empty(
    service: ContentUnderstandingService, analyzer: Analyzer, field: str, value: Any
) -> None:
    service.spoil = spoilt_field(field, value)
    found = analyzer.describe(WHITE)
    assert found.description
    assert found.ui_elements == found.navigation_path == ()


@pytest.mark.parametrize("value", [None, {"type": "string"}, {"type": "string", "valueString": " \u200b\n"}])
def test_without_description_the_image_is_at_fault(
    service: ContentUnderstandingService, analyzer: Analyzer, value: Any
) -> None:
    service.spoil = spoilt_field("Description", value)
    with pytest.raises(ImageError, match="no description"):
        analyzer.describe(MENU)


def test_what_a_content_filter_refuses_is_the_images_fault(
    service: ContentUnderstandingService, analyzer: Analyzer
) -> None:
    service.spoil = failing("ResourceError", "The response was filtered due to the content management policy.")
    with pytest.raises(ImageError, match="content filter"):
        analyzer.describe(MENU)


def test_text_on_an_image_stays_text(service: ContentUnderstandingService, analyzer: Analyzer) -> None:
    service.spoil = spoilt_field("Description", {"type": "string", "valueString": "A\n# heading\x00 **bold**"})
    assert analyzer.describe(WHITE) == ImageDescription(description="A # heading bold")


def test_the_definition_asks_what_every_model_is_asked() -> None:
    fields = DEFINITION["fieldSchema"]["fields"]
    assert {name: one["description"] for name, one in fields.items()} == {one.name: one.prompt for one in IMAGE_FIELDS}
    assert {name: one["type"] == "array" for name, one in fields.items()} == {
        one.name: one.many for one in IMAGE_FIELDS
    }
    assert {one["method"] for one in fields.values()} == {"generate"}
    assert (DEFINITION["baseAnalyzerId"], DEFINITION["models"]) == ("prebuilt-image", {"completion": "gpt-4.1"})
