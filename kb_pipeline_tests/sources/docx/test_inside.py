"""What stands in the paragraphs of Word documents besides plain text, in their headers, and what they are called."""

import pytest

from kb_pipeline.records import ImageInfo
from kb_pipeline.sources import SourceDocument, source_of
from kb_pipeline.steps.html import convert_document
from kb_pipeline_tests.pictures import screenshot
from kb_pipeline_tests.sources.word import document, item, level, numbering, paragraph, style, styles, table

W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
W14 = 'xmlns:w14="http://schemas.microsoft.com/office/word/2010/wordml"'
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def read(*body: str, parts: dict[str, str] | None = None, media: dict[str, bytes] | None = None) -> SourceDocument:
    return source_of("docx").read("guide", "guide.docx", document(*body, parts=parts, media=media))


def markdown(*body: str, parts: dict[str, str] | None = None, media: dict[str, bytes] | None = None) -> str:
    found = read(*body, parts=parts, media=media)
    images = {name: ImageInfo(file=name, sha256="", format="PNG", width=120, height=60) for name in found.images}
    return convert_document("guide", "guide.docx", found.html, images).markdown.strip()


def text(words: str) -> str:
    return f'<w:r><w:t xml:space="preserve">{words}</w:t></w:r>'


def box(state: str, shown: str) -> str:
    """A box that the author of a form ticks."""
    properties = f"<w:sdtPr><w14:checkbox {W14}>{state}</w14:checkbox></w:sdtPr>"
    return f"<w:sdt>{properties}<w:sdtContent><w:r>{shown}</w:r></w:sdtContent></w:sdt>"


def old_box(state: str) -> str:
    begin = f'<w:fldChar w:fldCharType="begin"><w:ffData><w:checkBox>{state}</w:checkBox></w:ffData></w:fldChar>'
    code, end = "<w:instrText> FORMCHECKBOX </w:instrText>", '<w:fldChar w:fldCharType="end"/>'
    return "".join(f"<w:r>{one}</w:r>" for one in (begin, code, end))


@pytest.mark.parametrize(
    ("control", "sign"),
    [
        pytest.param(box('<w14:checked w14:val="1"/>', "<w:t>☒</w:t>"), "☑", id="ticked"),
        pytest.param(box('<w14:checked w14:val="true"/>', "<w:t>✔</w:t>"), "☑", id="ticked with a sign of its own"),
        pytest.param(box('<w14:checked w14:val="0"/>', "<w:t>☐</w:t>"), "☐", id="not ticked"),
        pytest.param(box("", "<w:t>☐</w:t>"), "☐", id="never ticked"),
        pytest.param(
            box('<w14:checked w14:val="1"/>', '<w:sym w:font="Wingdings" w:char="F0FE"/>'), "☑", id="of Wingdings"
        ),
        pytest.param(old_box('<w:default w:val="1"/>'), "☑", id="old, ticked by default"),
        pytest.param(old_box('<w:default w:val="1"/><w:checked w:val="0"/>'), "☐", id="old, ticked away"),
        pytest.param(old_box("<w:checked/>"), "☑", id="old, ticked"),
    ],
)
def test_boxes_say_whether_they_are_ticked(control: str, sign: str) -> None:
    assert markdown(paragraph(control + text(" Backup made"))) == f"{sign} Backup made"
    cell = table(("Role", "Delete"), ("Guest", control))
    assert markdown(cell) == f"| Role | Delete |\n| --- | --- |\n| Guest | {sign} |"


def test_a_box_around_a_paragraph() -> None:
    whole = box('<w14:checked w14:val="1"/>', "").replace("<w:r></w:r>", paragraph("☒ Done"))
    assert markdown(whole) == "☑ Done"


@pytest.mark.parametrize(
    ("said", "shown"), [("", "Low"), ('<w:default w:val="1"/>', "High"), ('<w:result w:val="1"/>', "High")]
)
def test_the_list_of_an_old_form_says_what_is_chosen(said: str, shown: str) -> None:
    entries = '<w:listEntry w:val="Low"/><w:listEntry w:val="High"/>'
    field = (
        f'<w:r><w:fldChar w:fldCharType="begin"><w:ffData><w:ddList>{said}{entries}</w:ddList></w:ffData></w:fldChar>'
        '</w:r><w:r><w:instrText> FORMDROPDOWN </w:instrText></w:r><w:r><w:fldChar w:fldCharType="end"/></w:r>'
    )
    assert markdown(paragraph(text("Level: ") + field + text(" now"))) == f"Level: {shown} now"


