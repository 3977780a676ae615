"""What a conversion loses or leaves over is noticed; what it keeps is not."""

import random
import re
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb_pipeline.records import CheckResult, ConvertedArticle, Unplaced
from kb_pipeline.steps.checks import check_conversion
from kb_pipeline_tests.steps.checks.articles import sound
from kb_pipeline_tests.steps.html.pages import convert, image

PARTS = (
    *("<p>", "</p>", "<ul><li>", "</li></ul>", "<blockquote>", "</blockquote>", "<div class='note'>", "</div>"),
    *("<h1>Title</h1>", "<h3><a href='#x'>Sub</a> title</h3>", "<a href='p.html'>a [link]</a>", "<img src='a.png'>"),
    *("<a href='javascript:x'>no</a>", "<a href='c.html'><code>code</code></a>", "<a href='i'><img src='a.png'></a>"),
    *("<table><tr><th>a<th>b<tr><td>c|d<td>", "</table>", "<pre>if a &lt; b:\n\n  # c</pre>", "<b>bold</b>", "text"),
    *("&lt;div&gt;", "&amp;nbsp;", "&nbsp;", "*", "_", "[", "]", "`", "#", "1. ", "---", "<br>", "<sup>2</sup>", "|"),
)


def failed(results: tuple[CheckResult, ...]) -> list[str]:
    return [result.name for result in results if not result.passed]


def changed(edit: Callable[[str], str]) -> ConvertedArticle:
    article = sound().converted
    markdown = edit(article.markdown)
    assert markdown != article.markdown
    return article.model_copy(update={"markdown": markdown})


def without(pattern: str) -> Callable[[str], str]:
    return lambda markdown: re.sub(pattern, "", markdown, count=1)


def adding(text: str) -> Callable[[str], str]:
    return lambda markdown: markdown.replace("Press", f"Press {text}")


def test_a_sound_article_passes() -> None:
    assert failed(check_conversion(sound().converted)) == []


@given(st.lists(st.sampled_from(PARTS), max_size=25))
def test_nothing_that_the_converter_makes_of_a_page_raises_an_alarm(parts: list[str]) -> None:
    page = "".join(f"{part} " for part in ["<p>start</p>", *parts])
    # code in a cell is no block, and headings make a table one of layout
    page = re.sub(r"(<table>(?:(?!</table>|<table>).)*?)<pre>.*?</pre>", r"\1", page, flags=re.S)
    article = convert(page, image("a.png"))
    assert failed(check_conversion(article)) == [], article.markdown


@pytest.mark.parametrize(
    ("edit", "named"),
    [
        (without("## Options\n"), "1 of 4 headings lost (the article has 'Saving & exporting', 'Script', 'Again')"),
        (without(r"\| ---.*\n"), "1 of 1 table lost"),
        (without(r"(?s)```.*```"), "1 of 1 code block lost"),
        (without(r"\(save.html\)"), "1 of 4 links lost: 'Save -> save.html'"),
        (lambda markdown: markdown.replace("save.html", "sale.html"), "lead elsewhere than in the HTML: 'Save -> save"),
        (lambda markdown: markdown.replace("[Save]", r"\[Save]"), "1 of 4 links lost: 'Save -> save.html'"),
    ],
)
def test_lost_structure_is_named(edit: Callable[[str], str], named: str) -> None:
    results = check_conversion(changed(edit))
    assert not results[1].passed
    assert named in results[1].message


LONG_NAME = "a-very-long-name-of-an-image-file.png"
GLUED = "<b>visual</b>=<em>integer</em>, name[,<i>name</i>,...]"
LISTING = "<tr><td class=gutter>" + "<br>".join(map(str, range(100, 160))) + "<td class=code>" + "x = 1<br>" * 60
REFERENCE = f"""
<h1>Parameters</h1><p>The command line of this server is {GLUED}.</p>
<ul><li>The first item tells how the server is started and stopped by hand.</li>
<li>The second item tells how it is started and stopped by the system.</li></ul>
<table><tr><th>Name</th><th>Meaning</th></tr>
<tr><td>timeout</td><td>how many seconds the server waits for a sleepy client</td></tr>
<tr><td>retries</td><td>how often the server tries again to reach its peer</td></tr></table>
<pre>server --timeout 30 --retries 5 --verbose --log everything.log</pre>
"""


@pytest.mark.parametrize(
    "page",
    [
        f"<p>{GLUED * 40}",
        "<p>" + "<b>i</b>n<b>c</b>lude " * 40,
        "<p>" + "これは文章です。" * 40,
        "<pre>" + "a<span class=lineno>1234567</span>\n" * 40 + "</pre>",
        f"<p>start<table>{LISTING}</table>",
    ],
)
def test_words_that_markup_glues_or_splits_and_line_numbers_are_not_lost(page: str) -> None:
    assert "structure_is_preserved" not in failed(check_conversion(convert(page)))


@pytest.mark.parametrize(
    "part",
    [
        r"(?m)^- The second item.*\n",
        r"(?m)^\| retries.*\n",
        r"(?m)^The command line.*\n",
        r"(?m)^server --timeout.*\n",
        r"how many seconds the server waits for a sleepy client",
    ],
)
def test_an_item_row_cell_paragraph_or_line_of_code_that_is_lost_is_noticed(part: str) -> None:
    article = convert(REFERENCE)
    assert failed(check_conversion(article)) == []
    markdown, times = re.subn(part, "", article.markdown)
    assert times == 1
    results = check_conversion(article.model_copy(update={"markdown": markdown}))
    assert failed(results) == ["structure_is_preserved"]
    assert "letters lost" in results[1].message


