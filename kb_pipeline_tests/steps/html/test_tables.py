import pytest

from kb_pipeline.errors import UnreadableArticleError
from kb_pipeline_tests.steps.html.pages import convert, image, markdown


def test_a_table_with_a_header() -> None:
    html = "<table><thead><tr><th>a<th>b</thead><tbody><tr><td>1<td>2<tr><td>3<td>4</table>"
    assert markdown(html) == "| a | b |\n| --- | --- |\n| 1 | 2 |\n| 3 | 4 |"


def test_a_table_without_a_header_gets_an_empty_one() -> None:
    html = "<table><tr><td>k<td>v<tr><th>k2<td>v2</table>"
    assert markdown(html) == "|  |  |\n| --- | --- |\n| k | v |\n| k2 | v2 |"


def test_a_bold_first_row_is_a_header() -> None:
    assert markdown("<table><tr><td><b>a</b><td><b>b</b><tr><td>1<td>2</table>").startswith("| **a** | **b** |")


def test_spans_keep_the_grid() -> None:
    html = (
        "<table><tr><th>a<th>b<th>c<tr><td rowspan=2>r<td colspan=2>wide<tr><td>1<td>2"
        "<tr><td>short<tr><td colspan=bad rowspan=-1>x<td>y<td>z</table>"
    )
    assert markdown(html).split("\n")[2:] == [
        "| r | wide | wide |",
        "| r | 1 | 2 |",
        "| short |  |  |",
        "| x | y | z |",
    ]


ROLES = "<table><tr><th>Task<th>Admin<th>Agent<th>Light agent"


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ("<tr><td>Publish<td colspan=3>Yes", ["| Publish | Yes | Yes | Yes |"]),
        ("<tr><td>Publish<td>Yes<td colspan=2>No<br>never", ["| Publish | Yes | No<br>never | No never |"]),
        (
            "<tr><td>Read<td rowspan=2 colspan=3>Yes<tr><td>Edit",
            ["| Read | Yes | Yes | Yes |", "| Edit | Yes | Yes | Yes |"],
        ),
        ("<tr><td>Publish<td colspan=3>Yes, <a href=x>see</a>", ["| Publish | Yes, [see](x) | Yes, see | Yes, see |"]),
    ],
)
def test_a_cell_over_several_columns_holds_for_each_of_them(rows: str, expected: list[str]) -> None:
    assert markdown(f"{ROLES}{rows}</table>").split("\n")[2:] == expected


def test_a_row_that_only_begins_the_cells_of_the_next_one_is_part_of_it() -> None:
    html = "<table><tr><th>Year<th>Month<tr><th rowspan=3>2025<tr><td>May<tr><td>June</table>"
    assert markdown(html).split("\n")[2:] == ["| 2025 | May |", "| 2025 | June |"]


def test_headings_that_name_columns_are_the_header_of_a_table() -> None:
    html = "<table><tr><td><h3>Plan</h3><td><h3>Price</h3><tr><td>Free<td>0<tr><td>Gold<td>9</table>"
    assert markdown(html) == "| **Plan** | **Price** |\n| --- | --- |\n| Free | 0 |\n| Gold | 9 |"


@pytest.mark.parametrize(
    "rows",
    [
        f"<tr><td><h3>News</h3><td>Links<tr><td>{'many words ' * 40}<td>x",
        "<tr><td><h3>News</h3>of today<td>Links<tr><td>a<td>x",
        "<tr><td>Links<td>x<tr><td><h3>News</h3><td>a",
    ],
)
def test_headings_of_texts_are_not(rows: str) -> None:
    assert "### News" in markdown(f"<table>{rows}</table>")


def test_a_header_over_several_columns_heads_each_of_them() -> None:
    html = "<table><tr><th rowspan=2>Plan<th colspan=2>Limits<tr><th>hour<th>day<tr><td>Free<td>1<td>9</table>"
    assert markdown(html).split("\n") == [
        "| Plan | Limits | Limits |",
        "| --- | --- | --- |",
        "| Plan | hour | day |",
        "| Free | 1 | 9 |",
    ]


def test_a_grid_that_one_wide_row_among_thousands_makes_too_large_is_refused() -> None:
    with pytest.raises(UnreadableArticleError, match="a table has 2,001 rows and 900 columns"):
        markdown(f"<table><tr>{'<td>x' * 900}{'<tr><td>y' * 2000}</table>")


@pytest.mark.parametrize("columns", [4, 5, 1000])
def test_a_cell_over_all_columns_is_a_heading_or_a_note_and_stands_once(columns: int) -> None:
    table = markdown(f"{ROLES}<tr><td colspan={columns}>For teams<tr><td>Edit<td>Yes<td>Yes<td>No</table>")
    assert table.count("For teams") == 1


