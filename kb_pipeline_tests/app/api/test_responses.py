"""``/v1/responses`` with OpenAI's own clients: streaming and not, follow-ups, failures, and who may see what."""

import asyncio
import time

import httpx
import openai
import pytest
from starlette.responses import StreamingResponse

from kb_pipeline_tests.app.api.conftest import Serve, async_openai_of, openai_of, signed_in
from kb_pipeline_tests.app.model_servers import Aimock, OwnModel, chunk, refused, streamed

QUESTION = "How do I crop a layer?"


def test_an_answer_with_its_search_and_references(service: httpx.Client) -> None:
    response = openai_of(service).responses.create(input=QUESTION)
    assert response.status == "completed"
    search, message = response.output
    assert (search.type, search.queries) == ("file_search_call", [QUESTION])
    annotation = message.content[0].annotations[0]
    assert response.output_text[annotation.start_index : annotation.end_index].startswith("[Ref #")
    assert annotation.type == "url_citation"


def test_a_stream_says_the_same_as_the_whole(service: httpx.Client) -> None:
    client = openai_of(service)
    events = list(client.responses.create(input=QUESTION, stream=True))
    assert (events[0].type, events[-1].type) == ("response.created", "response.completed")
    text = "".join(event.delta for event in events if event.type == "response.output_text.delta")
    final = events[-1].response
    assert text == final.output_text == client.responses.create(input=QUESTION).output_text
    kept = client.responses.retrieve(final.id)
    assert (kept.output_text, kept.output[-1].content[0].annotations) == (text, final.output[-1].content[0].annotations)


def test_the_citations_of_an_answer_are_there_when_its_stream_has_ended(service: httpx.Client) -> None:
    *_, last = openai_of(service).responses.create(input=QUESTION, stream=True)
    answer = service.get(f"/api/responses/{last.response.id}/answer").raise_for_status().json()
    assert answer["answer"] == last.response.output_text
    assert answer["citations"][0]["article_id"] == "layers"


def test_a_response_carries_the_whole_answer_to_whom_asks_for_it(service: httpx.Client) -> None:
    client = openai_of(service)
    response = client.responses.create(input=QUESTION, metadata={"whole_answer": "true"})
    *_, message, carried = response.output
    assert (message.type, str(carried.type)) == ("message", "structured_outputs")
    answer = service.get(f"/api/responses/{response.id}/answer").json()
    assert carried.to_dict()["output"] == {"answer": answer}
    assert answer["citations"]
    follow_up = client.responses.create(input="And then?", previous_response_id=response.id)
    assert follow_up.status == "completed", "the item is no part of the history"
    for metadata in ({"whole_answer": "false"}, {"other": "true"}, None):
        kinds = {item.type for item in client.responses.create(input=QUESTION, metadata=metadata).output}
        assert "structured_outputs" not in kinds


async def _ask(client: openai.AsyncOpenAI, question: str) -> str:
    text = ""
    async for event in await client.responses.create(input=question, stream=True):
        text += event.delta if event.type == "response.output_text.delta" else ""
    return text


@pytest.mark.slow("waits for a silent or slow service")
def test_answers_asked_at_once_are_not_mixed_up(service: httpx.Client) -> None:
    questions = [QUESTION, "How do I clear a paper jam?", "How do I connect a printer?"] * 8

    async def all_at_once() -> list[str]:
        async with async_openai_of(service) as client:
            return await asyncio.gather(*(_ask(client, question) for question in questions))

    answers = asyncio.run(all_at_once())
    assert len(set(answers)) == 3
    assert all(answer == answers[place % 3] for place, answer in enumerate(answers))
    assert "rear tray" in answers[1]


def test_the_model_of_a_request_chooses_a_profile_which_the_answer_keeps(serve: Serve, aimock: Aimock) -> None:
    aimock.says({"match": {}, "response": {"content": "Said [Ref #1]."}})
    service = serve(chat_model="m", chat_base_url=aimock.base_url, answering="agent")
    client = openai_of(service)
    for name in ("qa-engineer", "gpt-4.1"):
        client.responses.create(input="How do I crop?", model=name, conversation=f"conv_{name[:2]}")
    first, *_, last = (request["messages"][0]["content"] for request in aimock.requests())
    assert "You help engineers who look for the cause of a fault." in first
    assert "You help engineers" not in last
    turns = [service.get(f"/api/conversations/conv_{name}").json()["turns"] for name in ("qa", "gp")]
    assert [turn["answer"].get("profile") for [turn] in turns] == ["qa-engineer", None]


@pytest.mark.parametrize("follow", ["previous_response_id", "conversation", "messages"])
def test_a_follow_up_is_understood_from_what_was_said(serve: Serve, aimock: Aimock, follow: str) -> None:
    aimock.says({"match": {}, "response": {"content": "Said [Ref #1]."}})
    client = openai_of(serve(chat_model="m", chat_base_url=aimock.base_url, answering="retrieve-first"))
    if follow == "messages":
        said = [{"role": "user", "content": QUESTION}, {"role": "assistant", "content": "Said [Ref #1]."}]
        client.responses.create(input=[*said, {"role": "user", "content": "and undo it?"}])
    else:
        first = client.responses.create(input=QUESTION, conversation="conv_1")
        follows = {"previous_response_id": first.id} if follow == "previous_response_id" else {"conversation": "conv_1"}
        client.responses.create(input="and undo it?", **follows)
    asked = [message for message in aimock.requests()[-1]["messages"] if message["role"] != "system"]
    assert [message["role"] for message in asked] == ["user", "assistant", "user"]
    assert "Said" in str(asked[1]["content"]) and "Ref #1" not in str(asked[1]["content"])


