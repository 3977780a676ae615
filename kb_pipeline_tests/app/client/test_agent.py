"""The client for which an agent elsewhere answers: what it keeps, what it sends, and what it says is missing."""

import asyncio
from typing import Any

import pytest
from starlette.responses import JSONResponse, Response

from app.client import Agent, AgentClient, ClientError, ServiceDownError
from app.client.service_token import ServiceToken
from app.schema.conversations import Feedback
from kb_pipeline_tests.app.client.test_client import CREATED, delta, events, response, saying
from kb_pipeline_tests.managed_identity import ManagedIdentity

NOTE = "cannot be opened here"


def annotation(url: str, title: str, at: int) -> dict[str, Any]:
    said = {"type": "url_citation", "url": url, "title": title, "start_index": 0, "end_index": 1}
    place = {"item_id": "i", "output_index": 0, "content_index": 0, "annotation_index": at}
    return {"type": "response.output_text.annotation.added", "annotation": said, **place}


def item(output: object) -> dict[str, Any]:
    return {
        "type": "response.output_item.done",
        "output_index": 1,
        "item": {"type": "structured_outputs", "id": "s", "output": output},
    }


def ask(client: AgentClient, question: str = "How?", conversation: str = "conv_1") -> None:
    async def read() -> None:
        async with client.ask(question, conversation=conversation) as stream:
            async for _ in stream:
                pass

    asyncio.run(read())


def plain(_: object = None) -> Response:
    """What an agent that is none of ours says."""
    return events(
        CREATED,
        delta("Use the tool [Ref #1]."),
        annotation("https://example.com/a", "The *tool*", 0),
        annotation("javascript:alert(1)", "x", 1),
        annotation("/api/articles/crop", "of ours", 2),
        response("completed"),
    )


def test_an_answer_without_citations_is_text_with_links_and_says_so() -> None:
    with saying(plain) as agent, AgentClient(Agent(f"{agent.url}/openai"), "http://127.0.0.1:9") as client:
        ask(client)
        (turn,) = client.conversation("conv_1").turns
        assert turn.answer
        assert turn.answer.citations == ()
        assert turn.answer.answer.startswith(
            "Use the tool [Ref #1].\n\n- [The \\*tool\\*](<https://example.com/a>)\n\n"
        )
        assert NOTE in turn.answer.answer
        assert "javascript" not in turn.answer.answer
        assert (turn.question, turn.problem, turn.has_ended) == ("How?", None, True)
    (sent,) = agent.requests
    assert sent["metadata"] == {"whole_answer": "true"}
    assert "previous_response_id" not in sent
    assert not {"citation_style", "conversation", "web"} & sent.keys(), "fields that a gateway may refuse"
    assert agent.seen[0].url.path == "/openai/responses"


@pytest.mark.parametrize("output", [{"clarification": {}}, {"answer": {"answer": 3}}, "text", None])
def test_an_item_of_another_kind_is_no_answer_of_ours(output: object) -> None:
    said = events(CREATED, delta("Words."), item(output), response("completed"))
    with saying(said) as agent, AgentClient(Agent(agent.url), "http://127.0.0.1:9") as client:
        ask(client)
        answer = client.conversation("conv_1").turns[0].answer
    assert answer
    assert NOTE in answer.answer


def test_a_follow_up_names_the_last_response_that_was_complete() -> None:
    answers = iter(
        [
            events(CREATED, delta("One."), response("completed")),
            events({**CREATED, "response": {**CREATED["response"], "id": "resp_2"}}, delta("Half")),
            events(CREATED, delta("Three."), response("completed")),
        ]
    )
    with saying(lambda _: next(answers)) as agent, AgentClient(Agent(agent.url), "http://127.0.0.1:9") as client:
        ask(client)
        with pytest.raises(ClientError, match="connection was lost"):
            ask(client)
        ask(client)
        ask_problems = [turn.problem for turn in client.conversation("conv_1").turns]
    assert ask_problems == [None, "this answer was stopped", None]
    assert [sent.get("previous_response_id") for sent in agent.requests] == [None, "resp_1", "resp_1"]


def test_conversations_are_kept_apart_found_renamed_and_deleted() -> None:
    answer = lambda _: events(CREATED, delta("Words."), response("completed"))  # noqa: E731
    with saying(answer) as agent, AgentClient(Agent(agent.url), "http://127.0.0.1:9") as client:
        for number in range(3):
            ask(client, f"Question {number}", f"conv_{number}")
        assert [each.title for each in client.conversations().conversations] == [
            "Question 2",
            "Question 1",
            "Question 0",
        ]
        page = client.conversations(limit=2)
        assert [each.id for each in client.conversations(limit=2, after=page.next).conversations] == ["conv_0"]
        assert client.rename("conv_1", "Layers").title == "Layers"
        assert [each.id for each in client.conversations(search="layers").conversations] == ["conv_1"]
        assert "Question 1" in client.conversation_as_markdown("conv_1")
        client.delete("conv_1")
        with pytest.raises(ClientError, match="forgets them when it restarts") as gone:
            client.conversation("conv_1")
        assert gone.value.status == 404
        with pytest.raises(ClientError, match="not rated here"):
            client.feedback("resp_1", Feedback(rating="up"))


def test_a_refusal_of_the_agent_is_told_and_nothing_is_kept() -> None:
    refusal = JSONResponse({"error": {"code": "unauthorized", "message": "no role on the project"}}, 401)
    with saying(refusal) as agent, AgentClient(Agent(agent.url), "http://127.0.0.1:9") as client:
        with pytest.raises(ClientError, match="no role on the project"):
            ask(client)
        assert client.conversations().conversations == ()
    nowhere = AgentClient(Agent("http://127.0.0.1:9/openai"), "http://127.0.0.1:8")
    with nowhere, pytest.raises(ServiceDownError, match=r"127\.0\.0\.1:9/openai"):
        ask(nowhere)


def test_a_token_of_this_process_goes_to_the_agent_alone(managed_identity: ManagedIdentity) -> None:
    with saying(plain) as agent:
        token = ServiceToken(agent.url, "https://ai.azure.com/.default", of_agent=True)
        with AgentClient(Agent(agent.url, "v1"), "http://127.0.0.1:9", agent_token=token) as client:
            ask(client)
    assert agent.seen[0].headers["authorization"] == f"Bearer {managed_identity.tokens[-1]}"
    assert managed_identity.audience_of(managed_identity.tokens[-1]) == "https://ai.azure.com"
    assert agent.seen[0].query_params["api-version"] == "v1"
