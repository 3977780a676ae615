"""Text that no reader of a Word document sees is left out and counted; what may be seen is kept."""

import pytest

from kb_pipeline.sources import SourceDocument, source_of
from kb_pipeline_tests.sources.word import document, paragraph, table

_W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
_DRAWING = (
    'xmlns:wps="http://schemas.microsoft.com/office/word/2010/wordprocessingShape" '
    'xmlns:v="urn:schemas-microsoft-com:vml" '
    'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"'
)
CLEAR = (
    '<w14:textFill xmlns:w14="http://schemas.microsoft.com/office/word/2010/wordml"><w14:solidFill>'
    '<w14:srgbClr w14:val="000000"><w14:alpha w14:val="100000"/></w14:srgbClr></w14:solidFill></w14:textFill>'
)
STYLES = (
    f'<w:styles {_W}><w:style w:type="character" w:styleId="Hidden"><w:rPr><w:vanish/></w:rPr></w:style>'
    '<w:style w:type="paragraph" w:styleId="Notes"><w:rPr><w:vanish/></w:rPr></w:style>'
    '<w:style w:type="paragraph" w:styleId="MoreNotes"><w:basedOn w:val="Notes"/></w:style>'
    '<w:style w:type="paragraph" w:styleId="Dark"><w:pPr><w:shd w:val="clear" w:fill="000000"/></w:pPr></w:style>'
    '<w:style w:type="table" w:styleId="Grid"/><w:style w:type="table" w:styleId="Banded">'
    '<w:tblStylePr w:type="firstRow"><w:tcPr><w:shd w:val="clear" w:fill="1F3864"/></w:tcPr></w:tblStylePr></w:style>'
    "</w:styles>"
)


def read(*body: str, styles: str = STYLES, **parts: str) -> SourceDocument:
    given = {"word/styles.xml": styles, **{f"word/{name}.xml": part for name, part in parts.items()}}
    return source_of("docx").read("guide", "guide.docx", document(*body, parts=given))


def run(properties: str = "", text: str = "secret") -> str:
    return f"<w:r><w:rPr>{properties}</w:rPr><w:t>{text}</w:t></w:r>"


def colour(colour: str) -> str:
    return f'<w:color w:val="{colour}"/>'


def shade(fill: str) -> str:
    return f'<w:shd w:val="clear" w:color="auto" w:fill="{fill}"/>'


def in_cell(runs: str, shading: str = "", style: str = "Grid") -> str:
    properties = f'<w:tblPr><w:tblStyle w:val="{style}"/></w:tblPr>'
    return f"<w:tbl>{properties}<w:tr><w:tc><w:tcPr>{shading}</w:tcPr>{paragraph(runs)}</w:tc></w:tr></w:tbl>"


