"""The agent's tool for the web: there only where it is on, and its searches count like all others."""

from typing import Any

from app.answering.base import Searched
from app.answering.prompts import NO_MORE_SEARCHES
from kb_pipeline_tests.app.answering.conftest import Ask
from kb_pipeline_tests.app.answering.extractive.test_web import SAMPLES
from kb_pipeline_tests.app.answering.test_agent import saying, searching
from kb_pipeline_tests.app.model_servers import Aimock

LOCAL = {"web_search": "local", "web_folder": str(SAMPLES)}


def calling(*calls: tuple[str, str], **match: Any) -> dict[str, Any]:
    return {
        "match": match,
        "response": {"toolCalls": [{"name": name, "arguments": {"query": query}} for name, query in calls]},
    }


def names(request: dict[str, Any]) -> list[str]:
    return [tool["function"]["name"] for tool in request["tools"]]


def test_without_the_web_there_is_no_such_tool(aimock: Aimock, ask: Ask) -> None:
    aimock.says(searching("crop", turnIndex=0), saying("Choose Crop to Content [Ref #1].", turnIndex=1))
    ask("How do I crop?", base_url=aimock.base_url)
    assert "search_web" not in names(aimock.requests()[0])


def test_it_searches_the_web_and_pages_are_untrusted_and_numbered(aimock: Aimock, ask: Ask) -> None:
    aimock.says(
        calling(("search_knowledge_base", "splunk"), turnIndex=0),
        calling(("search_web", "splunk collector port"), turnIndex=1),
        saying("The collector listens on port 8088 [Ref #3].", turnIndex=2),
    )
    asked = ask("Which port does Splunk listen on?", base_url=aimock.base_url, **LOCAL)
    assert "search_web" in names(aimock.requests()[0])
    searches = [(event.query, event.on_web) for event in asked.events if isinstance(event, Searched)]
    assert searches == [("splunk", False), ("splunk collector port", True)]
    told = aimock.requests()[-1]["messages"][-1]["content"]
    assert told.startswith("[3]\n<untrusted_passage>\nWeb page: Send events to Splunk with the HTTP Event Collector\n")
    assert "Source: https://docs.example.com/splunk-http-event-collector\nFetched: " in told
    assert [citation.kind for citation in asked.book.citations] == ["article", "article", "web"]


def test_searches_of_the_web_count_within_the_rounds(aimock: Aimock, ask: Ask) -> None:
    aimock.says(
        calling(("search_web", "splunk"), ("search_web", "scim"), ("search_web", "dmarc"), turnIndex=0),
        saying("Found.", turnIndex=1),
    )
    asked = ask("something", base_url=aimock.base_url, search_rounds=2, **LOCAL)
    assert [event.query for event in asked.events if isinstance(event, Searched)] == ["splunk", "scim"]
    assert aimock.requests()[-1]["messages"][-1]["content"] == NO_MORE_SEARCHES


def test_a_search_that_finds_nothing_does_not_fail(aimock: Aimock, ask: Ask) -> None:
    aimock.says(calling(("search_web", "bananas"), turnIndex=0), saying("Nothing.", turnIndex=1))
    ask("something", base_url=aimock.base_url, **LOCAL)
    assert aimock.requests()[-1]["messages"][-1]["content"] == "(no matches)"
