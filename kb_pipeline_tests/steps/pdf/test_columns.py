"""Columns are read one after the other."""

from kb_pipeline_tests.steps.pdf.sheet_of_paper import WIDE, Paper, html_of

LEFT = "words of the column on the left here"
RIGHT = "lines of the other one on the right"


def columns(paper, top):
    for x, text in ((50, LEFT), (310, RIGHT)):
        for number in range(8):
            paper.line(f"{number} {text}", x, y=top + 12 * number)
    return paper


def test_two_columns():
    html = html_of(columns(Paper().lines(WIDE), 140))
    assert html.index(WIDE) < html.index(f"0 {LEFT}") < html.index(f"7 {LEFT}") < html.index(f"0 {RIGHT}")


def test_a_sentence_goes_on_in_the_next_column():
    assert html_of(columns(Paper(), 100)).count("<p>") == 1


def test_cells_are_no_columns():
    paper = Paper()
    for number in range(8):
        paper.line(f"name {number}", 50, y=100 + 12 * number).line(f"size {number}", 310, y=100 + 12 * number)
    assert "<table>" in html_of(paper)


def test_short_lines_are_columns_if_the_text_has_one_side_after_the_other():
    paper = Paper()
    for x, name in ((50, "key"), (310, "other")):
        for number in range(8):
            paper.line(f"{name} {number}", x, y=100 + 12 * number)
    html = html_of(paper)
    assert "<table>" not in html
    assert html.index("key 7") < html.index("other 0")
