"""Plans, tools and questions that are asked back, on the wire: with OpenAI's own client, and at ``/chat``."""

import asyncio
import json
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import httpx
import pytest

from app.settings import AppSettings
from kb_pipeline.flow.access import Access, AccessLists
from kb_pipeline.settings import Settings
from kb_pipeline.store.layout import Layout
from kb_pipeline_tests.app.api.conftest import async_openai_of, openai_of, signed_in
from kb_pipeline_tests.app.asking_back import AMBIGUOUS, CLARIFICATION, AskingBack, asking_back
from kb_pipeline_tests.app.serving import serving_app

PLANNED = "How do I crop a layer?"


class Service:
    """The service, which can be started again over the same conversations."""

    def __init__(self, knowledge_base: Settings, **settings: Any) -> None:
        self._knowledge_base, self._settings = knowledge_base, AppSettings(**settings)
        self._running = ExitStack()
        self.start()

    def start(self) -> None:
        self._running.close()
        app, self.answerer = asking_back(self._settings, self._knowledge_base)
        url = self._running.enter_context(serving_app(app))
        self.http = self._running.enter_context(httpx.Client(base_url=url, timeout=30))

    def stop(self) -> None:
        self._running.close()

    @property
    def asked(self) -> AskingBack:
        return self.answerer


@pytest.fixture
def service(own: Settings) -> Iterator[Service]:
    service = Service(own)
    yield service
    service.stop()


def test_the_items_of_a_planned_answer_come_in_their_order(service: Service) -> None:
    response = openai_of(service.http).responses.create(input=PLANNED)
    said = [(item.type, item.summary[0].text if item.type == "reasoning" else "") for item in response.output]
    assert said == [
        ("reasoning", "Plan:\n1. Find the document\n2. Say what it holds"),
        ("reasoning", "1. Find the document: in progress"),
        ("function_call", ""),
        ("function_call_output", ""),
        ("reasoning", "1. Find the document: done"),
        ("reasoning", "2. Say what it holds: in progress"),
        ("file_search_call", ""),
        ("message", ""),
        ("reasoning", "2. Say what it holds: done"),
    ]
    assert response.status == "completed"
    assert [item["status"] for item in response.output[-1].plan["items"]] == ["COMPLETED", "COMPLETED"]


def test_a_tool_is_a_call_and_what_it_returned(service: Service) -> None:
    response = openai_of(service.http).responses.create(input=PLANNED, extra_body={"document_ids": ["layers"]})
    call, output = (item for item in response.output if item.type.startswith("function_call"))
    assert (call.name, json.loads(call.arguments)) == ("rag_get_document", {"doc_id": "layers"})
    assert call.call_id == output.call_id
    assert json.loads(output.output) == {"success": True, "summary": "1 document"}


def test_a_stream_with_a_plan_says_the_same_as_the_whole(service: Service) -> None:
    client = openai_of(service.http)
    with client.responses.stream(input=PLANNED, model="knowledge-base") as stream:
        events = list(stream)
        final = stream.get_final_response()
    text = "".join(event.delta for event in events if event.type == "response.output_text.delta")
    assert text == final.output_text == client.responses.create(input=PLANNED).output_text
    kept = client.responses.retrieve(final.id)
    assert [item.type for item in kept.output] == [item.type for item in final.output]
    assert service.http.get(f"/api/responses/{final.id}/answer").json()["plan"]["kind"] == "DOCUMENT_SUMMARY"


def test_a_planned_answer_that_fails_in_the_middle_has_no_gap_in_its_items(service: Service) -> None:
    client = openai_of(service.http)
    *_, last = client.responses.create(input="Please fail", stream=True)
    assert (last.type, last.response.error.code) == ("response.failed", "rate_limit_exceeded")
    for response in (last.response, client.responses.retrieve(last.response.id)):
        assert {item.type for item in response.output} <= {
            "reasoning",
            "function_call",
            "function_call_output",
            "file_search_call",
        }
        assert response.output_text == ""


def test_a_question_that_is_asked_back_ends_as_an_answer(service: Service) -> None:
    *_, last = openai_of(service.http).responses.create(input=AMBIGUOUS, stream=True)
    assert last.type == "response.completed"
    asked, message = last.response.output
    assert (asked.type, message.type) == ("structured_outputs", "message")
    assert asked.output["clarification"] == CLARIFICATION.model_dump(mode="json")
    assert last.response.output_text == (
        "Which guide do you mean?\n\n1. Layers: layers.pdf, Manual, 2026-05-01, 12 pages\n2. Printing: printing.docx"
    )
    answer = service.http.get(f"/api/responses/{last.response.id}/answer").json()
    assert (answer["refused"], answer["clarification"]["options"][1]["article_id"]) == (False, "printing")


def test_the_async_client_reads_it_too(service: Service) -> None:
    async def text() -> str:
        async with async_openai_of(service.http) as client:
            return (await client.responses.create(input=AMBIGUOUS)).output_text

    assert asyncio.run(text()).startswith("Which guide")


