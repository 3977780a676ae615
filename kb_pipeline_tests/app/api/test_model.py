"""A model that somebody chooses while the service runs: who may, what a trial tells, and where the key goes."""

import logging
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from kb_pipeline.settings import Settings
from kb_pipeline_tests.app.api.conftest import Serve, signed_in
from kb_pipeline_tests.app.model_servers import OwnModel, chunk, refused, streamed

KEY = "key-0123456789-of-nobody-else"
QUESTION = {"question": "How do I crop a layer?"}
SAID = "Choose Layer, then Crop to Content [Ref #1]."


class Endpoint(OwnModel):
    """An endpoint with two models, one of which chats; it knows one key, and may lack tools and eyes."""

    def __init__(self, *, tools: bool = True, eyes: bool = True) -> None:
        super().__init__(self._reply)
        self._tools, self._eyes = tools, eyes

    def _reply(self, body: dict[str, Any], request: Request) -> Response:
        if request.headers.get("authorization") != f"Bearer {KEY}":
            return refused(401, f"Incorrect API key provided: {request.headers.get('authorization')}")
        if request.method == "GET":
            listed = [{"id": name, "object": "model", "created": 1, "owned_by": "us"} for name in ("embed-1", "chat-1")]
            return JSONResponse({"object": "list", "data": listed})
        if body["model"] != "chat-1":
            return refused(404, "no such model")
        content = body["messages"][-1]["content"]
        if body.get("stream"):
            return streamed(chunk(SAID), chunk(finish="stop"))
        if body.get("tools"):
            if not self._tools:
                return refused(400, "tools are not supported")
            call = {"id": "c", "type": "function", "function": {"name": "search", "arguments": '{"query": "hello"}'}}
            return _completion(None, tool_calls=[call])
        if isinstance(content, list) and not self._eyes:
            return refused(400, "image input is not supported")
        return _completion("Red")


def _completion(text: str | None, **message: Any) -> Response:
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text, **message}}
    return JSONResponse({"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]})


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with Endpoint() as server:
        yield server


def _address(server: OwnModel, **changed: str) -> dict[str, str]:
    return {"endpoint": server.base_url, "api_key": KEY, **changed}


def test_a_trial_tells_what_the_model_can(service: httpx.Client, endpoint: Endpoint) -> None:
    trial = service.post("/api/model/trial", json=_address(endpoint)).json()
    assert trial["models"] == ["chat-1", "embed-1"]
    assert (trial["model"], trial["problem"]) == ("chat-1", "")
    assert trial["calls_tools"] and trial["sees_images"] and trial["seconds"] >= 0
    assert service.get("/api/model").json()["model"] is None, "a trial changes nothing"


@pytest.mark.slow("builds a whole knowledge base")
def test_a_trial_tells_what_the_model_cannot(service: httpx.Client) -> None:
    with Endpoint(tools=False, eyes=False) as server:
        trial = service.post("/api/model/trial", json=_address(server, model="chat-1")).json()
    assert (trial["problem"], trial["calls_tools"], trial["sees_images"]) == ("", False, False)


@pytest.mark.slow("builds a whole knowledge base")
@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"api_key": "wrong"}, "refused our credentials"),
        ({"model": "chat-9"}, "knows no model 'chat-9' (404); check its name and the address"),
        ({"endpoint": "http://127.0.0.1:9/v1"}, "cannot be reached; check the address"),
    ],
)
def test_a_trial_tells_what_is_wrong(
    service: httpx.Client, endpoint: Endpoint, changed: dict[str, str], problem: str
) -> None:
    reply = service.post("/api/model/trial", json=_address(endpoint, **{"model": "chat-1", **changed}))
    assert problem in reply.json()["problem"]
    assert "KB_" not in reply.text, "nobody set a variable"
    assert KEY not in reply.text and "wrong" not in reply.text


@pytest.mark.parametrize(
    ("address", "problem"),
    [
        ({"endpoint": "ftp://example.com"}, "must begin with https://"),
        ({"endpoint": "http://[::1/v1"}, "must begin with https://"),
        ({"endpoint": "https://example.com:port/v1"}, "must begin with https://"),
        ({"endpoint": "https://user:secret@example.com/v1"}, "the address holds credentials"),
        ({"endpoint": "https://api.openai.com/v1"}, "OpenAI needs a key"),
        ({"endpoint": "https://ours.openai.azure.com"}, "Azure OpenAI needs a key"),
        ({"endpoint": "http://ours.openai.azure.com", "api_key": "k"}, "must begin with https://"),
        ({"endpoint": "https://example.com/v1", "api_key": "a\nb"}, "the key holds characters that no key has"),
    ],
)
def test_an_address_or_key_that_cannot_be_used_is_refused(
    service: httpx.Client, address: dict[str, str], problem: str
) -> None:
    reply = service.post("/api/model/trial", json=address)
    assert (reply.status_code, reply.json()["error"]["code"]) == (422, "invalid_model")
    assert problem in reply.json()["error"]["message"] and "secret" not in reply.text


