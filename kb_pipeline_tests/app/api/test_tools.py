"""The tools over HTTP: always a value, and for each asker only what they may see."""

from collections.abc import Callable
from typing import Any

import httpx
import pytest

from kb_pipeline.settings import Settings
from kb_pipeline_tests.app.api.conftest import signed_in
from kb_pipeline_tests.app.api.test_hostile_values import SAID

Serve = Callable[..., httpx.Client]


ACCEPT = {"accept": "application/json, text/event-stream"}


def test_their_schemas_are_listed(service: httpx.Client) -> None:
    tools = service.get("/api/tools").json()["tools"]
    assert [(tool["type"], tool["function"]["name"]) for tool in tools] == [
        ("function", "rag_semantic_search"),
        ("function", "rag_list_documents"),
        ("function", "rag_get_document"),
    ]


def test_a_call_returns_a_value(service: httpx.Client) -> None:
    reply = service.post("/api/tools/rag_semantic_search", json={"query": "crop a layer", "top_k": 1})
    (block,) = reply.json()["results"]
    assert (block["doc_id"], block["block_type"], block["page_number"]) == ("layers", "text", None)
    assert service.post("/api/tools/rag_list_documents").json()["count"] == 3
    got = service.post("/api/tools/rag_get_document", json={"doc_id": "layers"}).json()
    assert got["document"]["title"] == "Layers"


@pytest.mark.parametrize(
    ("name", "arguments", "type_"),
    [
        ("rag_semantic_search", {"query": ""}, "InvalidArgument"),
        ("rag_semantic_search", {"query": "crop", "top_k": 51}, "InvalidArgument"),
        ("rag_semantic_search", {"query": "crop", "user_context": {"user_id": "ann"}}, "InvalidArgument"),
        ("rag_get_document", {"doc_id": "nothing"}, "DocumentNotFound"),
        ("rag_get_document", {"doc_id": "secret"}, "DocumentNotFound"),
        ("rag_get_document", ["layers"], "InvalidArgument"),
    ],
)
def test_a_call_that_fails_is_200_with_the_reason(
    service: httpx.Client, name: str, arguments: object, type_: str
) -> None:
    reply = service.post(f"/api/tools/{name}", json=arguments)
    assert reply.status_code == 200
    assert (reply.json()["success"], reply.json()["type"]) == (False, type_)
    assert reply.json()["hints"]


def test_a_tool_that_is_not_there_is_404(service: httpx.Client) -> None:
    reply = service.post("/api/tools/rag_delete", json={})
    assert reply.status_code == 404
    assert "rag_semantic_search" in reply.json()["error"]["message"]


def test_without_an_index_it_is_a_value(serve: Serve, tmp_path) -> None:
    empty = Settings(staging=str(tmp_path / "staging"), home=str(tmp_path / "empty"), embedder="hashing")
    failed = serve(empty).post("/api/tools/rag_semantic_search", json={"query": "crop"})
    assert (failed.status_code, failed.json()["type"]) == (200, "IndexMissing")


def test_who_is_signed_in_finds_what_they_may_see(serve: Serve) -> None:
    client = serve(easy_auth=True)
    salary = {"query": "salary of the director", "top_k": 50}
    found: dict[str, set[str]] = {}
    for user, groups in {"ann": ("group-hr",), "bob": ()}.items():
        reply = client.post("/api/tools/rag_semantic_search", json=salary, headers=signed_in(user, *groups))
        found[user] = {block["doc_id"] for block in reply.json()["results"]}
    assert found["ann"] - found["bob"] == {"secret"}
    assert client.post("/api/tools/rag_semantic_search", json=salary).status_code == 401


@pytest.mark.parametrize("settings", [{}, {"easy_auth": True, "administrators": ("group-it",)}], ids=["laptop", "many"])
def test_only_who_runs_the_service_gets_scores(serve: Serve, settings: dict[str, Any]) -> None:
    client = serve(**settings)
    named = {"params": {"name": "rag_semantic_search", "arguments": {"query": "crop"}}}
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", **named}
    for user, is_operator in (("ann", not settings), ("bob", True)):
        headers = signed_in(user, *(["group-it"] if user == "bob" else []))
        by_mcp = client.post("/mcp", json=call, headers=headers | ACCEPT).text
        by_tool = client.post("/api/tools/rag_semantic_search", json={"query": "crop"}, headers=headers)
        assert ['"score' in told.replace("\\", "") for told in (by_mcp, by_tool.text)] == [is_operator] * 2
        assert "layers" in by_mcp and by_tool.json()["results"]
        for hit in client.get("/api/search", params={"q": "crop"}, headers=headers).json()["results"]:
            scores = {hit["score"], hit["keyword_score"], hit["vector_score"]}
            assert (scores != {None}) == is_operator
        answer = client.post("/chat", json={"question": "How do I crop a layer?"}, headers=headers).json()
        assert answer["citations"] and "score" not in answer["citations"][0]


def test_the_environment_makes_the_local_user_somebody(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAG_DEPARTMENT", "group-hr")
    asked = {"doc_id": "secret"}
    assert serve().post("/api/tools/rag_get_document", json=asked).json()["success"]
    behind = serve(easy_auth=True)
    assert not behind.post("/api/tools/rag_get_document", json=asked, headers=signed_in("bob")).json()["success"]


@pytest.mark.slow("builds a whole knowledge base")
@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("rag_semantic_search", {"query": "crop", "top_k": 5, "filters": {}}),
        ("rag_list_documents", {"filters": {}, "sort_by": "title", "limit": 5}),
        ("rag_get_document", {"doc_id": "layers"}),
    ],
)
def test_no_argument_is_more_than_refused(service: httpx.Client, name: str, arguments: dict[str, Any]) -> None:
    filters = ("doc_id", "filename", "document_type", "upload_date", "block_type", "page_number")
    for value in SAID:
        given = [{**arguments, argument: value} for argument in arguments]
        given += [{**arguments, "filters": {each: value}} for each in filters if "filters" in arguments]
        for each in given:
            reply = service.post(f"/api/tools/{name}", json=each)
            assert reply.status_code == 200, (each, reply.text[:300])
            assert reply.json()["success"] or reply.json()["type"] in ("InvalidArgument", "DocumentNotFound"), each
