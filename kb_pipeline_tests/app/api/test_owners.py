"""Whose a response is: nobody else reads, replays, cancels or deletes it, by any route, while it runs and after."""

import asyncio
import re
import threading
import time
from collections.abc import Iterator

import httpx
import pytest
from azure.ai.agentserver.core.streaming import EventStreamNotFoundError, streams
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse, StreamingResponse
from starlette.routing import BaseRoute, Route
from starlette.testclient import TestClient

from app.api import owners as owners_module
from app.api.gate import asking
from app.api.owners import RequireResponseOwner, ResponseOwners
from app.api.server import create_app
from app.callers.principal import Principal
from app.conversations.responses_store import ResponseStore
from app.conversations.sqlite import SQLiteConversations
from app.settings import AppSettings
from kb_pipeline.flow.access import Access, AccessLists
from kb_pipeline.settings import Settings
from kb_pipeline.store.layout import Layout
from kb_pipeline_tests.app.api.conftest import Serve, signed_in
from kb_pipeline_tests.app.model_servers import OwnModel, chunk

RESTRICTED = "What is the salary of the director?"
UNKNOWN = f"caresp_{'0' * 50}"
ANN, BOB = signed_in("ann", "group-hr"), signed_in("bob")

MODES = {
    "stream": {"stream": True},
    "stream in a conversation": {"stream": True, "conversation": "conv_1"},
    "background": {"background": True, "conversation": "conv_1"},
    "background stream": {"background": True, "stream": True},
    "whole": {},
    "stream that is not stored": {"stream": True, "store": False},
}
QUERIES = [
    "",
    "?stream=true",
    "?stream=True",
    "?stream=TRUE&starting_after=0",
    "?stream=true&starting_after=-1",
    "?stream=false&stream=true",
    "?%73tream=%74rue",
    "?stream=true&starting_after=x",
    "?stream=1",
]
PATHS = ["/v1/responses/{}", "/responses/{}", "/v1/responses/%63{}"]


def ask(service: httpx.Client, **body: object) -> str:
    """The id of a response to Ann that has ended."""
    reply = service.post("/v1/responses", json={"input": RESTRICTED, **body}, headers=ANN).raise_for_status()
    response_id = re.findall(r"caresp_\w+", reply.text)[0]
    for _ in range(200):
        kept = service.get(f"/v1/responses/{response_id}", headers=ANN)
        if body.get("store") is False or (kept.is_success and kept.json()["status"] == "completed"):
            return response_id
        time.sleep(0.05)
    raise AssertionError(kept.text)


def at(path: str, response_id: str) -> str:
    return path.format(response_id.removeprefix("c") if "%63" in path else response_id)


def unnamed(reply: httpx.Response) -> tuple[int, str]:
    """What is said, without the id that was asked for."""
    return reply.status_code, re.sub(r"caresp_\w+", "ID", reply.text)


@pytest.mark.slow("asks every route")
@pytest.mark.parametrize("mode", MODES)
def test_another_persons_response_is_as_unknown_as_one_that_never_was(serve: Serve, mode: str) -> None:
    service = serve(easy_auth=True)
    response_id = ask(service, **MODES[mode])
    for path in PATHS:
        for query in QUERIES:
            for method in ("GET", "HEAD"):
                replies = [
                    service.request(method, at(path, named) + query, headers=BOB) for named in (response_id, UNKNOWN)
                ]
                assert unnamed(replies[0]) == unnamed(replies[1])
                assert replies[0].status_code == 404


def test_a_replay_goes_to_the_owner_alone(serve: Serve) -> None:
    service = serve(easy_auth=True)
    response_id = ask(service, background=True, stream=True)
    replay = service.get(f"/v1/responses/{response_id}?stream=true", headers=ANN)
    assert replay.is_success and "12345" in replay.text
    assert "response.created" not in service.get(f"/v1/responses/{response_id}?stream=true", headers=BOB).text


def restrict(own: Settings) -> None:
    """Ann's group may no longer read the salaries."""
    AccessLists(Layout.of(own)).record("secret", Access(readers=("group-board",)), pending=True)


@pytest.mark.parametrize("mode", MODES)
def test_what_is_restricted_later_is_not_shown_to_the_owner_again(serve: Serve, own: Settings, mode: str) -> None:
    service = serve(easy_auth=True)
    response_id = ask(service, **MODES[mode], metadata={"whole_answer": "true"})
    restrict(own)
    for path in PATHS:
        for rest in (*QUERIES, "/input_items"):
            told = service.get(at(path, response_id) + rest, headers=ANN).text
            assert not re.search("12345|[Ss]alaries|secret", told)
    if "not stored" not in mode:
        assert service.delete(f"/v1/responses/{response_id}", headers=ANN).is_success  # it stays hers