def test_prose_over_several_columns_stands_once() -> None:
    prose = "who may do this depends on the plan " * 9
    assert markdown(f"{ROLES}<tr><td>Publish<td colspan=3>{prose}</table>").count(prose.strip()) == 1


def test_prose_over_many_rows_stands_once_and_a_label_in_each() -> None:
    prose = "who may do this depends on the plan " * 4

    def table(words: str) -> str:
        return markdown(f"{ROLES}<tr><td rowspan=9>{words}<td>1{'<tr><td>x' * 8}</table>")

    assert table(prose).count(prose.strip()) == 1
    assert table("Linux").count("Linux") == 9


def test_a_span_repeats_nothing_where_no_cell_of_the_table_begins() -> None:
    table = markdown(f"{ROLES}<tr><td>Publish<td colspan=1000>Yes</table>")
    assert table.count("Yes") == 3
    assert markdown("<table><tr><th colspan=2>a<th>b<tr><td colspan=2>c<td>d</table>").count("c") == 1


def test_an_image_in_a_cell_over_several_columns_is_shown_once() -> None:
    table = f"{ROLES}<tr><td>Publish<td colspan=3>See <img src=a.png></table>"
    assert markdown(table, image("a.png")).count("[[IMG:a.png]]") == 1


def test_a_table_in_a_cell_over_several_columns_is_repeated_as_text() -> None:
    inner = "<table><tr><td>x<td>y<tr><td>z<td>w</table>"
    last = markdown(f"{ROLES}<tr><td>Publish<td>No<td colspan=2>{inner}</table>").split("\n")[-1]
    assert last == "| Publish | No | x – y<br>z – w | x – y z – w |"


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("<p>x</p><p>y</p>", "x<br>y"),
        ("x<br>\n y<br>", "x<br>y"),
        ("<ul><li>x<li><p>y</p></ul>", "• x<br>• y"),
        ("<ol><li>x<li>y</ol>", "1. x<br>2. y"),
        ("<pre>x | 1\n  y</pre>", r"`x \| 1`<br>`  y`"),
        ("<code>a|b</code> c|d", r"`a\|b` c\|d"),
        ("<table><tr><td>x<td>y<tr><td>z<td>w</table>", "x – y<br>z – w"),
        ('<a href="a|b">l</a>', r"[l](a\|b)"),
        ("<blockquote>q</blockquote>", "q"),
        ("", ""),
    ],
)
def test_a_cell_is_one_readable_line(cell: str, expected: str) -> None:
    html = f"<table><tr><th>a<th>b<tr><td>{cell}<td>end</table>"
    assert markdown(html).split("\n")[2] == f"| {expected} | end |"


@pytest.mark.parametrize(
    "table",
    [
        '<table role="presentation"><tr><td>one<td>two<tr><td>three<td>four</table>',
        '<table summary="manufactured viewport for HTML img"><tr><td>one<td>two<tr><td>three<td>four</table>',
        "<table><tr><td>one<tr><td>two<tr><td>three<tr><td>four</table>",
        "<table><tr><td>one<td>two<td>three<td>four</table>",
        "<table><tr><td>one<td>two<tr><td>three<td><h4>four</h4></table>",
    ],
)
def test_layout_is_taken_apart(table: str) -> None:
    assert markdown(table).replace("#### ", "") == "one\n\ntwo\n\nthree\n\nfour"


@pytest.mark.parametrize(("span", "columns"), [("9" * 5000, 60), ("0" * 5000 + "2", 2), ("0", 1)])
def test_a_span_of_any_number_of_digits_is_read(span: str, columns: int) -> None:
    row = markdown(f"<table><tr><th colspan={span}>a<th>b<tr><td>c<td>d</table>").splitlines()[0]
    assert row.count("|") == columns + 2


def test_a_caption_stands_before_the_table() -> None:
    html = "<table><caption>Options</caption><tr><th>a<th>b<tr><td>1<td>2</table>"
    assert markdown(html).startswith("Options\n\n| a | b |")


def test_a_table_in_a_list_item_stays_in_it() -> None:
    html = "<ol><li>See<table><tr><th>a<th>b<tr><td>1<td>2</table></li><li>next</li></ol>"
    assert markdown(html) == "1. See\n\n   | a | b |\n   | --- | --- |\n   | 1 | 2 |\n\n2. next"


def test_tables_are_counted_once_nested_or_not() -> None:
    cell = "<table><tr><td>1<td>2<tr><td>3<td>4</table>"
    assert convert(f"<table><tr><td>{cell}<td>b<tr><td>c<td>d</table>{cell}").counts.tables == 2
