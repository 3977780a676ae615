"""Word documents: what becomes of their structure, and which of them are refused."""

import io
import random
import zipfile

import pytest

from kb_pipeline.errors import EmptyArticleError, UnreadableArticleError
from kb_pipeline.records import DocumentFacts, ImageInfo
from kb_pipeline.sources import SourceDocument, source_of
from kb_pipeline.sources.containers import MOST_ENTRIES
from kb_pipeline.steps.fingerprint import sha256
from kb_pipeline.steps.html import convert_document
from kb_pipeline_tests.pictures import screenshot
from kb_pipeline_tests.sources.word import document, paragraph, picture, table


def read(data: bytes) -> SourceDocument:
    return source_of("docx").read("guide", "guide.docx", data)


def markdown(*body: str) -> str:
    return convert_document("guide", "guide.docx", read(document(*body)).html, {}).markdown


def test_headings_tables_and_code_are_what_their_styles_say() -> None:
    assert markdown(
        paragraph("Refunds", "Heading 1"),
        paragraph("Open the order."),
        table(("Plan", "Days"), ("Free", "14")),
        paragraph("Limits", "Heading 2"),
        paragraph("run --all", "Source Code"),
        paragraph("stop", "Source Code"),
        paragraph("Be patient.", "Quote"),
    ) == "\n".join(
        [
            "# Refunds\n\nOpen the order.\n",
            "| Plan | Days |\n| --- | --- |\n| Free | 14 |\n",
            "## Limits\n\n```\nrun --all\nstop\n```\n\n> Be patient.\n",
        ]
    )


def test_a_title_stands_above_the_chapters() -> None:
    body = (paragraph("Handbook", "Title"), paragraph("One", "Heading 1"), paragraph("Two", "Heading 2"))
    assert markdown(*body, paragraph("Text.")) == "# Handbook\n\n## One\n\n### Two\n\nText.\n"


def test_contents_and_indexes_are_left_out_and_nothing_is_missed() -> None:
    entry = "<w:r><w:t>Refunds</w:t></w:r><w:r><w:tab/></w:r><w:r><w:t>3</w:t></w:r>"
    data = document(
        paragraph("In this guide", "TOC Heading"),
        paragraph(entry, "toc 1"),
        paragraph("Refunds", "Heading 1"),
        paragraph("Open the order."),
        paragraph("orders, 3", "index 1"),
    )
    found = read(data)
    assert convert_document("guide", "guide.docx", found.html, {}).markdown == "# Refunds\n\nOpen the order.\n"
    assert found.warnings == ()


def test_images_are_taken_out_of_the_document_once_each() -> None:
    media = {"a.png": screenshot("A"), "same.png": screenshot("A"), "b.png": screenshot("B")}
    found = read(document(picture("rId1", "The dialog"), picture("rId2"), picture("rId3"), media=media))
    assert found.images == {"guide.docx/image1.png": screenshot("A"), "guide.docx/image2.png": screenshot("B")}
    assert found.html.count('src="guide.docx/image1.png"') == 2
    assert 'alt="The dialog"' in found.html


def test_an_image_of_a_document_has_a_marker_in_its_place() -> None:
    found = read(document(paragraph("Press Save."), picture("rId1"), media={"a.png": screenshot("A")}))
    (name,) = found.images
    info = ImageInfo(file=name, sha256=sha256(found.images[name]), format="PNG", width=120, height=60)
    converted = convert_document("guide", "guide.docx", found.html, {name: info})
    assert converted.markdown == "Press Save.\n\n[[IMG:guide.docx/image1.png]]\n"
    assert converted.images[0].context == "Press Save."


def test_equations_are_kept_as_text() -> None:
    equation = "<w:r><w:t>Area: </w:t></w:r><m:oMath><m:r><m:t>a=b</m:t></m:r></m:oMath>"
    assert markdown(paragraph(equation)) == "Area: a=b\n"


def test_tracked_deletions_are_left_out_and_insertions_kept() -> None:
    change = (
        '<w:del w:id="1"><w:r><w:delText>old </w:delText></w:r></w:del>'
        '<w:ins w:id="2"><w:r><w:t>new</w:t></w:r></w:ins>'
    )
    assert markdown(paragraph(change)) == "new\n"


