import pytest

from kb_pipeline_tests.steps.html.pages import convert


@pytest.mark.parametrize(
    ("page", "title"),
    [
        ("<title>Save - My Site</title><h1>Save</h1>", "Save"),
        ("<title>Save &mdash; My Site 1.2 documentation</title><p>x", "Save"),
        ("<title>7.18. Lower Layer</title><h3>7.18. Lower Layer</h3>", "7.18. Lower Layer"),
        ("<title>Foo: Main Page</title><h2>Main Page</h2>", "Main Page"),
        ("<title>Site</title><h1>The only<br> h1 ¶</h1>", "The only h1"),
        ("<title>Well-known - in part - Site</title><p>x", "Well-known - in part"),
        ("<title>Ledger Guide</title><h1>1. Introduction</h1>", "Ledger Guide"),
        ("<title>Ledger Guide: 1. Introduction</title><h1>1. Introduction</h1>", "Ledger Guide: 1. Introduction"),
        ("<title>2 Usage - Ledger</title><h2>2 Usage</h2>", "2 Usage - Ledger"),
        ("<title>2.5.1. Robocopy - Ledger</title><h1>2.5.1. Robocopy</h1>", "2.5.1. Robocopy"),
        ("<title>8. Use ¶ - 8. Use - Ledger</title><h1>8. Use</h1>", "8. Use - Ledger"),
        ("<title>1. Introduction</title><h1>1. Introduction</h1>", "1. Introduction"),
        ("<title>Ledger Guide</title><h1>1. Restart the ledger</h1>", "1. Restart the ledger"),
        ("<h1>1. Introduction</h1>", "1. Introduction"),
        ("<h3>First</h3><h3>Second</h3>", "First"),
        ("<p>no title at all", "an-article"),
    ],
)
def test_the_title_is_the_pages_not_the_sites(page: str, title: str) -> None:
    assert convert(page).title == title


@pytest.mark.parametrize(
    "head",
    [
        '<link rel="canonical" href="https://e.org/a.html"><meta property="og:url" content="https://e.org/other">',
        '<meta property="og:url" content="https://e.org/a.html">',
        '<meta name="DC.Identifier" content="https://e.org/a.html">',
    ],
)
def test_the_source_url_is_the_one_the_page_declares(head: str) -> None:
    assert convert(f"<head>{head}</head><p>x").source_url == "https://e.org/a.html"


def test_an_identifier_that_is_no_address_is_no_source_url() -> None:
    assert convert('<meta name="DC.Identifier" content="sql-dnd-support"><p>x').source_url is None


def test_language_and_topics() -> None:
    article = convert('<html lang="pt-BR"><meta name="keywords" content="a b, c,, a b"><p>x')
    assert (article.language, article.key_topics) == ("pt-BR", ("a b", "c"))
