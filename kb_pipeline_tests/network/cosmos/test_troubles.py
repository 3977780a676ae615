"""What a graph in Azure Cosmos DB does besides answering: it is busy, refuses, is cut off, or silent."""

import sys
import time
from collections.abc import Iterator
from contextlib import closing

import pytest

from kb_pipeline.errors import (
    MissingExtraError,
    QueryFailedError,
    ServiceRefusedError,
    SettingsError,
    TransientError,
)
from kb_pipeline.network.base import QueryLimits
from kb_pipeline.network.cosmos.gremlin import GremlinService
from kb_pipeline.network.cosmos.store import CosmosStore
from kb_pipeline.settings import Settings
from kb_pipeline_tests.app.cosmos_server import CosmosServer
from kb_pipeline_tests.contracts.network_store_contract import SAMPLE, done
from kb_pipeline_tests.network.cosmos.accounts import GremlinServer, account_settings, running_gremlin_server
from kb_pipeline_tests.network.cosmos.gremlin_server import KEY, Element, Trouble

pytestmark = pytest.mark.slow("many requests to the double of Cosmos DB")

NOWHERE = CosmosServer("https://127.0.0.1:9")
ALL = "g.V().count()"


def busy(after: object = "00:00:00.0500000", status: int = 429) -> Trouble:
    """As Azure says that it is busy: 500, and what it means among the attributes."""
    return Trouble(status=500, attributes={"x-ms-status-code": status, "x-ms-retry-after-ms": after})


@pytest.fixture
def server() -> Iterator[GremlinServer]:
    with running_gremlin_server() as server:
        yield server


@pytest.fixture
def gremlin(server: GremlinServer) -> Iterator[GremlinService]:
    service = GremlinService(account_settings(server.endpoint, NOWHERE))
    yield service
    service.close()


@pytest.mark.parametrize(
    "troubles",
    [
        [busy(), busy()],
        [busy(50), busy("50")],
        [Trouble(status=429), Trouble(status=408)],
        [busy(status=408), busy(status=449), busy()],
        [Trouble("handshake", 429), Trouble("handshake", 503)],
        [Trouble("cut")],
    ],
    ids=["429 twice", "429 in numbers", "plain 429 and 408", "three times", "handshakes", "cut"],
)
def test_a_busy_server_is_asked_again(server: GremlinServer, gremlin: GremlinService, troubles: list[Trouble]) -> None:
    server.troubles += troubles
    assert gremlin.ask(ALL, seconds=30) == [0]
    assert not server.troubles


def test_the_pause_is_as_long_as_the_server_asks(server: GremlinServer, gremlin: GremlinService) -> None:
    server.troubles += [busy("00:00:00.6000000"), busy(400)]
    began = time.monotonic()
    assert gremlin.ask(ALL, seconds=30) == [0]
    assert time.monotonic() - began >= 1.0


@pytest.mark.usefixtures("no_pauses")
@pytest.mark.parametrize("trouble", [busy(), busy(status=408), Trouble("handshake", 503), Trouble("cut")], ids=str)
def test_after_three_more_tries_the_error_says_so(
    server: GremlinServer, gremlin: GremlinService, trouble: Trouble
) -> None:
    server.troubles += [trouble] * 9
    with pytest.raises(TransientError, match=r"busy|cannot be reached"):
        gremlin.ask(ALL, seconds=60)
    assert len(server.troubles) == 5


def test_a_pause_beyond_the_time_of_the_query_is_not_waited_for(server: GremlinServer, gremlin: GremlinService) -> None:
    server.troubles += [busy("00:01:00")] * 9
    with pytest.raises(TransientError, match=r"busy \(429\)"):
        gremlin.ask(ALL, seconds=9)
    assert len(server.queries) == 1


def test_a_silent_server_ends_the_query_in_its_time_and_not_the_next_one(
    server: GremlinServer, gremlin: GremlinService
) -> None:
    server.troubles.append(Trouble("silence"))
    with pytest.raises(QueryFailedError, match="longer than 1 second"):
        gremlin.ask(ALL, seconds=1)
    assert gremlin.ask(ALL, seconds=30) == [0]
    assert server.connections == 2


def test_queries_after_the_end_leave_no_connection_open(server: GremlinServer, gremlin: GremlinService) -> None:
    gremlin.close()
    assert [gremlin.ask(ALL, seconds=30), gremlin.ask(ALL, seconds=30)] == [[0], [0]]
    assert server.connections == 2
    assert server.ended.acquire(timeout=60)
    assert server.ended.acquire(timeout=60)


def test_a_connection_that_was_cut_in_the_middle_of_an_answer_is_made_anew(
    server: GremlinServer, gremlin: GremlinService
) -> None:
    server.vertices = {str(n): Element(str(n), "A") for n in range(200)}
    server.troubles.append(Trouble("cut"))
    assert len(gremlin.ask("g.V()", seconds=30)) == 200
    assert server.connections == 2


def test_a_connection_is_used_again(server: GremlinServer, gremlin: GremlinService) -> None:
    server.troubles += [busy(), Trouble(status=500)]
    with pytest.raises(QueryFailedError):
        gremlin.ask(ALL, seconds=30)
    assert [gremlin.ask(ALL, seconds=30) for _ in range(3)] == [[0]] * 3
    assert server.connections == 1


@pytest.mark.parametrize("status", [401, 403])
def test_a_refused_handshake_is_told_with_the_setting_at_once(
    server: GremlinServer, gremlin: GremlinService, status: int
) -> None:
    server.troubles.append(Trouble("handshake", status))
    with pytest.raises(ServiceRefusedError, match="KB_GREMLIN_KEY"):
        gremlin.ask(ALL, seconds=30)
    assert server.connections == 1