def test_letters_of_image_markers_do_not_make_up_for_lost_text() -> None:
    article = convert(REFERENCE + f"<p><img src={LONG_NAME}>" * 20, image(LONG_NAME))
    markdown = re.sub(r"(?m)^- The.*\n", "", article.markdown)
    assert failed(check_conversion(article.model_copy(update={"markdown": markdown}))) == ["structure_is_preserved"]


@pytest.mark.parametrize(
    ("leak", "named"),
    [
        ("<div class='x'>", "HTML tag in the text below 'Saving & exporting': \"<div class='x'>\""),
        ("</span>", "'</span>'"),
        ("<!-- PageBreak -->", "'<!-- PageBreak -->'"),
        ("<br>", "'<br>'"),
        ("\n\n<table><tr><td>x</td></tr></table>\n\n", "HTML tag"),
        ("\n\n<script>\nlet a = 1\n</script>\n\n", "HTML tag"),
        ("&nbsp;", "unresolved entity in the text below 'Saving & exporting': '&nbsp;'"),
        ("&#160;", "'&#160;'"),
        ("&unknown;", "'&unknown;'"),
        ("\ue00017\ue001", "placeholder"),
    ],
)
def test_markup_outside_code_is_noticed(leak: str, named: str) -> None:
    results = check_conversion(changed(adding(leak)))
    assert failed(results) == ["no_markup_leaked"]
    assert named in results[2].message


@pytest.mark.parametrize("word", [r"\<div>", "`<div>`", r"\&nbsp;", "a < b & c", r"AT\&T;", "<sup>1</sup>", "x &; y"])
def test_what_only_looks_like_markup_is_no_leak(word: str) -> None:
    assert "no_markup_leaked" not in failed(check_conversion(changed(adding(word))))


@pytest.mark.parametrize(
    "text",
    [
        "function init() { start(); }",
        "document.getElementById('x')",
        "window.dataLayer = window.dataLayer || []",
        r"\$(document).ready(",
        "body { color: red; }",
        ".nav a { margin: 0; }",
        "{{ page.title }}",
        "{% include x %}",
        "<%= title %>",
    ],
)
def test_the_code_of_the_page_is_warned_about(text: str) -> None:
    assert failed(check_conversion(changed(adding(text)))) == ["no_page_code_in_text"]


@pytest.mark.parametrize("text", ["the function of (x) is {y}", "a document. It opens", "{a: b}", "${HOME}", "100 %}"])
def test_prose_is_no_code(text: str) -> None:
    assert failed(check_conversion(changed(adding(text)))) == []


KEYWORDS = "crop layer selection tool cut image resize trim canvas".split()


@pytest.mark.parametrize(
    "text",
    [
        "How do I crop a layer? " * 25,
        ", ".join(KEYWORDS * 15),
        " ".join(random.Random(1).choices(KEYWORDS, k=120)),
        "- crop a layer\n" * 40,
        "| crop | layer |\n|---|---|\n" + "| crop | a layer |\n" * 40,
        "## Crop a layer\n\n" * 40,
        "Wie schneide ich eine Ebene zu? " * 20,
        f"Real words stand before it. {'обрезать слой ' * 60} And behind it.",
    ],
    ids=["question", "keywords", "shuffled", "items", "rows", "headings", "german", "inside"],
)
def test_words_over_and_over_are_warned_about(text: str) -> None:
    assert failed(check_conversion(changed(adding(f"\n\n{text}\n\n")))) == ["words_are_not_stuffed"]


@pytest.mark.parametrize(
    "text",
    [
        "How do I crop a layer? " * 3,
        "\n".join(f"- Ctrl+{number} opens recent image {number}" for number in range(10)),
        "| a | b | c |\n|---|---|---|\n" + "\n".join(f"| 1.4.{at} | level AA | does not apply |" for at in range(30)),
    ],
)
def test_lists_and_tables_may_repeat_words(text: str) -> None:
    assert failed(check_conversion(changed(adding(f"\n\n{text}\n\n")))) == []


@pytest.mark.parametrize("nothing", ["", "\n", "> \n", "---\n", "**  **\n"])
def test_an_article_without_words_is_empty(nothing: str) -> None:
    article = ConvertedArticle(article_id="a", title="A", markdown=nothing, converter="c")
    assert failed(check_conversion(article)) == ["article_is_not_empty"]


def test_an_article_of_one_image_is_not_empty() -> None:
    assert failed(check_conversion(convert("<img src='a.png'>", image("a.png")))) == []


@pytest.mark.parametrize(
    ("edit", "named"),
    [
        (without(r"\[\[IMG:key.png\]\]"), "1 image without a marker: 'key.png'"),
        (adding("[[IMG:other.png]]"), "1 marker without an image: 'other.png'"),
        (without(r"\[\[IMG:menu.png\]\]"), "the HTML shows images in 3 places, not 2"),
        (adding("[[IMG:menu.png]]"), "the HTML shows images in 3 places, not 4"),
        (lambda markdown: markdown.replace("[[IMG:key.png]]", "`[[IMG:key.png]]`"), "1 image without a marker"),
    ],
)
def test_a_lost_or_strange_image_is_named(edit: Callable[[str], str], named: str) -> None:
    results = check_conversion(changed(edit))
    assert failed(results) == ["images_are_placed"]
    assert named in results[4].message


def test_an_image_or_link_without_a_place_is_named_with_its_section_and_what_to_do() -> None:
    lost = (
        Unplaced(kind="image", name="key.png", section="Start"),
        Unplaced(kind="link", name="guide -> guide.html", section=""),
    )
    results = check_conversion(sound().converted.model_copy(update={"unplaced": lost}))
    assert failed(results) == ["positions_are_known"]
    message = results[5].message
    assert "1 image of 3 without a place: 'key.png' below 'Start'" in message
    assert "1 link of" in message and "'guide -> guide.html'" in message
    assert "KB_ANALYZER=local" in message
