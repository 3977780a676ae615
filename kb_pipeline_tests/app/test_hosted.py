"""The service as a hosted agent of Foundry: started by the platform's variables, over the platform's store."""

import asyncio
import shutil
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import openai
import pytest
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse

from app.answering.base import Message
from app.api.responses import earlier_as_shown
from app.callers.principal import Principal
from app.client import Agent, AgentClient
from app.schema.answers import ChatAnswer
from app.schema.conversations import Turn
from app.service import open_service
from app.settings import AppSettings
from kb_pipeline.flow.access import Access, AccessLists
from kb_pipeline.settings import Settings
from kb_pipeline.store.layout import Layout
from kb_pipeline_tests.app.foundry_storage import FoundryStorage, foundry_storage
from kb_pipeline_tests.app.grounding.passages import citation
from kb_pipeline_tests.app.model_servers import OwnModel
from kb_pipeline_tests.app.service_process import Served, service_process
from kb_pipeline_tests.managed_identity import signed_in
from kb_pipeline_tests.ports import free_port

CALLS = {"call-of-ann-1": "ann", "call-of-ann-2": "ann", "call-of-bob": "bob"}
CROP = "How do I crop a layer?"


@dataclass(frozen=True)
class Hosted:
    service: Served
    storage: FoundryStorage
    access: AccessLists

    def client(self, user: str, call: str) -> openai.OpenAI:
        """As the platform passes requests on: with the user and the id of the call, which callers cannot set."""
        headers = {"x-agent-user-id": user, "x-agent-foundry-call-id": call}
        return openai.OpenAI(
            base_url=str(self.service.client.base_url), api_key="none", max_retries=0, default_headers=headers
        )


@pytest.fixture(scope="module")
def hosted(tmp_path_factory: pytest.TempPathFactory, knowledge_base: Settings) -> Iterator[Hosted]:
    folder = tmp_path_factory.mktemp("hosted")
    shutil.copytree(knowledge_base.home, folder / "home")
    own = knowledge_base.model_copy(update={"home": str(folder / "home")})
    port = free_port()
    with (
        pytest.MonkeyPatch.context() as monkeypatch,
        signed_in(monkeypatch) as identity,
        foundry_storage(folder, identity, CALLS) as storage,
    ):
        platform = {
            "FOUNDRY_HOSTING_ENVIRONMENT": "prod",
            "FOUNDRY_PROJECT_ENDPOINT": storage.url,
            "FOUNDRY_AGENT_NAME": "knowledge-base",
            "FOUNDRY_AGENT_VERSION": "3",
            "PORT": str(port),
            "SSL_CERT_FILE": str(storage.certificate),
        }
        with service_process(own, folder / "log", port=port, **platform) as service:
            yield Hosted(service, storage, AccessLists(Layout.of(own)))


@pytest.mark.slow("starts the program")
def test_it_listens_where_the_platform_says_and_beyond_loopback(hosted: Hosted) -> None:
    assert hosted.service.client.get("/readiness").is_success
    with socket.socket() as elsewhere:
        elsewhere.settimeout(60)
        elsewhere.connect(("127.0.0.2", hosted.service.port))


@pytest.mark.slow("starts the program")
def test_it_answers_and_the_platform_keeps_the_response(hosted: Hosted) -> None:
    reply = hosted.client("ann", "call-of-ann-1").responses.create(model="knowledge-base", input=CROP)
    assert "Crop to Content" in reply.output_text
    kept = hosted.storage.responses["ann", reply.id]
    assert kept["status"] == "completed"
    (message,) = [item for item in kept["output"] if item["type"] == "message"]
    assert "Crop to Content" in message["content"][0]["text"]
    assert message["content"][0]["annotations"]


def test_a_follow_up_knows_what_was_said(hosted: Hosted) -> None:
    ann = hosted.client("ann", "call-of-ann-1").responses
    first = ann.create(model="knowledge-base", input=CROP)
    again = hosted.client("ann", "call-of-ann-2").responses
    second = again.create(model="knowledge-base", input="And how do I undo it?", previous_response_id=first.id)
    assert hosted.storage.responses["ann", second.id]["previous_response_id"] == first.id
    assert again.retrieve(first.id).output_text == first.output_text


GATEWAY = "/api/projects/kb/agents/knowledge-base/endpoint/protocols/openai"


def gateway_to(hosted: Hosted, user: str, call: str) -> OwnModel:
    """The gateway of the platform: it passes on the protocol and nothing else, and says who asks."""

    def passed_on(body: dict[str, Any], request: Request) -> Response:
        if request.url.path != f"{GATEWAY}/responses" or request.query_params.get("api-version") != "v1":
            return JSONResponse({"error": {"code": "not_found", "message": "there is no such route"}}, 404)
        headers = {"x-agent-user-id": user, "x-agent-foundry-call-id": call}

        def streamed() -> Iterator[bytes]:
            with hosted.service.client.stream("POST", "/responses", json=body, headers=headers) as reply:
                yield from reply.iter_raw()

        return StreamingResponse(streamed(), media_type="text/event-stream")

    return OwnModel(passed_on)


