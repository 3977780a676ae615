"""What `benchmarks.icdar_tables` counts, on a table like those of the competition."""

from collections import Counter
from pathlib import Path

import pytest

from benchmarks.icdar_tables import (
    Score,
    Table,
    figures,
    normalised,
    ours,
    ours_in_regions,
    score,
    tables_of_html,
    truth_of,
)
from kb_pipeline_tests.sources.pdfs import Sheet, Text, pdf

CELLS = (("Name", "Size", "Price"), ("Road", "5", "1.50"), ("Path", "2", "0.75"))
X = (72, 230, 400)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A document with one table, and its truth."""
    texts = [Text(cell, x, 700 - 20 * row) for row, cells in enumerate(CELLS) for x, cell in zip(X, cells, strict=True)]
    cells = "".join(
        f'<cell start-row="{row}" start-col="{column}"><bounding-box x1="{x}" x2="{x + 60}" y1="{698 - 20 * row}" '
        f'y2="{710 - 20 * row}"/><content>{cell}</content></cell>'
        for row, line in enumerate(CELLS)
        for column, (x, cell) in enumerate(zip(X, line, strict=True))
    )
    region = f'<table><region id="1" page="1" row-increment="0" col-increment="0">{cells}</region></table>'
    (tmp_path / "ways-str.xml").write_text(f"<document>{region}</document>")
    path = tmp_path / "ways.pdf"
    path.write_bytes(pdf(Sheet([Text("Ways of our town", y=750), *texts])))
    return path


def test_a_relation_goes_from_each_cell_to_the_next_with_text() -> None:
    (table,) = tables_of_html("<table><tr><td>A</td><td></td><td>B</td></tr><tr><td>c d</td><td>1.5</td></tr></table>")
    assert table.relations() == Counter({("a", "b", "right"): 1, ("cd", "1_5", "right"): 1, ("a", "cd", "below"): 1})


def test_a_cell_over_two_columns_is_above_both_and_counted_once_on_each_side() -> None:
    html = "<table><tr><td rowspan=2>n</td><td colspan=2>s</td></tr><tr><td>x</td><td>y</td></tr></table>"
    (table,) = tables_of_html(html)
    beside = (("n", "s", "right"), ("n", "x", "right"), ("x", "y", "right"))
    below = (("s", "x", "below"), ("s", "y", "below"))
    assert table.relations() == Counter((*beside, *below))


def test_texts_are_compared_without_spaces_and_special_characters() -> None:
    assert normalised(" 1–5 % ") == normalised("1-5%") == "1_5_"


def test_our_reader_finds_a_table_by_itself_and_in_its_region(file: Path) -> None:
    truth = truth_of(file)
    wanted = truth[0].relations().total()
    assert wanted == 12
    assert score(ours(file, truth), truth) == Score(wanted, wanted, wanted)
    assert score(ours_in_regions(file, truth), truth) == Score(wanted, wanted, wanted)


def test_a_table_that_is_not_there_costs_precision_and_one_that_is_missed_recall() -> None:
    one, other = Table(), Table()
    for column, text in enumerate("ab"):
        one.add(text, range(1), range(column, column + 1))
        other.add(text.upper() + "x", range(1), range(column, column + 1))
    assert score([one, other], [one]) == Score(1, 2, 1)
    assert score([], [one]) == Score(0, 0, 1)


def test_figures_are_averaged_over_files() -> None:
    found = figures([Score(10, 10, 10), Score(0, 0, 10)])
    assert (found["precision"], found["recall"]) == (0.5, 0.5)
    assert found["f1_of_all"] == pytest.approx(2 / 3)
