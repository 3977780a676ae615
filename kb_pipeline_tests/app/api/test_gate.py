"""The gate: who a request is from, and what never gets any further."""

import httpx
import pytest

from kb_pipeline_tests.app.api.conftest import Serve, signed_in

QUESTION = "How do I crop a layer?"
SALARY = {"question": "What is the salary of the director?"}


def test_behind_easy_auth_nobody_gets_in_without_a_name(serve: Serve) -> None:
    reply = serve(easy_auth=True).post("/chat", json=SALARY)
    assert (reply.status_code, reply.json()["error"]["code"]) == (401, "not_signed_in")


@pytest.mark.parametrize("path", ["/chat", "/api/search?q=salary+director", "/api/articles", "/api/articles/secret"])
def test_what_is_restricted_is_there_only_for_those_it_names(serve: Serve, path: str) -> None:
    def body(client: httpx.Client, headers: dict[str, str]) -> str:
        reply = (
            client.post(path, json=SALARY, headers=headers) if path == "/chat" else client.get(path, headers=headers)
        )
        return reply.text

    secured, open_ = serve(easy_auth=True), serve()
    assert "secret" in body(secured, signed_in("ann", "group-hr"))
    for client, headers in (
        (secured, signed_in("bob", "group-it")),
        (secured, {**signed_in("bob"), "X-MS-CLIENT-PRINCIPAL": "not base64"}),
        (open_, {}),
        (open_, signed_in("ann", "group-hr")),  # nobody vouches for it
    ):
        found = body(client, headers)
        assert "12345" not in found
        assert '"secret"' not in found and "Salaries" not in found


def test_restricted_images_are_not_there_for_others(serve: Serve) -> None:
    service = serve(easy_auth=True)
    path = "/api/images/secret/images/table.png"
    assert service.get(path, headers=signed_in("ann", "group-hr")).status_code == 200
    assert service.get(path, headers=signed_in("bob")).status_code == 404


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0", "::"])
def test_another_sites_name_for_this_machine_is_refused_in_containers_too(serve: Serve, host: str) -> None:
    service = serve(app_host=host, allowed_hosts="agent")
    assert service.get("/health", headers={"host": "evil.example"}).status_code == 400
    assert service.get("/v1/models", headers={"host": "10.1.2.3:8088"}).status_code == 400
    assert service.get("/readiness", headers={"host": "10.1.2.3:8088"}).is_success  # how platforms probe
    assert service.get("/v1/models", headers={"host": "agent:8088"}).is_success


@pytest.mark.parametrize("path", ["/nothing", "/api/nothing", "/api/articles/no-such-article", "/api/articles/..%2f.."])
def test_what_is_not_there_is_404_in_our_words(service: httpx.Client, path: str) -> None:
    reply = service.get(path)
    assert reply.status_code == 404
    assert reply.json()["error"]["code"] == "not_found"


def test_whoever_watches_over_the_service_needs_no_name(serve: Serve) -> None:
    service = serve(easy_auth=True)
    assert service.get("/health").json()["status"] == "ok"
    assert service.get("/readiness").is_success


@pytest.mark.parametrize("path", ["/chat", "/v1/responses", "/api/conversations/conv_1"])
@pytest.mark.parametrize(
    "body",
    [
        b"{bad",
        b'"\\ud800"',
        b'{"input": "\\ud800", "question": "\\ud800"}',
        b"[" * 19_000,
        b'{"input": ' + b"9" * 5000 + b"}",
    ],
    ids=["half", "surrogate", "surrogate in a question", "deep", "long number"],
)
def test_what_cannot_be_read_is_refused_before_anybody_reads_it(service: httpx.Client, path: str, body: bytes) -> None:
    method = "PATCH" if "conversations" in path else "POST"
    reply = service.request(method, path, content=body, headers={"content-type": "application/json"})
    assert (reply.status_code, reply.json()["error"]["code"]) == (400, "not_json")


def test_more_messages_than_a_conversation_has_are_refused_before_anybody_reads_them(service: httpx.Client) -> None:
    messages = [{"role": "user", "content": "Hello"}] * 501
    reply = service.post("/v1/responses", json={"input": messages})
    assert (reply.status_code, reply.json()["error"]["code"]) == (422, "invalid_question")
    assert "501 input items, the limit is 500" in reply.text
    parts = [{"role": "user", "content": [{"type": "input_text", "text": "x"}] * 501}] * 2
    assert "1,002 parts, the limit is 1,000" in service.post("/v1/responses", json={"input": parts}).text


def test_more_lists_than_anything_has_are_refused_before_anybody_reads_them(service: httpx.Client) -> None:
    reply = service.post("/chat", json={"question": QUESTION, "scope": [[]] * 20_001})
    assert (reply.status_code, reply.json()["error"]["code"]) == (422, "invalid_question")
    assert "the limit is 20,000" in reply.text


def test_nobody_chooses_the_id_of_a_response_and_so_writes_over_an_earlier_turn(service: httpx.Client) -> None:
    first = service.post("/v1/responses", json={"input": "How do I crop a layer?"}).json()["id"]
    again = {"input": "How do I clear a paper jam?", "response_id": first}
    second = service.post("/v1/responses", json=again, headers={"x-agent-response-id": first}).json()["id"]
    assert second != first
    assert service.get(f"/api/responses/{first}/answer").is_success
    assert len(service.get("/api/conversations").json()["conversations"]) == 2


@pytest.mark.parametrize(
    "headers", [{"sec-fetch-site": "cross-site"}, {"sec-fetch-site": "same-site"}, {"origin": "http://127.0.0.1:9"}]
)
def test_a_page_of_another_site_cannot_change_anything(service: httpx.Client, headers: dict[str, str]) -> None:
    reply = service.post("/v1/responses/caresp_1/cancel", headers=headers)
    assert (reply.status_code, reply.json()["error"]["code"]) == (403, "cross_site")


def test_a_wrong_method_names_the_right_one(service: httpx.Client) -> None:
    reply = service.put("/chat", json={})
    assert (reply.status_code, reply.headers["allow"]) == (405, "POST")


@pytest.mark.slow("builds a whole knowledge base")
@pytest.mark.parametrize("path", ["/docs", "/redoc"])
def test_no_page_is_served_that_loads_from_other_sites(service: httpx.Client, path: str) -> None:
    assert service.get(path).status_code == 404
    assert service.get("/openapi.json").is_success
