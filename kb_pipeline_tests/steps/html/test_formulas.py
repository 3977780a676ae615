import pytest

from kb_pipeline_tests.steps.html.pages import markdown

MATH = "<math><mi>A</mi><mo>=</mo><mi>r</mi></math>"
WITH_TEX = (
    "<math><semantics><mrow><mi>A</mi><mo>=</mo><mi>r</mi></mrow>"
    "<annotation encoding='application/x-tex'>{}</annotation></semantics></math>"
)
CLIPPED = "position:absolute;clip:rect(1px,1px,1px,1px)"


@pytest.mark.parametrize(
    "formula",
    [
        "<span class=katex><span class=katex-mathml>" + WITH_TEX.format("A=r") + "</span>"
        "<span class=katex-html aria-hidden=true>A=r</span></span>",
        f"<style>.m{{{CLIPPED}}}</style><span class=katex><span class=m>{MATH}</span>"
        "<span aria-hidden=true>A=r</span></span>",
        f"<mjx-container><mjx-math aria-hidden=true>A=r</mjx-math><mjx-assistive-mml>{MATH}</mjx-assistive-mml>"
        "</mjx-container>",
        f"<style>mjx-assistive-mml{{{CLIPPED}}}</style><mjx-container><svg><path/></svg>"
        f"<mjx-assistive-mml>{MATH}</mjx-assistive-mml></mjx-container>",
        "<span class=MathJax_Preview>A=r</span><span class=MathJax><nobr aria-hidden=true>A=r</nobr>"
        f"<span class=MJX_Assistive_MathML>{MATH}</span></span><script type='math/tex'>A=r</script>",
        "<span class=MathJax_Preview></span><script type='math/tex'>A=r</script>",
        "<span class=mwe-math-element><span style='display:none'>" + WITH_TEX.format(r"{\displaystyle A=r}") + "</span>"
        "<img src='https://e.org/f.svg' aria-hidden=true alt='{\\displaystyle A=r}'></span>",
        MATH,
        f"<math alttext='A=r'>{MATH}</math>",
    ],
)
def test_a_formula_stands_there_once(formula: str) -> None:
    assert markdown(f"<p>Area {formula} here.") == "Area A=r here."


@pytest.mark.parametrize(
    ("math", "expected"),
    [
        ("<mfrac><mn>1</mn><mrow><mi>x</mi><mo>+</mo><mi>y</mi></mrow></mfrac>", "1/(x+y)"),
        ("<msup><mi>x</mi><mn>2</mn></msup>", "x^2"),
        ("<msub><mi>x</mi><mn>0</mn></msub>", r"x_0"),
        ("<msqrt><mi>x</mi></msqrt>", "sqrt(x)"),
        ("<munderover><mo>∑</mo><mi>i</mi><mi>n</mi></munderover><mi>i</mi>", r"∑\_i^ni"),
        ("<mi>V</mi><mfenced><mi>a</mi><mi>b</mi></mfenced>", "V(a, b)"),
        ("<mfenced open='[' close=']' separators=';'><mi>a</mi><mi>b</mi></mfenced>", r"\[a; b\]"),
        ("<mn>1</mn><mtext> if </mtext><mi>x</mi><mspace width=1em /><mtext>else</mtext>", "1 if x else"),
        ("<mtable><mtr><mtd><mn>1</mn></mtd><mtd><mn>2</mn></mtd></mtr></mtable>", "1, 2"),
    ],
)
def test_mathml_is_a_line(math: str, expected: str) -> None:
    assert markdown(f"<p><math>{math}</math>") == expected


@pytest.mark.parametrize(
    "formula",
    [
        "<span class=katex style='display:none'><i></i><math><mi>GONE</mi></math></span>",
        "<span class=katex><span style='display:none'><math><mi>GONE</mi></math></span></span>",
        "<math style='display:none'><mi>GONE</mi></math>",
    ],
)
def test_a_hidden_formula_is_no_text(formula: str) -> None:
    assert markdown(f"<p>Words {formula}") == "Words"
