"""The client against a server that says what a test wants: right answers are typed, wrong ones say what to do."""

import asyncio
import json
import threading
from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable
from contextlib import suppress
from typing import Any

import pytest
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response, StreamingResponse

from app.client import Client, ClientError, PlanStep, SearchStep, SentPicture, ServiceDownError, Step, ToolStep
from app.schema.answers import Plan
from app.schema.conversations import Feedback
from app.schema.wire import Problem
from kb_pipeline_tests.app.model_servers import OwnModel

SUMMARY = {"id": "conv_1", "title": "Layers", "created_at": "t", "updated_at": "t", "turns": 1}


def saying(response: Response | Callable[[Request], Response]) -> OwnModel:
    return OwnModel(
        lambda _, request: response(request) if callable(response) and not isinstance(response, Response) else response
    )


def written(event: dict[str, Any], at: int = 0) -> str:
    return f"event: {event['type']}\ndata: {json.dumps({**event, 'sequence_number': at})}\n\n"


def streaming(lines: Iterable[str] | AsyncIterable[str]) -> Response:
    return StreamingResponse(lines, media_type="text/event-stream")


def events(*said: dict[str, Any]) -> Response:
    return streaming([written(event, at) for at, event in enumerate(said)])


def response(status: str, **more: Any) -> dict[str, Any]:
    fields = {"id": "resp_1", "object": "response", "created_at": 1, "model": "m", "output": [], "status": status}
    return {"type": f"response.{status}", "response": fields | more}


CREATED = {**response("in_progress"), "type": "response.created"}
PLACE = {"item_id": "i", "output_index": 0, "content_index": 0}
SEARCHED = {
    "type": "response.output_item.done",
    "output_index": 0,
    "item": {"type": "file_search_call", "id": "f", "status": "completed", "queries": ["crop"]},
}


def delta(text: str) -> dict[str, Any]:
    return {"type": "response.output_text.delta", "delta": text, "logprobs": [], **PLACE}


async def ask(url: str) -> tuple[str | None, list[SearchStep | str]]:
    with Client(url) as client:
        async with client.ask("How?", conversation="conv_1") as stream:
            return stream.response_id, [said async for said in stream]


def asked(*said: dict[str, Any]) -> list[SearchStep | str]:
    with saying(events(*said)) as server:
        return asyncio.run(ask(server.url))[1]


def test_an_answer_streams() -> None:
    assert asked(CREATED, SEARCHED, delta("Crop "), delta("it."), response("completed")) == [
        SearchStep(("crop",)),
        "Crop ",
        "it.",
    ]


PLAN = {"kind": "LISTING", "items": [{"position": 1, "description": "List", "acceptance_criteria": "one"}]}


def item(kind: str, **fields: Any) -> dict[str, Any]:
    return {"type": "response.output_item.done", "output_index": 0, "item": {"id": "i", "type": kind, **fields}}


@pytest.mark.parametrize(
    ("said", "steps"),
    [
        (item("reasoning", summary=[], plan=PLAN), [PlanStep(Plan.model_validate(PLAN))]),
        (item("reasoning", summary=[]), []),
        (item("reasoning", summary=[], plan={"kind": "x"}), []),
        (item("function_call", name="f", call_id="c", arguments='{"a": 1}'), [ToolStep("f", {"a": 1})]),
        (item("function_call", name="f", call_id="c", arguments="[1"), [ToolStep("f", {})]),
        (item("function_call_output", call_id="c", output="x"), []),
        (item("structured_outputs", output={"clarification": {}}), []),
        (item("something_new", field=1), []),
    ],
)
def test_the_steps_of_an_answer_that_are_known_come_through(said: dict[str, Any], steps: list[Step]) -> None:
    assert asked(CREATED, said, delta("Crop"), response("completed")) == [*steps, "Crop"]


def test_the_question_goes_to_its_conversation() -> None:
    with saying(events(CREATED, response("completed"))) as server:
        asyncio.run(ask(server.url))
        [request] = server.requests
    assert (request["input"], request["conversation"], request["stream"]) == ("How?", "conv_1", True)


@pytest.mark.parametrize(
    ("said", "code"),
    [
        ((CREATED, delta("Crop ")), "cut_short"),
        ((CREATED, response("failed", error={"code": "server_error", "message": "no model"})), "server_error"),
        ((CREATED, response("incomplete")), "cut_short"),
        (({"type": "error", "error": {"code": "upstream_busy", "message": "wait"}},), "upstream_busy"),
    ],
)
def test_an_answer_that_does_not_end_well_is_a_failure(said: tuple[dict[str, Any], ...], code: str) -> None:
    with pytest.raises(ClientError) as caught:
        asked(*said)
    assert caught.value.problem.code == code


@pytest.mark.parametrize(
    ("end", "problem"),
    [
        (response("completed"), None),
        (response("failed", error={"code": "server_error", "message": "no model"}), "server_error"),
    ],
)
def test_a_connection_that_is_lost_behind_the_end_changes_nothing(end: dict[str, Any], problem: str | None) -> None:
    async def losing() -> AsyncIterator[str]:
        for event in (CREATED, delta("Crop it."), end):
            yield written(event)
        raise ConnectionResetError

    with saying(lambda _: streaming(losing())) as server:
        if problem is None:
            assert asyncio.run(ask(server.url))[1] == ["Crop it."]
        else:
            with pytest.raises(ClientError) as caught:
                asyncio.run(ask(server.url))
            assert caught.value.problem.code == problem