def test_notes_are_kept_and_comments_left_out() -> None:
    refund = (
        '<w:commentRangeStart w:id="0"/><w:r><w:t>Press Refund.</w:t></w:r><w:commentRangeEnd w:id="0"/>'
        '<w:r><w:commentReference w:id="0"/></w:r><w:r><w:footnoteReference w:id="2"/></w:r>'
    )
    comments = f'<w:comment w:id="0" w:author="Ann">{paragraph("Is this right?")}</w:comment>'
    footnotes = f'<w:footnote w:id="2">{paragraph("Within fourteen days.")}</w:footnote>'
    text = read(document(paragraph(refund), notes={"comments": comments, "footnotes": footnotes})).html
    assert "Press Refund." in text
    assert "Within fourteen days." in text
    assert "right?" not in text


def test_merged_cells_are_those_of_the_table() -> None:
    def cell(text: str, merged: str = "") -> str:
        return f"<w:tc><w:tcPr>{merged}</w:tcPr>{paragraph(text)}</w:tc>"

    first = cell("Plan", '<w:gridSpan w:val="2"/>') + cell("Days", '<w:vMerge w:val="restart"/>')
    second = cell("Free") + cell("Team") + cell("", "<w:vMerge/>")
    html = read(document(f"<w:tbl><w:tr>{first}</w:tr><w:tr>{second}</w:tr></w:tbl>")).html
    assert '<td colspan="2"><p>Plan</p></td><td rowspan="2"><p>Days</p></td>' in html


@pytest.mark.slow("builds a whole knowledge base")
def test_an_embedded_object_is_not_read() -> None:
    embedded = random.Random(1).randbytes(50_000_000)
    found = read(document(paragraph("Text."), parts={"word/embeddings/oleObject1.bin": embedded}))
    assert found.html.count("Text.") == 1
    assert not found.images


def test_a_drawing_that_nothing_can_draw_is_told() -> None:
    found = read(document(paragraph("Text."), picture("rId1", "The flow"), media={"a.emf": b"emf"}))
    assert found.images == {}
    assert "The flow" in found.html
    assert found.warnings == ("a drawing in guide.docx is a Windows metafile (emf); insert it as PNG or SVG",)


def test_text_that_is_not_read_is_told() -> None:
    shape = "<w:r><w:drawing><wp:inline><a:t>A label in a shape</a:t></wp:inline></w:drawing></w:r>"
    found = read(document(paragraph("Text."), paragraph(shape)))
    assert found.warnings == ("14 of 18 letters of guide.docx stand where they are not read (shapes, charts)",)


_BOX = (
    '<w:r><w:drawing><wp:inline><a:graphic><a:graphicData><wps:wsp xmlns:wps="http://schemas.microsoft.com/office/word/'
    f'2010/wordprocessingShape"><wps:txbx><w:txbxContent>{paragraph("In a box.")}</w:txbxContent></wps:txbx></wps:wsp>'
    "</a:graphicData></a:graphic></wp:inline></w:drawing></w:r>"
)
_ALTERNATIVES = (
    '<w:r><mc:AlternateContent xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"><mc:Choice '
    f'Requires="wps">{_BOX}</mc:Choice><mc:Fallback><w:pict><v:shape xmlns:v="urn:schemas-microsoft-com:vml">'
    f"<v:textbox><w:txbxContent>{paragraph('In a box.')}</w:txbxContent></v:textbox></v:shape></w:pict></mc:Fallback>"
    "</mc:AlternateContent></w:r>"
)


@pytest.mark.parametrize("box", [_BOX, _ALTERNATIVES])
def test_the_text_of_a_text_box_stands_once_below_its_paragraph(box: str) -> None:
    found = read(document(paragraph("<w:r><w:t>Before.</w:t></w:r>" + box), paragraph("After.")))
    assert convert_document("guide", "guide.docx", found.html, {}).markdown == "Before.\n\nIn a box.\n\nAfter.\n"
    assert found.warnings == ()


