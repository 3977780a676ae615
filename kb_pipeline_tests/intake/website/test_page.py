"""What a page says of itself to a crawl."""

import time

import pytest

from kb_pipeline.intake.website.page import read_page
from kb_pipeline_tests.intake.conftest import PROSE, page

ADDRESS = "https://example.org/guide/a.html"


@pytest.mark.parametrize(
    ("html", "links"),
    [
        ('<a href="b.html#x">b</a><a href="b.html">b</a>', ["https://example.org/guide/b.html"]),
        ('<a href="b.html" rel="nofollow">b</a>', []),
        ('<meta name="robots" content="noindex, nofollow"><a href="b.html">b</a>', []),
        ('<base href="/other/"><a href="b.html">b</a>', ["https://example.org/other/b.html"]),
        ('<meta http-equiv="refresh" content="0; URL=\'b.html\'">', ["https://example.org/guide/b.html"]),
        ('<meta http-equiv="refresh" content="30">', []),
        ('<frameset><frame src="b.html"></frameset>', ["https://example.org/guide/b.html"]),
        ('<map><area href="b.html"></map>', ["https://example.org/guide/b.html"]),
        ('<!-- <a href="b.html">b</a> --><a href="mailto:x@y.z">m</a><a>none</a>', []),
    ],
)
def test_where_it_leads(html: str, links: list[str]) -> None:
    assert list(read_page(ADDRESS, html).links) == links


@pytest.mark.parametrize(
    ("html", "pictures"),
    [
        ('<img src="a.png">', ["https://example.org/guide/a.png"]),
        ('<img src="data:image/gif;base64,R0" data-src="/a.png">', ["https://example.org/a.png"]),
        ('<img srcset="a.png 1x, b.png 2x">', ["https://example.org/guide/a.png"]),
        ('<picture><source srcset="a.webp"><img src="a.png"></picture>',
         ["https://example.org/guide/a.webp", "https://example.org/guide/a.png"]),
        ('<img data-lazy="/a.png">', ["https://example.org/a.png"]),
        ('<img src="x.gif" data-hi-res-src="a.png">',
         ["https://example.org/guide/x.gif", "https://example.org/guide/a.png"]),
        ('<amp-img src="a.png"></amp-img>', ["https://example.org/guide/a.png"]),
        ('<noscript><img src="a.png"></noscript>', ["https://example.org/guide/a.png"]),
        ('<script>"<img src=a.png>"</script>', []),
    ],
)  # fmt: skip
def test_what_it_shows(html: str, pictures: list[str]) -> None:
    assert list(read_page(ADDRESS, html).pictures) == pictures


@pytest.mark.parametrize(
    ("html", "header", "no_index"),
    [
        ("", "", False),
        ('<meta name="robots" content="index,follow">', "", False),
        ('<meta name="ROBOTS" content="NOINDEX,follow">', "", True),
        ('<meta name="robots" content="none">', "", True),
        ('<meta name="kb-pipeline" content="noindex">', "", True),
        ('<meta name="googlebot" content="noindex">', "", False),
        ("", "noindex", True),
        ("", "noarchive, noindex", True),
        ("", "otherbot: noindex", False),
        ("", "kb-pipeline: noindex", True),
    ],
)
def test_whether_it_wants_to_be_found(html: str, header: str, no_index: bool) -> None:
    assert read_page(ADDRESS, f"<head>{html}</head><p>{PROSE}", header).no_index is no_index


def test_the_address_that_it_gives_itself() -> None:
    html = '<head><link rel="canonical" href="/guide/b"></head>'
    assert read_page(ADDRESS, html).canonical == "https://example.org/guide/b"
    assert read_page(ADDRESS, page()).canonical == ""


@pytest.mark.parametrize(
    ("body", "is_one"),
    [
        ('<form><input name="user"><input type="password"></form>', False),
        ('<p>Please sign in with the account of your company to go on to this page.</p><input type="PASSWORD">', False),
        (f'<header><input type="password"></header><p>{PROSE}</p>', True),
        (f'<div class="modal"><input type="password"></div><p>{PROSE}</p>', True),
        (f'<p>{PROSE}</p><p>{PROSE}</p><input type="password">', True),
    ],
)
def test_a_page_that_only_asks_for_a_password_is_no_article(body: str, is_one: bool) -> None:
    assert (read_page(ADDRESS, page(body)).why_none == "") is is_one


@pytest.mark.parametrize(
    "hostile",
    [
        "<!--",
        "<script ",
        "<script type=",
        " type=",
        "<input type=hidden ",
        " nonce=",
        "<meta csrf ",
        "<a href=x>",
        "<div>",
    ],
)
def test_hostile_pages_take_time_in_proportion(hostile: str) -> None:
    began = time.process_time()
    read_page(ADDRESS, f"<script {hostile * 15_000}")
    read_page(ADDRESS, f"<p>{PROSE}<input {hostile * 15_000}")
    assert time.process_time() - began < 8
