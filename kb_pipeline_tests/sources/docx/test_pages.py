"""The pages of Word documents: where the file itself says that they begin."""

import pytest

from kb_pipeline.sources import SourceDocument, source_of
from kb_pipeline_tests.sources.word import document, paragraph, table

SEEN = "<w:lastRenderedPageBreak/>"
SET = '<w:br w:type="page"/>'
APP = "http://schemas.openxmlformats.org/officeDocument/2006/extended-properties"


def run(*parts: str) -> str:
    """A run: breaks as they are, anything else as text."""
    inner = "".join(part if part.startswith("<") else f'<w:t xml:space="preserve">{part}</w:t>' for part in parts)
    return f"<w:r>{inner}</w:r>"


def read(*body: str, pages: int = 0) -> SourceDocument:
    parts = {"docProps/app.xml": f'<Properties xmlns="{APP}"><Pages>{pages}</Pages></Properties>'} if pages else {}
    return source_of("docx").read("guide", "guide.docx", document(*body, parts=parts))


def shown(found: SourceDocument) -> str:
    """The HTML of the body, with [n] where page n begins."""
    html = found.html[found.html.index("<body>") + 6 : found.html.index("</body>")]
    for number in range(1, 10):
        html = html.replace(f'<kb-page data-number="{number}" data-label=""></kb-page>', f"[{number}]")
    return html


def test_a_page_begins_where_word_saw_it_begin() -> None:
    size = '<w:sectPr><w:pgSz w:w="11906" w:h="16838"/></w:sectPr>'
    found = read(paragraph("One two"), paragraph(run(SEEN, "Three")), paragraph(run("four", SEEN, "five")), size)
    assert shown(found) == "[1]<p>One two</p>[2]<p>Three</p><p>four[3]five</p>"
    assert [(page.number, page.words, page.read_by) for page in found.pages] == [
        (1, 2, "text"),
        (2, 2, "text"),
        (3, 1, "text"),
    ]
    assert (found.pages[0].width, found.pages[0].height) == (595.3, 841.9)


def test_a_break_that_is_set_and_seen_is_one() -> None:
    found = read(paragraph(run("One", SET)), paragraph(run(SEEN, "Two")), paragraph(run("x", SEEN, "Three")))
    assert shown(found) == "[1]<p>One[2]</p><p>Two</p><p>x[3]Three</p>"


def test_an_empty_page_has_its_mark() -> None:
    found = read(paragraph(run("One", SEEN)), paragraph(run(SEEN, "Three")))
    assert shown(found) == "[1]<p>One[2]</p>[3]<p>Three</p>"
    assert [page.read_by for page in found.pages] == ["text", "nothing", "text"]


def test_a_heading_that_begins_a_page_stands_below_its_mark() -> None:
    heading = paragraph(run(SEEN, "Limits"), "Heading 1")
    assert shown(read(paragraph("One"), heading)) == "[1]<p>One</p>[2]<h1>Limits</h1>"


def test_a_row_over_two_pages_is_cut_once() -> None:
    cell = run("a", SEEN, "b")
    found = read(table(("Plan", "Days")).replace("<w:r>", cell + "<w:r>"))
    assert len(found.pages) == 2


@pytest.mark.parametrize(("said", "pages"), [(2, 2), (0, 0), (7, 0)])
def test_breaks_of_the_author_alone_make_pages_if_the_file_counts_as_many(said: int, pages: int) -> None:
    found = read(paragraph(run("One", SET)), paragraph("Two"), pages=said)
    assert len(found.pages) == pages
    assert ("kb-page" in found.html) == bool(pages)


def test_a_paragraph_may_begin_a_page_by_its_properties() -> None:
    broken = "<w:p><w:pPr><w:pageBreakBefore/></w:pPr><w:r><w:t>Two</w:t></w:r></w:p>"
    assert shown(read(paragraph("One"), broken, pages=2)) == "[1]<p>One</p>[2]<p>Two</p>"


def test_without_breaks_there_are_no_pages() -> None:
    found = read(paragraph("One"), pages=1)
    assert found.pages == ()
    assert "kb-page" not in found.html
