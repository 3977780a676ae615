"""Loading into Azure Cosmos DB: readers see whole versions only, and a load that was killed is simply repeated."""

import os
import random
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from kb_pipeline.errors import ScenarioError
from kb_pipeline.network.base import QueryLimits, TopologyQuery
from kb_pipeline.network.cosmos.loader import CosmosLoader
from kb_pipeline.network.cosmos.sql import TelemetryService
from kb_pipeline.network.cosmos.store import CosmosStore
from kb_pipeline.network.loading import load
from kb_pipeline.network.scenario import ScenarioFolder
from kb_pipeline.settings import Settings
from kb_pipeline_tests.app.cosmos_server import CosmosServer
from kb_pipeline_tests.contracts.network_store_contract import SAMPLE, done
from kb_pipeline_tests.network.cosmos.accounts import (
    GremlinServer,
    account_settings,
    running_gremlin_server,
    variables,
)

pytestmark = pytest.mark.slow("many requests to the double of Cosmos DB")

KILLS = int(os.environ.get("KB_TEST_KILLS", "3"))
LOAD = """
import sys
from pathlib import Path
from kb_pipeline.network.loading import load
from kb_pipeline.network.opening import open_loader
from kb_pipeline.network.scenario import ScenarioFolder
from kb_pipeline.settings import Settings
settings, folder = Settings(), ScenarioFolder(Path(sys.argv[1]))
load(folder, Path(sys.argv[2]), open_loader(settings, folder))
"""


@pytest.fixture
def server() -> Iterator[GremlinServer]:
    with running_gremlin_server() as server:
        yield server


@pytest.fixture
def settings(server: GremlinServer, cosmos_server: CosmosServer) -> Settings:
    return account_settings(server.endpoint, cosmos_server)


def load_into(settings: Settings, folder: Path, home: Path) -> bool:
    """Load, and return whether anything was made."""
    scenario = ScenarioFolder(folder)
    with closing(CosmosLoader(settings, scenario.scenario)) as loader:
        return load(scenario, home, loader)[-1].made


def append(folder: Path, name: str, row: str) -> None:
    with (folder / name).open("a") as file:
        file.write(row + "\n")


def rows_of(settings: Settings, container: str) -> dict[str, str]:
    """The version of every row in a container, by its id."""
    service = TelemetryService(settings)
    try:
        found = service.rows(container, "SELECT c.id, c.kb_version FROM c", [], 60)
        return {row["id"]: row["kb_version"] for row in found}
    finally:
        service.close()


def test_nothing_is_written_again_when_nothing_changed(
    server: GremlinServer, settings: Settings, folder: Path, tmp_path: Path
) -> None:
    assert load_into(settings, folder, tmp_path)
    before = len(server.queries)
    assert not load_into(settings, folder, tmp_path)
    assert not [query for query in server.queries[before:] if "addV" in query or "addE" in query]


def test_a_changed_scenario_is_seen_whole_and_the_version_before_the_last_is_removed(
    server: GremlinServer, settings: Settings, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kb_pipeline.network.cosmos.store._LOOK_AGAIN_SECONDS", 0.0)
    store = CosmosStore(settings, ScenarioFolder(folder))
    for number in range(3):
        append(folder, "network/services.csv", f"VPN-NEW-{number},New,AU,,VPN,New,0")
        load_into(settings, folder, tmp_path)
        assert len(done(store.topology(TopologyQuery())).nodes) == 51 + number
        assert done(store.graph("g.V().count()", QueryLimits())).rows == [{"value": 51 + number}]
    done(store.close())
    versions = {element.properties["partitionKey"] for element in server.vertices.values()}
    assert len(versions) == 3  # this and the last one, and what names them
    assert len(server.vertices) == 52 + 53 + 1
    assert set(rows_of(settings, "alerts").values()) == {rows_of(settings, "alerts").popitem()[1]}


def test_only_containers_whose_rows_changed_are_written(settings: Settings, folder: Path, tmp_path: Path) -> None:
    load_into(settings, folder, tmp_path)
    metrics, alerts = rows_of(settings, "link_metrics"), rows_of(settings, "alerts")
    append(folder, "telemetry/alerts.csv", "ALM-99,2026-11-02T03:50:00Z,,LINK-SYD-MEL,TransportLink,LINK_DOWN,MAJOR,x")
    load_into(settings, folder, tmp_path)
    assert rows_of(settings, "link_metrics") == metrics
    assert len(rows_of(settings, "alerts")) == len(alerts) + 52  # those of the version before are kept for readers


def test_unloading_removes_everything(server: GremlinServer, settings: Settings, folder: Path, tmp_path: Path) -> None:
    load_into(settings, folder, tmp_path)
    with closing(CosmosLoader(settings, ScenarioFolder(folder).scenario)) as loader:
        loader.forget()
        assert loader.current() == ""
    assert not server.vertices and not server.edges
    assert not rows_of(settings, "alerts") and not rows_of(settings, "link_metrics")


def test_two_scenarios_of_one_account_do_not_see_each_other(
    server: GremlinServer, settings: Settings, folder: Path, tmp_path: Path
) -> None:
    other = folder.rename(folder.parent / "other")
    manifest = other / "scenario.yaml"
    manifest.write_text(manifest.read_text().replace("name: telco", "name: other", 1))
    append(other, "network/services.csv", "VPN-OTHER,New,AU,,VPN,New,0")
    load_into(settings, other, tmp_path)
    load_into(settings, SAMPLE.folder, tmp_path)
    counts = []
    for each in (other, SAMPLE.folder):
        store = CosmosStore(settings, ScenarioFolder(each))
        counts.append(done(store.graph("g.V().count()", QueryLimits())).rows[0]["value"])
        assert done(store.telemetry("SELECT count(*) AS n FROM alerts", QueryLimits())).rows == [{"n": 51}]
        done(store.close())
    assert counts == [51, 50]


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("network/services.csv", ",region,", ",partitionKey,"),
        ("network/services.csv", ",region,", ",kb_page,"),
        ("network/services.csv", ",region,", ",label,"),
        ("network/services.csv", ",region,", ",n').drop(),"),
        ("telemetry/alerts.csv", ",message", ",id"),
        ("telemetry/alerts.csv", ",message", ",_self"),
    ],
)
def test_a_column_that_cannot_be_stored_is_named_before_anything_is_written(
    server: GremlinServer, settings: Settings, folder: Path, tmp_path: Path, name: str, old: str, new: str
) -> None:
    path = folder / name
    path.write_text(path.read_text().replace(old, new, 1))
    with pytest.raises(ScenarioError, match="rename"):
        load_into(settings, folder, tmp_path)
    assert not server.vertices