def in_box(anchor: str = "", place: str = "", hidden: str = "") -> str:
    """A text box: as Word draws it, and as older programs do."""
    box = f"<w:txbxContent>{paragraph(run())}</w:txbxContent>"
    return paragraph(
        f"<w:r {_DRAWING}><mc:AlternateContent><mc:Choice Requires='wps'><w:drawing><wp:anchor>{anchor}"
        f"<wp:extent cx='127000' cy='127000'/><wp:docPr id='1' name='b' {hidden}/><wps:wsp><wps:txbx>{box}</wps:txbx>"
        f"</wps:wsp></wp:anchor></w:drawing></mc:Choice><mc:Fallback><w:pict><v:rect style='{place}'><v:textbox>{box}"
        "</v:textbox></v:rect></w:pict></mc:Fallback></mc:AlternateContent></w:r>"
    )


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(paragraph(run("<w:vanish/>")), id="hidden"),
        pytest.param(paragraph(run('<w:rStyle w:val="Hidden"/>')), id="by a style"),
        pytest.param(paragraph(run(), "MoreNotes"), id="by the style below a paragraph's"),
        pytest.param(paragraph(run(colour("FFFFFF"))), id="white on white"),
        pytest.param(paragraph(run(colour("FDFDFE"))), id="nearly white on white"),
        pytest.param(paragraph(run(colour("FF0000") + shade("FF0000"))), id="red on red"),
        pytest.param(paragraph(run(colour("000000") + '<w:highlight w:val="black"/>')), id="marked in black"),
        pytest.param(paragraph(run(colour("000000")), "Dark"), id="black in a black paragraph"),
        pytest.param(in_cell(run(colour("EEEEEE")), shade("EEEEEE")), id="in the colour of its cell"),
        pytest.param(in_cell(run(colour("FFFFFF"))), id="white in a table without a colour"),
        pytest.param(paragraph(run('<w:sz w:val="1"/>')), id="half a point"),
        pytest.param(paragraph(run(CLEAR)), id="transparent"),
        pytest.param(paragraph(run('<w:w w:val="1"/>')), id="pressed together"),
        pytest.param(
            f"<w:tbl><w:tr><w:trPr><w:hidden/></w:trPr><w:tc>{paragraph(run())}</w:tc></w:tr></w:tbl>",
            id="a hidden row",
        ),
        pytest.param(in_box(hidden="hidden='1'", place="visibility:hidden"), id="a hidden box"),
        pytest.param(
            in_box("<wp:positionH relativeFrom='page'><wp:posOffset>-200000</wp:posOffset></wp:positionH>"),
            id="a box beside the page",
        ),
        pytest.param(
            paragraph("<m:oMath><m:r><w:rPr><w:vanish/></w:rPr><m:t>secret</m:t></m:r></m:oMath>"), id="formula"
        ),
    ],
)
def test_unseen(body: str) -> None:
    found = read(paragraph("Seen."), body)
    assert "secret" not in found.html
    assert found.warnings == ("1 word that readers cannot see was left out",)


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(paragraph(run('<w:vanish w:val="0"/>'), "Notes"), id="shown in a hidden style"),
        pytest.param(paragraph(run('<w:rStyle w:val="Hidden"/>'), "Notes"), id="hidden twice"),
        pytest.param(paragraph(run("<w:webHidden/>")), id="not in web view"),
        pytest.param(
            f"<w:p><w:pPr><w:rPr><w:vanish/></w:rPr></w:pPr>{run()}</w:p>", id="before a hidden paragraph end"
        ),
        pytest.param(paragraph(run(colour("FFFFFF") + shade("1F3864"))), id="white on blue"),
        pytest.param(paragraph(run(colour("FFFFFF")), "Dark"), id="white in a black paragraph"),
        pytest.param(in_cell(run(colour("FFFFFF")), shade("1F3864")), id="white in a blue cell"),
        pytest.param(in_cell(run(colour("FFFFFF")), style="Banded"), id="white in a table with a blue head"),
        pytest.param(
            in_cell(run(colour("FFFFFF")), '<w:shd w:val="clear" w:color="auto" w:themeFill="text1"/>'),
            id="white in a cell in a colour of the theme",
        ),
        pytest.param(paragraph(run(colour("auto") + shade("000000"))), id="automatic on black"),
        pytest.param(paragraph(run(colour("FFFFFF") + '<w:shd w:val="pct50" w:fill="FFFFFF"/>')), id="on a pattern"),
        pytest.param(paragraph(run(colour("D0D0D0"))), id="light gray"),
        pytest.param(paragraph(run('<w:sz w:val="8"/>')), id="small"),
        pytest.param(
            in_box("<wp:positionH relativeFrom='column'><wp:posOffset>-200000</wp:posOffset></wp:positionH>"), id="box"
        ),
        pytest.param(paragraph(f"<w:ins>{run()}</w:ins>"), id="inserted"),
    ],
)
def test_seen(body: str) -> None:
    found = read(paragraph("Seen."), body)
    assert "secret" in found.html
    assert not found.warnings


def test_white_text_may_stand_on_a_picture() -> None:
    behind = paragraph(f"<w:r {_DRAWING}><w:drawing><wp:anchor behindDoc='1'/></w:drawing></w:r>")
    header = f'<w:hdr {_W} xmlns:v="urn:schemas-microsoft-com:vml"><v:rect style="position:absolute"/></w:hdr>'
    white = paragraph(run(colour("FFFFFF")))
    assert "secret" in read(behind, white).html
    assert "secret" in read(white, header1=header).html


def test_hidden_by_the_defaults_of_the_document() -> None:
    defaults = f"<w:styles {_W}><w:docDefaults><w:rPrDefault><w:rPr><w:vanish/></w:rPr></w:rPrDefault></w:docDefaults>"
    found = read(paragraph(run()), paragraph(run('<w:vanish w:val="0"/>', "Seen.")), styles=f"{defaults}</w:styles>")
    assert "secret" not in found.html
    assert "Seen." in found.html


def test_footnotes_have_hidden_text_as_well() -> None:
    note = f'<w:footnote w:id="2">{paragraph(run("<w:vanish/>") + run(text="Told."))}</w:footnote>'
    data = document(paragraph('<w:r><w:footnoteReference w:id="2"/></w:r>'), notes={"footnotes": note})
    html = source_of("docx").read("guide", "guide.docx", data).html
    assert "Told." in html
    assert "secret" not in html


def test_spaces_in_white_still_set_words_apart() -> None:
    space = f'<w:r><w:rPr>{colour("FFFFFF")}</w:rPr><w:t xml:space="preserve"> </w:t></w:r>'
    assert "one two" in read(paragraph(run(text="one") + space + run(text="two"))).html


def test_letters_below_ruby_line_ends_and_results_of_fields_are_read() -> None:
    ruby = "<w:ruby><w:rt><w:r><w:t>kan</w:t></w:r></w:rt><w:rubyBase><w:r><w:t>KANJI</w:t></w:r></w:rubyBase></w:ruby>"
    field = f'<w:fldSimple w:instr="REF x">{run(text="4.1")}</w:fldSimple>'
    html = read(paragraph(f"<w:r>{ruby}<w:t>one</w:t><w:cr/><w:t>two</w:t></w:r>{field}"), table(("a",))).html
    assert "<p>KANJIone<br />two4.1</p>" in html
