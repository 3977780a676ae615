"""Tables of contents and indexes lead to pages; an article has headings."""

from kb_pipeline.steps.pdf.study import study
from kb_pipeline_tests.steps.pdf.sheet_of_paper import WIDE, Paper, html_of


def contents(paper):
    paper.line("Contents", bold=True, size=16.0)
    for number, title in enumerate(("Roads", "Bridges", "Ships", "Trains", "Planes"), 1):
        paper.line(f"{number} {title} " + ". " * 30 + str(number * 7), gap=1.5)
    return paper


def test_a_page_of_leaders_is_left_out_with_its_title():
    html = html_of(contents(Paper(1)), Paper(2).lines(WIDE))
    assert "Roads" not in html
    assert "Contents" not in html


def test_pages_with_contents_are_known():
    known = study([contents(Paper(1)).page(), Paper(2).lines(WIDE).page()])
    assert known.contents == [1]
    assert "Bridges" in known.left_out(1)


def test_text_below_the_contents_stays():
    assert WIDE in html_of(contents(Paper(1)).lines(WIDE))


def test_an_ellipsis_is_no_leader():
    paper = Paper().lines("s = struct (one, two, . . .)").lines("t = struct (. . .)").lines("u = list (. . .)")
    assert "struct (one" in html_of(paper)


def test_an_index_in_columns_is_left_out():
    paper = Paper(2).line("Index", bold=True, size=16.0)
    for number in range(12):
        paper.line(f"entry{'abcdefghijkl'[number]}, {number + 3}, {number + 20}").line(
            f"other, {number + 9}", 320, paper.y
        )
    assert "entry" not in html_of(Paper(1).lines(WIDE), paper)
