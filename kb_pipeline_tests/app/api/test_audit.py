"""Every route is recorded in the audit log or known not to be; a line says who did what on which article."""

import asyncio
import json
import shutil
from pathlib import Path
from unittest.mock import Mock

import httpx
import pytest
from fastapi import FastAPI
from starlette.routing import Mount

from app.api.audit import MOST_REFUSALS, RECORDED, Refusals
from app.api.server import create_app
from app.contributing.contributing import Contributing
from app.settings import AppSettings
from kb_pipeline.settings import Settings
from kb_pipeline.store.audit import AuditLine, AuditLog, read_audit
from kb_pipeline_tests.app.api.conftest import Serve, signed_in
from kb_pipeline_tests.app.library.originals.pdfs import pdf_of, serve_document

BOB, EVE = signed_in("bob"), signed_in("eve", "group-hr")
QUESTION = "How do I crop a layer?"
NOT_RECORDED = frozenset(
    {
        # the service itself
        *("GET /health", "GET /readiness", "GET /widget.js", "GET /v1/readiness", "GET /v1/models", "GET /v1/entities"),
        *("GET /openapi.json", "GET /query/openapi.json", "GET /query/health", "GET /api/agents", "GET /api/scenarios"),
        *(
            "GET /api/me",
            "GET /api/mode",
            "GET /api/model",
            "POST /api/model/trial",
            "GET /api/tools",
            "GET /api/web/stats",
        ),
        # lists: titles and facts of what the caller may see
        *("GET /api/articles", "GET /api/documents", "GET /api/collections", "GET /api/suggestions"),
        *("GET /api/conversations", "GET /api/contributions", "GET /api/investigations"),
        *("GET /api/quality/runs", "GET /api/quality/use"),
        *("GET /api/usage", "GET /api/usage.csv"),
        # what is the caller's own
        *("DELETE /api/conversations/{conversation_id}", "DELETE /v1/responses/{response_id}"),
        *("POST /api/responses/{response_id}/feedback", "GET /api/responses/{response_id}/picture"),
        *("POST /v1/responses/{response_id}/cancel", "POST /api/responses/{response_id}/opened"),
        # each call of a tool is recorded where it is made
        "POST /mcp",
    }
)


def routes_of(app: FastAPI) -> set[str]:
    found = [("", route) for route in app.routes if not isinstance(route, Mount)]
    for mount in (route for route in app.routes if isinstance(route, Mount)):
        found += [(mount.path, route) for route in mount.app.routes]  # type: ignore[attr-defined]
    return {
        f"{method} {prefix}{route.path}"  # type: ignore[attr-defined]
        for prefix, route in found
        for method in route.methods  # type: ignore[attr-defined]
        if method != "HEAD"
    }


def test_every_route_is_recorded_or_known_not_to_be(tmp_path: Path) -> None:
    routes = routes_of(create_app(AppSettings(), Settings(home=str(tmp_path), embedder="hashing")))
    assert routes == RECORDED.keys() | NOT_RECORDED
    assert not RECORDED.keys() & NOT_RECORDED
    assert [route for route in RECORDED if "{article_id}" in route and RECORDED[route] != "open"] == []


def lines(own: Settings) -> list[AuditLine]:
    return [line for line in read_audit(own.home_path / "audit") if isinstance(line, AuditLine)]


@pytest.fixture
def own(own: Settings) -> Settings:
    """A knowledge base whose audit log records everything."""
    shutil.rmtree(own.home_path / "audit")  # what was recorded when it was made
    serve_document(own, "secret", "table.pdf", pdf_of(["Salaries"]))
    return own.model_copy(update={"audit": "all"})


@pytest.fixture
def client(serve: Serve, own: Settings) -> httpx.Client:
    return serve(own.model_copy(update={"reviewers": ("eve",)}), easy_auth=True)


@pytest.mark.slow("builds a whole knowledge base")
@pytest.mark.parametrize(
    "path",
    [
        "/api/articles/{}",
        "/api/images/{}/images/table.png",
        "/api/documents/{}",
        "/api/documents/{}/table.pdf",
        "/api/documents/{}/pages/1.png",
        "/api/context?articles={}",
    ],
)
def test_what_is_opened_is_recorded_and_what_is_refused_as_well(client: httpx.Client, own: Settings, path: str) -> None:
    for article_id, who in (("secret", EVE), ("secret", BOB), ("no-such", BOB)):
        client.get(path.format(article_id), headers=who)
    assert [(line.who, line.action, line.outcome, *line.articles) for line in lines(own)] == [
        ("eve", "open", "done", "secret"),
        ("bob", "open", "refused", "secret"),
        ("bob", "open", "refused", "no-such"),
    ]


def test_what_the_browser_has_already_is_opened_again(client: httpx.Client, own: Settings) -> None:
    client.head("/api/images/secret/images/table.png", headers=EVE)
    client.get("/api/images/secret/images/table.png", headers=EVE | {"if-none-match": "*"})
    assert [(line.outcome, line.about) for line in lines(own)] == [("done", "images/table.png")] * 2


