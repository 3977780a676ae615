"""Answers whose references are written as sources: ``(Source: Layers)``."""

import httpx
import pytest

from kb_pipeline.settings import Settings
from kb_pipeline_tests.app.api.conftest import Serve, openai_of

QUESTION = "How do I crop a layer to its content?"
SOURCE = "(Source: Layers)"


def test_an_answer_is_given_in_the_style_that_is_asked_for(service: httpx.Client) -> None:
    plain = service.post("/chat", json={"question": QUESTION}).json()
    sources = service.post("/chat", json={"question": QUESTION, "citation_style": "source"}).json()

    assert "[Ref #1]" in plain["answer"] and SOURCE not in plain["answer"]
    assert SOURCE in sources["answer"] and "[Ref #" not in sources["answer"]
    assert sources["citations"] == plain["citations"]


def test_the_setting_is_the_style_of_everybody_who_asks_for_none(serve: Serve, own: Settings) -> None:
    client = serve(own, citation_style="source")

    assert SOURCE in client.post("/chat", json={"question": QUESTION}).json()["answer"]
    assert "[Ref #1]" in client.post("/chat", json={"question": QUESTION, "citation_style": "ref"}).json()["answer"]
    assert SOURCE in openai_of(client).responses.create(input=QUESTION).output_text


def test_a_streamed_response_has_sources_and_annotates_each(service: httpx.Client) -> None:
    with openai_of(service) as openai:
        events = list(openai.responses.create(input=QUESTION, stream=True, extra_body={"citation_style": "source"}))

    streamed = "".join(event.delta for event in events if event.type == "response.output_text.delta")
    [whole] = [event.response for event in events if event.type == "response.completed"]
    assert streamed == whole.output_text and SOURCE in streamed
    annotations = [each for item in whole.output if item.type == "message" for each in item.content[0].annotations]
    told = {streamed[each.start_index : each.end_index] for each in annotations}
    assert SOURCE in told and all(each.startswith("(Source: ") and each.endswith(")") for each in told)


def test_the_kept_turn_has_references(service: httpx.Client) -> None:
    body = {"input": QUESTION, "conversation": "conv_style", "citation_style": "source"}
    assert SOURCE in str(service.post("/v1/responses", json=body).json())

    [turn] = service.get("/api/conversations/conv_style").json()["turns"]
    assert "[Ref #1]" in turn["answer"]["answer"]


@pytest.mark.slow("builds a whole knowledge base")
@pytest.mark.parametrize("style", ["footnote", "", 1, ["ref"], {}])
def test_another_style_is_refused(service: httpx.Client, style: object) -> None:
    assert service.post("/chat", json={"question": QUESTION, "citation_style": style}).status_code == 422
    reply = service.post("/v1/responses", json={"input": QUESTION, "citation_style": style}).json()
    assert reply["status"] == "failed"
    assert "ref or source" in reply["error"]["message"]
