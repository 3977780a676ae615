"""The site has the pages of the repository: every link leads somewhere, and nothing comes from other hosts."""

import shutil
import tomllib
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from bs4 import BeautifulSoup

from kb_pipeline_tests import docs_site

LOADED = ("img[src]", "script[src]", "link[href]", "source[src]", "iframe[src]")


@pytest.fixture(scope="module")
def pages() -> dict[Path, BeautifulSoup]:
    assert docs_site.build() == 0
    return {path: BeautifulSoup(path.read_text(), "lxml") for path in docs_site.BUILT.rglob("*.html")}


def addresses(page: BeautifulSoup, *selectors: str) -> Iterator[str]:
    for element in page.select(", ".join(selectors)):
        yield element.get("href") or element["src"]


@pytest.mark.slow("builds a whole knowledge base")
def test_every_link_leads_to_a_page_or_file_and_to_its_place(pages: dict[Path, BeautifulSoup]) -> None:
    broken = []
    for path, page in pages.items():
        for address in addresses(page, "a[href]", *LOADED):
            link = urlsplit(address)
            target = docs_site.BUILT if link.path.startswith("/") else path.parent
            target = (target / unquote(link.path).lstrip("/")).resolve() if link.path else path
            target = target / "index.html" if target.is_dir() else target
            place = unquote(link.fragment)
            if not (link.scheme or link.netloc) and not (
                target.exists() and (not place or pages[target].find(id=place))
            ):
                broken.append((path.name, address))
    assert broken == []


def test_nothing_is_loaded_from_other_hosts(pages: dict[Path, BeautifulSoup]) -> None:
    assert [
        address for page in pages.values() for address in addresses(page, *LOADED) if urlsplit(address).netloc
    ] == []
    styles = "".join(path.read_text() for path in docs_site.BUILT.rglob("*.css"))
    assert "url(http" not in styles
    assert "@import" not in styles


def test_all_pages_of_docs_are_in_the_menu_and_the_readme_is_the_start(pages: dict[Path, BeautifulSoup]) -> None:
    menu = (docs_site.ROOT / "zensical.toml").read_text()
    assert tomllib.loads(menu)["project"]["nav"][0] == {"Start": "README.md"}
    assert [path.name for path in (docs_site.ROOT / "docs").glob("*.md") if f'"docs/{path.name}"' not in menu] == []
    assert "kb_pipeline" in pages[docs_site.BUILT / "index.html"].h1.text


@pytest.mark.slow("builds a whole knowledge base")
def test_a_link_to_nowhere_fails(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(docs_site, "ROOT", tmp_path)
    monkeypatch.setattr(docs_site, "LAID_OUT", tmp_path / ".site/pages")
    monkeypatch.setattr(docs_site, "BUILT", tmp_path / ".site/html")
    shutil.copyfile(Path(__file__).parents[1] / "zensical.toml", tmp_path / "zensical.toml")
    (tmp_path / "README.md").write_text("# Here\n\n[There](#there)\n")
    assert docs_site.build() != 0