@pytest.mark.slow("builds a whole knowledge base")
@pytest.mark.parametrize("body", [{}, {"stream": True}, {"store": False}])
def test_a_question_is_recorded_with_the_articles_of_its_answer_and_without_its_words(
    client: httpx.Client, own: Settings, body: dict[str, object]
) -> None:
    reply = client.post("/v1/responses", json={"input": "What is the salary of the director?", **body}, headers=EVE)
    assert reply.is_success
    [line] = lines(own)
    assert (line.who, line.action, line.outcome, line.text) == ("eve", "ask", "done", "")
    assert "secret" in line.articles
    assert line.about in reply.text
    client.post("/chat", json={"question": QUESTION}, headers=BOB)
    asked = lines(own)[1]
    assert (asked.who, "layers" in asked.articles, "secret" in asked.articles) == ("bob", True, False)


def test_a_question_that_cannot_be_asked_is_recorded_as_failed(client: httpx.Client, own: Settings) -> None:
    client.post("/chat", json={"question": ""}, headers=BOB)
    client.post("/v1/responses", json={"input": ""}, headers=BOB)
    client.post("/v1/responses", json={"input": 7}, headers=BOB)
    assert {(line.action, line.outcome) for line in lines(own)} == {("ask", "failed")}
    assert len(lines(own)) == 3


@pytest.mark.slow("builds a whole knowledge base")
@pytest.mark.parametrize(
    ("status", "headers", "body"),
    [
        (401, {}, b'{"question": "x"}'),
        (413, BOB, b'"' + b"x" * 300_000 + b'"'),
        (415, BOB | {"content-type": "text/plain"}, b'{"question": "x"}'),
        (400, BOB, b"{"),
    ],
)
def test_what_goes_no_further_than_the_gate_is_recorded_without_a_name(
    client: httpx.Client, own: Settings, status: int, headers: dict[str, str], body: bytes
) -> None:
    reply = client.post("/chat", content=body, headers={"content-type": "application/json"} | headers)
    assert reply.status_code == status
    client.post("/nowhere", content=body, headers={"content-type": "application/json"} | headers)
    [line] = lines(own)
    assert (line.action, line.who, line.outcome, line.about[:8]) == ("ask", "", "refused", f"HTTP {status}")


def test_a_stranger_cannot_fill_the_log_with_refusals(tmp_path: Path) -> None:
    own = Settings(home=str(tmp_path), embedder="hashing", audit="all")

    async def refuse() -> None:
        refusals = Refusals(AuditLog(own))
        for number in range(1000):
            refusals.add({"type": "http", "method": "GET", "path": f"/api/articles/{number}"}, 401)
        refusals.end()

    asyncio.run(refuse())
    assert len(lines(own)) == MOST_REFUSALS + 1
    assert lines(own)[-1].about == f"HTTP 401 Unauthorized, {1000 - MOST_REFUSALS} more within a minute"


def test_searches_and_tools_are_recorded_with_what_they_found(client: httpx.Client, own: Settings) -> None:
    client.get("/api/search", params={"q": QUESTION}, headers=BOB)
    query = {"query": QUESTION}
    client.post("/api/tools/rag_semantic_search", json=query, headers=BOB)
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
    accepted = BOB | {"accept": "application/json, text/event-stream"}
    client.post("/mcp", json=call | {"params": {"name": "rag_semantic_search", "arguments": query}}, headers=accepted)
    client.post("/mcp", json={"jsonrpc": "2.0", "id": 2, "method": "tools/list"}, headers=accepted)
    found = lines(own)
    assert [(line.who, line.action, line.about) for line in found] == [
        ("bob", "search", ""),
        ("bob", "tool", "rag_semantic_search"),
        ("bob", "tool", "rag_semantic_search"),
    ]
    assert all("layers" in line.articles for line in found)
    assert "crop" not in str([path.read_text() for path in (own.home_path / "audit").iterdir()])


def test_a_call_that_fails_is_recorded_although_its_response_has_no_error_status(
    client: httpx.Client, own: Settings
) -> None:
    for doc_id, who in (("secret", EVE), ("secret", BOB), ("no-such", BOB), (7, BOB)):
        client.post("/api/tools/rag_get_document", json={"doc_id": doc_id}, headers=who)
    client.post("/api/tools/no-such-tool", json={}, headers=BOB)
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "no-such-tool"}}
    client.post("/mcp", json=call, headers=BOB | {"accept": "application/json, text/event-stream"})
    assert [(line.who, line.outcome, *line.articles) for line in lines(own)] == [
        ("eve", "done", "secret"),
        ("bob", "refused", "secret"),
        ("bob", "refused", "no-such"),
        ("bob", "failed"),
        ("bob", "refused"),
        ("bob", "refused"),
    ]


