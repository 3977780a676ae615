"""Pages of a document through the converter: the marks, and everything else as if there were no pages."""

import re

import pytest

from kb_pipeline.records import ConvertedArticle, ImageInfo
from kb_pipeline.steps.html import convert_document
from kb_pipeline.steps.pages import find_marks, page_element, without_marks
from kb_pipeline_tests.steps.html.pages import image, markdown

PAGES = range(1, 100)
PICTURE = image("a.png")


def convert(body: str, pages: range = PAGES, *images: ImageInfo) -> ConvertedArticle:
    html = re.sub(r"\{(\d+)\}", lambda match: page_element(int(match[1])), body)
    return convert_document("manual", "manual.pdf", html, {info.file: info for info in images}, pages)


def text_of(body: str) -> str:
    return convert(body).markdown.strip()


@pytest.mark.parametrize(
    ("body", "written"),
    [
        ("{1}<h1>Title</h1>{2}<p>a</p>", "[[PAGE:1]]\n\n# Title\n\n[[PAGE:2]]\n\na"),
        ("<p>a {2}b</p>", "a [[PAGE:2]] b"),
        ("<p>hyphen{2}ated</p>", "hyphen[[PAGE:2]]ated"),
        ("<p>a</p><p>{2}b</p>", "a\n\n[[PAGE:2]]\n\nb"),
        ("<p>a</p><p><em>{2}b</em></p>", "a\n\n[[PAGE:2]]\n\n*b*"),
        ("<p>a<br>{2}b</p>", "a[[PAGE:2]]  \nb"),
        ("<p>a <code>b{2}c</code> d</p>", "a `bc` [[PAGE:2]] d"),
        ("<ul><li>a</li>{2}<li>b</li></ul>", "- a [[PAGE:2]]\n- b"),
        ("<ul><li>a</li><li>{2}b</li></ul>", "- a [[PAGE:2]]\n- b"),
        ("<p>x</p><ul>{2}<li>a</li></ul>", "x\n\n[[PAGE:2]]\n\n- a"),
        ("<ul><li>a<ul><li>{2}b</li></ul></li></ul>", "- a [[PAGE:2]]\n  - b"),
        ("<ul><li><p>a</p>{2}<p>b</p></li></ul>", "- a [[PAGE:2]]\n\n  b"),
        ("<ul><li>a</li></ul>{2}<ol><li>b</li></ol>", "- a [[PAGE:2]]\n\n1. b"),
        ("<p>x</p><blockquote>{2}<p>a</p></blockquote>", "x\n\n[[PAGE:2]]\n\n> a"),
        ("<p>a</p>{2}{3}", "a\n\n[[PAGE:2]] [[PAGE:3]]"),
    ],
)
def test_a_page_is_marked_where_markdown_can_show_it(body: str, written: str) -> None:
    assert text_of(body) == written


ROWS = "<tr><th>A</th><th>B</th></tr><tr><td>1</td><td>2</td></tr>"


@pytest.mark.parametrize(
    ("table", "row"),
    [
        (ROWS + "{2}<tr><td>3</td><td>4</td></tr>", "| [[PAGE:2]] 3 | 4 |"),
        (ROWS + "<tr><td>{2}3</td><td>4</td></tr>", "| [[PAGE:2]] 3 | 4 |"),
        (ROWS + "<tr><td>3 {2}more</td><td>4</td></tr>", "| 3 [[PAGE:2]] more | 4 |"),
    ],
)
def test_a_page_that_begins_in_a_table_is_marked_in_its_row(table: str, row: str) -> None:
    assert text_of(f"<table>{table}</table>").split("\n")[-1] == row


def test_a_page_that_begins_with_a_table_is_marked_before_it() -> None:
    assert text_of("<p>x</p><table><tr><th>{2}A</th><th>B</th></tr><tr><td>1</td><td>2</td></tr></table>") == (
        "x\n\n[[PAGE:2]]\n\n| A | B |\n| --- | --- |\n| 1 | 2 |"
    )


@pytest.mark.parametrize(
    ("code", "written"),
    [
        ("{2}one\ntwo", "[[PAGE:2]]\n\n```\none\ntwo\n```"),
        ("one\n{2}two", "[[PAGE:2||2]]\n\n```\none\ntwo\n```"),
        ("one{2}\ntwo", "[[PAGE:2||2]]\n\n```\none\ntwo\n```"),
        ("\n\none\n{2}two\n{3}three\n\n", "[[PAGE:2||2]] [[PAGE:3||3]]\n\n```\none\ntwo\nthree\n```"),
        ("one\n{2}", "```\none\n```\n\n[[PAGE:2]]"),
    ],
)
def test_a_page_that_begins_in_code_is_marked_before_it_with_its_line(code: str, written: str) -> None:
    assert text_of(f"<pre>{code}</pre>") == written


def test_lines_of_code_in_a_cell_are_marked_themselves() -> None:
    table = "<table><tr><th>A</th><th>B</th></tr><tr><td>x</td><td><pre>one\n{2}two</pre></td></tr></table>"
    assert text_of(table).split("\n")[-1] == "| x | `one`<br>[[PAGE:2]]`two` |"


WHOLE = f"""{{1}}<h1>Title</h1><p>a {{2}}b, con{{3}}tinued</p>{{4}}<p>{{5}}c <em>d {{6}}e</em></p>
<table>{ROWS}{{7}}<tr><td>3</td><td>4</td></tr></table><ul><li>{{8}}i</li>{{9}}<li>j <a href="x">k {{10}}l</a></li></ul>
<ol><li><p>m</p>{{11}}<p>n</p></li></ol><dl>{{12}}<dt>t</dt><dd>{{13}}u</dd></dl>
<pre>one
{{14}}two</pre>{{15}}<h2>{{16}}Next</h2><p>see <img src="a.png"> {{17}}this<br>{{18}}line</p>
{{19}}{{20}}<p>end</p>{{21}}"""


def test_everything_else_is_as_if_there_were_no_pages() -> None:
    paged, plain = convert(WHOLE, PAGES, PICTURE), convert(re.sub(r"\{\d+\}", "", WHOLE), PAGES, PICTURE)
    assert [mark.page for mark in find_marks(paged.markdown)] == list(range(1, 22))
    assert without_marks(paged.markdown) == plain.markdown
    same = {"title", "links", "images", "counts", "warnings"}
    assert paged.model_dump(include=same) == plain.model_dump(include=same)


def test_a_page_that_the_document_does_not_have_is_no_page() -> None:
    assert convert("{1}<p>a {7}b</p>", range(1, 3)).markdown.strip() == "[[PAGE:1]]\n\na b"


def test_an_author_cannot_mark_a_page() -> None:
    words = '<p>a <kb-page data-number="1"></kb-page>b [[PAGE:1]] &lt;!-- page 3 --&gt; <!-- page 3 --></p>'
    assert markdown(words) == r"a b \[\[PAGE:1\]\] \<!-- page 3 -->"
    assert find_marks(convert(f"{words}<p><code>[[PAGE:1]]</code></p>", range(0)).markdown) == []


def test_a_label_is_in_the_mark() -> None:
    html = f"<table>{ROWS}{page_element(2, 'A|1')}<tr><td>3</td><td>4</td></tr></table>{page_element(3, 'iv')}<p>b</p>"
    assert [(mark.page, mark.label) for mark in find_marks(convert(html).markdown)] == [(2, "A|1"), (3, "iv")]
