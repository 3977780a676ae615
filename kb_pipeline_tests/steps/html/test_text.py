"""The words, links, lists and headings of an article, whatever characters they are made of."""

from html import escape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb_pipeline.records import Link
from kb_pipeline.steps.markers import find_markers
from kb_pipeline_tests.steps.html.pages import convert, markdown, read_words, rendered

WORDS = st.text("ab1 *_`[]()<>#|~&;!\\-+=.:\"'/", min_size=1).map(str.strip).filter(str.split)


@given(WORDS)
def test_any_text_reads_as_written(words: str) -> None:
    assert read_words(markdown(f"<p>x{escape(words)}</p>")) == " ".join(f"x{words}".split())


@pytest.mark.slow("builds a whole knowledge base")
@given(WORDS, WORDS)
def test_any_text_reads_as_written_in_lists_links_and_cells(first: str, second: str) -> None:
    one, two = escape(first), escape(second)
    html = (
        f"<ul><li>i{one}</li></ul><p>x <a href='t'>l{two}</a></p><table><tr><th>h{one}<th>k<tr><td>c{two}<td>d</table>"
    )
    expected = f"i{first} x l{second} h{first} k c{second} d"
    assert read_words(markdown(html)) == " ".join(expected.split())


@given(st.text("[]IMG:a.png%2`\\ ", min_size=3))
def test_literal_text_never_becomes_a_marker(text: str) -> None:
    page = f"<p>[[IMG:a.png]] {escape(text)}</p><pre>[[IMG:a.png]] {escape(text)}</pre><code>[[IMG:a.png]]</code>"
    assert find_markers(convert(page).markdown) == []


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("&lt;file&gt; a_b __init__ 2*3", r"\<file> a_b \_\_init\_\_ 2\*3"),
        ("<b>bold</b> and <i>it</i>", "**bold** and *it*"),
        ("<b><b>x</b></b><b> </b>", "**x**"),
        ("<b>Note:</b>glued", "Note:glued"),
        ("<s>old <del>older</del></s>", "~~old older~~"),
        ("H<sub>2</sub>O x<sup>2</sup> <del>old</del>", "H<sub>2</sub>O x<sup>2</sup> ~~old~~"),
        ("<u>u</u><font color=red>f</font><abbr title=t>a</abbr>", "ufa"),
        ("one\n   two&nbsp;three", "one two three"),
        ("one<br>two<br>", "one  \ntwo"),
        ("one<br><br>two", "one\n\ntwo"),
        ("1. no list", r"1\. no list"),
        ("# no heading", r"\# no heading"),
        ("&amp;lt; &amp; &copy;", r"\&lt; & ©"),
    ],
)
def test_inline_markup(html: str, expected: str) -> None:
    assert markdown(f"<p>{html}</p>") == expected


@pytest.mark.parametrize(
    ("target", "written"),
    [
        ("a_b*c.html#x", "a_b*c.html#x"),
        ("../a b(1).html", "<../a b(1).html>"),
        ("mailto:a@b.c", "mailto:a@b.c"),
        ("?a=1&amp;b=2", "?a=1&b=2"),
        (r"a\_b", r"<a\\_b>"),
        ("  x.html\n", "x.html"),
    ],
)
def test_links_keep_their_targets(target: str, written: str) -> None:
    assert markdown(f'<p><a href="{target}" title="t">l</a></p>') == f"[l]({written})"


@pytest.mark.parametrize(
    "html", ['<a href="javascript:x()">l</a>', '<a href=" JavaScript:x()">l</a>', '<a href="data:x">l</a>', "<a>l</a>"]
)
def test_links_that_lead_nowhere_keep_their_label(html: str) -> None:
    article = convert(f"<p>{html}</p>")
    assert (article.markdown, article.links) == ("l\n", ())


@pytest.mark.parametrize("scheme", ["java&#10;script", "java\tscript", "vb&#13;script", "&#1;javascript", "da&#9;ta"])
@pytest.mark.parametrize("label", ["l", "<div>l</div>"])
def test_a_control_character_does_not_hide_a_scheme(scheme: str, label: str) -> None:
    article = convert(f'<a href="{scheme}:alert(1)">{label}</a>')
    assert (article.markdown, article.links) == ("l\n", ())


@pytest.mark.parametrize("label", ["l", "<div>l</div>"])
def test_a_target_is_kept_without_its_control_characters(label: str) -> None:
    assert markdown(f'<a href="a&#10;&#9;b&#1;.html">{label}</a>') == "[l](ab.html)"


def test_links_are_listed_in_their_order() -> None:
    article = convert("<p><a href=b>B <b>x</b></a> <a href=#a>A</a><a name=n></a></p>")
    assert article.links == (Link(label="B x", target="b"), Link(label="A", target="#a"))


def test_a_link_whose_label_is_code_is_listed_with_it() -> None:
    article = convert("<p>See <a href='a'><code>apt-get</code></a> and <a href='b'>the <code>-t</code> option</a>.</p>")
    assert article.links == (Link(label="apt-get", target="a"), Link(label="the -t option", target="b"))


