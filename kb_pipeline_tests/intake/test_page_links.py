"""Only addresses change: of links to other pages, and of pictures that come with the page."""

import time

import pytest

from kb_pipeline.intake.page_links import rewrite_markdown, rewrite_page


def link(address: str) -> str | None:
    return "../guide/index.html" if address in ("b.html", "b & c.html") else None


def picture(address: str) -> str | None:
    return "p.png" if address.startswith(("img/", "../img/")) else None


@pytest.mark.parametrize(
    ("html", "rewritten"),
    [
        ('<a href="b.html">B</a>', '<a href="../guide/index.html">B</a>'),
        ("<A class=x HREF='b.html' >B</A>", '<A class=x HREF="../guide/index.html" >B</A>'),
        ("<a href=b.html>B</a>", '<a href="../guide/index.html">B</a>'),
        ('<a href = "b &amp; c.html">B</a>', '<a href = "../guide/index.html">B</a>'),
        ('<a title="x > y" href="b.html">B</a>', '<a title="x > y" href="../guide/index.html">B</a>'),
        ('<a href="other.html">B</a>', '<a href="other.html">B</a>'),
        ('<img alt="" src="img/x.png"/>', '<img alt="" src="p.png"/>'),
        ('<img data-src="img/x.png" src="blank">', '<img data-src="p.png" src="blank">'),
        ('<source srcset="img/x.png 2x, img/y.png 1x">', '<source srcset="p.png">'),
        ('<object type="image/svg+xml" data="img/x.svg">', '<object type="image/svg+xml" data="p.png">'),
        ('<input type="image" src="../img/x.png">', '<input type="image" src="p.png">'),
        ('<link href="b.html"><abbr href="b.html">', '<link href="b.html"><abbr href="b.html">'),
        ('<!-- <a href="b.html"> -->', '<!-- <a href="b.html"> -->'),
        ("<script>'<a href=\"b.html\">'</script>", "<script>'<a href=\"b.html\">'</script>"),
        ("a < b &nbsp; <p>x", "a < b &nbsp; <p>x"),
    ],
)
def test_addresses_in_pages(html: str, rewritten: str) -> None:
    assert rewrite_page(html, link, picture) == rewritten


@pytest.mark.parametrize(
    ("text", "rewritten"),
    [
        ("See [B](b.html) now", "See [B](../guide/index.html) now"),
        ('[B](b.html "Title")', '[B](../guide/index.html "Title")'),
        ("![x](img/a.png)", "![x](p.png)"),
        ("![x](<img/a b.png>)", "![x](p.png)"),
        ("[![x](img/a.png)](b.html)", "[![x](p.png)](../guide/index.html)"),
        ("[b]: b.html", "[b]: ../guide/index.html"),
        ('<img src="img/a.png">', '<img src="p.png">'),
        ("`[B](b.html)`", "`[B](b.html)`"),
        ("```\n[B](b.html)\n```\n[B](b.html)", "```\n[B](b.html)\n```\n[B](../guide/index.html)"),
        ("[B](https://example.org)", "[B](https://example.org)"),
        ("[x] (b.html)", "[x] (b.html)"),
    ],
)
def test_addresses_in_markdown(text: str, rewritten: str) -> None:
    assert rewrite_markdown(text, link, picture) == rewritten


@pytest.mark.parametrize(
    "hostile",
    ["<a " * 300_000, '<a href="' * 100_000, "<a href='" * 100_000, "<script>" * 100_000, "<!--" * 200_000,
     "<a =" + " " * 500_000, "<a x=<" * 100_000],
    ids=["unclosed", "quotes", "single-quotes", "scripts", "comments", "spaces", "values"],
)  # fmt: skip
def test_hostile_pages_take_no_longer_than_their_length(hostile: str) -> None:
    began = time.process_time()
    rewrite_page(hostile, link, picture)
    assert time.process_time() - began < 5


@pytest.mark.parametrize(
    "hostile", ["![a]" * 50_000, "[" * 100_000, "[a" * 50_000, "`" * 100_000 + "a", "[a](" * 50_000]
)
def test_hostile_markdown_takes_no_longer_than_its_length(hostile: str) -> None:
    began = time.process_time()
    rewrite_markdown(hostile, link, picture)
    assert time.process_time() - began < 5