@pytest.mark.parametrize("end", ["completed", "failed"])
def test_an_answer_is_read_to_the_end_of_its_stream(end: str) -> None:
    read = threading.Event()

    async def ending() -> AsyncIterator[str]:
        for event in (CREATED, response(end)):
            yield written(event)
        await asyncio.sleep(0.2)  # a client that leaves now has the rest of this cancelled
        read.set()

    with saying(lambda _: streaming(ending())) as server:
        with suppress(ClientError):
            asyncio.run(ask(server.url))
        assert read.wait(60)


def test_a_refused_question_says_why() -> None:
    problem = {"error": {"code": "invalid_question", "message": "it is too long", "type": "invalid_question"}}
    with saying(JSONResponse(problem, 422)) as server, pytest.raises(ClientError) as caught:
        asyncio.run(ask(server.url))
    assert (caught.value.status, caught.value.problem.message) == (422, "it is too long")


def test_leaving_an_answer_is_noticed_by_the_service() -> None:
    left = threading.Event()

    async def endless() -> AsyncIterator[str]:
        try:
            yield written(CREATED)
            while True:
                yield written(delta("word "), 1)
                await asyncio.sleep(0.01)
        finally:
            left.set()

    async def leave(url: str) -> None:
        async with Client(url).ask("How?") as stream:
            async for said in stream:
                assert said == "word "
                return

    with saying(lambda _: streaming(endless())) as server:
        asyncio.run(leave(server.url))
        assert left.wait(60)


def test_messages_are_typed() -> None:
    with saying(JSONResponse({"conversations": [SUMMARY], "next": "more", "new_field": 1})) as server:
        page = Client(server.url).conversations(limit=1)
        [request] = server.seen
    assert (page.conversations[0].title, page.next) == ("Layers", "more")
    assert request.url.query == "limit=1"


def test_what_is_sent_is_json_and_nothing_comes_back() -> None:
    with saying(Response(status_code=204)) as server:
        Client(server.url).feedback("resp/1", Feedback(rating="up", comment="good"))
        assert server.requests == [{"rating": "up", "comment": "good"}]
        assert server.seen[0].url.path == "/api/responses/resp/1/feedback"
        assert b"resp%2F1" in server.seen[0].scope["raw_path"]


def test_a_picture_is_sent_before_the_question_and_comes_back() -> None:
    sent = SentPicture(b"\x89PNG", "image/png")

    async def ask(url: str) -> None:
        async with Client(url).ask("What is this?", picture=sent) as stream:
            assert [said async for said in stream] == []

    with saying(events(CREATED, response("completed"))) as server:
        asyncio.run(ask(server.url))
        [body] = server.requests
    picture, text = body["input"][0]["content"]
    assert (picture["type"], picture["image_url"]) == ("input_image", "data:image/png;base64,iVBORw==")
    assert (text["type"], text["text"]) == ("input_text", "What is this?")
    with saying(Response(sent.data, media_type="image/png")) as server:
        assert Client(server.url).picture("resp/1") == sent
        assert b"resp%2F1/picture" in server.seen[0].scope["raw_path"]


def test_who_asks_goes_with_every_request() -> None:
    with saying(events(CREATED, response("completed"))) as server:
        client = Client(server.url, headers={"x-ms-client-principal-id": "anna"})

        async def once() -> None:
            async with client.ask("How?") as stream:
                assert [said async for said in stream] == []

        asyncio.run(once())
        client.file("/api/images/a/images/b.png", headers={"x-ms-client-principal-id": "ben"})
    assert [request.headers["x-ms-client-principal-id"] for request in server.seen] == ["anna", "ben"]


def test_an_image_that_the_asker_has_is_not_sent_again() -> None:
    def image(request: Request) -> Response:
        known = request.headers.get("if-none-match") == '"1"'
        return Response(b"" if known else b"png", 304 if known else 200, {"etag": '"1"'}, "image/png")

    with saying(image) as server:
        client = Client(server.url)
        first = client.file("/api/images/a/images/b.png")
        again = client.file("/api/images/a/images/b.png", headers={"if-none-match": first.headers["etag"]})
    assert (first.status, first.content, again.status, again.content) == (200, b"png", 304, b"")


@pytest.mark.parametrize(
    "path",
    [
        "/api/conversations",
        "/api/images/../conversations",
        "/api/images/%2e%2e/conversations",
        "/api/responses/resp_1/answer",
    ],
)
def test_only_files_are_fetched_as_files(path: str) -> None:
    with saying(Response(b"{}")) as server, pytest.raises(ClientError, match="no image"):
        Client(server.url).file(path)
    assert server.seen == []


def test_a_service_that_is_down_is_told_from_one_that_fails() -> None:
    with pytest.raises(ServiceDownError, match=r"127\.0\.0\.1:9"):
        Client("http://127.0.0.1:9").health()
    with pytest.raises(ServiceDownError):
        asyncio.run(ask("http://127.0.0.1:9"))


@pytest.mark.parametrize(
    ("reply", "problem"),
    [
        (
            JSONResponse({"error": {"code": "not_signed_in", "message": "sign in"}}, 401),
            Problem(code="not_signed_in", message="sign in"),
        ),
        (HTMLResponse("<h1>another program</h1>"), None),
        (HTMLResponse("<h1>bad gateway</h1>", 502), None),
        (JSONResponse({"detail": "not found"}, 404), None),
    ],
)
def test_a_reply_that_is_not_the_services_is_never_believed(reply: Response, problem: Problem | None) -> None:
    with saying(reply) as server, pytest.raises(ClientError) as caught:
        Client(server.url).health()
    assert caught.value.status == reply.status_code
    if problem:
        assert caught.value.problem == problem
    else:
        assert "KB_APP_URL" in caught.value.problem.message
