"""A page of the web as text: what a reader reads, and nothing else."""

import pytest

from app.web.excerpt import CUT, cut
from app.web.page_text import page_of, without_links
from kb_pipeline.errors import WebError

AT = "2026-03-04T10:41:00+00:00"
PAGE = b"""<html><head><title>Scale out | Example Docs</title></head><body><nav><a href="/">Home</a> Pricing</nav>
<main><h1>Scale out</h1><p>Read <a href="https://evil.example/">the guide</a> first.<script>alert(1)</script></p>
<table><tr><th>Tier</th><th>Units</th></tr><tr><td>Basic</td><td>400</td></tr></table>
<pre><code>az scale --link [a](b)</code></pre><img src="https://evil.example/a.png" alt="a picture"></main>
<footer>Imprint</footer></body></html>"""


def test_main_content_with_tables_and_code_without_navigation_links_and_pictures() -> None:
    page = page_of("https://docs.example.com/scale", PAGE, "text/html; charset=utf-8", AT, 8000)
    assert page.title == "Scale out"
    assert page.markdown == (
        "# Scale out\n\nRead the guide first.\n\n| Tier | Units |\n| --- | --- |\n| Basic | 400 |\n\n"
        "```\naz scale --link [a](b)\n```\n\na picture"
    )
    assert page.text == "Scale out\nRead the guide first.\nTier | Units\nBasic | 400\naz scale --link [a](b)\na picture"
    assert (page.url, page.fetched_at, len(page.sha256)) == ("https://docs.example.com/scale", AT, 64)


def test_a_long_page_is_cut_between_words_with_a_mark() -> None:
    page = page_of("https://a.example/", b"<p>" + b"word " * 10_000 + b"</p>", "text/html", AT, 8000)
    assert len(page.text) <= 8000
    assert page.text.endswith(f"word\n{CUT}")
    assert cut("short", 100) == "short"
    assert cut("x" * 200, 100) == "x" * 94 + f"\n{CUT}"


@pytest.mark.parametrize("content_type", ["text/plain", "text/markdown; charset=utf-8"])
def test_plain_text_stays_as_it_is(content_type: str) -> None:
    page = page_of("https://a.example/docs/read%20me.md", b"# Title\n\nText.", content_type, AT, 8000)
    assert (page.title, page.markdown) == ("read me.md", "# Title\n\nText.")


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        (b"%PDF-1.7", "application/pdf"),
        (b"{}", "application/json"),
        (b"\x89PNG", "image/png"),
        (b"\x89PNG\r\n", "text/html"),
        (b"", "text/html"),
        (b"  ", "text/plain"),
        (b"<html><body><script>x</script></body></html>", "text/html"),
    ],
)
def test_what_is_no_page_is_refused(body: bytes, content_type: str) -> None:
    with pytest.raises(WebError) as failed:
        page_of("https://a.example/", body, content_type, AT, 8000)
    assert failed.value.reason == "not a page"


def test_the_charset_of_the_response_counts() -> None:
    body = "<p>größer</p>".encode("cp1252")
    assert page_of("https://a.example/", body, "text/html; charset=windows-1252", AT, 8000).text == "größer"
    unknown = page_of("https://a.example/", "<p>größer</p>".encode(), "text/html; charset=nonsense", AT, 8000)
    assert unknown.text == "größer"


@pytest.mark.parametrize(
    ("markdown", "plain"),
    [
        ("[a](https://x.example/) b", "a b"),
        ('[a](https://x.example/(b) "title") c', "a c"),
        ("![alt](x.png)", "alt"),
        ("<https://x.example/>", "https://x.example/"),
        ("a < b > c", "a < b > c"),
        (r"\[a](b)", r"\[a](b)"),
        ("`x`\n\n```\n[a](b)\n```\n\n[a](b)", "`x`\n\n```\n[a](b)\n```\n\na"),
    ],
)
def test_links_are_replaced_by_their_words(markdown: str, plain: str) -> None:
    assert without_links(markdown) == plain
