"""Text from top to bottom: which pages are read so."""

from kb_pipeline.steps.pdf.model import Box, Page, Style, Word
from kb_pipeline.steps.pdf.vertical import is_vertical, vertical_letters
from kb_pipeline_tests.steps.pdf.sheet_of_paper import Paper, html_of

SIZE = 10.0


def column(text: str, x: float, *, rotation: int = 0) -> list[Word]:
    """Letters below each other, each a word of its own, as browsers place them."""
    boxes = [Box(x, 100 + SIZE * at, x + SIZE, 110 + SIZE * at) for at in range(len(text))]
    style = Style(size=SIZE, rotation=rotation)
    return [
        Word(letter, box, box.bottom - 2, style, glued=at > 0)
        for at, (letter, box) in enumerate(zip(text, boxes, strict=True))
    ]


def paper(*words: Word) -> Paper:
    return Paper(words=list(words))


def page(*words: Word) -> Page:
    return paper(*words).page()


FIRST, SECOND = "むかしむかしあるところに", "おじいさんがいました"


def test_columns_follow_each_other_from_right_to_left():
    assert html_of(paper(*column(SECOND, 486), *column(FIRST, 500))) == f"<p>{FIRST}{SECOND}</p>"


def test_a_word_as_high_as_its_letters_is_a_column():
    assert vertical_letters(page(Word(FIRST, Box(500, 100, 510, 220), 108, Style(size=SIZE)))) == len(FIRST)


def test_lines_beside_each_other_are_none():
    lines = [Word(text, Box(50, y, 50 + SIZE * len(text), y + SIZE), y + 8, Style(size=SIZE)) for text, y in LINES]
    assert vertical_letters(page(*lines)) == 0


LINES = ((FIRST, 100.0), (SECOND, 112.0))


def test_the_head_of_a_narrow_column_is_none():
    assert vertical_letters(page(*column("備考", 500))) == 0


def test_letters_of_other_scripts_are_none():
    assert vertical_letters(page(*column("ABCDEFGHIJKL", 500))) == 0


def test_a_page_with_some_of_it_is_read_in_lines():
    text = FIRST * 4
    line = Word(text, Box(50, 300, 50 + SIZE * len(text), 310), 308, Style(size=SIZE))
    mixed = page(*column(FIRST, 500), line)
    assert vertical_letters(mixed) > 0
    assert not is_vertical(mixed)
