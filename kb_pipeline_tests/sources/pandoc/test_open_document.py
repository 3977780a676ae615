"""OpenDocument texts: what LibreOffice shows of them."""

import pytest

from kb_pipeline.errors import UnreadableArticleError
from kb_pipeline.sources import SourceDocument
from kb_pipeline.sources.pandoc.open_document import OdtSource
from kb_pipeline_tests.pictures import screenshot
from kb_pipeline_tests.sources.books import open_document, zipped
from kb_pipeline_tests.sources.reading import markdown_of


def read(data: bytes) -> SourceDocument:
    return OdtSource().read("guide", "guide.odt", data)


def style(name: str, more: str = "", *, parent: str = "Standard", family: str = "paragraph") -> str:
    named = f'style:name="{name}" style:family="{family}" style:parent-style-name="{parent}"'
    return f"<style:style {named}>{more}</style:style>"


HIDDEN = '<style:text-properties text:display="none"/>'


def p(text: str, style_name: str = "Standard") -> str:
    return f'<text:p text:style-name="{style_name}">{text}</text:p>'


def h(text: str, level: int = 1) -> str:
    return f'<text:h text:outline-level="{level}">{text}</text:h>'


def picture(file: str) -> str:
    return f'<draw:frame draw:name="x"><draw:image xlink:href="{file}"/></draw:frame>'


def test_the_title_is_above_the_chapters() -> None:
    body = p("Refunds", "P1") + h("Ask") + p("words") + h("More", 2)
    found = markdown_of(read(open_document(body, styles=style("P1", parent="Title"))))
    assert found.split("\n\n") == ["# Refunds", "## Ask", "words", "### More"]


def test_lines_of_code_are_one_block_with_their_spaces() -> None:
    lines = ["if a:", '<text:s text:c="4"/>b &lt; c', "", "<text:tab/>d<text:line-break/>e"]
    body = p("before") + "".join(p(line, "C") for line in lines) + p("after")
    found = markdown_of(read(open_document(body, styles=style("C", parent="Preformatted_20_Text"))))
    assert found == "before\n\n```\nif a:\n    b < c\n\n    d\ne\n```\n\nafter"


UNSEEN = [
    p("secret", "H"),
    p('<text:span text:style-name="S">secret</text:span>'),
    f'<text:section text:name="a" text:display="none">{p("secret")}</text:section>',
    p('secret<text:hidden-paragraph text:is-hidden="true" text:condition="x"/>'),
    h("secret").replace("<text:h", '<text:h text:style-name="H"'),
]


@pytest.mark.parametrize("hidden", UNSEEN)
def test_what_readers_do_not_see_is_left_out_and_counted(hidden: str) -> None:
    styles = style("H", HIDDEN) + style("S", HIDDEN, family="text")
    found = read(open_document(p("seen") + hidden + p("after"), styles=styles))
    assert "secret" not in found.html
    assert markdown_of(found) == "seen\n\nafter"
    assert found.warnings == ("1 word that readers do not see left out",)


def test_comments_deletions_and_lists_of_contents_are_left_out() -> None:
    comment = f"<office:annotation>{p('comment')}</office:annotation>"
    body = (
        f"<text:tracked-changes><text:changed-region><text:deletion>{p('gone')}</text:deletion></text:changed-region>"
        f"</text:tracked-changes><text:table-of-content><text:index-body>{p('Ask 1')}</text:index-body>"
        f"</text:table-of-content>{p(f'words{comment} more')}"
    )
    assert markdown_of(read(open_document(body))) == "words more"


def test_text_of_boxes_and_shapes_stands_behind_their_paragraph() -> None:
    box = f"<draw:frame><draw:text-box>{p('one')}{p('two')}</draw:text-box></draw:frame>"
    shape = f"<draw:g><draw:custom-shape>{p('three')}</draw:custom-shape></draw:g>"
    assert markdown_of(read(open_document(p(f"a{box}b{shape}c") + p("d")))) == "abc\n\none\n\ntwo\n\nthree\n\nd"


