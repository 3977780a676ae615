"""Tables of Word documents: their heads, and rows that begin late."""

import pytest

from kb_pipeline.sources import source_of
from kb_pipeline.steps.html import convert_document
from kb_pipeline_tests.sources.word import document, paragraph

W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
HEAD = "| Role | Delete |\n| --- | --- |\n| Admin | yes |\n"
NO_HEAD = "|  |  |\n| --- | --- |\n| Role | Delete |\n| Admin | yes |\n"


def markdown(table: str, **parts: str) -> str:
    html = source_of("docx").read("guide", "guide.docx", document(table, parts=parts or None)).html
    return convert_document("guide", "guide.docx", html, {}).markdown.replace("**", "")


def cells(*texts: str, bold: bool = False) -> str:
    run = f"<w:r><w:rPr>{'<w:b/>' if bold else ''}</w:rPr><w:t>{{}}</w:t></w:r>"
    return "".join(f"<w:tc>{paragraph(run.format(text))}</w:tc>" for text in texts)


def rows(*rows: str, properties: str = "") -> str:
    return f"<w:tbl><w:tblPr>{properties}</w:tblPr>{''.join(f'<w:tr>{row}</w:tr>' for row in rows)}</w:tbl>"


def styled(look: str, first_row: str = '<w:tblStylePr w:type="firstRow"><w:rPr><w:b/></w:rPr></w:tblStylePr>') -> str:
    styles = (
        f'<w:styles {W}><w:style w:type="table" w:styleId="Base">{first_row}</w:style>'
        '<w:style w:type="table" w:styleId="House"><w:basedOn w:val="Base"/></w:style></w:styles>'
    )
    properties = f'<w:tblStyle w:val="House"/><w:tblLook {look}/>'
    table = rows(cells("Role", "Delete"), cells("Admin", "yes"), properties=properties)
    return markdown(table, **{"word/styles.xml": styles})


def test_a_row_that_is_said_to_be_or_looks_like_a_head_is_one() -> None:
    said = "<w:trPr><w:tblHeader/></w:trPr>"
    assert markdown(rows(said + cells("Role", "Delete"), cells("Admin", "yes"))) == HEAD
    assert markdown(rows(cells("Role", "Delete", bold=True), cells("Admin", "yes"))) == HEAD
    assert styled('w:firstRow="1"') == HEAD
    assert styled('w:val="04A0"') == HEAD


def shaded(*texts: str, fill: str = "D9E2F3") -> str:
    shading = f'<w:tcPr><w:shd w:val="clear" w:color="auto" w:fill="{fill}"/></w:tcPr>'
    return "".join(f"<w:tc>{shading}{paragraph(f'<w:r><w:t>{text}</w:t></w:r>')}</w:tc>" for text in texts)


def in_style(style: str, *texts: str) -> str:
    named = f'<w:p><w:pPr><w:pStyle w:val="{style}"/></w:pPr><w:r><w:t>{{}}</w:t></w:r></w:p>'
    return "".join(f"<w:tc>{named.format(text)}</w:tc>" for text in texts)


BOLD_STYLES = {
    "word/styles.xml": f'<w:styles {W}><w:style w:type="paragraph" w:styleId="Strong"><w:rPr><w:b/></w:rPr></w:style>'
    '<w:style w:type="paragraph" w:styleId="TableHeading"><w:basedOn w:val="Strong"/></w:style></w:styles>'
}


def test_a_first_row_that_alone_is_shaded_or_bold_by_its_style_is_a_head() -> None:
    assert markdown(rows(shaded("Role", "Delete"), cells("Admin", "yes"))) == HEAD
    assert markdown(rows(in_style("TableHeading", "Role", "Delete"), cells("Admin", "yes")), **BOLD_STYLES) == HEAD


@pytest.mark.parametrize(
    "written",
    [
        pytest.param(markdown(rows(cells("Role", "Delete"), cells("Admin", "yes"))), id="nothing says so"),
        pytest.param(styled('w:firstRow="0"'), id="the style's head is switched off"),
        pytest.param(styled('w:firstRow="1"', ""), id="the style has no head"),
        pytest.param(markdown(rows(shaded("Role", "Delete"), shaded("Admin", "yes"))), id="all rows are shaded"),
        pytest.param(markdown(rows(shaded("Role", "Delete", fill="FFFFFF"), cells("Admin", "yes"))), id="white paper"),
        pytest.param(markdown(rows(shaded("Role") + cells("Delete"), cells("Admin", "yes"))), id="one shaded cell"),
        pytest.param(
            markdown(
                rows(in_style("TableHeading", "Role", "Delete"), in_style("TableHeading", "Admin", "yes")),
                **BOLD_STYLES,
            ),
            id="all rows are in a bold style",
        ),
    ],
)
def test_a_first_row_like_the_others_is_none(written: str) -> None:
    assert written == NO_HEAD


def test_a_row_may_begin_late() -> None:
    late = '<w:trPr><w:gridBefore w:val="1"/></w:trPr>'
    assert markdown(rows(cells("Role", "Delete", bold=True), late + cells("yes"))).endswith("|  | yes |\n")
