"""Which parts of a page are figures."""

from kb_pipeline.steps.pdf.figures import Raster, figure_regions, repeated
from kb_pipeline.steps.pdf.model import Box, Drawing, Page, Style, Word

SHEET = Page(1, 600, 800, (Word("text", Box(50, 50, 80, 60), 58, Style()),))


def raster(box: Box, width: int = 400, height: int = 300, mcid: int = -1) -> Raster:
    return Raster(box, width, height, mcid, (width, height, 1))


def test_an_image_is_a_figure_with_its_own_pixels() -> None:
    (region,) = figure_regions(SHEET, [raster(Box(100, 100, 300, 250))])
    assert region.box == Box(100, 100, 300, 250)
    assert region.scale == 2


def test_icons_are_none() -> None:
    assert not figure_regions(SHEET, [raster(Box(100, 100, 300, 250), 32, 32), raster(Box(100, 100, 110, 110))])


def test_a_picture_behind_the_whole_page_is_none() -> None:
    assert not figure_regions(SHEET, [raster(Box(0, 0, 600, 800))])


def test_images_beside_one_another_are_two() -> None:
    assert len(figure_regions(SHEET, [raster(Box(100, 100, 200, 200)), raster(Box(202, 110, 300, 220))])) == 2


def test_slices_of_an_image_are_one() -> None:
    slices = [raster(Box(100, 100 + 50 * place, 300, 150 + 50 * place)) for place in range(4)]
    (region,) = figure_regions(SHEET, slices)
    assert region.box == Box(100, 100, 300, 300)


def test_curves_that_touch_are_a_drawing_with_its_axes() -> None:
    curves = [Drawing(Box(100, 100 + 20 * place, 300, 140 + 20 * place), curved=True) for place in range(4)]
    axis = Drawing(Box(98, 90, 98, 220))
    (region,) = figure_regions(Page(1, 600, 800, SHEET.words, drawings=(*curves, axis)), [])
    assert region.box == Box(98, 90, 300, 220)


def test_a_frame_around_text_is_none() -> None:
    words = tuple(Word("word", Box(105, 105 + 6 * place, 295, 111 + 6 * place), 0, Style()) for place in range(15))
    corners = (Drawing(Box(100, 100, 300, 200), curved=True),) * 4
    assert not figure_regions(Page(1, 600, 800, words, drawings=corners), [])


def test_the_lines_of_a_table_are_none() -> None:
    lines = tuple(Drawing(Box(100, 100 + 20 * place, 300, 100 + 20 * place)) for place in range(9))
    assert not figure_regions(Page(1, 600, 800, SHEET.words, drawings=lines), [])


def test_what_stands_at_the_same_place_of_many_pages_is_an_ornament() -> None:
    logo = [region.key for region in figure_regions(SHEET, [raster(Box(500, 20, 560, 60))])]
    example = [region.key for region in figure_regions(SHEET, [raster(Box(100, 100, 300, 250))])]
    assert repeated([logo, logo, logo, example], 4) == {logo[0]}


def test_the_same_image_elsewhere_is_content() -> None:
    tops = (100, 200, 300)
    keys = [[region.key for region in figure_regions(SHEET, [raster(Box(100, top, 300, top + 150))])] for top in tops]
    assert not repeated(keys, 3)
