"""Which figures of a structure tree are drawn from their pages, and which parts of the pages they are."""

from collections.abc import Mapping

import pytest

from kb_pipeline.steps.pdf.figures import Region
from kb_pipeline.steps.pdf.model import Box, Page, Style, Word
from kb_pipeline.steps.pdf.tagged import Content, Element
from kb_pipeline.steps.pdf.tagged_figures import Place, pages_of_figures, tagged_figures

SHAPE = Box(100, 100, 300, 160)


def word(text: str, mcid: int, left: float = 120, top: float = 120) -> Word:
    return Word(text, Box(left, top, left + 6 * len(text), top + 10), top + 8, Style(mcid=mcid))


def figure(*children: Element | Content, alt: str = "", kind: str = "Figure") -> Element:
    return Element(kind, alt, children=dict(enumerate(children)))


def found(
    root: Element, *words: Word, painted: Mapping[Place, Box] | None = None, image: Region | None = None
) -> list[Region]:
    page = Page(1, 600, 800, words)
    images = {1: [image]} if image else {}
    return tagged_figures([root], {1: page}, {(1, 0): SHAPE} if painted is None else painted, images).get(1, [])


def test_the_box_holds_shapes_and_words() -> None:
    (region,) = found(figure(Content(1, 0), Content(1, 1)), word("Pressure", 1, left=290))
    assert region.box == Box(100, 100, 338, 160)
    assert region.mcids == (0, 1)
    assert region.scale == 150 / 72


def test_it_ends_where_the_page_does() -> None:
    (region,) = found(figure(Content(1, 0)), painted={(1, 0): Box(-50, 700, 300, 900)})
    assert region.box == Box(0, 700, 300, 800)


def test_a_caption_is_outside() -> None:
    caption = figure(Content(1, 1), kind="Caption")
    (region,) = found(figure(Content(1, 0), caption), word("Figure", 1, top=300))
    assert (region.box, region.mcids) == (SHAPE, (0,))


def test_each_figure_inside_of_one_is_drawn_by_itself() -> None:
    other = Box(100, 200, 300, 260)
    both = figure(figure(Content(1, 0)), figure(Content(1, 1)))
    assert [region.box for region in found(both, painted={(1, 0): SHAPE, (1, 1): other})] == [SHAPE, other]


def test_one_with_shapes_around_others_is_drawn_whole() -> None:
    around = Box(90, 90, 400, 300)
    (region,) = found(figure(Content(1, 1), figure(Content(1, 0))), painted={(1, 0): SHAPE, (1, 1): around})
    assert (region.box, region.mcids) == (around, (1, 0))


@pytest.mark.parametrize("says", ["", "The pressure rises"])
def test_words_without_shapes_are_a_picture_if_the_author_says_what_it_shows(says: str) -> None:
    words = word("low", 0, top=100), word("high", 0, left=300, top=300)
    assert bool(found(figure(Content(1, 0), alt=says), *words, painted={})) is bool(says)


def test_an_image_alone_is_not_drawn_again() -> None:
    image = Region(SHAPE, 3.0, (0,))
    assert not found(figure(Content(1, 0)), image=image)


def test_an_image_with_words_on_it_is_drawn_with_them_as_fine_as_it_is() -> None:
    image = Region(SHAPE, 3.0, (0,))
    (region,) = found(figure(Content(1, 0), Content(1, 1)), word("valve", 1), painted={}, image=image)
    assert (region.box, region.scale) == (SHAPE, 3.0)


@pytest.mark.parametrize(
    "box", [pytest.param(Box(10, 10, 34, 34), id="an icon"), pytest.param(Box(0, 0, 600, 790), id="the whole page")]
)
def test_some_drawings_are_no_figures(box: Box) -> None:
    assert not found(figure(Content(1, 0)), painted={(1, 0): box})


def test_only_pages_with_figures_have_to_be_looked_at() -> None:
    tree = figure(figure(Content(2, 0), kind="P"), figure(Content(3, 0)), kind="Document")
    assert pages_of_figures([tree]) == {3}
