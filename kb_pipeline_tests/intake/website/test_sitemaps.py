"""Sitemaps are read to their end, or refused: a page that is missing there would seem to be gone."""

import gzip

import pytest

from kb_pipeline.errors import IntakeError
from kb_pipeline.intake.website import sitemaps
from kb_pipeline.intake.website.sitemaps import read_sitemap

XMLNS = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
PAGES = f"""<?xml version="1.0" encoding="UTF-8"?>
<!-- made by a tool --><urlset {XMLNS} xmlns:image="http://www.google.com/schemas/sitemap-image/1.1">
<url><loc> https://example.org/a?x=1&amp;y=2 </loc><image:image><image:loc>https://example.org/a.png</image:loc>
</image:image></url><url><loc>https://example.org/b</loc><lastmod>2026-01-01</lastmod></url></urlset>"""
INDEX = f"<sitemapindex {XMLNS}><sitemap><loc>https://example.org/s.xml.gz</loc></sitemap></sitemapindex>"
ADDRESS = "https://example.org/sitemap.xml"


@pytest.mark.parametrize("data", [PAGES.encode(), gzip.compress(PAGES.encode()), PAGES.replace(XMLNS, "").encode()])
def test_the_pages_of_a_sitemap(data: bytes) -> None:
    found = read_sitemap(ADDRESS, data)
    assert found == (["https://example.org/a?x=1&y=2", "https://example.org/b"], [])


def test_the_lines_of_a_sitemap_that_is_plain_text() -> None:
    text = "\ufeffhttps://example.org/a\r\n\r\n https://example.org/b "
    assert read_sitemap(ADDRESS, text.encode()) == (["https://example.org/a", "https://example.org/b"], [])
    assert read_sitemap(ADDRESS, b"https://example.org/a\nand more") is None


def test_the_sitemaps_of_an_index() -> None:
    assert read_sitemap(ADDRESS, INDEX.encode()) == ([], ["https://example.org/s.xml.gz"])


@pytest.mark.parametrize(
    "data", [b"", b"<html><body>Not found</body></html>", b"<!doctype html><p>x", b"plain", b"<rss/>"]
)
def test_what_is_no_sitemap(data: bytes) -> None:
    assert read_sitemap(ADDRESS, data) is None


@pytest.mark.parametrize(
    "data",
    [PAGES.encode()[:-40], gzip.compress(PAGES.encode())[:-20], gzip.compress(PAGES.encode()[:-40]), b"\x1f\x8bx"],
)
def test_half_a_sitemap_is_refused(data: bytes) -> None:
    with pytest.raises(IntakeError, match="sitemap"):
        read_sitemap(ADDRESS, data)


def test_a_packed_bomb_is_not_unpacked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sitemaps, "MOST_BYTES", 1000)
    with pytest.raises(IntakeError, match="more than 1,000 bytes"):
        read_sitemap(ADDRESS, gzip.compress(b"<urlset>" + b" " * 100_000))


def test_entities_neither_grow_nor_read_files() -> None:
    bomb = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 12))
    for entity in ('<!ENTITY e SYSTEM "file:///etc/passwd">', f'<!ENTITY e0 "x">{bomb}<!ENTITY e "&e11;">'):
        found = None
        try:
            found = read_sitemap(
                ADDRESS, f"<!DOCTYPE urlset [{entity}]><urlset><url><loc>&e;</loc></url></urlset>".encode()
            )
        except IntakeError:
            continue
        assert found is not None
        assert found.pages in ([""], [])
