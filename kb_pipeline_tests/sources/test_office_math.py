"""Equations of Office documents as LaTeX."""

import pytest
from lxml import etree

from kb_pipeline.sources.office_math import as_latex

_M = 'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"'


def r(text: str, properties: str = "") -> str:
    """A run of signs."""
    return f"<m:r>{properties}<m:t>{text}</m:t></m:r>"


def part(kind: str, /, said: str = "", **arguments: str) -> str:
    """A part with properties and arguments by their names."""
    return f"<m:{kind}>{said}{''.join(f'<m:{key}>{text}</m:{key}>' for key, text in arguments.items())}</m:{kind}>"


def power(base: str, exponent: str) -> str:
    return part("sSup", e=base, sup=exponent)


@pytest.mark.parametrize(
    ("equation", "written"),
    [
        pytest.param(r("a=b"), "a=b", id="a line"),
        pytest.param(r("A=π") + power(r("r"), r("2")), "A=πr^{2}", id="a power"),
        pytest.param(power(part("f", num=r("x"), den=r("v")), r("2")), r"{\frac{x}{v}}^{2}", id="of a fraction"),
        pytest.param(
            r("x=")
            + part(
                "f",
                num=r("-b±") + part("rad", '<m:radPr><m:degHide m:val="1"/></m:radPr>', e=power(r("b"), r("2"))),
                den=r("2a"),
            ),
            r"x=\frac{-b±\sqrt{b^{2}}}{2a}",
            id="roots",
        ),
        pytest.param(part("rad", deg=r("3"), e=r("x")), r"\sqrt[3]{x}", id="a cubic root"),
        pytest.param(part("sSub", e=r("CO"), sub=r("2")), "CO_{2}", id="below"),
        pytest.param(part("sSubSup", e=r("x"), sub=r("i"), sup=r("2")), "x_{i}^{2}", id="below and above"),
        pytest.param(part("sPre", sub=r("6"), sup=r("14"), e=r("C")), "{}_{6}^{14}C", id="before"),
        pytest.param(
            part("nary", '<m:naryPr><m:chr m:val="∑"/></m:naryPr>', sub=r("n=1"), sup=r("∞"), e=r("n")),
            r"\sum_{n=1}^{∞}{n}",
            id="a sum",
        ),
        pytest.param(part("nary", sub="", sup="", e=r("x")), r"\int{x}", id="an integral"),
        pytest.param(part("d", e=r("x+1")), r"\left(x+1\right)", id="brackets"),
        pytest.param(
            part("d", '<m:dPr><m:begChr m:val="{"/><m:endChr m:val=""/></m:dPr>', e=r("x")),
            r"\left\{x\right.",
            id="one brace",
        ),
        pytest.param(part("func", fName=r("sin"), e=r("x")), r"\sin{x}", id="a function"),
        pytest.param(
            part("func", fName=part("limLow", e=r("lim"), lim=r("n→∞")), e=r("x")), r"\lim_{n→∞}{x}", id="a limit"
        ),
        pytest.param(
            "<m:m><m:mr><m:e>"
            + r("1")
            + "</m:e><m:e>"
            + r("0")
            + "</m:e></m:mr><m:mr><m:e>"
            + r("0")
            + "</m:e><m:e>"
            + r("1")
            + "</m:e></m:mr></m:m>",
            r"\begin{matrix}1 & 0 \\ 0 & 1\end{matrix}",
            id="a matrix",
        ),
        pytest.param(part("acc", '<m:accPr><m:chr m:val="&#x20d7;"/></m:accPr>', e=r("v")), r"\vec{v}", id="a vector"),
        pytest.param(part("bar", '<m:barPr><m:pos m:val="top"/></m:barPr>', e=r("x")), r"\overline{x}", id="a bar"),
        pytest.param(
            part("f", num=r("rate", "<m:rPr><m:nor/></m:rPr>"), den=r("50%")),
            r"\frac{\text{rate}}{50\%}",
            id="words and signs of LaTeX",
        ),
    ],
)
def test_written(equation: str, written: str) -> None:
    assert as_latex(etree.fromstring(f"<m:oMath {_M}>{equation}</m:oMath>")) == written


def test_an_equation_nested_without_end_keeps_its_signs() -> None:
    depth = 100
    opened, closed = "<m:sSup><m:e>" * depth, "</m:e><m:sup><m:r><m:t>2</m:t></m:r></m:sup></m:sSup>" * depth
    written = as_latex(etree.fromstring(f"<m:oMath {_M}>{opened}{r('x')}{closed}</m:oMath>"))
    assert "x" in written and written.count("2") == depth