def test_hostile_values_are_stored_as_they_are(settings: Settings, folder: Path, tmp_path: Path) -> None:
    append(folder, "network/services.csv", """A/B?#\\',"x'); g.V().drop() //",${System.exit(1)},,VPN,"line "" two",0""")
    load_into(settings, folder, tmp_path)
    store = CosmosStore(settings, ScenarioFolder(folder))
    (node,) = done(store.topology(TopologyQuery(text="A/B?"))).nodes
    done(store.close())
    assert (node["id"], node["label"]) == ("A/B?#\\'", "x'); g.V().drop() //")
    assert node["properties"]["region"] == "${System.exit(1)}"


@pytest.mark.rare("kills")
def test_a_load_that_is_killed_anywhere_is_never_seen_and_a_repeat_ends_the_same(
    server: GremlinServer, settings: Settings, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The loader is killed at requests of the graph, and after its last one, among rows of telemetry."""
    monkeypatch.setattr("kb_pipeline.network.cosmos.store._LOOK_AGAIN_SECONDS", 0.0)
    load_into(settings, folder, tmp_path)
    append(folder, "network/services.csv", "VPN-NEW,New,AU,,VPN,New,0")
    append(folder, "telemetry/alerts.csv", "ALM-99,2026-11-02T03:50:00Z,,LINK-SYD-MEL,TransportLink,LINK_DOWN,MAJOR,x")
    append(folder, "telemetry/link_metrics.csv", "2026-11-02T04:05:00Z,LINK-SYD-MEL,1,2,3,4,5")
    store = CosmosStore(settings, ScenarioFolder(folder))
    environment = os.environ | variables(settings) | {"PYTHONWARNINGS": "ignore"}
    chosen = random.Random(7)
    for number in range(KILLS):
        kill_at = chosen.randint(*((1, 50), (51, 100), (101, 108))[number % 3])
        seen = 0
        command = [sys.executable, "-c", LOAD, str(folder), str(tmp_path)]
        with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, start_new_session=True) as process:

            def count(query: str, process: "subprocess.Popen[bytes]" = process, at: int = kill_at) -> None:
                nonlocal seen
                if "kb_state" not in query or "addV" in query:
                    seen += 1
                if seen == at:
                    pause = chosen.random() * 0.1 if at > 100 else 0.0  # the last edges, then rows of telemetry
                    threading.Timer(pause, process.send_signal, [signal.SIGKILL]).start()

            server.on_query = count
            assert process.wait(60) == -signal.SIGKILL, process.stderr and process.stderr.read().decode()
            server.on_query = lambda query: None
        vertices = len(done(store.topology(TopologyQuery())).nodes)
        alerts = done(store.telemetry("SELECT count(*) AS n FROM alerts", QueryLimits())).rows[0]["n"]
        assert (vertices, alerts) in ((50, 51), (51, 52)), f"after kill {number} at request {kill_at}"
        if vertices == 51:  # it was killed after it had given readers the new version
            break
    load_into(settings, folder, tmp_path)
    assert len(done(store.topology(TopologyQuery())).nodes) == 51
    assert done(store.telemetry("SELECT count(*) AS n FROM alerts", QueryLimits())).rows == [{"n": 52}]
    done(store.close())
    killed = set(server.vertices), set(server.edges), rows_of(settings, "alerts"), rows_of(settings, "link_metrics")
    with running_gremlin_server() as fresh:
        undisturbed = settings.model_copy(
            update={"gremlin_endpoint": fresh.endpoint, "telemetry_database": f"{settings.telemetry_database}u"}
        )
        load_into(undisturbed, SAMPLE.folder, tmp_path / "other")
        load_into(undisturbed, folder, tmp_path / "other")
        assert killed == (
            set(fresh.vertices), set(fresh.edges), rows_of(undisturbed, "alerts"), rows_of(undisturbed, "link_metrics")
        )  # fmt: skip
