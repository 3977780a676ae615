"""One spelling for each address, and another name for each page of a source."""

import pytest

from kb_pipeline.intake.naming import article_ids
from kb_pipeline.intake.website.addresses import SiteScope, whole

BASE = "https://docs.example.org/guide/start.html"


@pytest.mark.parametrize(
    ("address", "found"),
    [
        ("next.html#part", "https://docs.example.org/guide/next.html"),
        ("../other/./x.html", "https://docs.example.org/other/x.html"),
        ("HTTPS://Docs.Example.ORG:443/a/../b", "https://docs.example.org/b"),
        ("http://docs.example.org.:8080", "http://docs.example.org:8080/"),
        ("?page=2", "https://docs.example.org/guide/start.html?page=2"),
        ("//docs.example.org/x", "https://docs.example.org/x"),
        ("/gr%c3%bc%C3%9fe/%7Eme", "https://docs.example.org/gr%C3%BC%C3%9Fe/~me"),
        ("/grüße/a b", "https://docs.example.org/gr%C3%BC%C3%9Fe/a%20b"),
        ("https://bücher.example/", "https://xn--bcher-kva.example/"),
        ("", "https://docs.example.org/guide/start.html"),
    ],
)
def test_an_address_has_one_spelling(address: str, found: str) -> None:
    assert whole(address, BASE) == found
    assert whole(found) == found


@pytest.mark.parametrize(
    "address",
    [
        "mailto:a@example.org", "javascript:void(0)", "data:text/html,x", "ftp://example.org/",
        "https://user:secret@example.org/", "https://user@example.org/", "http://[::1", "http://x:99999/",
        "https://example.org/" + "x" * 3000,
    ],
)  # fmt: skip
def test_what_is_no_address_of_the_web_has_none(address: str) -> None:
    assert whole(address, BASE) is None


def test_all_below_the_start_belongs_to_a_source() -> None:
    for start in ("https://docs.example.org/guide/", "https://docs.example.org/guide/index.html",
                  "https://docs.example.org/guide"):  # fmt: skip
        scope = SiteScope(start)
        paths = ("guide/", "guide/a/b", "guide", "guides", "")
        assert [path for path in paths if scope.has(f"https://docs.example.org/{path}")] == list(paths[:3])
        assert not scope.has("http://docs.example.org/guide/")
        assert not scope.has("https://docs.example.org.evil.example/guide/")


def test_each_page_has_a_name_of_its_own_that_says_where_it_is() -> None:
    scope = SiteScope("https://docs.example.org/guide/")
    paths = (
        "guide guide/ guide/a guide/a/ guide/a.html guide/a/index.html guide/a?x=1 guide/a?x=2 guide/gr%C3%BC%C3%9Fe"
    )
    paths += " guide/a%2Fb guide/a%23b guide/a%3Fb downloads/a.pdf guide/v1.2/"
    names = [scope.name(f"https://docs.example.org/{path}") for path in paths.split()]
    assert len(set(names)) == len(names)
    assert not [name for name in names if "#" in name or name.endswith("/")]
    assert article_ids("docs", names[1])[0] == "docs"
    assert article_ids("docs", names[3])[0] == "docs-a"
    assert article_ids("docs", names[8])[0] == "docs-grüsse"
    assert article_ids("docs", names[-1])[0] == "docs-v1-2"
