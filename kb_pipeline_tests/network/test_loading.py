"""A version replaces the one that readers have only when it is whole and its checks passed."""

from pathlib import Path

import pytest

from kb_pipeline.errors import ScenarioError
from kb_pipeline.network.base import Limits
from kb_pipeline.network.loading import load
from kb_pipeline.network.local import LocalStore
from kb_pipeline.network.scenario import ScenarioFolder
from kb_pipeline.network.versions import current_version, scenario_home
from kb_pipeline.store.home import HOME_CONTENTS


def append(folder: Path, name: str, row: str) -> None:
    with (folder / name).open("a") as file:
        file.write(row + "\n")


def test_nothing_is_made_again_when_nothing_changed(folder: Path, tmp_path: Path) -> None:
    assert all(stage.made for stage in load(ScenarioFolder(folder), tmp_path))
    assert not any(stage.made for stage in load(ScenarioFolder(folder), tmp_path))


def test_what_is_loaded_is_part_of_the_home_folder(folder: Path, tmp_path: Path) -> None:
    load(ScenarioFolder(folder), tmp_path / "home")
    assert {entry.name for entry in (tmp_path / "home").iterdir()} <= HOME_CONTENTS


def test_open_readers_see_a_new_version_with_their_next_query(folder: Path, tmp_path: Path) -> None:
    load(ScenarioFolder(folder), tmp_path)
    reader = LocalStore(tmp_path, "telco")
    count = "SELECT count(*) AS n FROM vertices"
    assert reader.query(count, Limits()).rows == [{"n": 50}]
    append(folder, "network/services.csv", "VPN-NEW,New,AU,,VPN,New,0")
    load(ScenarioFolder(folder), tmp_path)
    assert reader.query(count, Limits()).rows == [{"n": 51}]


@pytest.mark.parametrize(
    ("name", "row", "check"),
    [
        ("network/services.csv", "vpn-acme,Twice,AU,,VPN,Twice,0", "ids_are_unique"),
        ("network/services.csv", ",Nameless,AU,,VPN,Nameless,0", "ids_are_unique"),
        ("network/service_deps.csv", "VPN-ACME,MPLS-NOWHERE", "edges_have_both_ends"),
        ("network/service_deps.csv", "VPN-ACME,CORE-SYD-01", "edges_have_both_ends"),
        ("telemetry/link_metrics.csv", "2026-11-02T04:00:00Z,LINK-SYD-MEL,inf,0,0,0,0", "metrics_are_finite"),
        ("telemetry/alerts.csv", "ALM-99,,,LINK-SYD-MEL,TransportLink,LINK_DOWN,MAJOR,x", "every_row_has_a_time"),
    ],
)
def test_a_bad_version_never_replaces_a_good_one(folder: Path, tmp_path: Path, name: str, row: str, check: str) -> None:
    load(ScenarioFolder(folder), tmp_path)
    good = current_version(tmp_path, "telco")
    append(folder, name, row)
    with pytest.raises(ScenarioError, match=check):
        load(ScenarioFolder(folder), tmp_path)
    assert current_version(tmp_path, "telco") == good
    assert [path.name for path in scenario_home(tmp_path, "telco").iterdir() if path.is_dir()] == [good]


def test_a_killed_load_leaves_the_old_version_and_is_repeated(folder: Path, tmp_path: Path) -> None:
    (first, *_) = load(ScenarioFolder(folder), tmp_path)
    version = scenario_home(tmp_path, "telco") / current_version(tmp_path, "telco")
    (version / "network.duckdb").rename(version / ".network.duckdb.new")
    assert load(ScenarioFolder(folder), tmp_path)[-1].made
    assert first.counts == {"vertices": 50, "edges": 54}


def test_a_cycle_of_dependencies_is_told_and_does_not_block(folder: Path, tmp_path: Path) -> None:
    path = folder / "scenario.yaml"
    path.write_text(
        path.read_text().replace("to: [CoreRouter, uplink_router]", 'to: ["CoreRouter|AggSwitch", uplink_router]')
    )
    switches = folder / "network/agg_switches.csv"
    switches.write_text(switches.read_text().replace("CORE-SYD-01", "AGG-SYD-01", 1))
    (network, *_) = load(ScenarioFolder(folder), tmp_path)
    (cycle,) = [check for check in network.checks if check.name == "no_cycle_of_dependencies"]
    assert not cycle.passed and "AGG-SYD-01" in cycle.problem


def test_what_is_not_loaded_says_how_to_load_it(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match="kb scenario load telco"):
        LocalStore(tmp_path, "telco").query("SELECT 1", Limits())


def test_several_readers_in_one_process_open_the_same_version(folder: Path, tmp_path: Path) -> None:
    load(ScenarioFolder(folder), tmp_path)
    readers = [LocalStore(tmp_path, "telco") for _ in range(2)]
    assert [reader.query("SELECT count(*) AS n FROM edges", Limits()).rows for reader in readers] == [[{"n": 54}]] * 2