@pytest.fixture
def waiting(serve: Serve) -> Iterator[tuple[httpx.Client, threading.Event]]:
    """A service whose model writes a word, then waits until the event is set."""
    go_on = threading.Event()

    async def slowly():
        yield chunk("word ")
        while not go_on.is_set():
            await asyncio.sleep(0.02)
        yield chunk("end", finish="stop")
        yield "data: [DONE]\n\n"

    with OwnModel(lambda *_: StreamingResponse(slowly(), media_type="text/event-stream")) as model:
        yield serve(easy_auth=True, chat_model="m", chat_base_url=model.base_url, answering="retrieve-first"), go_on
        go_on.set()


@pytest.mark.slow("asks every route")
@pytest.mark.parametrize("mode", ["background", "background stream", "stream in a conversation"])
def test_a_response_that_is_being_written_is_there_for_its_owner_alone(
    waiting: tuple[httpx.Client, threading.Event], mode: str
) -> None:
    service, _ = waiting
    body = {"input": RESTRICTED, **MODES[mode]}
    with service.stream("POST", "/v1/responses", json=body, headers=ANN) as answer:
        lines = answer.iter_lines()
        response_id = next(found[0] for line in lines if (found := re.findall(r"caresp_\w+", line)))
        requests = [("GET", query) for query in QUERIES]
        requests += [("GET", "/input_items"), ("POST", "/cancel"), ("DELETE", "")]
        for method, rest in requests:
            assert service.request(method, f"/v1/responses/{response_id}{rest}", headers=BOB).status_code == 404
        if "background" in mode:
            assert service.get(f"/v1/responses/{response_id}", headers=ANN).json()["status"] == "in_progress"
            assert service.post(f"/v1/responses/{response_id}/cancel", headers=ANN).json()["status"] == "cancelled"


def test_what_is_restricted_while_it_is_being_written_is_not_sent_to_who_comes_back(
    waiting: tuple[httpx.Client, threading.Event], own: Settings
) -> None:
    service, _ = waiting
    body = {"input": RESTRICTED, "background": True, "stream": True}
    with service.stream("POST", "/v1/responses", json=body, headers=ANN) as answer:
        lines = answer.iter_lines()
        response_id = next(found[0] for line in lines if (found := re.findall(r"caresp_\w+", line)))
        next(line for line in lines if "file_search_call" in line)
        assert service.get(f"/v1/responses/{response_id}", headers=ANN).is_success
        restrict(own)
        for query in ("", "?stream=true"):
            assert service.get(f"/v1/responses/{response_id}{query}", headers=ANN).status_code == 404


def test_the_owner_follows_a_stream_from_its_very_beginning(waiting: tuple[httpx.Client, threading.Event]) -> None:
    service, go_on = waiting
    body = {"input": RESTRICTED, "background": True, "stream": True}
    with service.stream("POST", "/v1/responses", json=body, headers=ANN) as answer:
        response_id = re.findall(r"caresp_\w+", next(line for line in answer.iter_lines() if "caresp_" in line))[0]
        with service.stream("GET", f"/v1/responses/{response_id}?stream=true", headers=ANN) as replay:
            assert replay.is_success
            go_on.set()
            assert "response.completed" in replay.read().decode()


def test_who_deletes_a_conversation_deletes_the_streams_of_its_answers(serve: Serve) -> None:
    service = serve(easy_auth=True)
    response_id = ask(service, background=True, stream=True, conversation="conv_1")
    assert service.delete("/api/conversations/conv_1", headers=ANN).status_code == 204
    _is_gone(service, response_id)


def test_who_deletes_a_response_deletes_its_stream(serve: Serve) -> None:
    service = serve(easy_auth=True)
    response_id = ask(service, background=True, stream=True)
    assert service.delete(f"/v1/responses/{response_id}", headers=BOB).status_code == 404
    assert service.delete(f"/v1/responses/{response_id}", headers=ANN).is_success
    _is_gone(service, response_id)


@pytest.mark.slow("asks every route")
def test_a_conversation_that_another_process_deleted_is_not_replayed(serve: Serve, own: Settings) -> None:
    service = serve(easy_auth=True)
    response_id = ask(service, background=True, stream=True, conversation="conv_1")

    async def elsewhere() -> None:
        store = SQLiteConversations(own.home_path / "conversations.db")
        await store.delete("ann", "conv_1")
        await store.close()

    asyncio.run(elsewhere())
    assert service.get(f"/v1/responses/{response_id}?stream=true", headers=ANN).status_code == 404


