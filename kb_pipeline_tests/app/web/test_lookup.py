"""The functions that an answer calls: never an exception, and nothing twice in one conversation."""

import asyncio
import logging

import pytest

from app.settings import AppSettings
from app.web import open_web
from app.web.base import WebPage, WebResult, WebSearch
from app.web.lookup import WebLookup, format_search_results
from kb_pipeline.errors import SettingsError, WebError

AT = "2026-03-04T10:41:00+00:00"


class Made(WebSearch):
    """A backend that finds three pages; ``broken`` are those that fail. Also a plug-in."""

    name = "the made web"

    def __init__(self, settings: AppSettings, broken: dict[str, Exception] | None = None) -> None:
        super().__init__(settings)
        self.broken = broken or {}
        self.searched: list[str] = []
        self.fetched: list[str] = []

    async def search(self, query: str, max_results: int = 3) -> list[WebResult]:
        self.searched.append(query)
        if "search" in self.broken:
            raise self.broken["search"]
        return [WebResult(f"Title {n}", f"https://a.example/{n}", f"About {n}") for n in range(1, 4)][:max_results]

    async def fetch(self, url: str) -> WebPage:
        self.fetched.append(url)
        if url in self.broken:
            raise self.broken[url]
        return WebPage(url, f"Title {url[-1]}", "word " * 2000, AT, "0" * 64, "word")


SETTINGS = AppSettings(web_search="local")
BROKEN = WebError("a.example was silent", "timeout")


def lookup(broken: dict[str, Exception] | None = None) -> tuple[WebLookup, Made]:
    backend = Made(SETTINGS, broken)
    return WebLookup(backend, SETTINGS), backend


def test_pages_are_one_text_with_title_and_address_of_each_cut_to_their_limit() -> None:
    web, _ = lookup()
    text = asyncio.run(web.search_and_fetch("words"))
    first, *others = text.split("\n\n---\n\n")
    assert first.startswith("## Title 1\nSource: https://a.example/1\n\nword word")
    assert len(others) == 2
    assert all(len(part) < 3_100 and part.endswith("[...]") for part in (first, *others))


def test_a_page_that_fails_leaves_the_others() -> None:
    web, _ = lookup({"https://a.example/2": BROKEN})
    assert [page.url[-1] for page in asyncio.run(web.pages("words"))] == ["1", "3"]
    assert web.failures == {"timeout": 1}


@pytest.mark.parametrize("problem", [BROKEN, RuntimeError("a bug"), ValueError(), OSError()])
def test_nothing_is_ever_raised(problem: Exception, caplog: pytest.LogCaptureFixture) -> None:
    web, _ = lookup({"search": problem, "https://a.example/1": problem})

    async def all_of_them() -> tuple[object, ...]:
        return (
            await web.search_learn("x"),
            await web.fetch_page_content("https://a.example/1"),
            await web.search_and_fetch("x"),
            await web.pages("x"),
        )

    with caplog.at_level(logging.WARNING):
        assert asyncio.run(all_of_them()) == ([], "", "", ())
    assert web.failures.total() == 4
    assert len(caplog.records) == 4


def test_a_conversation_looks_the_same_up_once() -> None:
    web, backend = lookup()
    for query in ("Cosmos DB", "  cosmos   db "):
        assert len(asyncio.run(web.pages(query, conversation="ann/1"))) == 3
    assert backend.searched == ["Cosmos DB"]
    asyncio.run(web.pages("cosmos db", conversation="ann/2"))
    assert len(backend.searched) == 2
    assert (web.stats().hits, web.stats().misses, web.stats().entries) == (1, 2, 2)


def test_what_failed_is_looked_up_again() -> None:
    web, backend = lookup({"https://a.example/2": BROKEN})
    asyncio.run(web.pages("x", conversation="ann/1"))
    backend.broken = {"search": BROKEN}
    asyncio.run(web.pages("x", conversation="ann/1"))
    backend.broken = {}
    assert len(asyncio.run(web.pages("x", conversation="ann/1"))) == 3
    assert len(backend.searched) == 3


def test_results_are_formatted_for_a_model() -> None:
    results = [WebResult("A\ntitle", "https://a.example/", "About a."), WebResult("B", "https://b.example/")]
    assert format_search_results(results) == (
        "## A title\nSource: https://a.example/\n\nAbout a.\n\n---\n\n## B\nSource: https://b.example/"
    )
    assert format_search_results([]) == ""


def test_the_web_is_off_until_told() -> None:
    assert open_web(AppSettings()) is None


def test_a_backend_of_ones_own_is_named_by_its_class() -> None:
    web = open_web(AppSettings(web_search=f"{__name__}:Made"))
    assert web is not None
    assert web.name == "the made web"


def test_a_backend_that_is_not_there_is_named_with_the_others() -> None:
    with pytest.raises(SettingsError, match="KB_WEB_SEARCH is 'bing'; it must be one of learn, local, searxng"):
        open_web(AppSettings(web_search="bing"))
