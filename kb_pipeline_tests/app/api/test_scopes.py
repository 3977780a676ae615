"""Questions that are searched in one collection of documents only."""

from pathlib import Path
from typing import Any

import httpx
import pytest

from app.client import Client
from kb_pipeline.asking import AskOptions, Scope
from kb_pipeline_tests.app.api.conftest import Serve, openai_of, signed_in
from kb_pipeline_tests.app.collections import publish_collections

START = "How do I start the pump?"
NOTHING_IN = "Only documents of type Report were searched. Ask everywhere to search the others as well."


@pytest.fixture
def client(serve: Serve, tmp_path: Path) -> httpx.Client:
    """A service with documents of several collections, for people who sign in."""
    service = serve(publish_collections(tmp_path), easy_auth=True)
    service.headers.update(signed_in("ann"))
    return service


def chat(client: httpx.Client, question: str, scope: dict[str, list[str]] | None = None) -> dict[str, Any]:
    body = {"question": question, **({"scope": scope} if scope is not None else {})}
    answer: dict[str, Any] = client.post("/chat", json=body).raise_for_status().json()
    return answer


def cited(answer: dict[str, Any]) -> set[str]:
    return {citation["article_id"] for citation in answer["citations"]}


def listed(client: httpx.Client) -> list[tuple[str, str, int]]:
    found = client.get("/api/collections").raise_for_status().json()["collections"]
    return [(each["kind"], each["name"], each["documents"]) for each in found]


def test_the_collections_are_those_that_tell_documents_apart(client: httpx.Client) -> None:
    assert listed(client) == [
        *(("type", "Manual", 2), ("type", "Report", 1)),
        *(("department", "Works", 2), ("department", "Kitchen", 1)),
        *(("topic", "pumps", 2), ("topic", "safety", 2)),
    ]


def test_a_collection_that_somebody_may_not_see_is_not_named_to_them(client: httpx.Client) -> None:
    assert "Payroll" not in str(listed(client)) and "Personnel" not in str(listed(client))
    client.headers.update(signed_in("bob", "group-hr"))
    assert ("type", "Payroll", 1) in listed(client)


def test_documents_without_a_difference_are_no_collections(service: httpx.Client) -> None:
    assert listed(service) == []


@pytest.mark.parametrize(
    ("scope", "articles"),
    [
        (None, {"pump-manual", "pump-report", "oven-manual"}),
        ({}, {"pump-manual", "pump-report", "oven-manual"}),
        ({"type": ["Manual"]}, {"pump-manual", "oven-manual"}),
        ({"type": ["manual", "REPORT"]}, {"pump-manual", "oven-manual", "pump-report"}),
        ({"department": ["Works"]}, {"pump-manual", "pump-report"}),
        ({"topic": ["safety"]}, {"pump-manual", "oven-manual"}),
        ({"type": ["Manual"], "topic": ["pumps"]}, {"pump-manual"}),
        ({"type": ["Payroll"]}, set()),
        ({"department": ["' OR '1'='1"]}, set()),
        ({"topic": ["pumps') or true --"]}, set()),
    ],
)
def test_only_what_is_in_the_scope_is_found(
    client: httpx.Client, scope: dict[str, list[str]] | None, articles: set[str]
) -> None:
    assert cited(chat(client, START, scope)) <= articles
    assert (cited(chat(client, START, scope)) == set()) is (articles == set())


def test_where_nothing_in_it_answers_the_answer_says_so(client: httpx.Client) -> None:
    within = chat(client, "How do I clean the oven?", {"type": ["Report"]})
    assert within["refused"] and within["answer"].endswith(NOTHING_IN)
    assert "warm water" not in str(within)
    everywhere = chat(client, "How do I clean the oven?")
    assert "warm water" in everywhere["answer"] and "scope" not in everywhere


def test_a_list_of_documents_is_limited_as_well(client: httpx.Client) -> None:
    answer = chat(client, "List all manuals", {"department": ["Kitchen"]})
    assert "Oven manual" in answer["answer"] and "Pump manual" not in answer["answer"]


def test_the_scope_is_kept_with_the_answer(client: httpx.Client) -> None:
    reply = openai_of(client, **signed_in("ann")).responses.create(
        input=START, conversation="conv_1", extra_body={"scope": {"type": ["Manual"]}}
    )
    (turn,) = client.get("/api/conversations/conv_1").json()["turns"]
    assert turn["answer"]["scope"] == {"type": ["Manual"]}
    assert client.get(f"/api/responses/{reply.id}/answer").json()["scope"] == {"type": ["Manual"]}


@pytest.mark.parametrize(
    "wrong", [{"colour": ["red"]}, {"type": "Manual"}, {"type": [""]}, {"type": ["x"] * 21}, "all", 7]
)
def test_what_is_no_scope_is_refused(client: httpx.Client, wrong: object) -> None:
    assert client.post("/chat", json={"question": START, "scope": wrong}).status_code == 422
    reply = client.post("/v1/responses", json={"input": START, "scope": wrong}).json()
    assert (reply["status"], reply["error"]["code"]) == ("failed", "invalid_prompt")
    assert "GET /api/collections" in reply["error"]["message"]


def test_the_client_asks_within_a_scope(client: httpx.Client) -> None:
    with Client(str(client.base_url).rstrip("/"), headers=signed_in("ann")) as ours:
        report = next(each for each in ours.collections().collections if each.name == "Report")
        assert report.scope == Scope(type=("Report",))
        answer = ours.chat("When did the pump fail?", AskOptions(scope=report.scope))
    assert answer.scope == report.scope and {each.article_id for each in answer.citations} == {"pump-report"}
