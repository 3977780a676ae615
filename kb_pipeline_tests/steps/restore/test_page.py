"""The page that a service gets to see."""

import re
from html.parser import HTMLParser

import pytest

from kb_pipeline.errors import EmptyArticleError, UnreadableArticleError
from kb_pipeline.records import ImageInfo
from kb_pipeline.steps.html import convert_html
from kb_pipeline.steps.restore import service_html
from kb_pipeline_tests.steps.html.pages import image
from kb_pipeline_tests.steps.restore.services import sample_names, sample_page

KNOWN = set(
    "html head meta title body h1 h2 h3 h4 h5 h6 p ul ol li table thead tbody tfoot tr td th pre code a blockquote "
    "strong b em i br hr del s sub sup kbd samp tt q strike span".split()
)


def page(html: str, *images: ImageInfo) -> str:
    return service_html("an-article", html.encode(), {info.file: info for info in images})


def body(html: str, *images: ImageInfo) -> str:
    found = re.search("<body>(.*)</body>", page(html, *images), re.S)
    assert found
    return " ".join(found[1].split())


class Tags(HTMLParser):
    """Everything in a page that is not text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.attributes: dict[str, str | None] = {}
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.add(tag)
        self.attributes.update(attrs)


def test_it_is_a_document_that_says_its_encoding_and_language() -> None:
    html = page('<html lang="de"><title>Über uns</title><h1>Über uns</h1>')
    assert html.startswith("<!DOCTYPE html>")
    assert '<html lang="de"><head><meta charset="utf-8"><title>Über uns</title></head>' in html


@pytest.mark.parametrize(
    "kept",
    [
        "<h2>Steps</h2>",
        "<ol><li>One</li><li>Two</li></ol>",
        '<p>See <a href="other.html#x">there</a>.</p>',
        "<p><strong>Bold</strong> and <em>slanted</em> and <code>code</code></p>",
        '<table><tr><th>A</th><th>B</th></tr><tr><td colspan="2">c</td></tr></table>',
        "<pre>if a &lt; b:\n    c()</pre>".replace("\n    ", " "),
        "<blockquote><p>Said</p></blockquote>",
    ],
)
def test_meaning_is_kept(kept: str) -> None:
    assert body(f"<body><p>Text</p>{kept}") == f"<p>Text</p>{kept}"


def test_each_image_is_a_marker_where_it_stands() -> None:
    html = '<p>Click <img src="a.png"> now</p><p><img src="b.png"></p><img src="a.png">'
    names = re.findall(r'<span class="marker">\[\[IMG:(.*?)\]\]</span>', body(html, image("a.png"), image("b.png")))
    assert names == ["a.png", "b.png", "a.png"]
    assert 'Click <span class="marker">[[IMG:a.png]]</span> now' in body(html, image("a.png"), image("b.png"))


def test_decorative_images_and_navigation_are_not_there() -> None:
    html = '<nav><a href="x">Home</a></nav><main><p>Text <img src="dot.png"></p></main><footer>Imprint</footer>'
    assert body(html, image("dot.png", 8, 8)) == "<p>Text </p>"


@pytest.mark.parametrize(
    "hostile",
    [
        "<script>steal()</script>",
        '<p onclick="steal()" style="background:url(http://evil/x)">x</p>',
        '<a href="javascript:steal()">x</a>',
        '<a href=" java\nscript:steal()">x</a>',
        '<iframe src="http://evil"></iframe><object data="http://evil"></object><embed src="http://evil">',
        '<link rel="stylesheet" href="http://evil"><style>@import "http://evil"</style>',
        '<img src="http://evil/pixel.png"><svg><image href="http://evil"/></svg><video src="http://evil"></video>',
        '<meta http-equiv="refresh" content="0;url=http://evil"><base href="http://evil">',
        "<xmp><script>steal()</script></xmp><plaintext><script>steal()</script>",
        '<form action="http://evil"><input formaction="http://evil"><button>x</button></form>',
        "<title></title><script>steal()</script>",
    ],
)
def test_nothing_runs_and_nothing_is_loaded(hostile: str) -> None:
    html = page(f"<body><p>Text</p>{hostile}<p>More</p>")
    tags = Tags(html)
    assert tags.names <= KNOWN
    assert set(tags.attributes) <= {"charset", "href", "colspan", "rowspan", "start", "lang", "class"}
    assert "javascript" not in (tags.attributes.get("href") or "")


@pytest.mark.parametrize("name", sample_names())
def test_it_holds_the_words_and_images_of_the_article(name: str) -> None:
    raw, images = sample_page(name)
    html = service_html(name, raw, images)
    local = convert_html(name, raw, images)
    assert html.count("[[IMG:") == local.counts.images
    assert html.count("<a ") >= len(local.links)
    assert html.count("<pre>") == local.counts.code_blocks
    assert html.count("<table>") == local.counts.tables


def test_a_table_in_a_table_is_lines_of_its_cell() -> None:
    inner = "<table><tr><td>x</td><td>y</td></tr><tr><td>z</td><td>w</td></tr></table>"
    html = body(f"<table><tr><th>A</th><th>B</th></tr><tr><td>1</td><td>{inner}</td></tr></table>")
    assert html.count("<table>") == 1
    assert "x – y" in html


def test_bad_input_is_told() -> None:
    with pytest.raises(EmptyArticleError, match="an-article"):
        page("<body><nav>Home</nav></body>")
    with pytest.raises(UnreadableArticleError, match="a PDF"):
        page("%PDF-1.7")
