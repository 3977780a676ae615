"""What stands on every page is left out, what stands on one is not."""

from kb_pipeline.steps.pdf.furniture import plain
from kb_pipeline.steps.pdf.model import OutlineEntry
from kb_pipeline.steps.pdf.study import study
from kb_pipeline_tests.steps.pdf.sheet_of_paper import WIDE, Paper, html_of


def pages(count, head, foot=None):
    papers = []
    for number in range(1, count + 1):
        paper = Paper(number).line(head(number), y=40)
        paper.y = 100
        paper.lines(WIDE, f"with its own words, {'abcdefghijklmnopqrstuvwxyz'[number - 1] * 5}.")
        if foot:
            paper.line(foot(number), 290, y=770)
        papers.append(paper)
    return papers


def test_a_head_that_repeats_and_a_foot_that_counts():
    html = html_of(*pages(8, lambda n: "The Manual, version 7", lambda n: str(n + 3)))
    assert "Manual" not in html
    assert "<p>11" not in html
    assert html.count("with its own words") == 8


def test_heads_of_left_and_right_pages_that_name_the_section():
    titles = ["Roads", "Bridges", "Ships", "Trains"]
    outline = tuple(OutlineEntry(title, 1, 1 + 3 * number) for number, title in enumerate(titles))
    papers = pages(12, lambda n: f"{n} The Atlas" if n % 2 else f"{titles[(n - 1) // 3]} {n}")
    html = html_of(*papers, outline=outline)
    assert "Atlas" not in html
    assert not any(f"{title} " in html for title in titles)


def test_first_lines_of_the_text_are_no_furniture_though_they_stand_on_one_height():
    papers = [Paper(n, y=60).lines(f"Sentence {'abcdefgh'[n - 1] * 4} begins.", WIDE) for n in range(1, 9)]
    assert html_of(*papers).count("begins.") == 8


def test_what_is_left_out_is_known_by_page():
    papers = pages(8, lambda n: "The Manual, version 7")
    assert study([paper.page() for paper in papers]).left_out(3) == "The Manual, version 7"


def test_a_line_that_says_that_code_goes_on_is_left_out():
    first = Paper(1).lines(WIDE).code("one").line("(continues on next page)", 480, gap=2)
    second = Paper(2).line("(continued from previous page)", 50, y=100).code("two").lines(WIDE)
    assert "<pre><code>one\ntwo</code></pre>" in html_of(first, second)


def test_plain_leaves_the_number_of_a_heading_out():
    assert plain("3.2.1 Going on") == plain("Going On") == "goingon"
