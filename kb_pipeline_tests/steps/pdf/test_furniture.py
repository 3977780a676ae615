"""What stands on every page is left out, what stands on one is not."""

import pytest

from kb_pipeline.steps.pdf.furniture import plain
from kb_pipeline.steps.pdf.model import PdfOutlineEntry
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
    outline = tuple(PdfOutlineEntry(title, 1, 1 + 3 * number) for number, title in enumerate(titles))
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


def table(count, row, *, gap=1.6, top=60, per_page=40, head="", **style):
    """Pages full of rows, from edge to edge; ``row`` makes the cells of a row from its number."""
    papers = []
    for number in range(1, count + 1):
        paper = Paper(number, y=top - gap * 10)
        if head:
            paper.line(head, y=30)
            paper.y = top - gap * 10
        for place in range(per_page):
            cells = row((number - 1) * per_page + place)
            paper.line(cells[0], gap=gap, **style)
            for column, cell in enumerate(cells[1:], 1):
                paper.line(cell, 50 + 150 * column, y=paper.y, **style)
        papers.append(paper)
    return papers


@pytest.mark.parametrize("gap", [1.2, 1.8, 2.2])
@pytest.mark.parametrize(
    "row",
    [
        lambda n: (f"{1 + n % 28:02}.05.2026", f"Card payment {1000 + n}", f"-{n * 1.01:.2f}"),
        lambda n: (f"A-{n:05}", ("Leeds", "Hamburg", "Porto")[n % 3], f"SN{n * 7919:08}", ("Ann", "Bo")[n % 2]),
        lambda n: (f"Part {n} costs {3 * n + 1} euros",),
        lambda n: (f"{n + 1}. Wie lange dauert Schritt {n + 1}?",),
        lambda n: ("Item", "yes", "0.00"),
    ],
)
def test_rows_of_a_table_or_a_list_at_the_edges_of_pages_are_text(row, gap):
    per_page = int(730 / (gap * 10))
    html = html_of(*table(7, row, gap=gap, per_page=per_page))
    assert all(row(place)[-1].rpartition(". ")[2] in html for place in range(7 * per_page))
    assert html.count(row(0)[-1].split()[-1]) >= (7 * per_page if row(0) == row(1) else 1)


def test_rows_right_below_a_running_head_are_text():
    html = html_of(*table(7, lambda n: (f"Part {n}", f"{n} euros"), head="Parts list of 2026", per_page=40, top=80))
    assert "Parts list" not in html
    assert all(f"{n} euros" in html for n in range(280))


def test_chapters_that_each_begin_on_a_page_of_their_own_keep_their_headings():
    papers = [
        Paper(n, y=60).line(f"Chapter {n}", y=60, size=18.0).lines(WIDE, f"and more {'abcdefgh'[n - 1] * 5}.")
        for n in range(1, 9)
    ]
    html = html_of(*papers)
    assert all(f"Chapter {n}" in html for n in range(1, 9))


def test_headings_in_the_size_of_the_text_count_the_pages_by_chance():
    papers = [
        Paper(n, y=60).line(f"Lesson {n}", y=60, bold=True).lines(WIDE, f"and more {'abcdefgh'[n - 1] * 5}.")
        for n in range(1, 9)
    ]
    assert all(f"Lesson {n}" in html_of(*papers) for n in range(1, 9))


@pytest.mark.parametrize(
    "foot", [lambda n: f"Page {n} of 8", lambda n: f"{n} / 8", lambda n: f"- {n + 20} -", lambda n: "Ledger Ltd. 2026"]
)
def test_feet_with_the_number_of_the_page_and_of_all_pages(foot):
    html = html_of(*pages(8, lambda n: "The Manual, version 7", foot))
    assert not any(foot(n) in html for n in range(1, 9))


def test_small_heads_right_above_the_text():
    papers = [
        Paper(n, y=24)
        .line("27.11.2026 Roads", y=24, size=8.0)
        .line(f"{'abc'[n - 1] * 9} begins", y=38)
        .lines(WIDE, WIDE)
        for n in (1, 2, 3)
    ]
    assert "Roads" not in html_of(*papers)


def test_roman_numbers_of_the_first_pages():
    numbers = ["i", "ii", "iii", "iv", *map(str, range(1, 9))]
    html = html_of(*pages(12, lambda n: f"Manual {'abcdefghijkl'[n - 1] * 6}", lambda n: numbers[n - 1]))
    assert "<p>iv" not in html
    assert html.count("with its own words") == 12


def test_only_rows_that_say_the_same_are_left_out_of_a_place_of_running_heads():
    html = html_of(*pages(8, lambda n: "Notice of a recall" if n == 5 else "The Manual"))
    assert "Manual" not in html
    assert "Notice of a recall" in html


def test_what_words_beside_the_number_of_a_page_name_does_not_matter():
    html = html_of(*pages(8, lambda n: f"{'abcdefgh'[n - 1] * 6} works {n}"))
    assert "works" not in html


def test_a_head_that_names_a_section_of_one_page():
    papers = pages(8, lambda n: "Bridges" if n == 4 else "The Manual")
    papers[3].lines("Bridges", bold=True, size=14.0)
    assert html_of(*papers).count("Bridges") == 1
