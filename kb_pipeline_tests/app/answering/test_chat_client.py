"""The connection that the settings describe: which address, which credentials, and nothing from elsewhere."""

import socket
from typing import Any

import pytest
from starlette.requests import Request
from starlette.responses import RedirectResponse

from app.answering import open_answerer
from app.answering.agent import AgentAnswerer
from app.answering.extractive.answerer import ExtractiveAnswerer
from app.answering.planning.answerer import PlannedAnswerer
from app.answering.retrieve_first import RetrieveFirstAnswerer
from app.errors import AnswerError, UpstreamRefusedError
from app.library.articles import Articles
from app.library.retrieval import Retrieval
from app.model.client import ChatClient, chat_endpoint, connect
from app.settings import AppSettings
from kb_pipeline_tests.app.answering.conftest import Ask
from kb_pipeline_tests.app.model_servers import OwnModel, chunk, streamed
from kb_pipeline_tests.managed_identity import ManagedIdentity

KEY = "sk-do-not-tell"


def answering(*_: object) -> Any:
    return streamed(chunk("Answer."), chunk(finish="stop"))


def asked_of(ask: Ask, **settings: Any) -> Request:
    """The request that a question with these settings becomes; ``{}`` in them is the address."""
    with OwnModel(answering) as model:
        named = {
            name: value.replace("{}", model.url) if isinstance(value, str) else value
            for name, value in settings.items()
        }
        ask("crop?", **{"base_url": None, "answering": "retrieve-first", **named})
    return model.seen[-1]


def test_an_endpoint_of_ones_own_with_a_key(ask: Ask) -> None:
    request = asked_of(ask, base_url="{}/v1", chat_api_key=KEY)
    assert request.url.path == "/v1/chat/completions"
    assert request.headers["authorization"] == f"Bearer {KEY}"


def test_an_endpoint_that_wants_no_key_gets_none_of_the_machine_either(
    ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-machine")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    assert asked_of(ask, base_url="{}/v1").headers["authorization"] == "Bearer none"


def test_azure_openai_by_its_v1_api(ask: Ask) -> None:
    request = asked_of(ask, chat_azure_endpoint="{}/", chat_api_key=KEY)
    assert request.url.path == "/openai/v1/chat/completions"
    assert request.headers["authorization"] == f"Bearer {KEY}"


def test_azure_openai_by_a_version_of_its_api(ask: Ask) -> None:
    request = asked_of(ask, chat_azure_endpoint="{}", chat_api_version="2024-10-21", chat_api_key=KEY)
    assert request.url.path == "/openai/deployments/gpt-test/chat/completions"
    assert request.query_params["api-version"] == "2024-10-21"
    assert request.headers["api-key"] == KEY


@pytest.mark.parametrize("version", ["", "2024-10-21"])
def test_azure_openai_without_a_key_by_this_process_own_identity(
    ask: Ask, managed_identity: ManagedIdentity, version: str
) -> None:
    request = asked_of(ask, chat_azure_endpoint="{}", chat_api_version=version)
    assert managed_identity.accepts(request.headers["authorization"], "https://cognitiveservices.azure.com")


def test_a_process_without_an_identity_is_told_what_to_do(ask: Ask, managed_identity: ManagedIdentity) -> None:
    managed_identity.status = 400
    with pytest.raises(UpstreamRefusedError, match="set KB_CHAT_API_KEY, or let this process have an identity"):
        asked_of(ask, chat_azure_endpoint="{}")


def test_the_endpoint_of_the_knowledge_base_answers_where_no_other_is_named(ask: Ask) -> None:
    shared = {"openai_api_key": KEY, "openai_deployments": {"gpt-test": "our-chat"}}
    request = asked_of(ask, openai_azure_endpoint="{}", openai_api_version="2024-10-21", **shared)
    assert request.url.path == "/openai/deployments/our-chat/chat/completions"
    assert request.headers["api-key"] == KEY


@pytest.mark.parametrize("own", [{"base_url": "{}/v1"}, {"chat_azure_endpoint": "{}"}], ids=["other", "azure"])
def test_the_key_of_the_knowledge_base_is_sent_to_no_other_endpoint(
    ask: Ask, managed_identity: ManagedIdentity, own: dict[str, str]
) -> None:
    request = asked_of(ask, **own, openai_azure_endpoint="https://kb.openai.azure.com", openai_api_key=KEY)
    assert KEY not in str(request.headers)


def test_the_key_of_the_chat_is_sent_to_no_other_endpoint() -> None:
    settings = AppSettings(chat_model="m", chat_api_key=KEY, openai_base_url="http://127.0.0.1:9/v1")
    assert str(connect(settings).base_url) == "https://api.openai.com/v1/"


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({}, ("KB_CHAT_BASE_URL", "KB_CHAT_API_KEY")),
        ({"chat_azure_endpoint": "https://x"}, ("KB_CHAT_AZURE_ENDPOINT", "KB_CHAT_API_KEY")),
        ({"openai_azure_endpoint": "https://x"}, ("KB_OPENAI_AZURE_ENDPOINT", "KB_OPENAI_API_KEY")),
        ({"openai_base_url": "http://x"}, ("KB_OPENAI_BASE_URL", "KB_OPENAI_API_KEY")),
        ({"openai_base_url": "http://x", "chat_base_url": "http://y"}, ("KB_CHAT_BASE_URL", "KB_CHAT_API_KEY")),
    ],
)
def test_messages_name_the_settings_that_are_used(settings: dict[str, str], named: tuple[str, str]) -> None:
    endpoint = chat_endpoint(AppSettings(chat_model="m", **settings))
    assert (endpoint.url_setting, endpoint.key_setting) == named


