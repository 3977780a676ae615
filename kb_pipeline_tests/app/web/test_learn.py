"""The search of Microsoft Learn, against a fake of it, and what becomes of its failures."""

import asyncio
import json
import logging
import time
from collections.abc import Callable
from typing import Any

import pytest
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response

from app.settings import AppSettings
from app.web.base import WebResult
from app.web.learn import LearnSearch
from app.web.lookup import WebLookup
from kb_pipeline.errors import WebError
from kb_pipeline_tests.app.web.learn_server import RESULTS, learn

Answer = Callable[[dict[str, Any], Request], Response]


def settings_for(url: str, **given: Any) -> AppSettings:
    return AppSettings(web_search="learn", web_url=f"{url}/api/search", **given)


def test_a_search_sends_the_words_and_nothing_else() -> None:
    with learn() as server:
        found = asyncio.run(LearnSearch(settings_for(server.url)).search("  cosmos db\npartition key "))
        (request,) = server.seen
    assert request.url.path == "/api/search"
    assert dict(request.query_params) == {"search": "cosmos db partition key", "locale": "en-us", "$top": "3"}
    assert {"cookie", "authorization", "referer"}.isdisjoint(request.headers)
    assert len(found) == 3
    assert found[0] == WebResult(
        "Partitioning and horizontal scaling, part 1",
        "https://learn.microsoft.com/en-us/azure/cosmos-db/partitioning-1",
        "Learn about partitioning, part 1.",
    )


@pytest.mark.parametrize(("asked", "got"), [(1, 1), (3, 3), (5, 5), (0, 1), (-1, 1)])
def test_as_many_results_as_wanted(asked: int, got: int) -> None:
    with learn() as server:
        assert len(asyncio.run(LearnSearch(settings_for(server.url)).search("x", asked))) == got


def test_a_service_that_sends_more_than_asked_for_is_cut_and_what_is_no_page_left_out() -> None:
    odd = [
        None,
        7,
        {"title": "no address"},
        {"url": "javascript:alert(1)"},
        {"url": "http://[::1"},
        {"url": RESULTS[0]["url"]},
    ]
    with learn(lambda *_: JSONResponse({"results": [*odd, *RESULTS]})) as server:
        found = asyncio.run(LearnSearch(settings_for(server.url)).search("x"))
    assert [result.url for result in found] == [RESULTS[0]["url"], RESULTS[0]["url"], RESULTS[1]["url"]]
    assert found[0].title == RESULTS[0]["url"]


def test_no_words_are_no_search() -> None:
    with learn() as server:
        assert asyncio.run(LearnSearch(settings_for(server.url)).search("  \n ")) == []
        assert server.seen == []


def _silent(*_: object) -> Response:
    time.sleep(1)
    return JSONResponse({})


FAILURES: dict[str, tuple[Answer, str]] = {
    "malformed JSON": (lambda *_: Response('{"results": [', media_type="application/json"), "malformed"),
    "a web page": (lambda *_: Response("<html>Sign in</html>", media_type="text/html"), "malformed"),
    "a list": (lambda *_: JSONResponse([]), "malformed"),
    "no list of results": (lambda *_: JSONResponse({"results": {"a": 1}}), "malformed"),
    "deep JSON": (lambda *_: Response("[" * 100_000), "malformed"),
    "500": (lambda *_: JSONResponse({"error": "x"}, 500), "status"),
    "429": (lambda *_: JSONResponse({}, 429, {"retry-after": "60"}), "status"),
    "a redirect": (lambda *_: RedirectResponse("http://127.0.0.1:9/"), "status"),
    "10 MB": (lambda *_: Response(json.dumps({"results": ["x" * 10_000_000]})), "too large"),
    "silence": (_silent, "timeout"),
}


@pytest.mark.slow("builds a whole knowledge base")
@pytest.mark.parametrize("failure", FAILURES)
def test_a_failure_is_an_empty_result_with_its_reason_logged_and_counted(
    failure: str, caplog: pytest.LogCaptureFixture
) -> None:
    answer, reason = FAILURES[failure]
    with learn(answer) as server, caplog.at_level(logging.WARNING):
        settings = settings_for(server.url, web_seconds=0.2 if reason == "timeout" else 30)
        backend = LearnSearch(settings)
        with pytest.raises(WebError) as failed:
            asyncio.run(backend.search("secret words"))
        lookup = WebLookup(LearnSearch(settings), settings)
        assert asyncio.run(lookup.search_learn("secret words")) == []
        assert asyncio.run(WebLookup(LearnSearch(settings), settings).search_and_fetch("secret words")) == ""
    assert failed.value.reason == reason
    assert lookup.failures == {reason: 1}
    assert f"a search of Microsoft Learn failed ({reason})" in caplog.text
    assert "secret words" not in caplog.text


def test_a_search_without_results_is_no_failure() -> None:
    with learn(lambda *_: JSONResponse({"results": [], "count": 0})) as server:
        settings = settings_for(server.url)
        lookup = WebLookup(LearnSearch(settings), settings)
        assert asyncio.run(lookup.search_learn("x")) == []
    assert lookup.failures == {}


def test_a_service_that_is_not_there_is_named_without_its_address() -> None:
    settings = settings_for("http://127.0.0.1:9")
    with pytest.raises(WebError, match=r"127\.0\.0\.1 cannot be reached") as failed:
        asyncio.run(LearnSearch(settings).search("x"))
    assert failed.value.reason == "unreachable"


def test_pages_are_fetched_from_learn_only_unless_the_settings_name_others() -> None:
    with learn() as server:
        settings = settings_for(server.url)
        with pytest.raises(WebError, match="KB_WEB_HOSTS") as failed:
            asyncio.run(LearnSearch(settings).fetch("https://elsewhere.example/"))
        with pytest.raises(WebError, match="port"):
            asyncio.run(LearnSearch(settings).fetch(f"{server.url}/page"))
    assert failed.value.reason == "refused"
