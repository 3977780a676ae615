"""Tables with lines, with rules, and without either."""

from kb_pipeline_tests.steps.pdf.sheet_of_paper import WIDE, Paper, html_of


def row(paper, *cells, gap=1.6, **style):
    for number, cell in enumerate(cells):
        if cell:
            paper.line(cell, 60 + 160 * number, y=paper.y + gap * 10 if number == 0 else paper.y, **style)
        elif number == 0:
            paper.y += gap * 10
    return paper


def cells_of(html):
    rows = html.split("<table>")[1].split("</table>")[0].split("<tr>")[1:]
    return [[cell.split("<")[0] for cell in row.replace("<th", "<td").split("<td>")[1:]] for row in rows]


def ruled(paper, top, bottom, *uprights):
    for y in range(int(top), int(bottom) + 1, 20):
        paper.rule(50, 530, y)
    for x in uprights:
        paper.upright(x, top, bottom)
    return paper


def test_lines_make_a_table():
    paper = Paper().lines(WIDE)
    row(row(ruled(paper, 130, 170, 50, 210, 530), "name", "size", gap=2.3), "road", "wide", gap=2.0)
    assert cells_of(html_of(paper)) == [["name", "size"], ["road", "wide"]]


def test_a_cell_without_a_line_inside_spans():
    paper = ruled(Paper().lines(WIDE), 130, 170, 50, 530).upright(210, 150, 170)
    row(row(paper, "all of it", gap=2.3), "road", "wide", gap=2.0)
    assert '<td colspan="2">all of it</td>' in html_of(paper)


def test_a_frame_around_text_is_no_table():
    paper = ruled(Paper(), 100, 120, 50, 530).line("A note in a box.", 60, y=114).lines(WIDE)
    assert "<table>" not in html_of(paper)


def test_rules_above_and_below_make_a_table_with_a_header():
    paper = Paper().lines(WIDE)
    row(paper.rule(50, 530, 128), "name", "size", gap=2.0).rule(50, 530, 146)
    row(row(paper, "road", "wide"), "path", "narrow").rule(50, 530, paper.y + 6)
    html = html_of(paper)
    assert "<th>name</th><th>size</th>" in html
    assert cells_of(html)[1:] == [["road", "wide"], ["path", "narrow"]]


def test_words_in_columns_over_rows_make_a_table():
    paper = Paper().lines(WIDE)
    row(row(row(paper, "road", "wide", "grey", gap=2.5), "path", "narrow", "brown"), "canal", "deep", "blue")
    assert cells_of(html_of(paper)) == [
        ["road", "wide", "grey"],
        ["path", "narrow", "brown"],
        ["canal", "deep", "blue"],
    ]


def test_a_second_line_of_a_cell_stays_in_its_row():
    paper = Paper().lines(WIDE)
    row(paper, "road", "wide and", gap=2.5)
    row(paper, "", "long", gap=1.2)
    row(row(paper, "path", "narrow"), "canal", "deep")
    assert cells_of(html_of(paper))[0] == ["road", "wide and long"]


def test_a_table_goes_on_over_the_page_with_one_header():
    first, second = Paper(1).lines(WIDE), Paper(2)
    for paper, cells in (
        (first, (("road", "wide"), ("path", "narrow"))),
        (second, (("canal", "deep"), ("ford", "shallow"))),
    ):
        row(paper.rule(50, 530, paper.y + 10), "name", "size", gap=2.5, bold=True, font="Bold").rule(
            50, 530, paper.y + 6
        )
        for each in cells:
            row(paper, *each)
        paper.rule(50, 530, paper.y + 6)
    html = html_of(first, second, marks=True)
    assert html.count("<table>") == 1
    assert html.count("<th>name</th>") == 1
    assert "<td>|2|canal</td>" in html


def test_a_caption_above_a_table_is_its_caption():
    paper = Paper().lines(WIDE).line("Table 2: Ways", gap=2)
    row(row(row(paper, "road", "wide", gap=2), "path", "narrow"), "canal", "deep")
    assert "<table><caption>Table 2: Ways</caption>" in html_of(paper)
