"""Text is found wherever it stands, at any size of image, and its place is told in the image's own pixels."""

from itertools import pairwise

import pytest
from PIL import Image, ImageDraw, ImageFont

from kb_pipeline.analyzers import local


def page(size: tuple[int, int], *places: tuple[int, int], text: str = "Settings", height: int = 20) -> Image.Image:
    image = Image.new("RGB", size, "white")
    draw = ImageDraw.Draw(image)
    for place in places:
        draw.text(place, text, fill="black", font=ImageFont.load_default(height))
    return image


@pytest.mark.slow("reads text on pictures")
@pytest.mark.parametrize("size", [(120, 40), (400, 300), (1500, 1200)], ids=["enlarged", "enlarged less", "in strips"])
def test_place_is_in_pixels_of_the_image(size: tuple[int, int]) -> None:
    (line,) = local.recognise(page(size, (20, 10)))
    assert line.text == "Settings"
    assert (line.left, line.right) == (pytest.approx(20, abs=10), pytest.approx(98, abs=10))
    assert line.middle == pytest.approx(22, abs=8)


@pytest.mark.slow("reads text on pictures")
def test_lines_on_the_border_of_strips_are_read_once_and_whole() -> None:
    places = [(20 + 150 * (number % 9), 15 + 40 * number) for number in range(29)]
    lines = local.recognise(page((1500, 1200), *places))
    assert [line.text for line in lines] == ["Settings"] * len(places)


def test_no_strip_exceeds_the_memory_bound() -> None:
    for width, height in [(100, 100), (1920, 1080), (1200, 6000), (8000, 90)]:
        strips = list(local._strips(width, height))
        assert strips[0][0] == 0
        assert strips[-1][1] == height
        assert all(end == start for (_, end), (start, _) in pairwise(strips))
        assert max(end - start for start, end in strips) * width <= max(local.STRIP_PIXELS * 1.1, width * 64)


def test_words_have_places_of_their_own() -> None:
    (line,) = local.recognise(page((400, 60), (20, 15), text="Add new member"))
    assert [word.text for word in line.words] == ["Add", "new", "member"]
    assert line.left - 8 <= line.words[0].left < line.words[1].left < line.words[2].right <= line.right + 8


def test_nothing_is_found_on_an_empty_image() -> None:
    assert local.recognise(Image.new("RGB", (300, 200), "white")) == []


@pytest.mark.slow("reads text on pictures")
def test_a_long_tool_bar_is_not_enlarged() -> None:
    (line,) = local.recognise(page((8000, 90), (20, 20)))
    assert line.text == "Settings"
