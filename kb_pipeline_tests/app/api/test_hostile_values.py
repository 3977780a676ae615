"""Values that nobody sends by mistake, in every parameter of every route: each is refused in our words, or harmless."""

import base64
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import httpx
import pytest

ENCODED = {
    "nothing": "",
    "a lone surrogate": "%ED%A0%80",
    "no UTF-8": "%FF",
    "NUL": "%00",
    "a new line": "%0D%0Aset-cookie:%20a=b",
    "no digits": "%EF%BC%91",
    "a negative number": "-1",
    "a huge number": "9" * 5000,
    "an infinite number": "1e999",
    "a folder above": "..%2F..%2Fetc%2Fpasswd",
    "a quote": "%27%22%3B--",
    "a place with a surrogate": base64.urlsafe_b64encode(b'["\\ud800","x"]').decode(),
    "a place with NUL": base64.urlsafe_b64encode(b'["\\u0000","x"]').decode(),
    "a place with other things": base64.urlsafe_b64encode(b'[{"a": 1}, null]').decode(),
    "a deep place": base64.urlsafe_b64encode(b"[" * 740).decode(),
    "a long text": "x" * 50_000,
}
SAID: list[Any] = [
    *(None, True, 0, -1, 1.5, 10**30, 1e308, "", "x" * 100_000, "\x00", "\r\na: b", "\u202e", "é", "\ufffe", "../x"),
    *([], [[]], [None], {}, {"id": None}, {"id": "\x00"}, {"id": "x" * 1000}, [{"type": "message", "role": "user"}]),
    *([{"role": "user", "content": 5}], [{"type": "item_reference", "id": "\x00"}], {"a": {"b": {"c": 1}}}),
]
PROTOCOL = {
    "/v1/responses/{response_id}": ("stream", "starting_after", "include"),
    "/v1/responses/{response_id}/input_items": ("limit", "order", "after", "before"),
}
CREATE = (
    *("input", "conversation", "previous_response_id", "model", "stream", "store", "background", "instructions"),
    *("metadata", "tools", "tool_choice", "temperature", "max_output_tokens", "include", "text", "reasoning", "user"),
    *("agent_session_id", "agent_reference", "truncation", "prompt", "response_id", "stream_options"),
)


def _addresses(service: httpx.Client, response_id: str) -> Iterator[str]:
    """Every route, with a hostile value in the place of one parameter."""
    paths = service.get("/openapi.json").json()["paths"]
    routes = {path: spec["get"].get("parameters", ()) for path, spec in paths.items() if "get" in spec}
    named = {path: [each["name"] for each in spec if each["in"] == "query"] for path, spec in routes.items()}
    required = {"/api/search": "q=crop", "/api/quality/compare": "before=x&after=y"}
    for path, names in {**named, **PROTOCOL}.items():
        whole = path.replace("{response_id}", response_id).replace("{article_id}", "layers")
        for value in ENCODED.values():
            for name in names:
                rest = "&".join(each for each in required.get(path, "").split("&") if not each.startswith(f"{name}="))
                yield f"{re.sub('{.*?}', 'x', whole)}?{name}={value}&{rest}"
            for place in re.findall("{.*?}", path):
                yield re.sub("{.*?}", "layers", path.replace(place, value or "x"))


@pytest.mark.slow("tries what is hostile at the sizes that count")
def test_no_value_of_an_address_is_more_than_refused(service: httpx.Client) -> None:
    response_id = service.post("/v1/responses", json={"input": "How do I crop a layer?"}).json()["id"]
    addresses = list(_addresses(service, response_id))
    assert len(addresses) > 300
    for address in addresses:
        reply = service.get(address)
        refused = 403 if address.startswith("/api/widget/") else 404  # which is off
        assert reply.status_code in (200, 304, 400, 404, 405, 422, refused), (address[:200], reply.text[:300])
        assert "set-cookie" not in reply.headers
        if reply.is_error:
            error = reply.json()["error"]
            assert error["code"] and error["type"] and len(error["message"]) < 1000


@pytest.mark.slow("tries what is hostile at the sizes that count")
@pytest.mark.parametrize("name", CREATE)
def test_no_value_of_a_question_is_more_than_refused(service: httpx.Client, name: str) -> None:
    for value in SAID:
        reply = service.post("/v1/responses", json={"input": "How do I crop a layer?", "store": False, name: value})
        assert reply.status_code in (200, 400, 404, 422), (value, reply.text[:300])
        if reply.is_error:
            assert reply.json()["error"]["message"]


@pytest.mark.slow("tries what is hostile at the sizes that count")
@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/chat", {"question": "How?", "top_k": 5, "scope": {"type": ["Manual"]}}),
        ("PATCH", "/api/conversations/conv_1", {"title": "How?"}),
        ("POST", "/api/responses/caresp_x/feedback", {"rating": "up", "comment": "good"}),
        (
            "POST",
            "/api/contributions",
            {"service": "x", "description": "x", "content": "x", "type": "x", "section": "x"},
        ),
        ("POST", "/api/contributions/20260101-00000000/accept", {"section": "x", "content": "x"}),
        ("POST", "/api/contributions/20260101-00000000/reject", {"reason": "x"}),
        ("PUT", "/api/gaps/0000000000000000", {"assigned_to": "x", "dismissed": True, "reason": "x"}),
        ("POST", "/api/model/trial", {"endpoint": "ftp://x", "model": "x", "api_key": "x"}),
        ("POST", "/query/graph", {"query": "SELECT 1"}),
        ("POST", "/query/telemetry", {"query": "SELECT 1"}),
        (
            "POST",
            "/query/topology",
            {"query": "x", "vertex_labels": ["x"], "around": ["x"], "depth": 1, "direction": "up", "limit": 5},
        ),
        ("POST", "/api/alert", {"text": "x"}),
        ("PUT", "/api/model", {"endpoint": "ftp://x", "model": "x", "api_key": "x", "calls_tools": True}),
    ],
)
def test_no_value_of_our_own_requests_is_more_than_refused(
    service: httpx.Client, method: str, path: str, body: dict[str, Any]
) -> None:
    service.post("/v1/responses", json={"input": "How do I crop a layer?", "conversation": "conv_1"})
    for name in body:
        for value in SAID:
            reply = service.request(method, path, json={**body, name: value})
            assert reply.status_code in (200, 201, 204, 400, 404, 422), (name, value, reply.text[:300])


@pytest.mark.parametrize("after", ["x", '["2026-01-01", "\\ud800"]', '["\\u0000", "conv_1"]', "[[[[", '["", ""]'])
def test_a_place_in_the_list_that_we_did_not_give_is_refused(service: httpx.Client, after: str) -> None:
    for token in (after, base64.urlsafe_b64encode(after.encode()).decode()):
        reply = service.get(f"/api/conversations?after={quote(token)}")
        assert (reply.status_code, reply.json()["error"]["code"]) == (422, "invalid_request")


@pytest.mark.parametrize("name", ["after", "before"])
def test_a_place_among_the_inputs_that_is_not_there_is_refused(service: httpx.Client, name: str) -> None:
    response_id = service.post("/v1/responses", json={"input": "How do I crop a layer?"}).json()["id"]
    path = f"/v1/responses/{response_id}/input_items"
    (item,) = service.get(path).json()["data"]
    assert service.get(f"{path}?{name}={item['id']}").json()["data"] == []
    for place in ("x", "%00", f"msg_{'0' * 50}", f"{item['id']}&{name}=x"):
        reply = service.get(f"{path}?{name}={place}")
        assert (reply.status_code, reply.json()["error"]["code"]) == (422, "invalid_request")
