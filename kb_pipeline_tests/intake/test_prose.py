"""Pages that only lead to others are told by their structure, in any language and of any tool."""

import time

import pytest

from kb_pipeline.intake.prose import why_no_article
from kb_pipeline_tests.intake.conftest import PROSE, page

LINKS = "".join(f'<li><a href="p{number}.html">The chapter of number {number}</a></li>' for number in range(9))
INDEX = "".join(
    f'<h2>{letter}</h2><dl><dt>entry of {letter}</dt><dd><a href="{letter}.html#x">{letter}()</a>, '
    '<a href="y">1</a></dd></dl>'
    for letter in "ABCDEF"
)

LEFT_OUT = {
    "an index": (page(INDEX, "Index"), "only leads"),
    "a list of contents": (page(f"<ul>{LINKS}</ul>"), "only leads"),
    "contents with a footer": (page(f'<ul>{LINKS}</ul><div class="footer">{PROSE}</div>'), "only leads"),
    "contents in a table": (page(f"<table><tr><td>{LINKS}</td></tr></table>"), "only leads"),
    "a search": (
        page('<p>Please activate JavaScript, or nothing can be searched here.</p><div id="search-results"></div>'),
        "searches",
    ),
    "a search of another tool": (page('<form><input type="text"></form><ul class="searchresults"></ul>'), "searches"),
    "a redirection": (
        '<html><head><meta http-equiv="refresh" content="0; url=b.html"></head>'
        '<body><a href="b.html">Go on</a></body></html>',
        "another page",
    ),
    "a frameset": ('<html><frameset><frame src="a.html"></frameset></html>', "no text"),
    "a template": (
        '{% import "nav.html" as item with context %} {% set class = "primary" %}<ul>{% for each in nav %}'
        "<li>{{ item.render(each, class, 1) }}</li>{% endfor %}</ul>",
        "template",
    ),
    "nothing": ("<html><body></body></html>", "no text"),
    "navigation alone": (f"<html><body><nav>{LINKS}</nav></body></html>", "no text"),
}
ARTICLES = {
    "a page": page(),
    "a short page": page("<p>It is 42.</p>"),
    "prose with links": page(f"<p>{PROSE} See <a href='x'>that</a>.</p><ul>{LINKS}</ul>"),
    "steps": page(f"<ol><li>Open it.</li><li>{PROSE}</li></ol>{LINKS}"),
    "a picture": page(f'<img src="x.png"><ul>{LINKS}</ul>'),
    "code": page(f"<pre>make install</pre><ul>{LINKS}</ul>"),
    "a list with descriptions": page(f'<dl><dt><a href="x">open</a></dt><dd>{PROSE}</dd></dl>{LINKS}'),
    "an article about searching": page(f'<p>{PROSE}</p>' * 4 + '<div id="search-results"></div>'),
    "a page with a box for searching": page(f'<div role="dialog"><div id="search-results"></div></div><p>{PROSE}</p>'),
    "an article about templates": page(f"<p>{{% if %}} chooses.</p><p>{PROSE}</p>"),
    "a short page with a placeholder": page("<p>Write {{name}} here.</p>"),
    "a page that sends elsewhere whoever has no scripts": page().replace(
        "<head>", '<head><noscript><meta http-equiv="refresh" content="0; url=noscript.html"></noscript>'
    ),
    "a short page with places that others lead to": page('<a name="a"></a><a name="b"></a><p>It prints.</p><a id="c">'),
    "Japanese": page("<p>バルブをゆっくり開き、ゲージが三バールを示すまで待ってから、次の手順に進んでください。</p>"),
    "a table of values": page("<table><tr><td>Bolt M8 of stainless steel with two nuts</td><td>12</td></tr></table>"),
}  # fmt: skip


@pytest.mark.parametrize(("html", "reason"), LEFT_OUT.values(), ids=LEFT_OUT)
def test_left_out(html: str, reason: str) -> None:
    assert reason in why_no_article(html)


@pytest.mark.parametrize("html", ARTICLES.values(), ids=ARTICLES)
def test_articles(html: str) -> None:
    assert why_no_article(html) == ""


@pytest.mark.slow("a page of 25,000 elements")
def test_a_hostile_page_takes_no_longer_than_its_length() -> None:
    deep = "<b>x" * 1500 + "<i>y</i>" * 25_000
    began = time.process_time()
    assert why_no_article(page(f"<p>{deep}</p>")) == ""
    assert time.process_time() - began < 5
