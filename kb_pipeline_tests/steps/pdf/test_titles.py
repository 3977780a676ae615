"""Large paragraphs at the beginning of a document are its title, where the tags name none."""

import pytest

from kb_pipeline.steps.pdf.model import Box, Page, Style, Word
from kb_pipeline.steps.pdf.tagged import Content, Element, tagged_html
from kb_pipeline.steps.pdf.titles import mark_title

PROSE = "The plan covers visits to a doctor in every state, " * 4


def document(*blocks: tuple[str, str, float, int]) -> str:
    """The HTML of blocks, each with its role, text, size and page."""
    words: dict[int, list[Word]] = {1: [], 2: []}
    elements = []
    for mcid, (kind, text, size, page) in enumerate(blocks):
        left = 50.0
        for word in text.split():
            box = Box(left, 40 * mcid, left + 5, 40 * mcid + 15)
            words[page].append(Word(word, box, 40 * mcid + 12, Style(size=size, mcid=mcid)))
            left += 6
        elements.append(Element(kind, children={0: Content(page, mcid)}))
    pages = [Page(number, 600, 800, tuple(each)) for number, each in words.items()]
    root = Element("Document", children={0: Element("Sect", children=dict(enumerate(elements)))})
    mark_title([root], pages)
    return tagged_html([root], pages, lambda number: f"[{number}]").html


def test_the_lines_of_a_cover_are_one_title() -> None:
    html = document(
        ("P", "Contoso", 36, 1), ("P", "Standard Plan", 24, 1), ("H1", "Overview", 16, 2), ("P", PROSE, 11, 2)
    )
    assert html.startswith("[1]<h1>Contoso Standard Plan</h1>[2]<h1>Overview</h1><p>The plan")


def test_smaller_lines_below_the_title_are_text() -> None:
    assert document(("P", "Standard Plan", 24, 1), ("P", PROSE, 11, 1)).startswith(
        "[1]<h1>Standard Plan</h1><p>The plan"
    )


@pytest.mark.parametrize(
    "blocks",
    [
        (("P", "Contoso", 36, 1), ("H1", "Standard Plan", 24, 1), ("P", PROSE, 11, 2)),
        (("P", PROSE, 11, 1), ("P", "Contoso", 36, 1)),
        (("P", PROSE, 24, 1), ("P", PROSE * 2, 11, 2)),
        (("P", PROSE, 11, 1), ("P", "Contoso", 36, 2)),
    ],
    ids=["a heading is there", "text comes first", "too long", "on a later page"],
)
def test_nothing_else_becomes_a_title(blocks: tuple[tuple[str, str, float, int], ...]) -> None:
    assert document(*blocks).count("<h1>") == sum(kind == "H1" for kind, *_ in blocks)
