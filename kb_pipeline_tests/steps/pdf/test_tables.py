"""Tables with lines, with rules, and without either."""

from itertools import pairwise

from kb_pipeline.steps.pdf.model import Box, Drawing
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


def grid_below(cells_of_head, *rows, columns=(60, 220, 380), uprights=(50, 210, 370, 530)):
    """A table whose head is divided by lines on all sides, and its rows only by those between them."""
    paper = Paper().lines(WIDE)
    for number in range(len(rows) + 2):
        paper.rule(50, 530, 130 + 20 * number)
    bottom = 130 + 20 * (len(rows) + 1)
    for x in uprights:
        paper.upright(x, 130, bottom if x in (uprights[0], uprights[-1]) else 150)
    for number, cells in enumerate((cells_of_head, *rows)):
        for x, cell in zip(columns, cells, strict=True):
            if cell:
                paper.line(cell, x, y=144 + 20 * number)
    return paper


def test_columns_that_lines_divide_in_the_head_alone_go_on_below_it():
    html = html_of(grid_below(("name", "size", "colour"), ("road", "wide", "grey"), ("path", "narrow", "brown")))
    assert cells_of(html) == [["name", "size", "colour"], ["road", "wide", "grey"], ["path", "narrow", "brown"]]


def test_white_space_divides_the_columns_of_a_frame_with_lines_between_its_rows():
    paper = grid_below(("name", "size", "colour"), ("road", "5", "grey"), ("path", "2", "brown"), uprights=(50, 530))
    assert cells_of(html_of(paper)) == [["name", "size", "colour"], ["road", "5", "grey"], ["path", "2", "brown"]]


def test_numbers_below_each_other_between_two_lines_are_rows():
    paper = ruled(Paper().lines(WIDE), 130, 150, 50, 210, 370, 530).rule(50, 530, 200)
    for x in (50, 210, 370, 530):
        paper.upright(x, 150, 200)
    row(paper, "name", "size", "price", gap=2.0)
    for number, cells in enumerate((("road", "5", "10"), ("path", "2", "20"), ("ford", "1", "30"))):
        for column, cell in enumerate(cells):
            paper.line(cell, 60 + 160 * column, y=164 + 14 * number)
    assert cells_of(html_of(paper))[1:] == [["road", "5", "10"], ["path", "2", "20"], ["ford", "1", "30"]]


def test_lines_of_text_between_two_lines_stay_in_their_cells():
    paper = ruled(Paper().lines(WIDE), 130, 150, 50, 210, 370, 530).rule(50, 530, 200)
    for x in (50, 210, 370, 530):
        paper.upright(x, 150, 200)
    row(paper, "name", "what", "where", gap=2.0)
    for number, cells in enumerate((("a long", "stones and", "beside the"), ("road", "sand", "river"))):
        for column, cell in enumerate(cells):
            paper.line(cell, 60 + 160 * column, y=164 + 14 * number)
    assert cells_of(html_of(paper))[1] == ["a long road", "stones and sand", "beside the river"]


def test_names_that_no_line_divides_stand_beside_their_values():
    paper = Paper().lines(WIDE).upright(50, 130, 210).upright(210, 130, 210).upright(530, 130, 210)
    paper.rule(50, 530, 130).rule(50, 530, 150).rule(50, 530, 210).rule(210, 530, 170).rule(210, 530, 190)
    for number, cells in enumerate((("name", "size"), ("road", "wide"), ("path", "narrow"), ("ford", "deep"))):
        for column, cell in enumerate(cells):
            paper.line(cell, 60 + 160 * column, y=144 + 20 * number)
    assert cells_of(html_of(paper)) == [["name", "size"], ["road", "wide"], ["path", "narrow"], ["ford", "deep"]]


def test_the_bold_head_of_a_table_is_no_heading():
    paper = ruled(Paper().lines(WIDE, WIDE), 150, 190, 50, 210, 530)
    row(row(paper, "name", "", gap=3.0, bold=True, font="Bold"), "road", "wide", gap=2.0)
    html = html_of(paper)
    assert "<h1>" not in html
    assert cells_of(html)[-1] == ["road", "wide"]


def in_colour(paper, *tops, edges=(50, 210, 370, 530)):
    for top in tops:
        for left, right in pairwise(edges):
            paper.drawings.append(Drawing(Box(left, top, right, top + 20), filled=True))
    return paper


def test_cells_in_colour_need_no_lines():
    paper = in_colour(Paper().lines(WIDE), 130, 170)
    for number, cells in enumerate((("name", "size", "colour"), ("a wide road", "5", "grey"), ("path", "2", "brown"))):
        for column, cell in enumerate(cells):
            paper.line(cell, 60 + 160 * column, y=144 + 20 * number)
    assert cells_of(html_of(paper)) == [
        ["name", "size", "colour"],
        ["a wide road", "5", "grey"],
        ["path", "2", "brown"],
    ]


