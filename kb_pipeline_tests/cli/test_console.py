"""Tables of the terminal: their words stay whole, however narrow it is."""

import io

import pytest
from rich.console import Console

from kb_pipeline.cli.console import new_table

NAMES = ("document", "title", "department", "date")
ROWS = (
    ("administrator-handbook.pdf", "Administrator handbook of the server", "Operations", "2026-11-28"),
    ("CHG-2026-0077", "Replace the switch\n[dim]change.pdf[/]", "", "2026-11-01"),
)


def printed(width: int, *, has_whole_ids: bool = False) -> list[str]:
    table = new_table(*NAMES)
    table.columns[0].no_wrap = has_whole_ids
    for row in ROWS:
        table.add_row(*row)
    stream = io.StringIO()
    Console(file=stream, width=width).print(table)
    return [line.rstrip() for line in stream.getvalue().splitlines() if line.strip()]


@pytest.mark.parametrize("width", [30, 40, 60, 70, 80, 100, 200])
def test_no_word_is_broken(width: int) -> None:
    words = " ".join(printed(width)).split()
    assert {word for row in ROWS for word in row[0].split() + row[3].split()} <= set(words)
    assert all(len(line) <= width for line in printed(width))


def test_a_wide_terminal_shows_a_row_on_a_line() -> None:
    names, _, first, *_ = printed(120)
    assert names.split() == [*NAMES]
    assert first.split() == " ".join(ROWS[0]).split()


def test_a_narrow_terminal_shows_a_row_as_a_paragraph_without_what_is_empty() -> None:
    assert printed(60) == [
        "administrator-handbook.pdf",
        "   title Administrator handbook of the server · department",
        "   Operations · date 2026-11-28",
        "CHG-2026-0077",
        "   title Replace the switch · change.pdf · date 2026-11-01",
    ]


def test_what_may_not_be_folded_is_not_cut() -> None:
    assert any("administrator-handbook.pdf" in line for line in printed(80, has_whole_ids=True))