@pytest.mark.slow("builds a whole knowledge base")
@pytest.mark.parametrize("follow", ["previous_response_id", "conversation"])
def test_the_reply_finds_what_was_asked_back_also_after_a_restart(service: Service, follow: str) -> None:
    client = openai_of(service.http)
    first = client.responses.create(input=AMBIGUOUS, **({"conversation": "c1"} if follow == "conversation" else {}))
    service.start()
    client = openai_of(service.http)
    follows = {"conversation": "c1"} if follow == "conversation" else {"previous_response_id": first.id}
    reply = client.responses.create(input="2", **follows)
    assert "Paper jam" in reply.output_text and "Crop" not in reply.output_text
    [question] = service.asked.questions
    assert (question.clarification, [each.role for each in question.history]) == (CLARIFICATION, ["user", "assistant"])
    client.responses.create(input="and then?", previous_response_id=reply.id)
    assert service.asked.questions[-1].clarification is None


def test_only_the_last_answer_asks_back(service: Service) -> None:
    client = openai_of(service.http)
    client.responses.create(input=AMBIGUOUS, conversation="c1")
    client.responses.create(input=PLANNED, conversation="c1")
    client.responses.create(input="2", conversation="c1")
    assert service.asked.questions[-1].clarification is None


def test_a_reply_to_an_earlier_answer_is_one_to_what_that_asked(service: Service) -> None:
    client = openai_of(service.http)
    first = client.responses.create(input=AMBIGUOUS, conversation="c1")
    client.responses.create(input=PLANNED, conversation="c1")
    client.responses.create(input="2", previous_response_id=first.id)
    assert service.asked.questions[-1].clarification == CLARIFICATION


def test_a_reply_that_failed_can_be_given_again(service: Service) -> None:
    client = openai_of(service.http)
    client.responses.create(input=AMBIGUOUS, conversation="c1")
    assert client.responses.create(input="x" * 9000, conversation="c1").status == "failed"
    client.responses.create(input="2", conversation="c1", extra_body={"document_ids": ["../x"]})
    client.responses.create(input="2", conversation="c1")
    assert service.asked.questions[-1].clarification == CLARIFICATION


def test_what_others_were_asked_back_stays_theirs(own: Settings) -> None:
    service = Service(own, easy_auth=True)
    ann, bob = (openai_of(service.http, **signed_in(name)) for name in ("ann", "bob"))
    ann.responses.create(input=AMBIGUOUS, conversation="c1")
    bob.responses.create(input="2", conversation="c1")
    assert service.asked.questions[-1].clarification is None
    service.stop()


def test_what_is_not_kept_is_not_asked_back_and_the_documents_can_be_named(service: Service) -> None:
    client = openai_of(service.http)
    client.responses.create(input=AMBIGUOUS, store=False, conversation="c1")
    client.responses.create(input="2", store=False, conversation="c1")
    assert service.asked.questions[-1].clarification is None
    named = client.responses.create(input=AMBIGUOUS, store=False, extra_body={"document_ids": ["printing"]})
    assert "Paper jam" in named.output_text


def test_all_that_was_said_can_be_sent_back(service: Service) -> None:
    client = openai_of(service.http)
    for question in (AMBIGUOUS, PLANNED):
        first = client.responses.create(input=question)
        said = [item.to_dict() for item in first.output]
        again = client.responses.create(
            input=[{"role": "user", "content": question}, *said, {"role": "user", "content": "and then?"}]
        )
        assert again.status == "completed"
        assert [each.role for each in service.asked.questions[-1].history] == ["user", "assistant"]


@pytest.mark.parametrize("chosen", ["layers", [1], {"a": 1}, ["../x"], [f"d{n}" for n in range(8)], [""]])
def test_documents_that_cannot_be_chosen_are_refused(service: Service, chosen: object) -> None:
    response = openai_of(service.http).responses.create(input=PLANNED, extra_body={"document_ids": chosen})
    assert (response.status, response.error.code) == ("failed", "invalid_prompt")
    assert service.http.post("/chat", json={"question": PLANNED, "document_ids": chosen}).status_code == 422


def test_chat_answers_about_the_documents_that_are_named(service: Service) -> None:
    asked = service.http.post("/chat", json={"question": AMBIGUOUS}).raise_for_status().json()
    assert asked["clarification"] == CLARIFICATION.model_dump(mode="json")
    ids = [option["article_id"] for option in asked["clarification"]["options"]][1:]
    answer = service.http.post("/chat", json={"question": AMBIGUOUS, "document_ids": ids}).json()
    assert {citation["article_id"] for citation in answer["citations"]} == {"printing"}
    assert [item["status"] for item in answer["plan"]["items"]] == ["COMPLETED", "COMPLETED"]
    assert "clarification" not in answer


def test_who_may_not_read_an_option_any_more_does_not_see_what_was_asked(service: Service, own: Settings) -> None:
    client = openai_of(service.http)
    first = client.responses.create(input=AMBIGUOUS, conversation="c1")
    AccessLists(Layout.of(own)).record("printing", Access(readers=("hr",)), pending=False)
    service.start()
    assert service.http.get(f"/api/responses/{first.id}/answer").status_code == 404
    assert service.http.get(f"/v1/responses/{first.id}").status_code == 404
    [turn] = service.http.get("/api/conversations/c1").json()["turns"]
    assert turn["answer"] is None and "may no longer read" in turn["problem"]
