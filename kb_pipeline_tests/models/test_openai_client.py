"""Failures of an endpoint, made by real servers: each names service, status and the setting to look at."""

import logging
import pickle
import socket
import threading
import time
from typing import Any

import pytest
from llmock.pytest_plugin import LLMock
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response

from kb_pipeline.errors import KnowledgeBaseError, ModelError, ServiceError, ServiceRefusedError, TransientError
from kb_pipeline.models import open_embedder
from kb_pipeline.settings import Settings
from kb_pipeline_tests.app.model_servers import OwnModel, refused
from kb_pipeline_tests.conftest import Article, Build
from kb_pipeline_tests.managed_identity import ManagedIdentity
from kb_pipeline_tests.openai_server import AUDIENCE, KEY, OpenAIServer, openai_server

VERSIONS = pytest.mark.parametrize("version", [None, "2024-10-21"], ids=["v1", "dated"])


def embed(server: OpenAIServer, **settings: Any) -> Any:
    return open_embedder(Settings(**{"embedder": "openai", **server.settings, **settings})).embed(["Blur"])


def failure(server: OpenAIServer, *responses: Response, **settings: Any) -> KnowledgeBaseError:
    """What an embedder raises when these are the server's first answers."""
    server.first.extend(responses)
    with pytest.raises(KnowledgeBaseError) as raised:
        embed(server, **settings)
    return raised.value


# --- who asks, and where ----------------------------------------------------------------------------


@VERSIONS
def test_a_key_is_sent_as_the_api_wants_it(openai: OpenAIServer, version: str | None) -> None:
    embed(openai, openai_api_version=version)
    request = openai.model.seen[0]
    if version:
        assert request.url.path == "/openai/deployments/text-embedding-3-small/embeddings"
        assert (request.headers["api-key"], request.query_params["api-version"]) == (KEY, version)
    else:
        assert request.url.path == "/openai/v1/embeddings"
        assert request.headers["authorization"] == f"Bearer {KEY}"


@VERSIONS
def test_without_a_key_azure_is_asked_by_this_process_own_identity(
    managed_identity: ManagedIdentity, version: str | None
) -> None:
    with openai_server(managed_identity) as server:
        assert embed(server, openai_api_version=version).shape == (1, 1536)
    assert managed_identity.audiences == [AUDIENCE]


@VERSIONS
def test_a_token_is_renewed_before_it_expires(managed_identity: ManagedIdentity, version: str | None) -> None:
    managed_identity.lifetime = 60
    with openai_server(managed_identity) as server:
        embedder = open_embedder(Settings(embedder="openai", openai_api_version=version, **server.settings))
        for _ in range(3):
            embedder.embed(["Blur"])
        sent = [request.headers["authorization"] for request in server.model.seen]
    assert len(set(sent)) == 3


def test_an_expired_token_is_refused_and_asked_for_again_the_next_time(managed_identity: ManagedIdentity) -> None:
    with openai_server(managed_identity) as server:
        managed_identity.lifetime = -10
        assert isinstance(failure(server), ServiceRefusedError)
        managed_identity.lifetime = 3600
        assert embed(server).shape == (1, 1536)


def test_a_process_without_an_identity_is_told_what_to_do(managed_identity: ManagedIdentity) -> None:
    managed_identity.status = 400
    with openai_server(managed_identity) as server:
        problem = failure(server)
    assert isinstance(problem, ServiceRefusedError)
    assert "set KB_OPENAI_API_KEY, or let this process have an identity" in str(problem)
    assert "the role Cognitive Services OpenAI User" in str(problem)


def test_nothing_of_the_machine_is_sent_to_an_endpoint_that_wants_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-machine")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    vector = {"index": 0, "embedding": [0.5] * 4}
    with OwnModel(lambda *_: JSONResponse({"data": [vector]})) as own:
        open_embedder(Settings(embedder="openai/own/4", openai_base_url=own.base_url)).embed(["Blur"])
    assert own.seen[0].headers["authorization"] == "Bearer none"


