"""Which pages need OCR, and what its lines become."""

from dataclasses import replace

import pytest
from PIL import Image

from kb_pipeline.records import PageLine
from kb_pipeline.steps.describe.lines import OcrLine, OcrWord
from kb_pipeline.steps.pdf.figures import Raster
from kb_pipeline.steps.pdf.model import Box, Drawing, Page, Style, Word
from kb_pipeline.steps.pdf.scanned import (
    is_garbled,
    is_scan,
    lines_on_page,
    needs_ocr,
    page_of_lines,
    turn_of,
    turned_back,
    with_text_layer,
)

SCAN = [Raster(Box(0, 0, 600, 800), 1250, 1667)]


def page(text: str = "", *, hidden: bool = False, blank: bool = False, shapes: int = 0) -> Page:
    style = Style(hidden=hidden, blank=blank)
    words = tuple(
        Word(word, Box(50, 20 * place, 100, 20 * place + 10), 0, style) for place, word in enumerate(text.split())
    )
    drawings = (Drawing(Box(50, 50, 60, 60), filled=True),) * shapes
    return Page(1, 600, 800, words, drawings=drawings, text=text)


PROSE = "The pump is switched on with the green key on its left side, and needs ten minutes to warm up then."


def test_text_needs_none() -> None:
    assert not needs_ocr(page(PROSE), [])


def test_a_scan_does() -> None:
    assert needs_ocr(page(), SCAN)


def test_a_scan_with_a_stamp_does() -> None:
    assert needs_ocr(page("Received 7 May"), SCAN)


def test_a_scan_with_a_text_layer_that_can_be_read_does_not() -> None:
    assert not needs_ocr(page(PROSE, hidden=True), SCAN)


def test_a_text_layer_of_single_letters_is_none() -> None:
    assert needs_ocr(page(" ".join("Thepumpisswitchedon"), hidden=True), SCAN)


def test_a_stamp_on_a_scan_does_not_replace_its_text_layer() -> None:
    scan = page(PROSE, hidden=True)
    stamped = replace(scan, words=(*scan.words, *page("KB 0042").words))
    assert not needs_ocr(stamped, SCAN)
    assert is_scan(stamped, SCAN)
    assert [word.style.hidden for word in with_text_layer(stamped).words] == [False] * len(stamped.words)


def test_nor_does_the_line_that_an_archive_prints_below_each_page() -> None:
    scan = page(f"{PROSE} " * 11, hidden=True)
    assert is_scan(replace(scan, words=(*scan.words, *page(PROSE).words)), SCAN)


def test_words_where_the_scan_shows_nothing_are_no_text_layer() -> None:
    assert needs_ocr(page(PROSE, hidden=True, blank=True), SCAN)


def test_text_on_a_picture_of_the_whole_page_is_text() -> None:
    assert not needs_ocr(page(PROSE), SCAN)


def test_letters_drawn_as_outlines_need_it() -> None:
    assert needs_ocr(page(shapes=60), [])


def test_a_blank_page_does_not() -> None:
    assert not needs_ocr(page(shapes=2), [])


@pytest.mark.parametrize(
    ("text", "garbled"),
    [
        (PROSE, False),
        ("Насос включается зелёной клавишей на левой стороне", False),
        ("ポンプは左側の緑色のキーでオンになります。十分間お待ちください。そして水を入れてください。", False),
        ("Pumps ....................................................... 17", False),
        ("1.25 1.37 2.48 17 % 12,00 EUR 1.25 1.37 2.48 17 % 12,00 EUR 7,00", False),
        ("\ue001\ue013\ue044\ue001\ue013\ue044 \ue001\ue013\ue044" * 5, True),
        ("\x01\x02\x03\x04\x05\x06\x07" * 10, True),
        ("\ufffd\ufffd\ufffd", True),
        (
            "".join(
                chr(ord(sign) - 29) if sign > "!" else sign for sign in "Mise à jour 2004. Version 1.35, page 267."
            ),
            True,
        ),
        (f"{PROSE} (\x11 + \x12) / \x13 = \x14", False),  # signs of a font for formulas
    ],
)
def test_text_whose_font_does_not_tell_its_letters_is_garbled(text: str, garbled: bool) -> None:
    assert is_garbled(text) == garbled


def test_lines_of_ocr_become_words_at_their_places() -> None:
    lines = [OcrLine("second line", 0.9, 100, 200, 320, 220), OcrLine("first", 0.9, 100, 150, 200, 170)]
    made = page_of_lines(page(), lines, 2.0)
    assert [word.text for word in made.words] == ["first", "second", "line"]
    assert made.text == "first\r\nsecond line"
    assert made.words[1].box.left == 50
    assert made.words[2].box.right == 160


def test_words_stand_where_ocr_found_them_and_else_where_their_lengths_say() -> None:
    lines = [
        OcrLine("wide i", 0.9, 100, 200, 300, 220, (OcrWord("wide", 100, 250), OcrWord("i", 290, 300))),
        OcrLine("four four", 0.9, 100, 150, 280, 170, (OcrWord("fourfour?", 100, 280),)),
        OcrLine("%&", 0.2, 0, 0, 10, 10),
    ]

    assert lines_on_page(lines, 2.0, 0, 300, 400) == (
        PageLine(top=75, bottom=85, words=(("four", 50, 90), ("four", 100, 140))),
        PageLine(top=100, bottom=110, words=(("wide", 50, 125), ("i", 145, 150))),
    )


def test_what_ocr_is_unsure_of_is_left_out() -> None:
    assert not page_of_lines(page(), [OcrLine("%&", 0.2, 0, 0, 10, 10)], 2.0).words


def recognised(score: float, *, tall: bool = False) -> list[OcrLine]:
    width, height = (20, 200) if tall else (200, 20)
    return [
        OcrLine("The pump is primed.", score, 10, 10 + 300 * place, 10 + width, 10 + 300 * place + height)
        for place in range(3)
    ]


@pytest.mark.parametrize(
    ("lines", "turn"),
    [
        (recognised(0.98), 0),
        (recognised(0.62), 180),
        (recognised(0.98, tall=True), 90),
        (recognised(0.62, tall=True), 270),
        ([], 0),
        ([*recognised(0.98), OcrLine("A label", 0.9, 0, 0, 10, 90)], 0),
    ],
)
def test_lines_tell_how_a_picture_is_turned(lines: list[OcrLine], turn: int) -> None:
    assert turn_of(lines) == turn


@pytest.mark.parametrize("turn", [90, 180, 270])
def test_a_place_on_a_turned_picture_is_found_on_the_page(turn: int) -> None:
    picture = Image.new("L", (300, 400))
    picture.paste(255, (50, 60, 90, 70))
    found = picture.rotate(turn, expand=True).getbbox()
    assert found
    assert turned_back(Box(*found), turn, 300, 400) == (50, 60, 90, 70)


def test_the_words_of_a_page_that_lies_on_its_side_are_marked_one_by_one() -> None:
    lines = [OcrLine("two words", 0.9, 100, 200, 280, 220)]
    assert lines_on_page(lines, 1.0, 90, 300, 400) == (
        PageLine(top=100, bottom=160, words=(("two", 80, 100),)),
        PageLine(top=180, bottom=280, words=(("words", 80, 100),)),
    )