def moved(words: str, position: int, size: int = 19) -> str:
    """Text that stands higher or lower than the line, as LibreOffice writes an index."""
    return f'<w:r><w:rPr><w:position w:val="{position}"/><w:sz w:val="{size}"/></w:rPr><w:t>{words}</w:t></w:r>'


def test_smaller_text_above_or_below_the_line_is_an_index() -> None:
    both = text("H") + moved("2", -2) + text("O, m") + moved("3", 8)
    assert markdown(paragraph(both)) == "H<sub>2</sub>O, m<sup>3</sup>"
    assert markdown(paragraph(text("Level ") + moved("2", 0))) == "Level 2"
    assert markdown(paragraph(moved("A", 8) + moved("B", 8))) == "AB"


SQUARE = "<m:oMath><m:sSup><m:e><m:r><m:t>r</m:t></m:r></m:e><m:sup><m:r><m:t>2</m:t></m:r></m:sup></m:sSup></m:oMath>"


def test_equations_are_latex() -> None:
    assert markdown(paragraph(text("Area ") + SQUARE + text(" here."))) == "Area `$r^{2}$` here."
    assert markdown(paragraph(f"<m:oMathPara>{SQUARE}</m:oMathPara>")) == "`$$r^{2}$$`"
    assert markdown(paragraph(SQUARE + SQUARE)) == "`$r^{2}$` `$r^{2}$`"
    assert markdown(table(("Name", "Area"), ("Circle", SQUARE))).endswith("| Circle | `$r^{2}$` |")


def test_signs_tabs_and_directions_are_read() -> None:
    sign = '<w:r><w:sym w:font="Segoe UI Symbol" w:char="2192"/></w:r>'
    assert markdown(paragraph(text("File ") + sign + text(" Open"))) == "File → Open"
    assert markdown(paragraph(text("Name") + "<w:r><w:ptab/></w:r>" + text("Value"))) == "Name Value"
    assert markdown(paragraph(text("a ") + f'<w:bdo w:val="rtl">{text("b")}</w:bdo>')) == "a b"


@pytest.mark.parametrize(
    ("font", "letters", "signs"),
    [("Wingdings", "ü", "✓"), ("Wingdings", "\uf0fc", "✓"), ("Wingdings", "\uf0fb", "🗶"), ("Symbol", "a", "α")],
)
def test_letters_of_fonts_of_signs_are_the_signs(font: str, letters: str, signs: str) -> None:
    run = f'<w:r><w:rPr><w:rFonts w:ascii="{font}"/></w:rPr><w:t>{letters}</w:t></w:r>'
    assert markdown(paragraph(run + text(" Backup made"))) == f"{signs} Backup made"


def test_a_sign_that_cannot_be_written_is_left_out() -> None:
    assert markdown(paragraph(text("Bell") + '<w:r><w:sym w:font="Arial" w:char="0007"/></w:r>')) == "Bell"


GROUP = (
    '<w:r><w:drawing><wp:inline><wp:docPr id="1" name="g" descr="Both"/><a:graphic><a:graphicData><wpg:wgp '
    'xmlns:wpg="http://schemas.microsoft.com/office/word/2010/wordprocessingGroup">{}</wpg:wgp></a:graphicData>'
    "</a:graphic></wp:inline></w:drawing></w:r>"
)
PICTURE = '<pic:pic><pic:blipFill><a:blip r:embed="{}"/></pic:blipFill></pic:pic>'


def test_pictures_of_a_group_are_kept() -> None:
    media = {"a.png": screenshot("A"), "b.png": screenshot("B")}
    group = paragraph(GROUP.format(PICTURE.format("rId1") + PICTURE.format("rId2")))
    assert len(read(group, media=media).images) == 2
    assert markdown(group, media=media).count("[[IMG:") == 2


def test_of_alternatives_one_is_read() -> None:
    newest = GROUP.format(PICTURE.format("rId1")).removeprefix("<w:r>").removesuffix("</w:r>")
    oldest = '<w:pict><v:shape xmlns:v="urn:schemas-microsoft-com:vml"><v:imagedata r:id="rId1"/></v:shape></w:pict>'
    alternatives = (
        '<w:r><mc:AlternateContent xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"><mc:Choice>'
        f"{newest}</mc:Choice><mc:Fallback>{oldest}</mc:Fallback></mc:AlternateContent></w:r>"
    )
    media = {"a.png": screenshot("A")}
    assert markdown(paragraph(alternatives), media=media).count("[[IMG:") == 1
    ink = alternatives.replace(newest, "<w:contentPart/>")
    assert markdown(paragraph(ink), media=media).count("[[IMG:") == 1


