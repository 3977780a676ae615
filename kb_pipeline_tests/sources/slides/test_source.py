"""PowerPoint presentations: what becomes of their slides, and which of them are refused."""

import io
import time
from typing import Any

import pytest
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.util import Inches, Pt

from kb_pipeline.errors import EmptyArticleError, UnreadableArticleError
from kb_pipeline.sources import SourceDocument, source_of
from kb_pipeline.steps.html import convert_document
from kb_pipeline_tests.pictures import screenshot
from kb_pipeline_tests.sources.decks import (
    BLANK,
    SECTION,
    TITLE,
    TITLE_ONLY,
    edited,
    many_slides,
    presentation,
    slide,
    with_parts,
)

SLIDE = "ppt/slides/slide1.xml"


def read(data: bytes) -> SourceDocument:
    return source_of("pptx").read("deck", "deck.pptx", data)


def body(data: bytes) -> str:
    """The HTML of the slides, without the marks of pages."""
    html = read(data).html
    html = html[html.index("<body>") + 6 : html.index("</body>")]
    return "".join(part.partition("</kb-page>")[2] for part in html.split("<kb-page")[1:])


def one_slide(add: Any) -> str:
    return body(presentation(lambda deck: add(slide(deck, TITLE_ONLY, "Plan").shapes)))


def test_titles_are_headings_and_text_is_a_list_by_its_levels() -> None:
    def build(deck: Any) -> None:
        slide(deck, TITLE, "Refunds", "For the help desk")
        slide(deck, 1, "Steps", "Open the order", (1, "In the list"), (1, "Or by its number"), "Press Refund")

    data = presentation(build)
    assert body(data) == (
        "<h1>Refunds</h1><p>For the help desk</p>"
        "<h2>Steps</h2><ul><li>Open the order<ul><li>In the list</li><li>Or by its number</li></ul></li>"
        "<li>Press Refund</li></ul>"
    )
    assert convert_document("deck", "deck.pptx", read(data).html, {}).title == "Refunds"


def test_each_slide_is_a_page_with_its_size_and_its_words() -> None:
    def build(deck: Any) -> None:
        slide(deck, 1, "First slide", "two words")
        slide(deck, BLANK)

    found = read(presentation(build))
    assert '<kb-page data-number="1" data-label=""></kb-page><h1>First slide</h1>' in found.html
    assert '<kb-page data-number="2" data-label=""></kb-page></body>' in found.html
    first, second = found.pages
    assert (first.number, first.width, first.height, first.words, first.read_by) == (1, 720, 540, 4, "text")
    assert (second.number, second.words, second.read_by) == (2, 0, "nothing")


def test_a_section_and_its_slides_are_on_two_levels() -> None:
    def build(deck: Any) -> None:
        slide(deck, SECTION, "Part one")
        slide(deck, TITLE_ONLY, "Steps")

    assert body(presentation(build)) == "<h1>Part one</h1><h2>Steps</h2>"


def test_a_slide_without_title_is_named_by_its_number() -> None:
    def build(deck: Any) -> None:
        slide(deck, TITLE_ONLY, "First")
        slide(deck, BLANK).shapes.add_textbox(0, 0, Inches(2), Inches(1)).text_frame.text = "Text"

    assert body(presentation(build)) == "<h1>First</h1><h1>Slide 2</h1><p>Text</p>"


def test_shapes_come_in_the_order_in_which_they_are_read() -> None:
    def add(shapes: Any) -> None:
        for text, left, top in (("foot", 0, 6), ("right", 5, 2), ("left below", 0, 3.2), ("left", 0, 2)):
            shapes.add_textbox(Inches(left), Inches(top), Inches(4), Inches(1)).text_frame.text = text

    assert one_slide(add) == "<h1>Plan</h1><p>left</p><p>left below</p><p>right</p><p>foot</p>"


def test_members_of_a_group_are_read_together() -> None:
    def add(shapes: Any) -> None:
        shapes.add_textbox(Inches(5), Inches(2), Inches(4), Inches(1)).text_frame.text = "beside"
        group = shapes.add_group_shape()
        for text, top in (("second", 4), ("first", 2)):
            group.shapes.add_textbox(0, Inches(top), Inches(4), Inches(1)).text_frame.text = text

    assert one_slide(add) == "<h1>Plan</h1><p>first</p><p>second</p><p>beside</p>"


def test_emphasis_links_and_code_are_kept() -> None:
    def add(shapes: Any) -> None:
        frame = shapes.add_textbox(0, Inches(2), Inches(4), Inches(1)).text_frame
        for text in ("Press ", "Save", " or "):
            run = frame.paragraphs[0].add_run()
            run.text, run.font.bold = text, text == "Save"
        run = frame.paragraphs[0].add_run()
        run.text, run.hyperlink.address = "ask <us>", "https://help.example/a?b=1&c=2"
        for line in ("run --all", "stop"):
            code = frame.add_paragraph().add_run()
            code.text, code.font.name = line, "Courier New"

    assert one_slide(add) == (
        "<h1>Plan</h1><p>Press <strong>Save</strong> or "
        '<a href="https://help.example/a?b=1&amp;c=2">ask &lt;us&gt;</a></p>'
        "<pre>run --all\nstop</pre>"
    )