@VERSIONS
def test_nothing_is_sent_to_where_an_answer_leads(openai: OpenAIServer, version: str | None) -> None:
    with OwnModel(lambda *_: JSONResponse({})) as other:
        problem = failure(openai, RedirectResponse(other.url), openai_api_version=version)
    assert isinstance(problem, ServiceRefusedError)
    assert "(307)" in str(problem)
    assert not other.seen


# --- refusals ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [401, 403])
def test_refused_credentials_name_key_and_role(openai: OpenAIServer, status: int) -> None:
    problem = failure(openai, refused(status, "no access"))
    assert isinstance(problem, ServiceRefusedError)
    assert f"Azure OpenAI at {openai.model.url} refused our credentials ({status}): no access" in str(problem)
    assert "check KB_OPENAI_API_KEY, or without a key give this identity the role Cognitive Services" in str(problem)


def test_a_wrong_key_is_refused_by_the_service(openai: OpenAIServer) -> None:
    assert isinstance(failure(openai, openai_api_key="another"), ServiceRefusedError)


def test_an_unknown_deployment_names_the_settings_that_lead_to_it(openai: OpenAIServer) -> None:
    problem = failure(openai, openai_deployments={"text-embedding-3-small": "ours"})
    assert isinstance(problem, ServiceRefusedError)
    assert "knows no deployment 'ours' (404)" in str(problem)
    assert "check KB_EMBEDDER, KB_OPENAI_DEPLOYMENTS and KB_OPENAI_AZURE_ENDPOINT" in str(problem)


def test_a_used_up_quota_is_for_a_person_to_raise(openai: OpenAIServer) -> None:
    quota = refused(429, "You exceeded your current quota", "insufficient_quota", **{"retry-after": "9"})
    problem = failure(openai, quota)
    assert isinstance(problem, ServiceRefusedError)
    assert "quota" in str(problem)


def test_what_is_not_accepted_is_told_in_the_words_of_the_service(openai: OpenAIServer) -> None:
    problem = failure(openai, refused(400, "'$.input' is invalid"))
    assert type(problem) is ServiceError
    assert "rejected the request (400): '$.input' is invalid" in str(problem)


@pytest.mark.parametrize(
    "answer", [PlainTextResponse("<html>It works!</html>", media_type="text/html"), PlainTextResponse("")]
)
def test_a_server_that_is_no_such_endpoint_names_the_address(openai: OpenAIServer, answer: Response) -> None:
    problem = failure(openai, answer)
    assert isinstance(problem, ModelError)
    assert "check KB_OPENAI_AZURE_ENDPOINT" in str(problem)


# --- what passes ------------------------------------------------------------------------------------


def test_a_long_wait_is_left_to_the_build(openai: OpenAIServer) -> None:
    problem = failure(openai, refused(429, "too many requests", **{"retry-after": "7"}))
    assert isinstance(problem, TransientError)
    assert problem.retry_after == 7
    assert len(openai.requests) == 1


@pytest.mark.parametrize("status", [408, 409, 429, 500, 503])
def test_a_short_wait_is_waited_for(openai: OpenAIServer, status: int) -> None:
    openai.first.append(refused(status, "in a moment", **{"retry-after-ms": "50"}))
    assert embed(openai).shape == (1, 1536)


def test_a_service_that_goes_on_failing_is_left_to_the_build(openai: OpenAIServer) -> None:
    wait = {"retry-after": "0.05"}
    problem = failure(openai, *[refused(503, "overloaded", **wait) for _ in range(5)])
    assert isinstance(problem, TransientError)
    assert "is busy (503): overloaded" in str(problem)
    assert len(openai.requests) == 2


def test_nobody_there_names_the_address() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
    settings = Settings(embedder="openai", openai_azure_endpoint=url, openai_api_key=KEY)
    with pytest.raises(TransientError, match=rf"cannot be reached at {url} .*check KB_OPENAI_AZURE_ENDPOINT"):
        open_embedder(settings).embed(["Blur"])