CHART = (
    '<c:chartSpace xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart"><c:ser><c:tx><c:v>2026</c:v></c:tx>'
    '<c:cat><c:pt idx="0"><c:v>May</c:v></c:pt></c:cat><c:val><c:pt idx="0"><c:v>7</c:v></c:pt></c:val></c:ser>'
    "</c:chartSpace>"
)


def chart_frame() -> str:
    return (
        '<w:r><w:drawing><wp:inline><a:graphic><a:graphicData><c:chart r:id="rIdC" '
        'xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart"/></a:graphicData></a:graphic></wp:inline>'
        "</w:drawing></w:r>"
    )


def chart_parts(part: str) -> dict[str, str]:
    relationships = (
        '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rIdC" '
        f'Type="{OFFICE}/chart" Target="charts/chart1.xml"/></Relationships>'
    )
    return {"word/charts/chart1.xml": part, "word/_rels/document.xml.rels": relationships}


def chart(part: str) -> SourceDocument:
    return read(paragraph(text("Sales:") + chart_frame()), paragraph("After."), parts=chart_parts(part))


def test_a_chart_is_a_table_of_its_data() -> None:
    written = convert_document("guide", "guide.docx", chart(CHART).html, {}).markdown
    assert written == "Sales:\n\n|  | 2026 |\n| --- | --- |\n| May | 7 |\n\nAfter.\n"
    assert chart("<c/>").warnings == ("1 chart or diagram of guide.docx cannot be read",)


def test_an_embedded_document_is_told() -> None:
    assert read(paragraph("Text."), '<w:altChunk r:id="rId9"/>').warnings == (
        "1 embedded document of guide.docx cannot be read",
    )


def test_a_list_goes_on_after_a_chart() -> None:
    parts = numbering((level(0),))
    frame = chart_frame()
    body = (item("One", 1), paragraph(frame), item("Two", 1))
    assert markdown(*body, parts={**parts, **chart_parts(CHART)}).endswith("2. Two")


def header(*body: str) -> dict[str, str]:
    relationships = (
        '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rIdH" '
        f'Type="{OFFICE}/header" Target="header1.xml"/></Relationships>'
    )
    return {"word/header1.xml": f"<w:hdr {W}>{''.join(body)}</w:hdr>", "word/_rels/document.xml.rels": relationships}


SECTION = '<w:sectPr><w:headerReference w:type="default" r:id="rIdH"/></w:sectPr>'
PAGE = '<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText> PAGE </w:instrText></w:r>' + text("7")


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        pytest.param(paragraph("AA-17, Rev. 4"), "AA-17, Rev. 4\n\n", id="number and version"),
        pytest.param(paragraph("Pump manual"), "", id="the title"),
        pytest.param(paragraph(text("Page ") + PAGE), "", id="page number"),
        pytest.param(
            paragraph(text("AA-17") + "<w:r><w:tab/></w:r>" + text("Page ") + PAGE), "AA-17\n\n", id="both in a line"
        ),
        pytest.param(
            table(("Document", "AA-17"), ("Valid from", "1 May")),
            "Document | AA-17 | Valid from | 1 May\n\n",
            id="table",
        ),
        pytest.param(paragraph("<w:r><w:rPr><w:vanish/></w:rPr><w:t>Draft</w:t></w:r>"), "", id="hidden"),
        pytest.param("", "", id="empty"),
    ],
)
def test_a_header_that_says_more_than_the_text_is_told_once_below_the_title(written: str, kept: str) -> None:
    body = (paragraph("Pump manual", "Heading 1"), paragraph("Text of the pump manual."), SECTION)
    parts = header(written) | styles(style("Heading1", name="heading 1"))
    assert markdown(*body, parts=parts) == f"# Pump manual\n\n{kept}Text of the pump manual."


@pytest.mark.parametrize(
    ("said", "title"),
    [
        ("Pump manual", "Pump manual"),
        ("PUMP MANUAL", "PUMP MANUAL"),
        ("Pump manual Model X", "Pump manual Model X"),
        ("New Microsoft Word Document", ""),
        ("Neues Microsoft Word-Dokument", ""),
        ("Vorlage Brief", ""),
        ("Document1", ""),
        ("The pump", ""),
    ],
)
def test_a_title_is_believed_if_the_document_begins_with_it(said: str, title: str) -> None:
    core = (
        '<p:coreProperties xmlns:p="http://schemas.openxmlformats.org/package/2006/metadata/core-properties" '
        f'xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>{said}</dc:title></p:coreProperties>'
    )
    body = (paragraph("Pump manual"), paragraph("Model X"), paragraph("The pump is blue."))
    assert f"<title>{title}</title>" in read(*body, parts={"docProps/core.xml": core}).html