def test_the_key_is_in_no_representation() -> None:
    client = ChatClient(AppSettings(chat_model="m", chat_api_key=KEY))
    assert KEY not in f"{client!r} {client} {client.connection!r} {client.to_dict()}"


def test_openai_itself_is_asked_where_no_other_endpoint_is_named() -> None:
    assert str(connect(AppSettings(chat_model="m", chat_api_key=KEY)).base_url) == "https://api.openai.com/v1/"


def test_no_test_reaches_a_real_model() -> None:
    with pytest.raises(PermissionError, match="a test tried to connect to"):
        socket.create_connection(("192.0.2.1", 443))


@pytest.mark.parametrize(
    ("settings", "kind"),
    [
        ({}, ExtractiveAnswerer),
        ({"chat_model": "m"}, AgentAnswerer),
        ({"chat_model": "m", "answering": "retrieve-first"}, RetrieveFirstAnswerer),
        ({"chat_model": "m", "answering": "extractive"}, ExtractiveAnswerer),
    ],
)
def test_the_settings_say_how_is_answered(retrieval: Retrieval, settings: dict[str, Any], kind: type) -> None:
    articles = Articles(retrieval.workspace.layout)
    answerer = open_answerer(AppSettings(**settings, planning="off"), retrieval, articles)
    assert type(answerer) is kind
    planned = open_answerer(AppSettings(**settings), retrieval, articles)
    assert type(planned) is PlannedAnswerer
    assert planned.answered_by == answerer.answered_by == AppSettings(**settings).mode
    assert (planned.model, planned.prompt_version) == (answerer.model, answerer.prompt_version)


def test_a_question_is_not_taken_to_another_host(ask: Ask) -> None:
    with OwnModel(answering) as other:

        def elsewhere(*_: object) -> Any:
            return RedirectResponse(f"{other.url}/v1/chat/completions", 307)

        with OwnModel(elsewhere) as model, pytest.raises(AnswerError):
            ask("crop?", base_url=model.base_url, answering="retrieve-first")
    assert other.seen == []
