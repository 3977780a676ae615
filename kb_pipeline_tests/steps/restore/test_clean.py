"""What a service writes besides the article is taken away; what is left is markdown alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb_pipeline.steps.checks import no_markup_leaked
from kb_pipeline_tests.steps.html.pages import markdown
from kb_pipeline_tests.steps.restore.services import restored, restored_text

WORDS = "<p>Click File → Open now.</p>"


@pytest.mark.parametrize(
    "read",
    [
        r"Click File $\rightarrow$ Open now.",
        r"Click File $\to$ Open now.",
        r"Click $\text{File} \rightarrow \text{Open}$ now.",
        "Click File &rarr; Open now.",
        "Click File → Open now. :unselected:",
        "☐ Click File → Open now.",
        "<p>Click File → <span style='x'>Open</span> now.</p>",
        "<figure>\n\nClick File → Open now.\n\n</figure>",
        "Click File → Open now.\n\n![img-0.jpeg](img-0.jpeg)",
        "Click File → Open now.\n\n<img src='pages/0' onerror='x()'>",
        '<!-- PageHeader="Guide" -->\n\nClick File → Open now.\n\n<!-- PageFooter="1" -->',
        "Click File → Open now.\n\n<script>x()</script>\n\n<style>p{}</style>",
    ],
)
def test_noise_is_gone(read: str) -> None:
    assert restored_text(WORDS, read) == markdown(WORDS)


def test_a_comment_without_an_end_swallows_nothing() -> None:
    assert restored_text("<p>One two.</p><p>Three.</p>", "One two.\n\n<!-- PageBreak\n\nThree.").endswith("Three.")


@pytest.mark.parametrize("formula", [r"$x^2 + \frac{1}{2}$", r"$\alpha_{1}$", "$5 and 6$"])
def test_a_formula_that_is_more_than_signs_stays(formula: str) -> None:
    assert restored_text("<p>So it is.</p>", f"So {formula} it is.").count("$") == 2


def test_what_the_article_writes_itself_stays() -> None:
    html = r"<p>Write $\to$ for an arrow, ☐ for a box and :selected: for a mark.</p>"
    assert restored_text(html, markdown(html)) == markdown(html)


def test_html_tables_become_markdown() -> None:
    rows = "<tr><th>A</th><th>B</th></tr><tr><td rowspan=2>x</td><td>1 &lt; 2</td></tr><tr><td>y &amp; z</td></tr>"
    html = f"<table>{rows}</table>"
    assert restored_text(html, f"Text\n\n{html}\n").removeprefix("Text\n\n") == markdown(html)


@given(
    st.text(alphabet="<>&;#x/!-[]()`*_~|$\\\n \"'=abpretdscripto:1\ue000\ue001", max_size=200),
)
def test_no_writing_leaks_markup(read: str) -> None:
    assert no_markup_leaked(restored("<p>Some words.</p>", read)).passed
