"""Conversations over HTTP: resumed after a restart, renamed, deleted, each user's own."""

import httpx
import pytest

from app.settings import AppSettings
from kb_pipeline.settings import Settings
from kb_pipeline_tests.app.api.conftest import Serve, openai_of, serving, signed_in

QUESTION = "How do I crop a layer?"


def test_a_conversation_is_titled_by_its_first_question_and_holds_its_turns(service: httpx.Client) -> None:
    client = openai_of(service)
    first = client.responses.create(input=QUESTION, conversation="conv_1")
    client.responses.create(input="How do I clear a paper jam?", conversation="conv_1")
    (listed,) = service.get("/api/conversations").json()["conversations"]
    assert (listed["id"], listed["title"], listed["turns"]) == ("conv_1", QUESTION, 2)
    turns = service.get("/api/conversations/conv_1").json()["turns"]
    assert [turn["question"] for turn in turns] == [QUESTION, "How do I clear a paper jam?"]
    assert turns[0]["answer"]["answer"] == first.output_text
    assert turns[0]["answer"]["citations"][0]["quotes"]


def test_it_survives_a_restart_of_the_service(own: Settings) -> None:
    with serving(AppSettings(), own) as url, httpx.Client(base_url=url) as service:
        openai_of(service).responses.create(input=QUESTION, conversation="conv_1")
    with serving(AppSettings(), own) as url, httpx.Client(base_url=url) as service:
        assert len(service.get("/api/conversations/conv_1").json()["turns"]) == 1
        openai_of(service).responses.create(input="and undo it?", conversation="conv_1")
        assert len(service.get("/api/conversations/conv_1").json()["turns"]) == 2


def test_it_is_renamed_and_deleted(service: httpx.Client) -> None:
    openai_of(service).responses.create(input=QUESTION, conversation="conv_1")
    assert service.patch("/api/conversations/conv_1", json={"title": "Crops"}).json()["title"] == "Crops"
    assert service.patch("/api/conversations/conv_1", json={"title": " "}).status_code == 422
    assert service.delete("/api/conversations/conv_1").status_code == 204
    assert service.get("/api/conversations/conv_1").status_code == 404
    assert service.delete("/api/conversations/conv_1").status_code == 404


def test_feedback_is_kept_with_the_answer(service: httpx.Client) -> None:
    response = openai_of(service).responses.create(input=QUESTION, conversation="conv_1")
    path = f"/api/responses/{response.id}/feedback"
    assert service.post(path, json={"rating": "down", "comment": "not what I meant"}).status_code == 204
    (turn,) = service.get("/api/conversations/conv_1").json()["turns"]
    assert turn["feedback"] == {"rating": "down", "comment": "not what I meant"}
    assert service.post(path, json={"rating": "sideways"}).status_code == 422
    assert service.post("/api/responses/caresp_none/feedback", json={"rating": "up"}).status_code == 404


def test_a_source_that_was_opened_is_counted(service: httpx.Client) -> None:
    response = openai_of(service).responses.create(input=QUESTION, conversation="conv_1")
    path = f"/api/responses/{response.id}/opened"
    assert service.post(path, json={"number": 1}).status_code == 204
    assert service.post(path, json={"number": 0}).status_code == 422
    assert service.post("/api/responses/caresp_none/opened", json={"number": 1}).status_code == 404
    assert service.get("/api/quality/use").json() == {"made_at": None, "days": 30, "counts": []}


@pytest.mark.parametrize("method", ["GET", "PATCH", "DELETE"])
def test_another_users_conversation_is_not_there(serve: Serve, method: str) -> None:
    service = serve(easy_auth=True)
    openai_of(service, **signed_in("ann")).responses.create(input=QUESTION, conversation="conv_1")
    body = {"title": "mine"} if method == "PATCH" else None
    assert service.request(method, "/api/conversations/conv_1", json=body, headers=signed_in("bob")).status_code == 404
    assert service.get("/api/conversations", headers=signed_in("bob")).json()["conversations"] == []
    assert service.get("/api/conversations/conv_1", headers=signed_in("ann")).json()["title"] == QUESTION
