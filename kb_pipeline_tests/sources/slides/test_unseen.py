"""What no reader of a slide sees is left out and counted; what may be seen is kept."""

from collections.abc import Callable
from typing import Any

import pytest
from pptx.dml.color import RGBColor
from pptx.enum.dml import MSO_THEME_COLOR
from pptx.util import Pt

from kb_pipeline.sources import SourceDocument, source_of
from kb_pipeline_tests.sources.decks import BLANK, presentation, slide

INCH = 914_400
WHITE, BLACK = RGBColor(255, 255, 255), RGBColor(0, 0, 0)


def read(add: Callable[[Any], None]) -> SourceDocument:
    def build(deck: Any) -> None:
        added = slide(deck, BLANK)
        text_box(added, "Seen.", top=6)
        add(added)

    return source_of("pptx").read("deck", "deck.pptx", presentation(build))


def text_box(on: Any, text: str = "secret", left: float = 1, top: float = 1) -> Any:
    box = on.shapes.add_textbox(round(left * INCH), round(top * INCH), 3 * INCH, INCH)
    box.text_frame.text = text
    return box


def run_of(shape: Any) -> Any:
    return shape.text_frame.paragraphs[0].runs[0]


def hidden(on: Any) -> None:
    text_box(on)._element.nvSpPr.cNvPr.set("hidden", "1")


def beside(on: Any) -> None:
    text_box(on, left=-4)


def below(on: Any) -> None:
    text_box(on, top=7.6)


def in_a_group_beside(on: Any) -> None:
    group = on.shapes.add_group_shape([text_box(on)])
    group.left = 11 * INCH


def in_a_hidden_group(on: Any) -> None:
    on.shapes.add_group_shape([text_box(on)])._element.nvGrpSpPr.cNvPr.set("hidden", "1")


def white(on: Any) -> None:
    run_of(text_box(on)).font.color.rgb = WHITE


def white_of_the_theme(on: Any) -> None:
    run_of(text_box(on)).font.color.theme_color = MSO_THEME_COLOR.BACKGROUND_1


def in_the_colour_of_its_shape(on: Any) -> None:
    box = text_box(on)
    box.fill.solid()
    box.fill.fore_color.rgb = run_color = RGBColor(200, 10, 10)
    run_of(box).font.color.rgb = run_color


def in_the_colour_of_the_slide(on: Any) -> None:
    on.background.fill.solid()
    on.background.fill.fore_color.rgb = BLACK
    run_of(text_box(on)).font.color.rgb = BLACK


def tiny(on: Any) -> None:
    run_of(text_box(on))._r.get_or_add_rPr().set("sz", "50")


def without_fill(on: Any) -> None:
    run_of(text_box(on)).font.fill.background()


@pytest.mark.parametrize(
    "add",
    [
        *(hidden, beside, below, in_a_group_beside, in_a_hidden_group, white, white_of_the_theme),
        *(in_the_colour_of_its_shape, in_the_colour_of_the_slide, tiny, without_fill),
    ],
)
def test_unseen(add: Callable[[Any], None]) -> None:
    found = read(add)
    assert "Seen." in found.html
    assert "secret" not in found.html
    assert found.warnings == ("1 word that readers cannot see was left out",)


def white_on_black(on: Any) -> None:
    box = text_box(on)
    box.fill.solid()
    box.fill.fore_color.rgb = BLACK
    run_of(box).font.color.rgb = WHITE


def white_over_another_shape(on: Any) -> None:
    on.shapes.add_shape(1, 0, 0, 5 * INCH, 5 * INCH)
    white(on)


def white_on_a_dark_slide(on: Any) -> None:
    on.background.fill.solid()
    on.background.fill.fore_color.rgb = BLACK
    white(on)


def white_on_a_gradient(on: Any) -> None:
    on.background.fill.gradient()
    white(on)


def partly_beside(on: Any) -> None:
    text_box(on, left=-2)


def turned_into_the_slide(on: Any) -> None:
    text_box(on, left=-3.1).rotation = 90


def in_a_group_that_is_moved(on: Any) -> None:
    group = on.shapes.add_group_shape([text_box(on, left=-8)])
    group.left = INCH


def small(on: Any) -> None:
    run_of(text_box(on)).font.size = Pt(4)


@pytest.mark.parametrize(
    "add",
    [
        *(white_on_black, white_over_another_shape, white_on_a_dark_slide, white_on_a_gradient),
        *(partly_beside, turned_into_the_slide, in_a_group_that_is_moved, small),
    ],
)
def test_seen(add: Callable[[Any], None]) -> None:
    found = read(add)
    assert "secret" in found.html
    assert not found.warnings