def test_a_bold_line_with_space_above_is_a_heading() -> None:
    def add(shapes: Any) -> None:
        frame = shapes.add_textbox(0, Inches(2), Inches(4), Inches(1)).text_frame
        for text, space in (("Limits", 30), ("Note", 0)):
            paragraph = frame.add_paragraph()
            paragraph.space_before = Pt(space)
            run = paragraph.add_run()
            run.text, run.font.bold = text, True

    assert one_slide(add) == "<h1>Plan</h1><h2>Limits</h2><p><strong>Note</strong></p>"


def test_tables_keep_their_head_and_merged_cells() -> None:
    def add(shapes: Any) -> None:
        table = shapes.add_table(3, 2, 0, 0, Inches(4), Inches(2)).table
        for row, texts in enumerate((("Plan", "Days"), ("Free", "14"), ("", "30"))):
            for column, text in enumerate(texts):
                table.cell(row, column).text = text
        table.cell(1, 0).merge(table.cell(2, 0))

    assert one_slide(add) == (
        "<h1>Plan</h1><table><tr><th>Plan</th><th>Days</th></tr>"
        '<tr><td rowspan="2">Free</td><td>14</td></tr><tr><td>30</td></tr></table>'
    )


def test_a_chart_is_a_table_of_its_data() -> None:
    def add(shapes: Any) -> None:
        data = CategoryChartData()  # type: ignore[no-untyped-call]
        data.categories = ["May", "June"]
        data.add_series("Tickets", (12, 30.5))  # type: ignore[no-untyped-call]
        data.add_series("Refunds", (3, None))  # type: ignore[no-untyped-call]
        chart = shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, 0, 0, Inches(4), Inches(3), data).chart
        chart.has_title = True
        chart.chart_title.text_frame.text = "By month"

    assert one_slide(add) == (
        "<h1>Plan</h1><table><caption>By month</caption><tr><th></th><th>Tickets</th><th>Refunds</th></tr>"
        "<tr><td>May</td><td>12</td><td>3</td></tr><tr><td>June</td><td>30.5</td><td></td></tr></table>"
    )


_DIAGRAM = (
    '<p:graphicFrame xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" '
    'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"><p:nvGraphicFramePr><p:cNvPr id="9" name="d"/>'
    '<p:cNvGraphicFramePr/><p:nvPr/></p:nvGraphicFramePr><p:xfrm><a:off x="0" y="0"/><a:ext cx="9" cy="9"/></p:xfrm>'
    '<a:graphic><a:graphicData uri="http://schemas.openxmlformats.org/drawingml/2006/diagram"><dgm:relIds '
    'xmlns:dgm="http://schemas.openxmlformats.org/drawingml/2006/diagram" '
    'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships" r:dm="rId77"/>'
    "</a:graphicData></a:graphic></p:graphicFrame>"
)
_MODEL = (
    '<dgm:dataModel xmlns:dgm="http://schemas.openxmlformats.org/drawingml/2006/diagram" '
    'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"><dgm:ptLst><dgm:pt modelId="0" type="doc"/>'
    '<dgm:pt modelId="2"><dgm:t><a:p><a:r><a:t>Ship</a:t></a:r></a:p></dgm:t></dgm:pt>'
    '<dgm:pt modelId="1"><dgm:t><a:p><a:r><a:t>Build</a:t></a:r></a:p></dgm:t></dgm:pt>'
    '<dgm:pt modelId="3"><dgm:t><a:p><a:r><a:t>Test</a:t></a:r></a:p></dgm:t></dgm:pt>'
    '<dgm:pt modelId="4" type="pres"><dgm:t><a:p><a:r><a:t>Shown</a:t></a:r></a:p></dgm:t></dgm:pt></dgm:ptLst>'
    '<dgm:cxnLst><dgm:cxn srcId="0" destId="1" srcOrd="0"/><dgm:cxn srcId="0" destId="2" srcOrd="1"/>'
    '<dgm:cxn srcId="1" destId="3" srcOrd="0"/><dgm:cxn type="presOf" srcId="1" destId="4" srcOrd="0"/></dgm:cxnLst>'
    "</dgm:dataModel>"
)


