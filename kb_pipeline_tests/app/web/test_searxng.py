"""A SearXNG of one's own, against a fake of its JSON interface."""

import asyncio
from typing import Any

import pytest
from starlette.responses import JSONResponse

from app.settings import AppSettings
from app.web.base import WebResult
from app.web.searxng import SearxngSearch
from kb_pipeline.errors import SettingsError, WebError
from kb_pipeline_tests.app.model_servers import OwnModel

# https://docs.searxng.org/dev/search_api.html and what an instance answers with format=json
FOUND = {
    "query": "x",
    "number_of_results": 0,
    "results": [
        {"url": "https://a.example/1", "title": "One", "content": "About one.", "engine": "fake", "score": 1.0},
        {"url": "https://b.example/2", "title": "Two", "content": None, "engine": "fake", "score": 0.5},
    ],
    "answers": [],
    "suggestions": [],
}


def settings_for(**given: Any) -> AppSettings:
    return AppSettings(web_search="searxng", **given)


@pytest.mark.parametrize("path", ["", "/", "/search"])
def test_a_search_asks_the_instance_for_json(path: str) -> None:
    with OwnModel(lambda *_: JSONResponse(FOUND)) as server:
        found = asyncio.run(SearxngSearch(settings_for(web_url=server.url + path)).search("two words", 2))
        (request,) = server.seen
    assert request.url.path == "/search"
    assert dict(request.query_params) == {"q": "two words", "format": "json", "pageno": "1"}
    assert found == [
        WebResult("One", "https://a.example/1", "About one."),
        WebResult("Two", "https://b.example/2"),
    ]


def test_an_instance_that_does_not_allow_json_says_so() -> None:
    with (
        OwnModel(lambda *_: JSONResponse({}, 403)) as server,
        pytest.raises(WebError, match="status 403"),
    ):
        asyncio.run(SearxngSearch(settings_for(web_url=server.url)).search("x"))


def test_the_address_of_the_instance_must_be_set() -> None:
    with pytest.raises(SettingsError, match="KB_WEB_URL"):
        SearxngSearch(settings_for())
    with pytest.raises(SettingsError, match="KB_WEB_URL"):
        SearxngSearch(settings_for(web_url="searx.example"))


def test_its_pages_may_be_of_any_public_host_and_of_no_other() -> None:
    search = SearxngSearch(settings_for(web_url="http://127.0.0.1:9"))
    with pytest.raises(WebError, match="not of the public web"):
        asyncio.run(search.fetch("http://127.0.0.1/"))
