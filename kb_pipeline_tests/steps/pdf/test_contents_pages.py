"""Tables of contents and indexes lead to pages; an article has headings."""

from kb_pipeline.steps.pdf.study import study
from kb_pipeline_tests.steps.pdf.sheet_of_paper import WIDE, Paper, html_of


def contents(paper):
    paper.line("Contents", bold=True, size=16.0)
    for number, title in enumerate(("Roads", "Bridges", "Ships", "Trains", "Planes"), 1):
        paper.line(f"{number} {title} " + ". " * 30 + str(number * 7), gap=1.5)
    return paper


def chapters():
    paper = Paper(2)
    for title in ("Roads", "Bridges", "Ships", "Trains", "Planes"):
        paper.lines(title, bold=True, size=14.0).lines(WIDE)
    return paper


def test_a_page_of_leaders_is_left_out_with_its_title():
    html = html_of(contents(Paper(1)), chapters())
    assert html.count("Roads") == 1
    assert "Contents" not in html


def test_a_list_of_prices_with_leaders_is_text():
    papers = [Paper(number) for number in (1, 2)]
    for paper in papers:
        paper.line("Menu", bold=True, size=16.0)
        for number in range(20):
            paper.line(f"Dish {paper.number * 20 + number} of the day {'. ' * 30}{number + 7}", gap=1.5)
    html = html_of(*papers)
    assert all(f"Dish {number} of the day" in html for number in range(20, 60))


def test_pages_with_contents_are_known():
    known = study([contents(Paper(1)).page(), chapters().page()])
    assert known.contents == [1]
    assert "Bridges" in known.left_out(1)


def test_text_below_the_contents_stays():
    html = html_of(contents(Paper(1)).lines("The end"), chapters())
    assert "The end" in html
    assert html.count("Roads") == 1


def test_an_ellipsis_is_no_leader():
    paper = Paper().lines("s = struct (one, two, . . .)").lines("t = struct (. . .)").lines("u = list (. . .)")
    assert "struct (one" in html_of(paper)


def test_an_index_in_columns_is_left_out():
    paper = Paper(2).line("Index", bold=True, size=16.0)
    for number in range(12):
        paper.line(f"entry{'abcdefghijkl'[number]}, {number + 3}, {number + 20}").line(
            f"other, {number + 9}", 320, paper.y
        )
    text = Paper(1).lines(*(f"An entry{letter} is no other" for letter in "abcdefghijkl"))
    assert html_of(text, paper).count("entryc") == 1
