"""Background and frame of a line are found in the pixels around it."""

import numpy as np
import pytest
from PIL import Image, ImageDraw

from kb_pipeline.steps.describe import OcrLine, OcrWord, PixelBox, surrounded

GREY, WHITE, BLACK = (230, 230, 230), (255, 255, 255), (0, 0, 0)
TEXT = OcrLine("Save", 0.99, 60, 40, 100, 54)


def seen(*shapes: tuple[tuple[int, int, int, int], tuple[int, int, int]], line: OcrLine = TEXT) -> OcrLine:
    """The line on a grey picture with outlined rectangles; the text is three strokes."""
    image = Image.new("RGB", (240, 120), GREY)
    draw = ImageDraw.Draw(image)
    for box, colour in shapes:
        draw.rectangle(box, fill=colour, outline=BLACK)
    for x in (64, 76, 88):
        draw.line((x, 43, x, 51), fill=BLACK)
    (found,) = surrounded([line], np.asarray(image))
    return found


def test_text_without_a_frame_has_the_colour_of_the_picture() -> None:
    assert (seen().ground, seen().frame) == (GREY, None)


def test_a_button_is_the_frame_around_its_text() -> None:
    found = seen(((50, 34, 110, 60), WHITE))
    assert found.ground == WHITE
    assert found.frame == PixelBox(50, 34, 110, 60)


def test_a_field_is_wider_than_its_text() -> None:
    assert seen(((50, 34, 220, 60), WHITE)).frame == PixelBox(50, 34, 220, 60)


def test_a_card_around_a_text_is_too_far_away_to_be_its_frame() -> None:
    assert seen(((10, 5, 220, 110), WHITE)).frame is None


def test_the_space_between_two_edges_is_no_frame_if_the_text_is_not_in_its_middle() -> None:
    assert seen(((0, 20, 239, 58), WHITE)).frame is None


def test_the_space_above_a_field_is_no_frame() -> None:
    field = OcrLine("Save", 0.99, 60, 62, 100, 76)
    image = Image.new("RGB", (240, 120), GREY)
    draw = ImageDraw.Draw(image)
    draw.rectangle((5, 34, 230, 110), fill=WHITE, outline=BLACK)
    draw.rectangle((50, 60, 220, 80), fill=WHITE, outline=BLACK)
    label, value = surrounded([TEXT, field], np.asarray(image))
    assert label.frame is None
    assert value.frame == PixelBox(50, 60, 220, 80)


def test_the_items_of_a_menu_bar_have_backgrounds_of_their_own() -> None:
    bar = OcrLine("A B C", 0.99, 0, 0, 150, 10, (OcrWord("A", 0, 10), OcrWord("B", 60, 80), OcrWord("C", 140, 150)))
    image = Image.new("RGB", (160, 10), WHITE)
    ImageDraw.Draw(image).rectangle((50, 0, 100, 10), fill=BLACK)
    assert [item.ground for item in surrounded([bar], np.asarray(image))] == [WHITE, BLACK, WHITE]


@pytest.mark.parametrize("box", [(-5, -5, 4, 4), (230, 110, 300, 200), (10, 10, 10, 10), (300, 300, 310, 310)])
def test_a_box_at_or_beyond_the_edge_does_no_harm(box: tuple[int, int, int, int]) -> None:
    assert seen(line=OcrLine("x", 0.5, *box)).text == "x"
