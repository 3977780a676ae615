"""Headings, and what the borders of pages and lines cut in two."""

import pytest

from kb_pipeline_tests.steps.html.pages import markdown
from kb_pipeline_tests.steps.restore.services import restored_text

SECTIONS = "<h1>The tool</h1><p>Some words on it.</p><h2>Its options</h2><p>Some more words.</p>"


@pytest.mark.parametrize(
    "read",
    [
        "## The tool\n\nSome words on it.\n\n# Its options\n\nSome more words.",
        "The tool\n\nSome words on it.\n\n**Its options**\n\nSome more words.",
        "# **The t00l**\n\nSome words on it.\n\n#### Its 0ptions\n\nSome more words.",
        "The tool\n===\n\n### Some words on it.\n\nIts options\n---\n\nSome more words.",
    ],
)
def test_headings_are_those_of_the_page(read: str) -> None:
    assert restored_text(SECTIONS, read).replace("0", "o") == markdown(SECTIONS)


def test_a_numbered_heading_that_was_read_as_a_list_is_one() -> None:
    html = "<h2>6. Brushes</h2><p>Some words on brushes.</p>"
    assert restored_text(html, "6. Brushes\n\nSome words on brushes.") == markdown(html)


def test_a_heading_the_page_does_not_know_stays() -> None:
    assert restored_text("<p>Some words of text.</p>", "# Page 1\n\nSome words of text.").startswith("# Page 1")


REST = "in the well-known handbook of the manufacturer."
PARAGRAPH = "<p>The settings are explained in the well-known handbook of the manufacturer.</p><p>More text.</p>"


@pytest.mark.parametrize(
    "pages",
    [
        ["The settings are explained in the", "well-known handbook of the manufacturer.\n\nMore text."],
        ["The settings are ex-", "plained in the well-known handbook of the manufacturer.\n\nMore text."],
        ["The settings are explained in the well-", "known handbook of the manufacturer.\n\nMore text."],
        ["The settings are ex-\nplained in the well-known hand-\nbook of the manufacturer.", "More text."],
        ["The settings are explained", '<!-- PageNumber="1" -->\n<!-- PageBreak -->', REST, "More text."],
        ["The settings are explained in the well-known", "handbook of", "the manufacturer.", "More text."],
    ],
)
def test_a_paragraph_is_one_again(pages: list[str]) -> None:
    assert restored_text(PARAGRAPH, pages) == markdown(PARAGRAPH)


def test_an_item_is_one_again() -> None:
    html = "<ul><li>One item of the list</li><li>Another item that goes on</li></ul><p>The end of it.</p>"
    assert restored_text(
        html, ["- One item of the list\n- Another item", "that goes on\n\nThe end of it."]
    ) == markdown(html)


def test_paragraphs_of_the_page_stay_apart() -> None:
    html = "<p>One line of text</p><p>and another one</p>"
    assert restored_text(html, "One line of text\n\nand another one") == markdown(html)


TABLE = "<table><tr><th>Key</th><th>What it does</th></tr>" + "".join(
    f"<tr><td>F{number}</td><td>does thing {number}</td></tr>" for number in range(1, 5)
)
HEAD, ROWS = "| Key | What it does |\n|---|---|\n", [f"| F{number} | does thing {number} |\n" for number in range(1, 5)]


@pytest.mark.parametrize(
    "pages",
    [
        [HEAD + ROWS[0] + ROWS[1], HEAD + ROWS[2] + ROWS[3]],
        [HEAD + ROWS[0] + ROWS[1], ROWS[2] + "|---|---|\n" + ROWS[3]],
        [HEAD + ROWS[0], HEAD + ROWS[1] + ROWS[2], HEAD + ROWS[3]],
    ],
)
def test_a_table_is_one_again(pages: list[str]) -> None:
    assert restored_text(TABLE, pages) == markdown(TABLE)
