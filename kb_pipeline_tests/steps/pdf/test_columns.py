"""Columns are read one after the other."""

from kb_pipeline_tests.steps.pdf.sheet_of_paper import WIDE, Paper, html_of

LEFT = "words of the column on the left here"
RIGHT = "lines of the other one on the right"


def test_two_columns():
    paper = Paper().lines(WIDE)
    top = paper.y + 20
    for number in range(8):
        paper.line(f"{number} {LEFT}", 50, y=top + 12 * number).line(f"{number} {RIGHT}", 310, y=top + 12 * number)
    html = html_of(paper)
    assert html.index(f"7 {LEFT}") < html.index(f"0 {RIGHT}")
    assert html.index(WIDE) < html.index(f"0 {LEFT}")


def test_a_sentence_goes_on_in_the_next_column():
    paper = Paper()
    for number in range(8):
        paper.line(LEFT, 50, y=100 + 12 * number).line(RIGHT, 310, y=100 + 12 * number)
    assert html_of(paper).count("<p>") == 1


def test_cells_are_no_columns():
    paper = Paper()
    for number in range(8):
        paper.line(f"name {number}", 50, y=100 + 12 * number).line(f"size {number}", 310, y=100 + 12 * number)
    assert "<table>" in html_of(paper)
