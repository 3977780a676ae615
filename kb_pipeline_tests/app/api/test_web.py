"""The web over HTTP: offered, searched when a request says so, cited by address and time, kept with the turn."""

import httpx
import pytest

from app.web import base, lookup
from kb_pipeline.errors import WebError
from kb_pipeline.services.web import limited
from kb_pipeline.settings import Settings
from kb_pipeline_tests.app.answering.extractive.test_web import SAMPLES
from kb_pipeline_tests.app.api.conftest import Serve, openai_of, signed_in

QUESTION = "What does code 9 of the Splunk collector mean?"
URL = "https://docs.example.com/splunk-http-event-collector"
LOCAL = {"web_search": "local", "web_folder": str(SAMPLES)}


def test_it_is_off_by_default_and_a_request_for_it_is_refused(service: httpx.Client) -> None:
    refused = service.post("/chat", json={"question": QUESTION, "web": True})
    assert refused.status_code == 422
    assert "KB_WEB_SEARCH" in refused.json()["error"]["message"]
    answer = service.post("/chat", json={"question": QUESTION}).json()
    assert "offers_web" not in answer


@pytest.mark.parametrize("wanted", ["yes", 1, None])
def test_a_request_says_yes_or_no(serve: Serve, wanted: object) -> None:
    assert serve(**LOCAL).post("/chat", json={"question": QUESTION, "web": wanted}).status_code == 422


def test_chat_offers_it_and_answers_from_it(serve: Serve) -> None:
    client = serve(**LOCAL)
    answer = client.post("/chat", json={"question": QUESTION}).json()
    assert (answer["refused"], answer["offers_web"]) == (True, "the saved pages")
    answer = client.post("/chat", json={"question": QUESTION, "web": True}).json()
    citation = answer["citations"][0]
    assert (citation["number"], citation["kind"], citation["source_url"]) == (1, "web", URL)
    assert citation["fetched_at"].endswith("+00:00")
    assert "The collector is busy" in answer["answer"]
    in_words = client.post("/chat", json={"question": QUESTION, "web": True, "citation_style": "source"}).json()
    assert f"(Source: Send events to Splunk with the HTTP Event Collector, {URL})" in in_words["answer"]


def test_a_response_has_a_web_search_call_and_cites_the_address(serve: Serve) -> None:
    client = serve(**LOCAL)
    response = openai_of(client).responses.create(
        input=QUESTION, model="knowledge-base", conversation="conv_web", extra_body={"web": True}
    )
    search, message = response.output
    assert search.type == "web_search_call"
    assert search.action.query == QUESTION
    assert {annotation.url for annotation in message.content[0].annotations} == {URL}
    [turn] = client.get("/api/conversations/conv_web").json()["turns"]
    assert turn["answer"]["citations"][0]["kind"] == "web"
    assert turn["stale"] == []


def test_a_response_that_wants_something_else_than_yes_or_no_fails(serve: Serve) -> None:
    response = openai_of(serve(**LOCAL)).responses.create(
        input=QUESTION, model="knowledge-base", extra_body={"web": "yes"}
    )
    assert response.status == "failed"
    assert "web must be true or false" in response.error.message


@pytest.mark.slow("builds a whole knowledge base")
def test_a_conversation_looks_up_once_and_shares_nothing_with_other_people(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked_up: list[str] = []
    search = lookup.WebLookup._search

    async def counted(self: lookup.WebLookup, query: str, most: int) -> list[base.WebResult] | None:
        looked_up.append(query)
        return await search(self, query, most)

    monkeypatch.setattr(lookup.WebLookup, "_search", counted)
    client = serve(easy_auth=True, **LOCAL)
    for user, conversation in [("ann", "conv_1"), ("ann", "conv_1"), ("ann", "conv_2"), ("ben", "conv_3")]:
        openai_of(client, **signed_in(user)).responses.create(
            input=QUESTION, model="knowledge-base", conversation=conversation, extra_body={"web": True}
        )
    assert len(looked_up) == 3


def test_the_saved_pages_need_no_connection(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    def forbidden() -> None:
        raise AssertionError("the web was about to be asked")

    monkeypatch.setattr(limited, "direct_transport", forbidden)
    assert serve(**LOCAL).post("/chat", json={"question": QUESTION, "web": True}).json()["citations"]


def test_statistics_count_what_was_found_again_and_are_for_reviewers(serve: Serve, own: Settings) -> None:
    client = serve(own.model_copy(update={"reviewers": ("ann",)}), easy_auth=True, **LOCAL)
    for conversation in ("conv_1", "conv_1", "conv_2"):
        openai_of(client, **signed_in("ben")).responses.create(
            input=QUESTION, model="knowledge-base", conversation=conversation, extra_body={"web": True}
        )
    found = client.get("/api/web/stats", headers=signed_in("ann")).json()
    assert found == {"searches": "the saved pages", "hits": 1, "misses": 2, "entries": 2, "failures": {}}
    refused = client.get("/api/web/stats", headers=signed_in("ben"))
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "not_a_reviewer")


@pytest.mark.slow("builds a whole knowledge base")
def test_statistics_count_failures_and_are_empty_without_the_web(
    serve: Serve, service: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert service.get("/api/web/stats").json() == {
        "searches": "",
        "hits": 0,
        "misses": 0,
        "entries": 0,
        "failures": {},
    }

    async def fail(*_: object) -> None:
        raise WebError("it does not answer", "timeout")

    client = serve(**LOCAL)
    monkeypatch.setattr("app.web.local.LocalPages.search", fail)
    client.post("/chat", json={"question": QUESTION, "web": True})
    assert client.get("/api/web/stats").json()["failures"] == {"timeout": 1}
