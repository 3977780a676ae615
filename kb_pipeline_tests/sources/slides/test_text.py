"""The text of shapes on slides: the numbers that PowerPoint prints, and equations."""

import pytest
from lxml import etree

from kb_pipeline.sources.slides.text import as_html, paragraphs_of

_NAMESPACES = (
    'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" '
    'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"'
)


def item(text: str, scheme: str = "arabicPeriod", start: int = 1, level: int = 0) -> str:
    begins = f' startAt="{start}"' if start != 1 else ""
    bullet = f'<a:buAutoNum type="{scheme}"{begins}/>' if scheme else '<a:buChar char="•"/>'
    return f'<a:p><a:pPr lvl="{level}">{bullet}</a:pPr><a:r><a:t>{text}</a:t></a:r></a:p>'


def plain(text: str) -> str:
    return f"<a:p><a:r><a:t>{text}</a:t></a:r></a:p>"


def html(*paragraphs: str) -> str:
    body = etree.fromstring(f"<a:txBody {_NAMESPACES}>{''.join(paragraphs)}</a:txBody>")
    return as_html(paragraphs_of(body, (), {}))


@pytest.mark.parametrize(
    ("paragraphs", "written"),
    [
        pytest.param((item("A"), item("B")), "<ol><li>A</li><li>B</li></ol>", id="from 1"),
        pytest.param((item("A", start=4), item("B", start=4)), '<ol start="4"><li>A</li><li>B</li></ol>', id="from 4"),
        pytest.param(
            (item("A"), plain("Wait."), item("B", start=2)),
            '<ol><li>A</li></ol><p>Wait.</p><ol start="2"><li>B</li></ol>',
            id="going on after text",
        ),
        pytest.param(
            (item("A"), plain("Wait."), item("B")), "<ol><li>A</li></ol><p>Wait.</p><ol><li>B</li></ol>", id="anew"
        ),
        pytest.param(
            (item("A"), item("x", "", level=1), item("B")),
            "<ol><li>A<ul><li>x</li></ul></li><li>B</li></ol>",
            id="over bullets below it",
        ),
        pytest.param(
            (item("A"), item("x", level=1), item("y", level=1), item("B"), item("z", level=1)),
            "<ol><li>A<ol><li>x</li><li>y</li></ol></li><li>B<ol><li>z</li></ol></li></ol>",
            id="each level by itself",
        ),
        pytest.param(
            (item("A"), item("B", start=7)), '<ol><li>A</li></ol><ol start="7"><li>B</li></ol>', id="another start"
        ),
        pytest.param(
            (item("A"), item("B", "alphaLcParenR"), item("C", "alphaLcParenR")),
            '<ol><li>A</li></ol><ol type="a"><li>B</li><li>C</li></ol>',
            id="letters are numbers of their own",
        ),
        pytest.param((item("A", "circleNumDbPlain", 2),), '<ol start="2"><li>A</li></ol>', id="in circles"),
    ],
)
def test_numbers(paragraphs: tuple[str, ...], written: str) -> None:
    assert html(*paragraphs) == written


def test_equations_are_latex() -> None:
    square = (
        "<m:oMath><m:sSup><m:e><m:r><m:t>r</m:t></m:r></m:e><m:sup><m:r><m:t>2</m:t></m:r></m:sup></m:sSup></m:oMath>"
    )
    assert html(f"<a:p><a:r><a:t>Area </a:t></a:r>{square}</a:p>") == "<p>Area <code>$r^{2}$</code></p>"
    assert html("<a:p><m:oMath><m:r><m:t>a&lt;b</m:t></m:r></m:oMath></a:p>") == "<p>a&lt;b</p>"


@pytest.mark.parametrize(
    "run",
    [
        '<a:r><a:rPr><a:sym typeface="Wingdings"/></a:rPr><a:t>\uf0fc</a:t></a:r>',
        '<a:r><a:rPr><a:latin typeface="Wingdings"/></a:rPr><a:t>ü</a:t></a:r>',
        '<a:r><a:rPr><a:latin typeface="Arial"/><a:sym typeface="Wingdings"/></a:rPr><a:t>\u2713</a:t></a:r>',
    ],
)
def test_letters_of_fonts_of_signs_are_the_signs(run: str) -> None:
    words = '<a:r><a:rPr><a:sym typeface="Wingdings"/></a:rPr><a:t> Grüße</a:t></a:r>'
    assert html(f"<a:p>{run}{words}</a:p>") == "<p>\u2713 Grüße</p>"