def test_a_link_around_blocks_is_the_first_blocks() -> None:
    assert markdown("<a href=x><div><h3>Card</h3><p>text</p></div></a>") == "### [Card](x)\n\ntext"


@pytest.mark.parametrize(
    "heading",
    [
        '<h2 id="a">Head<a class="headerlink" href="#a">¶</a></h2>',
        '<h2><a class="anchor" id="a" href="#a"></a>Head</h2>',
        '<h2><a class="header" href="#a">Head</a></h2>',
        '<h2><a id="a"/>Head</h2>',
        "<h2>\n  <span>Head</span>\n</h2>",
        '<h2>Head<span><a class="mark" href="#head" id="head">#</a></span></h2>',
    ],
)
def test_headings_have_no_permalinks(heading: str) -> None:
    assert markdown(heading) == "## Head"


@pytest.mark.parametrize(
    "mark",
    [
        "<span class=mw-editsection>[<a href='?title=X&action=edit&section=1'>edit</a>]</span>",
        "<span class=editsection>[<a href='?title=X&action=edit&section=1'>bearbeiten</a>]</span>",
        "<span>[<a href='?veaction=edit'>Bearbeiten</a> | <a href='?action=edit'>Quelltext bearbeiten</a>]</span>",
        "<span><b>[</b><a href='?title=X&amp;action=edit'>modifier</a><b>]</b></span>",
        "<a href='doku.php?id=x&do=edit'>Edit</a>",
    ],
)
def test_headings_have_no_links_for_editing(mark: str) -> None:
    assert markdown(f"<h2>Head{mark}</h2>") == "## Head"


def test_headings_keep_their_levels_and_their_markup() -> None:
    assert markdown("<h3>A <code>b</code></h3><h2>x<br>y</h2><h5>z</h5><h4> </h4>") == "### A `b`\n\n## x y\n\n##### z"


def test_doxygen_titles_are_headings() -> None:
    html = '<div class="header"><div class="headertitle"><div class="title">Main Page</div></div></div><p>x</p>'
    assert markdown(html) == "# Main Page\n\nx"


def test_lists_keep_kind_start_and_nesting() -> None:
    html = "<ol start=3><li>a<ul><li>b<ol><li>c<ul><li>d</ul></ol></ul><li>e</ol>"
    assert markdown(html) == "3. a\n   - b\n     1. c\n        - d\n4. e"


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<ul><li><p>a</p><li><p>b</p></ul>", "- a\n- b"),
        ("<ol><li><p>a</p><p>b</p></li></ol>", "1. a\n\n   b"),
        ("<ul><li>a</li><ul><li>b</li></ul></ul>", "- a\n  - b"),
        ("<ul><li></li><li>a</li></ul>", "- a"),
        ("<li>stray", "stray"),
        ("<ol><li><div>a<div>b</div></div></li></ol>", "1. a\n\n   b"),
    ],
)
def test_items_of_paragraphs_and_of_words(html: str, expected: str) -> None:
    assert markdown(html) == expected


def test_definitions_follow_their_bold_term() -> None:
    html = "<dl><dt>T <code>c</code><dd><p>D</p><ul><li>x</ul><dt><b>U</b><dd>E</dl>"
    assert markdown(html) == "**T `c`**\n\nD\n\n- x\n\n**U**\n\nE"


def test_boxes_mean_nothing_and_words_between_blocks_are_paragraphs() -> None:
    html = "<div>a<section><div>b <b>c</b></div>d</section><center>e</center></div>f<p>g"
    assert markdown(html) == "a\n\nb **c**\n\nd\n\ne\n\nf\n\ng"


def test_formatting_around_blocks_is_given_up() -> None:
    assert markdown("<b><p>x</p><ul><li>y</ul></b>") == "x\n\n- y"


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<h2>One<h2><p>a</p><h3>Two</h3> b<h2>Three</h2>", "## One\n\na\n\n### Two\n\nb\n\n## Three"),
        ("<h2>One<h3>Two<h4>Three</h4> a</h3> b</h2> c", "## One\n\n### Two\n\n#### Three\n\na b c"),
    ],
)
def test_a_heading_that_is_not_closed_ends_where_the_next_one_begins(html: str, expected: str) -> None:
    article = convert(html)
    assert article.markdown.strip() == expected
    assert article.counts.headings == expected.count("# ")


def test_the_counts_say_what_the_main_content_holds() -> None:
    html = "<h1>One</h1><p>two <a href=x>three</a>"
    html += "<ul><li>a<li>b</ul><pre>c</pre><table><tr><th>d<th>e<tr><td>f<td>g</table>"
    counts = convert(f"<nav>x y z</nav>{html}").counts
    assert counts.model_dump() == {
        "words": 10, "letters": 18, "headings": 1, "images": 0, "links": 1, "tables": 1, "code_blocks": 1,
        "list_items": 2,
    }  # fmt: skip


def test_no_html_is_left_over() -> None:
    html = markdown("<custom-tag><p>x <blink>y</blink></p></custom-tag><math><mi>z</mi></math><o:p>w</o:p>")
    assert "<" not in html
    assert rendered(html).startswith("<p>x y</p>")
