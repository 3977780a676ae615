"""Scenarios as assets: what a run leaves, and what a failed check keeps from readers."""

import shutil
from pathlib import Path

import dagster as dg
import pytest

from kb_pipeline.defs.network import NETWORK, scenario_sensor
from kb_pipeline.defs.resources import KnowledgeBase
from kb_pipeline.network.versions import current_version
from kb_pipeline_tests.app.cosmos_server import CosmosServer
from kb_pipeline_tests.network.cosmos.accounts import account_settings, running_gremlin_server, variables

SAMPLE = Path(__file__).parents[2] / "samples" / "scenarios" / "telco"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("KB_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("KB_STAGING", str(tmp_path / "staging"))
    monkeypatch.setenv("KB_SCENARIOS", str(tmp_path / "scenarios"))
    return Path(shutil.copytree(SAMPLE, tmp_path / "scenarios" / "telco"))


def asked_for(instance: dg.DagsterInstance) -> list[str | None]:
    result = scenario_sensor(dg.build_sensor_context(instance))
    assert isinstance(result, dg.SensorResult)
    return [request.partition_key for request in result.run_requests or []]


def run(instance: dg.DagsterInstance) -> dg.ExecuteInProcessResult:
    instance.add_dynamic_partitions("scenarios", ["telco"])
    return dg.materialize(
        NETWORK, partition_key="telco", instance=instance, resources={"kb": KnowledgeBase()}, raise_on_error=False
    )


@pytest.mark.slow("a run of Dagster")
def test_a_run_makes_all_assets_and_readers_get_the_version(folder: Path, tmp_path: Path) -> None:
    with dg.DagsterInstance.ephemeral() as instance:
        result = run(instance)
    made = {event.asset_key.to_user_string() for event in result.get_asset_materialization_events() if event.asset_key}
    assert result.success
    assert made == {"scenario_manifest", "network_tables", "telemetry_tables", "network_store", "scenario_articles"}
    assert len(result.get_asset_check_evaluations()) == 10
    assert current_version(tmp_path / "home", "telco")


def test_a_blocking_check_that_fails_ends_the_run_before_the_store(folder: Path, tmp_path: Path) -> None:
    with (folder / "network/service_deps.csv").open("a") as file:
        file.write("VPN-ACME,NOWHERE\n")
    with dg.DagsterInstance.ephemeral() as instance:
        result = run(instance)
    failed = [each.check_name for each in result.get_asset_check_evaluations() if not each.passed]
    assert (result.success, failed) == (False, ["edges_have_both_ends"])
    assert current_version(tmp_path / "home", "telco") == ""


@pytest.mark.slow("a run of Dagster")
def test_the_store_is_the_one_that_is_set(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cosmos_server: CosmosServer
) -> None:
    with running_gremlin_server() as server, dg.DagsterInstance.ephemeral() as instance:
        for name, value in variables(account_settings(server.endpoint, cosmos_server)).items():
            monkeypatch.setenv(name, value)
        assert asked_for(instance) == ["telco"]
        assert run(instance).success
        assert asked_for(instance) == []
        assert len(server.vertices) == 51
    assert current_version(tmp_path / "home", "telco") == ""


@pytest.mark.slow("a run of Dagster")
def test_the_sensor_asks_for_scenarios_that_are_new_or_changed(folder: Path) -> None:
    with dg.DagsterInstance.ephemeral() as instance:
        assert asked_for(instance) == ["telco"]
        run(instance)
        assert asked_for(instance) == []
        with (folder / "network/services.csv").open("a") as file:
            file.write("VPN-NEW,New,AU,,VPN,New,0\n")
        assert asked_for(instance) == ["telco"]


@pytest.mark.slow("a run of Dagster")
def test_the_sensor_asks_for_a_scenario_whose_runbook_changed_and_the_run_writes_its_article(
    folder: Path, tmp_path: Path
) -> None:
    article = tmp_path / "home/network/telco/articles/telco-runbook-fibre-cut/index.html"
    with dg.DagsterInstance.ephemeral() as instance:
        run(instance)
        assert "reflectometer" in article.read_text()
        (folder / "runbooks/fibre-cut.md").write_text("# Fibre cut\n\nCall the owner.\n")
        assert asked_for(instance) == ["telco"]
        run(instance)
        assert "Call the owner." in article.read_text()
        assert asked_for(instance) == []