@pytest.mark.parametrize("key", ["d3Jvbmc=", None])
def test_a_wrong_or_missing_key_is_told_with_its_setting_and_not_shown(server: GremlinServer, key: str | None) -> None:
    gremlin = GremlinService(account_settings(server.endpoint, NOWHERE, gremlin_key=key))
    with closing(gremlin), pytest.raises(ServiceRefusedError, match=r"401.*check KB_GREMLIN_KEY") as refused:
        gremlin.ask(ALL, seconds=30)
    assert (key or KEY) not in str(refused.value)
    assert not server.queries


def test_a_wrong_traversal_is_told_in_the_words_of_the_server(server: GremlinServer, gremlin: GremlinService) -> None:
    message = (
        "\r\nActivityId : 12-34\r\nExceptionMessage :\r\n\tGremlin Query Execution Error: Bad step\r\n\tSource : Azure"
    )
    server.troubles.append(Trouble(status=500, attributes={"x-ms-status-code": 400}, message=message))
    with pytest.raises(QueryFailedError, match=r"\(400\): Gremlin Query Execution Error: Bad step; check") as failed:
        gremlin.ask(ALL, seconds=30)
    assert "ActivityId" not in str(failed.value)


def test_an_answer_that_is_too_large_is_refused_before_all_of_it_is_read(
    server: GremlinServer, gremlin: GremlinService
) -> None:
    server.vertices = {str(n): Element(str(n), "A", {"text": "x" * 1000}) for n in range(1000)}
    with pytest.raises(QueryFailedError, match="too large"):
        gremlin.ask("g.V()", seconds=30, most_bytes=100_000)


def test_queries_at_once_have_connections_of_their_own(server: GremlinServer, gremlin: GremlinService) -> None:
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: gremlin.ask(ALL, seconds=30), range(40)))
    assert answers == [[0]] * 40
    assert server.connections <= 8


@pytest.mark.usefixtures("no_pauses")
def test_a_server_that_is_gone_is_told_with_its_address() -> None:
    gremlin = GremlinService(account_settings("ws://127.0.0.1:9/", NOWHERE))
    with pytest.raises(TransientError, match="KB_GREMLIN_ENDPOINT"):
        gremlin.ask(ALL, seconds=5)


def test_readers_keep_their_version_while_the_graph_is_busy(
    server: GremlinServer, cosmos_server: CosmosServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    from kb_pipeline.network.cosmos import store as cosmosdb
    from kb_pipeline.network.cosmos.loader import CosmosLoader
    from kb_pipeline.network.tables import read_tables

    settings = account_settings(server.endpoint, cosmos_server)
    with closing(CosmosLoader(settings, SAMPLE.scenario)) as loader:
        loader.write(read_tables(SAMPLE), "1")
        loader.switch("1")
    store = CosmosStore(settings, SAMPLE)
    monkeypatch.setattr(cosmosdb, "_LOOK_AGAIN_SECONDS", 0.0)
    query = "SELECT count(*) AS n FROM alerts"
    assert done(store.telemetry(query, QueryLimits())).rows == [{"n": 51}]
    server.troubles += [busy()] * 4
    assert done(store.telemetry(query, QueryLimits())).rows == [{"n": 51}]
    assert not server.troubles
    done(store.close())


# --- settings ------------------------------------------------------------------------------------


@pytest.mark.parametrize("module", ["gremlin_python.driver.client", "azure.cosmos"])
def test_a_missing_package_is_told_with_its_extra(monkeypatch: pytest.MonkeyPatch, module: str) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtraError, match=r"KB_NETWORK=cosmosdb.*pip install 'kb-pipeline\[cosmos,gremlin\]'"):
        CosmosStore(account_settings("wss://x.gremlin.cosmos.azure.com", NOWHERE), SAMPLE)


@pytest.mark.parametrize(
    "endpoint",
    ["wss://x.gremlin.cosmos.azure.com:443/", "x.gremlin.cosmos.azure.com:443", "https://x.gremlin.cosmos.azure.com"],
)
def test_the_address_may_be_as_azure_shows_it(endpoint: str) -> None:
    place = GremlinService(account_settings(endpoint, NOWHERE)).service.endpoint
    assert place.startswith("wss://x.gremlin.cosmos.azure.com") and place.endswith("/")


@pytest.mark.parametrize(
    "endpoint", ["", "ws://example.com", "http://example.com", "ftp://example.com", "wss://", "wss://x:y"]
)
def test_an_address_to_which_no_key_may_be_sent_is_refused(endpoint: str) -> None:
    with pytest.raises(SettingsError, match="KB_GREMLIN_ENDPOINT"):
        GremlinService(account_settings(endpoint, NOWHERE))


def test_the_variables_of_other_programs_are_read_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {
        "GRAPH_BACKEND": "cosmosdb",
        "COSMOS_GREMLIN_ENDPOINT": "x.gremlin.cosmos.azure.com",
        "COSMOS_GREMLIN_PRIMARY_KEY": "a2V5",
        "COSMOS_GREMLIN_DATABASE": "d",
        "COSMOS_GREMLIN_GRAPH": "g",
        "COSMOS_NOSQL_ENDPOINT": "https://x.documents.azure.com",
        "COSMOS_NOSQL_DATABASE": "t",
    }.items():
        monkeypatch.setenv(name, value)
    found = Settings()
    assert (found.network, found.gremlin_database, found.gremlin_graph) == ("cosmosdb", "d", "g")
    assert found.gremlin_key and found.gremlin_key.get_secret_value() == "a2V5"
    assert (found.telemetry_endpoint, found.telemetry_database) == ("https://x.documents.azure.com", "t")
    assert "a2V5" not in repr(found)
