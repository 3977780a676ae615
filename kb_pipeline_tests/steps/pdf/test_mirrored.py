"""Pages from right to left: lists, columns of tables and paragraphs are those of a page seen in a mirror."""

from kb_pipeline.steps.pdf.model import Box, Drawing, Style
from kb_pipeline_tests.steps.pdf.sheet_of_paper import WIDTH, Paper, html_of, width_of

LOOK = Style(font="Text", size=10.0)


def line(paper: Paper, text: str, right: float = 550, gap: float = 14) -> Paper:
    """Write words from right to left."""
    paper.y += gap
    for word in text.split():
        paper.put(word, right - width_of(word, LOOK), paper.y, LOOK)
        right -= width_of(word + " ", LOOK)
    return paper


def test_words_keep_their_order() -> None:
    assert html_of(line(Paper(), "שלום לכל העולם")) == "<p>שלום לכל העולם</p>"


def test_bullets_that_are_drawn_on_the_right_make_a_list() -> None:
    paper = Paper()
    for text in ("בדיקת המתג", "החלפת הכבל"):
        line(paper, text, 530)
        paper.drawings.append(Drawing(Box(536, paper.y - 5, 540, paper.y - 1), filled=True))
    assert html_of(paper) == "<ul><li><p>בדיקת המתג</p></li><li><p>החלפת הכבל</p></li></ul>"


def test_the_first_column_of_a_table_is_the_one_on_the_right() -> None:
    paper = Paper()
    for cells in (("פריט", "כמות", "מחיר"), ("מתג", "12", "480"), ("כבל", "7", "25")):
        line(paper, cells[0])
        for number, cell in enumerate(cells[1:], 1):
            line(paper, cell, 550 - 160 * number, gap=0)
    html = html_of(paper)
    assert "<td>פריט</td><td>כמות</td><td>מחיר</td>" in html
    assert "<td>מתג</td><td>12</td><td>480</td>" in html


def test_a_page_with_a_few_words_from_right_to_left_is_read_from_the_left() -> None:
    paper = Paper().line("The word for peace is").line("a greeting, too: שלום", 50)
    assert html_of(paper).endswith("too: שלום</p>")
    assert WIDTH > 550


def test_a_line_from_right_to_left_on_a_page_from_the_left_begins_on_the_right() -> None:
    paper = Paper().line("The key of this device is on its left side, and it is green").line("", 50)
    line(paper, "ליד נמצא הנתב", 550)
    place = min(word.box.left for word in paper.words[-3:]) - width_of(" X7", LOOK)
    paper.put("Router", place - width_of("Router ", LOOK), paper.y, LOOK)
    paper.put("X7", place, paper.y, LOOK)
    assert html_of(paper).endswith("ליד נמצא הנתב Router X7</p>")