def test_an_answer_that_is_stopped_or_made_in_the_background_is_recorded_once(
    client: httpx.Client, own: Settings
) -> None:
    body = {"input": QUESTION, "background": True, "store": True}
    made = client.post("/v1/responses", json=body, headers=BOB).json()
    while client.get(f"/v1/responses/{made['id']}", headers=BOB).json()["status"] in ("queued", "in_progress"):
        pass
    with client.stream("POST", "/v1/responses", json={"input": QUESTION, "stream": True}, headers=EVE) as reply:
        next(reply.iter_lines())
    while len(asked := [line for line in lines(own) if line.action == "ask"]) < 2:
        pass
    assert [line.who for line in asked] == ["bob", "eve"]
    assert "layers" in asked[0].articles


@pytest.mark.slow("builds a whole knowledge base")
def test_what_sends_stored_answers_is_recorded_whatever_it_is_for(client: httpx.Client, own: Settings) -> None:
    first = client.post("/v1/responses", json={"input": QUESTION}, headers=BOB).json()
    again = {"input": "And then?", "previous_response_id": first["id"]}
    second = client.post("/v1/responses", json=again, headers=BOB).json()["id"]
    [conversation] = client.get("/api/conversations", headers=BOB).json()["conversations"]
    said = first["output"][-1]["content"][0]["text"].splitlines()[0]
    sent = [
        client.patch(f"/api/conversations/{conversation['id']}", json={"title": conversation["title"]}, headers=BOB),
        client.get(f"/v1/responses/{second}/input_items", headers=BOB),
    ]
    assert all(said in reply.text for reply in sent)
    client.get("/api/quality/runs/no-such", headers=BOB)
    client.get("/api/quality/compare", params={"before": "a", "after": "b"}, headers=BOB)
    opened = [(line.outcome, line.about) for line in lines(own) if line.action == "open"]
    assert opened == [("done", conversation["id"]), ("done", second), ("refused", "no-such"), ("refused", "")]


def test_what_fails_unexpectedly_is_recorded_as_failed(
    own: Settings, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Contributing, "accept", Mock(side_effect=RuntimeError))
    assert serve(own).post("/api/contributions/20260101-00000000/accept", json={}).status_code == 500
    assert [(line.action, line.outcome, line.about) for line in lines(own)] == [
        ("accept", "failed", "20260101-00000000")
    ]


@pytest.mark.slow("builds a whole knowledge base")
def test_words_are_recorded_if_that_is_set(serve: Serve, own: Settings) -> None:
    client = serve(own.model_copy(update={"audit_texts": True}))
    client.get("/api/search", params={"q": "crop"})
    client.post("/chat", json={"question": QUESTION})
    client.post("/v1/responses", json={"input": QUESTION})
    client.post("/api/tools/rag_semantic_search", json={"query": QUESTION})
    assert [line.text for line in lines(own)] == ["crop", QUESTION, QUESTION, QUESTION]


@pytest.mark.slow("builds a whole knowledge base")
def test_proposals_and_decisions_are_recorded_also_those_that_are_refused(client: httpx.Client, own: Settings) -> None:
    new = {"service": "secret", "description": "Pay", "content": "It is 20000."}
    client.post("/api/contributions", json=new | {"draft": True}, headers=BOB)
    made = client.post("/api/contributions", json=new, headers=BOB).json()["id"]
    for decision, who in (("accept", BOB), ("reject", signed_in("dan")), ("reject", EVE)):
        client.post(f"/api/contributions/{made}/{decision}", json={"reason": "no"}, headers=who)
    assert [(line.who, line.action, line.outcome, line.about) for line in lines(own)] == [
        ("bob", "propose", "done", "draft"),
        ("bob", "propose", "done", made),
        ("bob", "accept", "refused", made),
        ("dan", "reject", "refused", made),
        ("eve", "reject", "done", made),
    ]
    assert {line.articles for line in lines(own)[3:]} == {("secret",)}


@pytest.mark.slow("builds a whole knowledge base")
def test_by_default_only_changes_are_recorded(serve: Serve, own: Settings) -> None:
    client = serve(own.model_copy(update={"audit": "changes"}))
    client.get("/api/articles/layers")
    client.post("/chat", json={"question": QUESTION})
    assert lines(own) == []
    client.post("/api/contributions", json={"service": "layers", "description": "x", "content": "y"})
    assert [(line.who, line.action) for line in lines(own)] == [("local", "propose")]
    assert client.get("/health").json()["audit"] == "changes"


def test_a_log_that_cannot_be_written_is_told_of_and_readers_go_on(serve: Serve, own: Settings) -> None:
    (own.home_path / "audit").write_text("a file")
    client = serve(own)
    assert client.get("/api/articles/layers").is_success
    assert client.get("/health").json()["audit"] == "failing"
    assert json.loads(client.get("/readiness").text) == {"status": "healthy"}