def test_footers_are_left_out_and_what_the_file_says_about_itself_is_kept() -> None:
    core = (
        '<p:coreProperties xmlns:p="http://schemas.openxmlformats.org/package/2006/metadata/core-properties" '
        'xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:dcterms="http://purl.org/dc/terms/"><dc:title>Handbook'
        "</dc:title><dc:creator> Ada  L. </dc:creator><dcterms:created>2026-02-03T04:05:06Z</dcterms:created>"
        "<dcterms:modified>yesterday</dcterms:modified></p:coreProperties>"
    )
    footer = (
        f'<w:ftr xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main">{paragraph("Page 7")}</w:ftr>'
    )
    parts = {"docProps/core.xml": core, "word/footer1.xml": footer}
    found = read(document(paragraph("Handbook"), paragraph("Text."), parts=parts))
    assert "Page 7" not in found.html
    assert "<title>Handbook</title>" in found.html
    assert found.facts == DocumentFacts(author="Ada L.", created="2026-02-03T04:05:06Z")


def test_nothing_outside_of_the_document_is_read() -> None:
    linked = picture("rId1").replace("r:embed", "r:link")
    outside = (
        '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" '
        'Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/image" '
        'Target="file:///etc/hostname" TargetMode="External"/></Relationships>'
    )
    found = read(document(paragraph("Text."), linked, parts={"word/_rels/document.xml.rels": outside}))
    assert found.images == {}
    assert "is not inside it and was left out" in found.warnings[0]


def test_fields_and_templates_that_lead_elsewhere_are_neither_followed_nor_shown() -> None:
    field = (
        '<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText>DDEAUTO c:\\windows\\cmd.exe "/k calc"'
        '</w:instrText></w:r><w:r><w:fldChar w:fldCharType="end"/></w:r><w:r><w:t>Text.</w:t></w:r>'
    )
    template = (
        '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" '
        'Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/attachedTemplate" '
        'Target="http://192.0.2.1/x.dotm" TargetMode="External"/></Relationships>'
    )
    found = read(document(paragraph(field), parts={"word/_rels/settings.xml.rels": template}))
    assert convert_document("guide", "guide.docx", found.html, {}).markdown == "Text.\n"


def test_tables_within_tables_are_read_or_refused() -> None:
    depth = 5_000
    nested = "<w:tbl><w:tr><w:tc>" * depth + paragraph("Text.") + "<w:p/></w:tc></w:tr></w:tbl>" * depth
    try:
        assert "Text." in markdown(nested)
    except UnreadableArticleError as exc:
        assert str(exc).startswith("guide: guide.docx ")


ENTITIES = '<!DOCTYPE d [<!ENTITY x "x">]><w:document xmlns:w="w"/>'


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"%PDF-1.7", "is a PDF file under another name"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600, "encrypted, or an old Office document"),
        (document(paragraph("x"))[:-40], "is damaged or no Office document"),
        (document(parts={"word/document.xml": "<w:document"}), "is damaged"),
        (document(parts={"word/document.xml": ENTITIES}), "it defines entities"),
        (document(paragraph("x"), parts={"word/styles.xml": ENTITIES}), "it defines entities"),
        (document(paragraph("x"), parts={"word/styles.xml": "<w:styles"}), "is damaged"),
        (document(parts={"word/vbaProject.bin": b"x"}), "it contains macros"),
        (document(parts={"../../etc/passwd": b"x"}), "it names a file outside of itself"),
        (document(parts={"WORD/document.xml": b"x"}), "twice"),
        (document(parts={"word/media/a.png": b"\0" * 5_000_000}), "unpacks to 5,000,000 bytes from"),
        (document(parts={f"x{number}": b"" for number in range(MOST_ENTRIES)}), "at most 10,000 are read"),
    ],
)
def test_what_cannot_be_read_safely_is_refused_by_name(data: bytes, problem: str) -> None:
    with pytest.raises(UnreadableArticleError, match=r"guide: guide\.docx") as refused:
        read(data)
    assert problem in str(refused.value)


def test_another_kind_of_archive_is_refused() -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as container:
        container.writestr("ppt/presentation.xml", "<p/>")
    with pytest.raises(UnreadableArticleError, match=r"has no word/document\.xml"):
        read(packed.getvalue())


def test_an_empty_document_is_no_article() -> None:
    with pytest.raises(EmptyArticleError, match="holds no text and no image"):
        read(document(paragraph(" ")))