def test_pictures_are_in_their_places_and_once_in_the_images() -> None:
    png = screenshot("A")
    body = p(f"a {picture('Pictures/1.png')} b") + f"<draw:g>{picture('Pictures/1.png')}</draw:g>" + p("c")
    found = read(open_document(body, files={"Pictures/1.png": png}))
    assert found.images == {"guide.odt/image1.png": png}
    assert found.html.count('src="guide.odt/image1.png"') == 2


def test_drawings_of_windows_are_named() -> None:
    found = read(open_document(p(f"a {picture('Pictures/1.emf')}"), files={"Pictures/1.emf": b"x"}))
    assert found.images == {}
    assert found.warnings == ("guide.odt: 1 drawing in a format that is not read (EMF); save them as PNG",)


def test_fields_are_their_words() -> None:
    body = p('Version <text:user-defined text:name="v">7</text:user-defined> of <text:title>Refunds</text:title>')
    assert markdown_of(read(open_document(body))) == "Version 7 of Refunds"


def test_what_it_says_of_itself_is_kept() -> None:
    meta = (
        "<meta:initial-creator>Ann</meta:initial-creator><dc:date>2026-11-27T10:00:00.123456</dc:date>"
        "<meta:creation-date>2026-11-26T09:00:00</meta:creation-date><meta:generator>LibreOffice/25</meta:generator>"
    )
    facts = read(open_document(p("a"), meta=meta)).facts
    assert facts is not None
    assert (facts.author, facts.created, facts.changed, facts.producer) == (
        *("Ann", "2026-11-26T09:00:00", "2026-11-27T10:00:00", "LibreOffice/25"),
    )


def test_identifiers_that_are_there_twice_do_no_harm() -> None:
    assert "words" in read(open_document('<text:list xml:id="1"/><text:list xml:id="1"/>' + p("words"))).html


HARMFUL = [
    (open_document(p("&x;"), before='<!DOCTYPE x [<!ENTITY x SYSTEM "file:///etc/passwd">]>'), "it defines entities"),
    (open_document(p("a"), kind="application/vnd.oasis.opendocument.spreadsheet"), "is another kind of document"),
    (open_document(p("a"), files={"META-INF/manifest.xml": b"<m:encryption-data/>"}), "needs a password"),
    (open_document(p("a"), files={"../../x.png": b""}), "it names a file outside of itself"),
    (open_document(p("a"), files={"Pictures/a.png": bytes(20_000_000)}), "unpacks to 20,000,000 bytes"),
    (open_document("<text:section>" * 3_000 + "</text:section>" * 3_000), "is damaged"),
    (open_document("<text:p>"), "is damaged"),
    (zipped({"content.xml": "<x"}), "is damaged"),
    (zipped({"word/document.xml": "<x/>"}), "it is another kind of file, but a Word document"),
]


@pytest.mark.parametrize(("data", "why"), HARMFUL)
def test_what_is_harmful_or_damaged_is_refused_with_the_reason(data: bytes, why: str) -> None:
    with pytest.raises(UnreadableArticleError, match=f"^guide: guide.odt .*{why}"):
        read(data)


@pytest.mark.parametrize(
    "file", ["../../../etc/passwd", "file:///etc/passwd", "http://127.0.0.1:9/a.png", "/etc/passwd"]
)
def test_pictures_elsewhere_are_not_fetched(file: str) -> None:
    found = read(open_document(p(f"words {picture(file)}")))
    assert found.images == {}


def test_many_references_are_read_as_words() -> None:
    marks = "".join(
        p(f'<text:bookmark text:name="m{n}"/>a <text:bookmark-ref text:ref-name="m{n}">b</text:bookmark-ref>')
        for n in range(1_100)
    )
    assert "<a " not in read(open_document(marks)).html
    assert "<a " in read(open_document(marks[: marks.index("</text:p>") + 9])).html
