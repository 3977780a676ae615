"""What an account of telemetry refuses is told with the setting to look at, in the time of the query."""

import threading

import pytest

from kb_pipeline.errors import KnowledgeBaseError, QueryFailedError, ServiceRefusedError, SettingsError, TransientError
from kb_pipeline.network.cosmos.sql import TelemetryService
from kb_pipeline_tests.app.conversations.azure_doubles import Answer, RefusingCosmos, refusing_cosmos
from kb_pipeline_tests.app.cosmos_server import CosmosServer
from kb_pipeline_tests.managed_identity import ManagedIdentity
from kb_pipeline_tests.network.cosmos.accounts import account_settings

GRAPH = "wss://x.gremlin.cosmos.azure.com"


def service(telemetry: CosmosServer, **given: object) -> TelemetryService:
    return TelemetryService(account_settings(GRAPH, telemetry, **given), throttled_tries=1)


@pytest.mark.slow("many requests to the double of Cosmos DB")
@pytest.mark.parametrize(
    ("status", "error", "words"),
    [
        (401, ServiceRefusedError, "check KB_TELEMETRY_KEY, or without a key give this identity the role Cosmos DB"),
        (403, ServiceRefusedError, "Built-in Data Reader"),
        (404, ServiceRefusedError, "404"),
        (429, TransientError, "busy"),
        (503, TransientError, "busy"),
        (400, QueryFailedError, "the words of the service"),
    ],
)
def test_a_refusal_is_told_with_what_to_do(status: int, error: type[KnowledgeBaseError], words: str) -> None:
    with refusing_cosmos() as account:
        telemetry = service(CosmosServer(account.endpoint))
        account.status = status
        with pytest.raises(error, match=words) as refused:
            list(telemetry.rows("alerts", "SELECT * FROM c", [], 10))
        assert CosmosServer("").key not in str(refused.value)


def test_without_a_key_the_identity_of_this_process_signs_in(
    managed_identity: ManagedIdentity, cosmos_server: CosmosServer
) -> None:
    service(cosmos_server, telemetry_key=None).ensure("alerts", "source_id", "raised_at")
    assert managed_identity.audiences == ["https://127.0.0.1"]


def test_a_container_that_is_partitioned_otherwise_is_refused_before_rows_are_written(
    cosmos_server: CosmosServer,
) -> None:
    telemetry = service(cosmos_server)
    telemetry.ensure("alerts", "source_id", "raised_at")
    with pytest.raises(SettingsError, match="partitioned by /source_id, not by /region"):
        telemetry.ensure("alerts", "region", "raised_at")
    telemetry.close()


@pytest.mark.parametrize("endpoint", ["http://example.com", "x"])
def test_an_address_to_which_no_key_may_be_sent_is_refused(endpoint: str) -> None:
    with pytest.raises(SettingsError, match="KB_TELEMETRY_ENDPOINT"):
        service(CosmosServer(endpoint))


def test_a_malformed_key_is_told_and_not_shown(cosmos_server: CosmosServer) -> None:
    telemetry = service(cosmos_server, telemetry_key="not-base64!")
    with pytest.raises(KnowledgeBaseError, match="KB_TELEMETRY_KEY") as refused:
        list(telemetry.rows("alerts", "SELECT * FROM c", [], 10))
    assert "not-base64!" not in str(refused.value)


def test_a_scenario_with_telemetry_needs_an_account_of_it() -> None:
    telemetry = service(CosmosServer(""), telemetry_endpoint=None)
    with pytest.raises(SettingsError, match="set KB_TELEMETRY_ENDPOINT"):
        list(telemetry.rows("alerts", "SELECT * FROM c", [], 10))


@pytest.mark.slow("many requests to the double of Cosmos DB")
def test_a_silent_account_ends_the_query_in_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    asked, speaking = threading.Event(), threading.Event()
    answer = RefusingCosmos.answer

    def slowly(account: RefusingCosmos, path: str) -> Answer:
        if path.endswith("/docs/") and asked.is_set():
            speaking.wait(20)
        return answer(account, path)

    monkeypatch.setattr(RefusingCosmos, "answer", slowly)
    with refusing_cosmos() as account:
        telemetry = service(CosmosServer(account.endpoint))
        list(telemetry.rows("alerts", "SELECT * FROM c", [], 10))
        asked.set()
        with pytest.raises(QueryFailedError, match="longer than 1 second"):
            list(telemetry.rows("alerts", "SELECT * FROM c", [], 1))
        speaking.set()