@pytest.mark.slow("asks every route")
def test_a_conversation_that_is_deleted_while_its_answer_is_written_is_not_replayed(
    waiting: tuple[httpx.Client, threading.Event],
) -> None:
    service, go_on = waiting
    body = {"input": RESTRICTED, "background": True, "stream": True, "conversation": "conv_1"}
    with service.stream("POST", "/v1/responses", json=body, headers=ANN) as answer:
        lines = answer.iter_lines()
        response_id = next(found[0] for line in lines if (found := re.findall(r"caresp_\w+", line)))
        next(line for line in lines if "file_search_call" in line)
        assert service.delete("/api/conversations/conv_1", headers=ANN).status_code == 204
        for who in (ANN, BOB):
            assert service.get(f"/v1/responses/{response_id}?stream=true", headers=who).status_code == 404
        go_on.set()
        list(lines)
    assert service.get(f"/v1/responses/{response_id}?stream=true", headers=ANN).status_code == 404


def _is_gone(service: httpx.Client, response_id: str) -> None:
    for query in QUERIES:
        assert service.get(f"/v1/responses/{response_id}{query}", headers=ANN).status_code == 404
    with pytest.raises(EventStreamNotFoundError):
        asyncio.run(streams.get(response_id))


def test_streams_do_not_pile_up(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    service = serve(easy_auth=True)
    response_id = ask(service, stream=True)
    monkeypatch.setattr(owners_module, "_REPLAY_SECONDS", 0)
    ask(service, stream=True)
    with pytest.raises(EventStreamNotFoundError):
        asyncio.run(streams.get(response_id))


def _routes(routes: list[BaseRoute], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Every method and path of an application, those of mounted ones as well."""
    for route in routes:
        path = prefix + getattr(route, "path", "")
        for method in getattr(route, "methods", None) or ():
            yield method, path
        included = getattr(route, "original_router", None)
        yield from _routes(included.routes if included else getattr(route, "routes", None) or [], path)


@pytest.mark.slow("asks every route")
def test_no_route_that_names_a_response_answers_anybody_but_its_owner(serve: Serve, own: Settings) -> None:
    routes = set(_routes(create_app(AppSettings(easy_auth=True), own).routes))
    parameters = {name for _, path in routes for name in re.findall(r"{(\w+)", path)}
    assert parameters == {
        "article_id",
        "file",
        "page",
        "image_path",
        "conversation_id",
        "run_id",
        "response_id",
        "name",  # of a tool
        "contribution_id",
        "gap_id",
        "investigation_id",
        "share_id",  # of a link, which others are meant to follow
    }  # no other names one
    naming = sorted((method, path) for method, path in routes if "{response_id}" in path)
    assert len(naming) >= 9  # of the protocol's server six, three of our own
    service = serve(easy_auth=True)
    for mode, options in MODES.items():
        response_id = ask(service, **options)
        for method, path in naming:
            body = {"feedback": {"rating": "up"}, "opened": {"number": 1}}.get(path.rpartition("/")[2])
            for query in ("", "?stream=true"):
                there = path.replace("{conversation_id}", "of-ann")
                asked = [there.replace("{response_id}", each) + query for each in (response_id, UNKNOWN)]
                replies = [service.request(method, each, json=body, headers=BOB) for each in asked]
                assert unnamed(replies[0]) == unnamed(replies[1])
                assert replies[0].status_code == 404, (method, path, mode)


@pytest.mark.parametrize("query", ["?stream=true", "?stream=True&starting_after=0"])
def test_of_a_hosted_agent_only_the_owner_gets_a_replay(own: Settings, query: str) -> None:
    store = SQLiteConversations(own.home_path / "conversations.db")
    asyncio.run(store.begin_turn("ann", "conv_1", "caresp_1", "How?"))
    inner = Starlette(routes=[Route("/responses/{response_id}", lambda _: PlainTextResponse("every event"))])
    app = RequireResponseOwner(
        inner, owners=ResponseOwners(store), store=ResponseStore(store, lambda turns: turns), hosted=True
    )

    def status(user: str, query: str) -> int:
        async def asked(scope, receive, send):
            asking.set(Principal(user))
            await app(scope, receive, send)

        return TestClient(asked).get(f"/responses/caresp_1{query}").status_code

    assert [status("ann", query), status("bob", query), status("bob", "")] == [200, 404, 200]