@pytest.mark.slow("waits for a silent or slow service")
def test_silence_ends_after_the_time_in_the_settings() -> None:
    release = threading.Event()
    with OwnModel(lambda *_: release.wait(60) and JSONResponse({})) as silent:
        settings = Settings(
            embedder="openai", openai_azure_endpoint=silent.url, openai_api_key=KEY, service_timeout_seconds=0.3
        )
        begun = time.monotonic()
        with pytest.raises(TransientError, match=r"did not answer within 0.3 s.*KB_SERVICE_TIMEOUT_SECONDS"):
            open_embedder(settings).embed(["Blur"])
        assert time.monotonic() - begun < 30
        release.set()


@pytest.mark.slow("waits for a silent or slow service")
def test_an_answer_that_ends_in_the_middle_is_passing(openai: OpenAIServer) -> None:
    halves = [Response(b'{"data": [', media_type="application/json") for _ in range(2)]
    for half in halves:
        half.headers["content-length"] = "1000"
    problem = failure(openai, *halves)
    assert isinstance(problem, TransientError)
    assert "check KB_OPENAI_AZURE_ENDPOINT" in str(problem)


@pytest.mark.slow("waits for a silent or slow service")
def test_another_server_finds_no_fault_with_how_its_limit_is_taken(llmock: LLMock) -> None:
    llmock.fail(429, times=1, retry_after=0.2).fail(500, times=1)
    embedder = open_embedder(Settings(embedder="openai", openai_base_url=llmock.base_url()))
    with pytest.raises(TransientError, match="500"):
        embedder.embed(["Blur"])  # one more try each time; the build goes on from there
    assert embedder.embed(["Blur"]).shape == (1, 1536)
    llmock.assert_resilient()


@pytest.mark.slow("waits for a silent or slow service")
def test_a_build_waits_as_long_as_the_service_asks(openai: OpenAIServer, article: Article, build_here: Build) -> None:
    article("layers", "<h1>Layers</h1><p>Crop a layer to what it shows.</p>")
    openai.first.append(refused(429, "too many requests", **{"retry-after": "2.1"}))
    begun = time.monotonic()
    result = build_here(embedder="openai", **openai.settings)["layers"]
    assert result.failed_layer is None
    assert time.monotonic() - begun > 2
    assert len(openai.requests) == 2


# --- secrets ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [400, 401, 404, 429, 500])
def test_a_key_that_the_service_quotes_is_in_no_error_log_or_traceback(
    openai: OpenAIServer, caplog: pytest.LogCaptureFixture, status: int
) -> None:
    caplog.set_level(logging.DEBUG)
    quoting = [refused(status, f"no: Bearer {KEY}", **{"retry-after": "30"}) for _ in range(2)]
    openai.first.extend(quoting)
    with pytest.raises(KnowledgeBaseError) as raised:
        embed(openai)
    assert KEY not in repr(raised.getrepr(style="long", chain=True))
    assert KEY not in repr(raised.value) + caplog.text


@pytest.mark.slow("waits for a silent or slow service")
def test_a_token_is_in_no_error_log_or_traceback(
    managed_identity: ManagedIdentity, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    with OwnModel(lambda _, request: refused(403, f"no: {request.headers['authorization']}")) as quoting:
        settings = Settings(embedder="openai", openai_azure_endpoint=quoting.url)
        with pytest.raises(ServiceRefusedError) as raised:
            open_embedder(settings).embed(["Blur"])
    told = repr(raised.getrepr(style="long", chain=True)) + caplog.text
    assert managed_identity.tokens
    assert not [token for token in managed_identity.tokens if token in told]


def test_the_key_is_in_no_representation_of_the_embedder(openai: OpenAIServer) -> None:
    embedder: Any = open_embedder(Settings(embedder="openai", **openai.settings))
    embedder.embed(["Blur"])
    connection = embedder._connection
    assert KEY not in f"{embedder!r} {connection!r} {connection.endpoint!r} {connection._client!r}"
    assert "_client" not in vars(pickle.loads(pickle.dumps(connection)))