def test_a_diagram_is_the_list_of_its_texts() -> None:
    data = presentation(lambda deck: slide(deck, TITLE_ONLY, "Plan"))
    relations = "ppt/slides/_rels/slide1.xml.rels"
    kind = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/diagramData"
    data = edited(data, SLIDE, "</p:spTree>", _DIAGRAM + "</p:spTree>")
    data = edited(
        data,
        relations,
        "</Relationships>",
        f'<Relationship Id="rId77" Type="{kind}" Target="../diagrams/data1.xml"/></Relationships>',
    )
    data = with_parts(data, {"ppt/diagrams/data1.xml": _MODEL.encode()})
    assert body(data) == "<h1>Plan</h1><ul><li>Build<ul><li>Test</li></ul></li><li>Ship</li></ul>"


def test_pictures_are_taken_out_once_each_with_their_alternative_text() -> None:
    def build(deck: Any) -> None:
        shapes = slide(deck, TITLE_ONLY, "Plan").shapes
        for top in (2, 4):
            shapes.add_picture(io.BytesIO(screenshot("A")), 0, Inches(top))
        shapes[-1]._element.nvPicPr.cNvPr.set("descr", "The dialog")

    found = read(presentation(build))
    assert found.images == {"deck.pptx/image1.png": screenshot("A")}
    assert '<p><img src="deck.pptx/image1.png" alt="The dialog"></p>' in found.html


def test_notes_are_a_quote() -> None:
    def build(deck: Any) -> None:
        slide(deck, TITLE_ONLY, "Plan").notes_slide.notes_text_frame.text = "Say hello.\nThen begin."

    assert body(presentation(build)) == (
        "<h1>Plan</h1><blockquote><p><strong>Notes:</strong></p><p>Say hello.</p><p>Then begin.</p></blockquote>"
    )


@pytest.mark.slow("builds a whole knowledge base")
def test_two_thousand_slides_are_read_in_seconds() -> None:
    data = many_slides(2_000)
    started = time.process_time()
    found = read(data)
    assert time.process_time() - started < 30
    assert [page.number for page in found.pages] == list(range(1, 2_001))
    assert found.html.count("<h1>Topic ") == 2_000
    assert "What is said about topic 2000." in found.html


def test_hidden_slides_are_left_out_and_counted() -> None:
    def build(deck: Any) -> None:
        slide(deck, TITLE_ONLY, "Old").element.set("show", "0")
        slide(deck, TITLE_ONLY, "New")

    found = read(presentation(build))
    assert "Old" not in found.html
    assert [page.number for page in found.pages] == [2]
    assert found.warnings == ("1 hidden slide of deck.pptx was left out",)


def test_a_shape_of_an_unknown_kind_is_a_warning() -> None:
    data = edited(
        presentation(lambda deck: slide(deck, TITLE_ONLY, "Plan")), SLIDE, "</p:spTree>", "<p:novel/></p:spTree>"
    )
    assert read(data).warnings == ("deck.pptx, slide 1: a shape of a kind that is not read (novel) was left out",)


def test_what_the_file_says_about_itself_is_kept() -> None:
    def build(deck: Any) -> None:
        slide(deck, TITLE_ONLY, "The plan")
        slide(deck, TITLE_ONLY, "Costs")
        deck.core_properties.author, deck.core_properties.title = "Ada", "The Plan"

    found = read(presentation(build))
    assert "<title>The Plan</title>" in found.html
    assert found.facts is not None
    assert found.facts.author == "Ada"
    assert found.facts.created == "2013-01-27T09:14:16Z"


@pytest.mark.parametrize("title", ["PowerPoint Presentation", "PowerPoint-Präsentation", "Slide 1", "Vorlage 16:9"])
def test_a_title_that_the_slides_do_not_show_is_none(title: str) -> None:
    def build(deck: Any) -> None:
        slide(deck, TITLE_ONLY, "The plan")
        deck.core_properties.title = title

    assert "<title></title>" in read(presentation(build)).html


GOOD = presentation(lambda deck: slide(deck, TITLE_ONLY, "Plan"))


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"%PDF-1.7", "is a PDF file under another name"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600, "encrypted, or an old Office document"),
        (GOOD[:-40], "is damaged or no Office document"),
        (with_parts(GOOD, {SLIDE: b"<p:sld"}), "is damaged"),
        (with_parts(GOOD, {"ppt/presentation.xml": b'<!DOCTYPE p [<!ENTITY x "x">]><p/>'}), "it defines entities"),
        (with_parts(GOOD, {"ppt/vbaProject.bin": b"x"}), "it contains macros"),
        (with_parts(GOOD, {"ppt/media/a.png": b"\0" * 5_000_000}), "unpacks to 5,000,000 bytes from"),
    ],
)
def test_what_cannot_be_read_safely_is_refused_by_name(data: bytes, problem: str) -> None:
    with pytest.raises(UnreadableArticleError, match=r"deck: deck\.pptx") as refused:
        read(data)
    assert problem in str(refused.value)


def test_a_presentation_without_content_is_no_article() -> None:
    with pytest.raises(EmptyArticleError, match="holds no text and no image"):
        read(presentation(lambda deck: slide(deck, BLANK)))