def test_marked_words_of_text_are_no_cells():
    paper = in_colour(Paper().lines(WIDE), 130, edges=(50, 80, 120)).lines("It is", "marked words", "here")
    in_colour(paper, 160, edges=(60, 90, 100, 140))
    assert "<table>" not in html_of(paper)


def grouped_head():
    """A head of two lines: a cell over two columns with a short rule below it, and a cell of two lines beside it."""
    paper = Paper().lines(WIDE).rule(50, 530, 130)
    paper.line("amount", 260, y=142).rule(215, 430, 146)
    paper.line("kind", 60, y=142).line("of way", 60, y=156).line("least", 220, y=156).line("most", 380, y=156)
    return paper.rule(50, 530, 162)


def test_a_short_rule_shows_what_a_cell_of_the_head_spans():
    paper = row(row(grouped_head(), "road", "5", "10", gap=1.6), "path", "2", "3").rule(50, 530, 206)
    assert (
        '<tr><th rowspan="2">kind of way</th><th colspan="2">amount</th></tr><tr><th>least</th><th>most</th></tr>'
        in (html_of(paper))
    )


def test_the_rule_below_the_head_of_a_page_begins_no_table():
    paper = Paper().line("A guide to roads", y=40).line("Part 2", 480, y=40).rule(50, 530, 45).lines(WIDE, WIDE)
    row(paper.rule(50, 530, paper.y + 8), "name", "size", gap=2.0).rule(50, 530, paper.y + 6)
    row(row(paper, "road", "wide"), "path", "narrow").rule(50, 530, paper.y + 6)
    html = html_of(paper)
    assert WIDE not in html[html.index("<table>") :]
    assert cells_of(html) == [["name", "size"], ["road", "wide"], ["path", "narrow"]]


def test_text_between_two_tables_of_one_width_parts_them():
    paper = Paper()
    for _ in range(2):
        row(paper.rule(50, 530, paper.y + 8), "name", "size", gap=2.0).rule(50, 530, paper.y + 6)
        row(row(paper, "road", "wide"), "path", "narrow").rule(50, 530, paper.y + 6)
        paper.lines(WIDE)
    html = html_of(paper)
    assert html.count("<table>") == 2
    assert html.count(f"<p>{WIDE}</p>") == 2


def test_narrow_gaps_divide_cells_between_rules():
    paper = Paper().lines(WIDE)
    paper.rule(50, 530, paper.y + 8).line("kind", 60, gap=2.0).line("rate", 219, y=paper.y).line(
        "(range)", 245, y=paper.y
    )
    paper.rule(50, 530, paper.y + 6)
    for kind, rate, span in (
        ("road", "13.1", "(1.0-2.2)"),
        ("path", "97.4", "(9.2-9.9)"),
        ("ford", "25.0", "(7.1-8.0)"),
    ):
        paper.line(kind, 60, gap=1.6).line(rate, 218, y=paper.y).line(span, 245, y=paper.y)
    paper.rule(50, 530, paper.y + 6)
    assert cells_of(html_of(paper))[1] == ["road", "13.1", "(1.0-2.2)"]


def test_texts_side_by_side_are_read_one_after_the_other():
    left = (
        "The road leads over the hills and",
        "through the woods, where the wind",
        "never rests, down to the old sea",
    )
    right = (
        "A path goes along the river bank",
        "as far as the bridge, and is then",
        "made of nothing but sand, stones",
    )
    paper = Paper().lines(WIDE)
    for number, (one, other) in enumerate(zip(left, right, strict=True)):
        paper.line(one, 50, y=140 + 12 * number).line(other, 300, y=140 + 12 * number)
    html = html_of(paper.lines(WIDE))
    assert "<table>" not in html
    assert f"<p>{' '.join(left)}</p><p>{' '.join(right)}</p>" in html


def test_wide_gaps_of_justified_lines_make_no_table():
    paper = Paper().lines(WIDE)
    for number, (one, x, other) in enumerate(
        (
            ("The routines are called", 330, "from outside of the library,"),
            ("OpenFirst and", 310, "OpenNext,"),
            ("if", 90, "nothing fails."),
        )
    ):
        paper.line(one, 50, y=140 + 12 * number).line(other, x, y=140 + 12 * number)
    assert "<table>" not in html_of(paper)


def test_a_sign_that_begins_each_line_is_no_column():
    paper = Paper().lines(WIDE)
    for text in (
        "One thing that is to be done first",
        "Another one that is to be done then",
        "The last thing to be done",
    ):
        paper.line("ｲ", 60, gap=1.6).line(text, 80, y=paper.y)
    assert "<table>" not in html_of(paper)


def test_a_bold_head_of_two_rows_is_the_header():
    paper = ruled(Paper().lines(WIDE), 130, 190, 50, 530).upright(210, 150, 190)
    row(paper, "all of it", gap=2.3, bold=True, font="Bold")
    row(row(paper, "name", "size", gap=2.0, bold=True, font="Bold"), "road", "wide", gap=2.0)
    assert '<th colspan="2">all of it</th></tr><tr><th>name</th><th>size</th></tr><tr><td>road</td>' in html_of(paper)