async def read_to_the_end(client: AgentClient, question: str, conversation: str) -> str:
    async with client.ask(question, conversation=conversation) as stream:
        return "".join([part async for part in stream if isinstance(part, str)])


def test_the_page_shows_its_answers_with_citations(hosted: Hosted) -> None:
    with (
        gateway_to(hosted, "ann", "call-of-ann-1") as gateway,
        AgentClient(Agent(f"{gateway.url}{GATEWAY}", "v1"), "http://127.0.0.1:9") as client,
    ):
        text = asyncio.run(read_to_the_end(client, CROP, "conv_1"))
        asyncio.run(read_to_the_end(client, "And how do I undo it?", "conv_1"))
        first, second = client.conversation("conv_1").turns
        assert first.answer
        assert text == first.answer.answer
        cited = first.answer.citations[0]
        assert (cited.number, cited.article_id) == (1, "layers")
        assert cited.quotes
        assert client.answer(first.response_id) == first.answer
        assert hosted.storage.responses["ann", second.response_id]["previous_response_id"] == first.response_id
        assert [each.turns for each in client.conversations().conversations] == [2]


def test_another_user_does_not_find_it(hosted: Hosted) -> None:
    reply = hosted.client("ann", "call-of-ann-1").responses.create(model="knowledge-base", input=CROP)
    with pytest.raises(openai.NotFoundError):
        hosted.client("bob", "call-of-bob").responses.retrieve(reply.id)


def test_what_is_restricted_is_found_by_whom_the_platform_names_only(hosted: Hosted) -> None:
    question = "What is the salary of the director?"
    ask = hosted.client("bob", "call-of-bob").responses.create
    assert "12345" not in ask(model="knowledge-base", input=question).output_text


def test_what_the_platform_keeps_is_not_shown_to_who_may_no_longer_read_what_it_rests_on(hosted: Hosted) -> None:
    ann = hosted.client("ann", "call-of-ann-1").responses
    first = ann.create(model="knowledge-base", input="How do I clear a paper jam?", metadata={"whole_answer": "true"})
    second = ann.create(model="knowledge-base", input="And then?", previous_response_id=first.id)
    assert "rear tray" in ann.retrieve(first.id).output_text
    hosted.access.record("printing", Access(readers=("group-hr",)), pending=True)
    try:
        for read in (ann.retrieve, ann.input_items.list):
            for response in (first, second):
                with pytest.raises(openai.NotFoundError):
                    read(response.id)
        third = ann.create(model="knowledge-base", input="And once more?", previous_response_id=second.id)
        assert "rear tray" not in str(third)
        assert hosted.storage.responses["ann", third.id]["status"] == "completed"
    finally:
        hosted.access.record("printing", Access(), pending=True)
    assert "rear tray" in ann.retrieve(first.id).output_text


def test_a_model_is_given_no_message_that_its_asker_may_no_longer_see(own: Settings) -> None:
    context: Any = SimpleNamespace(conversation_id="conv_1", response_id="caresp_3", request={})

    async def earlier() -> list[list[Message] | None]:
        service = open_service(AppSettings(), own)
        for name in ("Layers", "Printing"):
            cited = citation("", 1, name).model_copy(update={"article_id": name.lower()})
            answer = ChatAnswer(answer=f"{name}. [Ref #1]", citations=(cited,), answered_by="agent")
            turn = Turn(response_id=f"caresp_{name}", asked_at="", question=f"{name}?", answer=answer)
            await service.conversations.begin_turn("ann", "conv_1", turn.response_id, turn.question)
            await service.conversations.finish_turn("ann", "conv_1", turn)
        before = await earlier_as_shown(service, Principal("ann"), context)
        service.articles.access.record("printing", Access(readers=("group-hr",)), pending=True)
        after = await earlier_as_shown(service, Principal("ann"), context)
        await service.close()
        return [before, after]

    assert asyncio.run(earlier()) == [None, [Message("user", "Layers?"), Message("assistant", "Layers.")]]


def test_headers_of_easy_auth_are_not_believed(hosted: Hosted) -> None:
    claimed = {"x-ms-client-principal-id": "ann", "x-ms-client-principal-name": "group-hr"}
    client = hosted.client("bob", "call-of-bob").with_options(default_headers=claimed)
    headers = {"x-agent-user-id": "bob", "x-agent-foundry-call-id": "call-of-bob", **claimed}
    reply = client.responses.create(
        model="knowledge-base", input="What is the salary of the director?", extra_headers=headers
    )
    assert "12345" not in reply.output_text


@pytest.mark.slow("starts the program")
def test_probes_need_nobody(hosted: Hosted) -> None:
    assert hosted.service.client.get("/health").is_success
