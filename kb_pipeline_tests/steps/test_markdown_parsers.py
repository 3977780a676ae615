import pytest
from markdown_it import MarkdownIt

from kb_pipeline.steps.markdown_parsers import (
    authored_parser,
    block_parser,
    checking_block_parser,
    checking_parser,
    row_cells,
    safe_parser,
    service_parser,
)

_TABLE = "| a |\n|---|\n| 1 |\n"
_UNSAFE = "[x](javascript:alert(1))"


@pytest.mark.parametrize("parser", [authored_parser(), safe_parser(), service_parser(), checking_parser()])
def test_every_text_may_hold_a_table(parser: MarkdownIt) -> None:
    assert "<table>" in parser.render(_TABLE)


@pytest.mark.parametrize(
    ("parser", "is_html"), [(authored_parser(), True), (service_parser(), True), (safe_parser(), False)]
)
def test_html_of_strangers_is_text(parser: MarkdownIt, is_html: bool) -> None:
    assert ("<b>" in parser.render("a <b>c</b>")) == is_html


@pytest.mark.parametrize(
    ("parser", "is_seen"), [(authored_parser(), False), (safe_parser(), False), (checking_parser(), True)]
)
def test_only_who_judges_an_article_sees_its_unsafe_links(parser: MarkdownIt, is_seen: bool) -> None:
    assert ("<a href" in parser.render(_UNSAFE)) == is_seen


def test_who_judges_an_article_reads_lists_of_any_depth() -> None:
    deep = "".join(f"{'  ' * level}- item\n" for level in range(40))

    read = [token.content for token in checking_block_parser().parse(deep) if token.type == "inline"]

    assert read == ["item"] * 40


def test_a_target_of_a_service_stays_as_it_is_written() -> None:
    assert 'href="Fenêtre d\'outils.html"' in service_parser().render("[x](<Fenêtre d'outils.html>)")


@pytest.mark.parametrize("parser", [block_parser(), checking_block_parser()])
def test_where_only_blocks_are_wanted_lines_are_not_read(parser: MarkdownIt) -> None:
    assert [token.children for token in parser.parse("**a** [b](c)") if token.type == "inline"] == [[]]


def test_a_page_that_adds_a_rule_changes_no_other_page() -> None:
    safe_parser().disable("table")

    assert "<table>" in safe_parser().render(_TABLE)


@pytest.mark.parametrize(
    ("line", "cells"),
    [
        ("| a | b |", ["a", "b"]),
        ("a|b", ["a", "b"]),
        ("|| b ||", ["", "b", ""]),
        (r"| a \| b | c \|", [r"a \| b", r"c \|"]),
    ],
)
def test_a_row_is_split_at_bars_that_are_not_escaped(line: str, cells: list[str]) -> None:
    assert row_cells(line) == cells
