"""What every analyzer promises about images; a new one joins ``ANALYZERS`` and thereby this suite."""

import io
import pickle
from collections.abc import Iterator

import pytest
from PIL import Image

from kb_pipeline.analyzers import ANALYZERS, Analyzer, open_analyzer
from kb_pipeline.errors import ImageError
from kb_pipeline.settings import Settings
from kb_pipeline_tests.contracts.services import services_of
from kb_pipeline_tests.pictures import DIALOG, encode, screenshot


@pytest.fixture(scope="module", params=sorted(ANALYZERS))
def analyzer(request: pytest.FixtureRequest) -> Iterator[Analyzer]:
    with services_of(request.param) as settings:
        yield open_analyzer(Settings(**{"analyzer": request.param} | settings))


@pytest.mark.slow("builds a whole knowledge base")
def test_the_text_of_a_screenshot_is_in_its_description(analyzer: Analyzer) -> None:
    description = analyzer.describe(screenshot("Invite a member", "Save changes", size=DIALOG))
    assert "Invite a member" in description.description
    assert "Save changes" in description.ui_elements


@pytest.mark.slow("builds a whole knowledge base")
def test_a_breadcrumb_is_the_navigation_path(analyzer: Analyzer) -> None:
    assert analyzer.describe(screenshot("Settings > Members", size=DIALOG)).navigation_path == ("Settings", "Members")


def test_a_picture_without_text_is_described_all_the_same(analyzer: Analyzer) -> None:
    description = analyzer.describe(encode(Image.new("RGB", (200, 100), "white")))
    assert description.description
    assert description.ui_elements == description.navigation_path == ()


@pytest.mark.parametrize("size", [(1, 1), (3, 90), (90, 3), (41, 41)])
def test_any_size_is_described(analyzer: Analyzer, size: tuple[int, int]) -> None:
    assert analyzer.describe(encode(Image.new("RGB", size, "white"))).description


@pytest.mark.slow("builds a whole knowledge base")
def test_transparent_parts_count_as_white(analyzer: Analyzer) -> None:
    text = Image.open(io.BytesIO(screenshot("Save changes", size=DIALOG))).convert("L")
    image = Image.new("RGBA", text.size, (0, 0, 0, 0))
    image.putalpha(text.point(lambda value: 255 - value))
    assert "Save changes" in analyzer.describe(encode(image)).description


@pytest.mark.slow("builds a whole knowledge base")
def test_equal_images_have_equal_descriptions(analyzer: Analyzer) -> None:
    assert analyzer.describe(screenshot("Save changes", size=DIALOG)) == analyzer.describe(
        screenshot("Save changes", size=DIALOG)
    )


def test_what_is_no_image_is_refused(analyzer: Analyzer) -> None:
    with pytest.raises(ImageError):
        analyzer.describe(b"GIF89a but not really")


def test_names_of_implementation_and_version_are_given(analyzer: Analyzer) -> None:
    assert all((analyzer.name, analyzer.converter, analyzer.image_model, analyzer.prompt_version))


def test_travels_to_another_process(analyzer: Analyzer) -> None:
    assert type(pickle.loads(pickle.dumps(analyzer))) is type(analyzer)
