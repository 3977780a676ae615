from html import unescape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb_pipeline.steps.html.code import code_span, fence
from kb_pipeline_tests.steps.html.pages import markdown, rendered


def test_code_is_verbatim_without_the_markup_in_it() -> None:
    html = "<pre>\n<b>def</b> x(<i>*a</i>):\n\n    return a_b  # &lt;tag&gt;\n</pre>"
    assert markdown(html) == "```\ndef x(*a):\n\n    return a_b  # <tag>\n```"


@pytest.mark.parametrize(
    ("html", "language"),
    [
        ('<pre><code class="language-py">x</code></pre>', "py"),
        ('<pre class="programlisting language-xml">x</pre>', "xml"),
        ('<div class="highlight-python notranslate"><div class="highlight"><pre>x</pre></div></div>', "python"),
        ('<div class="highlight-default"><div class="highlight"><pre>x</pre></div></div>', ""),
        ('<pre class="highlight"><code data-lang="ruby">x</code></pre>', "ruby"),
        ('<div class="language-js highlight"><pre>x</pre></div>', "js"),
        ('<pre class="brush: java; toolbar: false">x</pre>', "java"),
        ('<pre class="screen">x</pre>', ""),
        ('<pre class="language-none">x</pre>', ""),
    ],
)
def test_the_language_is_found_in_every_dialect(html: str, language: str) -> None:
    assert markdown(html) == f"```{language}\nx\n```"


def test_breaks_in_code_are_line_ends_once() -> None:
    assert markdown("<pre>a<br>b<br>\nc</pre>") == "```\na\nb\nc\n```"


def test_line_numbers_are_not_code() -> None:
    html = (
        '<table class="highlighttable"><tr><td class="linenos"><pre>1\n2</pre></td>'
        '<td class="code"><pre>a\nb</pre></td></tr></table>'
    )
    assert markdown(html) == "```\na\nb\n```"


def test_doxygen_lines_are_one_block() -> None:
    html = (
        '<div class="fragment"><div class="line"><span class="lineno">1</span>int x;</div>\n'
        '<div class="line"><span class="lineno">2</span>  y();</div></div>'
    )
    assert markdown(html) == "```\nint x;\n  y();\n```"


def test_variants_of_code_below_a_switch_are_blocks_of_their_own() -> None:
    html = (
        '<pre><input type="checkbox" aria-label="Modern syntax"><code class="language-js cjs">a = require("b")</code>'
        '<code class="language-js mjs">import a from "b"</code></pre><p>After.</p>'
    )
    assert '```js\na = require("b")\n```\n\n```js\nimport a from "b"\n```\n\nAfter.' in markdown(html)


@pytest.mark.parametrize("classes", [("line", "line"), ("", "")])
def test_lines_of_code_stay_one_block(classes: tuple[str, str]) -> None:
    html = "<pre>" + "\n".join(f'<code class="{each}">{at}</code>' for at, each in enumerate(classes)) + "</pre>"
    assert markdown(html) == "```\n0\n1\n```"


def test_code_in_a_list_item_and_a_quote_keeps_its_place() -> None:
    html = "<ul><li><p>a</p><pre>x\n\ny</pre></li></ul><blockquote><pre>z\nw</pre></blockquote>"
    assert markdown(html) == "- a\n\n  ```\n  x\n\n  y\n  ```\n\n> ```\n> z\n> w\n> ```"


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<code>a_b*</code>", "`a_b*`"),
        ("<tt>x</tt><samp>y</samp>", "`x``y`"),
        ("<code>a`b</code>", "``a`b``"),
        ("<code> x </code>", "`x`"),
        ("<code><a href=u>x</a></code>", "[`x`](u)"),
        ("<a href=u><code>x</code></a>", "[`x`](u)"),
        ("<b><code>x</code></b>", "**`x`**"),
        ("<code></code>a", "a"),
        ("<kbd>Ctrl</kbd><kbd>S</kbd>", "`Ctrl`+`S`"),
    ],
)
def test_code_in_a_sentence(html: str, expected: str) -> None:
    assert markdown(f"<p>{html}</p>") == expected


@given(st.text(alphabet="`a b<&*", min_size=1).map(lambda text: f"x{text}y"))
def test_any_code_span_reads_as_written(code: str) -> None:
    assert unescape(rendered(code_span(code))).strip() == f"<p><code>{code}</code></p>"


@given(st.text(alphabet="`~a \n<", min_size=1))
def test_any_code_block_reads_as_written(code: str) -> None:
    assert unescape(rendered(fence(code, "c"))) == f'<pre><code class="language-c">{code}\n</code></pre>\n'