def test_an_unknown_previous_response_is_404(service: httpx.Client) -> None:
    with pytest.raises(openai.NotFoundError):
        openai_of(service).responses.create(input="x", previous_response_id=f"caresp_{'0' * 50}")


@pytest.mark.parametrize("asked", ["", "   ", [], [{"role": "assistant", "content": "x"}], "x" * 8001])
def test_a_question_that_cannot_be_asked_fails_with_advice(service: httpx.Client, asked: object) -> None:
    response = openai_of(service).responses.create(input=asked)  # type: ignore[arg-type]
    assert (response.status, response.error.code) == ("failed", "invalid_prompt")


def test_what_is_not_stored_leaves_nothing(service: httpx.Client) -> None:
    response = openai_of(service).responses.create(input=QUESTION, store=False)
    assert "Crop to Content" in response.output_text
    assert service.get("/api/conversations").json()["conversations"] == []
    assert service.get(f"/api/responses/{response.id}/answer").status_code == 404


def test_what_the_model_does_not_accept_fails_the_response_and_is_kept_with_the_question(serve: Serve) -> None:
    with OwnModel(lambda *_: refused(400, "no")) as model:
        service = serve(chat_model="m", chat_base_url=model.base_url)
        *_, last = openai_of(service).responses.create(input=QUESTION, stream=True, conversation="conv_1")
    assert (last.type, last.response.error.code) == ("response.failed", "server_error")
    (turn,) = service.get("/api/conversations/conv_1").json()["turns"]
    assert turn["problem"] == last.response.error.message
    assert turn["answer"] is None


def test_a_stream_cut_off_below_fails_instead_of_ending(serve: Serve) -> None:
    with OwnModel(lambda *_: streamed(chunk("Choose"))) as model:
        service = serve(chat_model="m", chat_base_url=model.base_url, answering="retrieve-first")
        *_, last = openai_of(service).responses.create(input=QUESTION, stream=True)
    assert last.type == "response.failed"


@pytest.mark.rare("waits for what does not come")
def test_a_client_that_goes_away_stops_the_model(serve: Serve) -> None:
    left = []

    async def endless():
        try:
            while True:
                yield chunk("word\n")
                await asyncio.sleep(0.02)
        finally:
            left.append(time.monotonic())

    with OwnModel(lambda *_: StreamingResponse(endless(), media_type="text/event-stream")) as model:
        service = serve(chat_model="m", chat_base_url=model.base_url, answering="retrieve-first")
        with openai_of(service).responses.create(input=QUESTION, stream=True, conversation="conv_1") as stream:
            for event in stream:
                if event.type == "response.output_text.delta":
                    break
        deadline = time.monotonic() + 60
        while not left and time.monotonic() < deadline:
            time.sleep(0.05)
        assert left
        turn = _settled(service)
    assert turn["problem"] == "this answer was stopped"
    assert turn["answer"]["answer"].startswith("word")


def _settled(service: httpx.Client) -> dict[str, object]:
    for _ in range(100):
        (turn,) = service.get("/api/conversations/conv_1").json()["turns"]
        if turn["problem"] and "stopped" in turn["problem"] and turn["answer"]:
            break
        time.sleep(0.05)
    return turn


def test_an_instruction_in_an_article_is_quoted_not_followed(service: httpx.Client) -> None:
    answer = openai_of(service).responses.create(input="How do I replace the toner?").output_text
    assert "Replace the toner cartridge" in answer
    assert not answer.startswith("HACKED")
    assert "<|im_start|>" not in answer or "\\<" in answer or "&lt;" in answer


@pytest.mark.parametrize(
    "mark",
    ["[[PAGE:1]]", "[[IMG:x]]", "<!-- page 3 -->", "(Source: x.pdf, S. 1)", "[Ref #9]", "![x](/api/images/x.png)"],
)
def test_thousands_of_marks_and_sources_in_a_question_are_only_words(service: httpx.Client, mark: str) -> None:
    question = f"{QUESTION} {' '.join([mark] * 8_000)}"[:8_000]
    response = openai_of(service).responses.create(input=question)
    assert response.status == "completed"
    assert mark not in response.output_text
    assert "x.pdf" not in response.output_text
    cited = service.get(f"/api/responses/{response.id}/answer").raise_for_status().json()["citations"]
    known = {article["article_id"] for article in service.get("/api/articles").raise_for_status().json()["articles"]}
    assert {citation["article_id"] for citation in cited} <= known


def test_users_cannot_see_each_others_responses(serve: Serve) -> None:
    service = serve(easy_auth=True)
    ann, bob = (openai_of(service, **signed_in(name)) for name in ("ann", "bob"))
    response = ann.responses.create(input=QUESTION)
    assert ann.responses.retrieve(response.id).id == response.id
    for attempt in (
        lambda: bob.responses.retrieve(response.id),
        lambda: bob.responses.delete(response.id),
        lambda: bob.responses.create(input="x", previous_response_id=response.id),
        lambda: bob.responses.input_items.list(response.id),
    ):
        with pytest.raises(openai.NotFoundError):
            attempt()
    assert ann.responses.retrieve(response.id).id == response.id


def test_the_identity_header_of_the_protocol_is_not_believed_from_outside(serve: Serve) -> None:
    service = serve(easy_auth=True)
    ann = openai_of(service, **signed_in("ann"))
    bob = openai_of(service, **signed_in("bob"), **{"x-agent-user-id": "ann"})
    response = ann.responses.create(input=QUESTION)
    with pytest.raises(openai.NotFoundError):
        bob.responses.retrieve(response.id)


def test_the_route_of_hosted_agents_leads_to_the_same_place(service: httpx.Client) -> None:
    reply = service.post("/responses", json={"input": QUESTION}).raise_for_status().json()
    assert reply["status"] == "completed"
    assert service.get("/readiness").is_success