@pytest.mark.slow("builds a whole knowledge base")
def test_the_chosen_model_words_the_next_answers_until_it_is_forgotten(
    service: httpx.Client, endpoint: Endpoint
) -> None:
    assert service.post("/chat", json=QUESTION).json()["answered_by"] == "extractive"
    choice = _address(endpoint, model="chat-1") | {"calls_tools": False, "sees_images": False}
    chosen = service.put("/api/model", json=choice).json()
    assert (chosen["model"], chosen["answered_by"], chosen["is_chosen"]) == ("chat-1", "retrieve-first", True)
    assert chosen["endpoint"] == endpoint.base_url
    answer = service.post("/chat", json=QUESTION).json()
    assert (answer["model"], answer["answered_by"]) == ("chat-1", "retrieve-first")
    assert answer["answer"].startswith("Choose Layer, then Crop to Content") and answer["citations"]
    assert service.get("/health").json()["model"] == "chat-1"
    assert service.delete("/api/model").json() | {"endpoint": ""} == service.get("/api/model").json()
    assert service.post("/chat", json=QUESTION).json()["answered_by"] == "extractive"


@pytest.mark.slow("builds a whole knowledge base")
def test_the_key_goes_to_the_model_and_nowhere_else(
    service: httpx.Client, own: Settings, endpoint: Endpoint, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG):
        service.post("/api/model/trial", json=_address(endpoint))
        replies = [service.put("/api/model", json=_address(endpoint, model="chat-1"))]
        replies += [service.get(path) for path in ("/api/model", "/health", "/v1/models", "/v1/entities")]
        replies += [service.post("/chat", json=QUESTION), service.put("/api/model", json={"api_key": KEY})]
    assert all(KEY not in reply.text for reply in replies)
    assert KEY not in caplog.text
    files = [path for path in Path(own.home).rglob("*") if path.is_file()]
    assert files and not any(KEY.encode() in path.read_bytes() for path in files)
    assert {request.headers["authorization"] for request in endpoint.seen} == {f"Bearer {KEY}"}


def test_a_key_of_the_settings_is_not_sent_to_a_chosen_address(serve: Serve, endpoint: Endpoint) -> None:
    service = serve(chat_model="gpt", chat_base_url="http://127.0.0.1:9/v1", chat_api_key="of-the-settings")
    trial = service.post("/api/model/trial", json={"endpoint": endpoint.base_url}).json()
    assert "refused our credentials" in trial["problem"]
    assert "of-the-settings" not in str([request.headers for request in endpoint.seen])


@pytest.mark.slow("builds a whole knowledge base")
def test_an_answer_in_progress_keeps_its_model(service: httpx.Client) -> None:
    class Slow(Endpoint):
        def _reply(self, body: dict[str, Any], request: Request) -> Response:
            if body.get("stream"):
                time.sleep(0.5)
                service.delete("/api/model").raise_for_status()
            return super()._reply(body, request)

    # the endpoint asks the service in its own thread, while the service waits for it
    with Slow() as server:
        service.put("/api/model", json=_address(server, model="chat-1") | {"calls_tools": False}).raise_for_status()
        answer = service.post("/chat", json=QUESTION).json()
    assert answer["model"] == "chat-1" and answer["answer"].startswith("Choose Layer")
    assert service.get("/api/model").json()["model"] is None


@pytest.mark.slow("builds a whole knowledge base")
def test_only_administrators_choose_where_people_sign_in(serve: Serve, endpoint: Endpoint) -> None:
    service = serve(easy_auth=True, administrators=("group-it",))
    address = _address(endpoint, model="chat-1")
    for headers, may_choose in ((signed_in("ann", "group-hr"), False), (signed_in("bob", "group-it"), True)):
        assert service.get("/api/model", headers=headers).json()["may_choose"] is may_choose
    for method, path in (("POST", "/api/model/trial"), ("PUT", "/api/model"), ("DELETE", "/api/model")):
        reply = service.request(method, path, json=address, headers=signed_in("ann", "group-hr"))
        assert (reply.status_code, reply.json()["error"]["code"]) == (403, "not_an_administrator")
    assert endpoint.seen == []


@pytest.mark.parametrize("endpoint", ["http://169.254.169.254/v1", "https://127.0.0.1:8088/v1", "https://10.0.0.1/v1"])
def test_no_address_inside_the_network_can_be_chosen_from_another_machine(serve: Serve, endpoint: str) -> None:
    service = serve(easy_auth=True, administrators=("bob",))
    reply = service.post("/api/model/trial", json={"endpoint": endpoint}, headers=signed_in("bob"))
    assert (reply.status_code, reply.json()["error"]["code"]) == (422, "invalid_model")
    assert "only https addresses of the public web" in reply.json()["error"]["message"]
