"""A version replaces the one that readers have only when it is whole and its checks passed."""

import asyncio
import os
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from kb_pipeline.errors import ScenarioError
from kb_pipeline.network.base import QueryLimits
from kb_pipeline.network.loading import Loading, load
from kb_pipeline.network.local import store as local
from kb_pipeline.network.local.store import LocalStore
from kb_pipeline.network.scenario import ScenarioFolder
from kb_pipeline.network.versions import current_version, scenario_home
from kb_pipeline.store.home import HOME_CONTENTS

KILLS = int(os.environ.get("KB_TEST_KILLS", "4"))
LOAD_AGAIN_AND_AGAIN = """
import itertools, sys
from pathlib import Path
from kb_pipeline.network.loading import load
from kb_pipeline.network.scenario import ScenarioFolder
from kb_pipeline_tests.network.test_loading import grow
folder, home, first = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
for number in itertools.count(first):
    grow(folder, number)
    print(number, flush=True)
    load(ScenarioFolder(folder), home)
"""


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
    assert reader.query(count, QueryLimits()).rows == [{"n": 50}]
    append(folder, "network/services.csv", "VPN-NEW,New,AU,,VPN,New,0")
    load(ScenarioFolder(folder), tmp_path)
    assert reader.query(count, QueryLimits()).rows == [{"n": 51}]


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


def test_a_load_that_was_killed_between_two_containers_is_repeated(folder: Path, tmp_path: Path) -> None:
    load(ScenarioFolder(folder), tmp_path)
    append(folder, "network/services.csv", "VPN-NEW,New,AU,,VPN,New,0")
    killed = Loading(ScenarioFolder(folder), tmp_path)
    killed.network()
    (killed.folder / "telemetry-alerts.parquet").hardlink_to(
        scenario_home(tmp_path, "telco") / current_version(tmp_path, "telco") / "telemetry-alerts.parquet"
    )
    assert load(ScenarioFolder(folder), tmp_path)[-1].counts["vertices"] == 51


def grow(folder: Path, number: int) -> None:
    """Let the scenario have so many services and alerts more than the sample."""
    for name, row in (
        ("network/services.csv", "VPN-{0},New,AU,,VPN,New,0"),
        ("telemetry/alerts.csv", "ALM-X{0},2026-11-02T03:50:00Z,,LINK-SYD-MEL,TransportLink,LINK_DOWN,MAJOR,x"),
    ):
        whole = folder / f"{name}.sample"
        if not whole.exists():
            whole.write_bytes((folder / name).read_bytes())
        (folder / name).write_text(whole.read_text() + "".join(row.format(each) + "\n" for each in range(number)))


def killed_after(seconds: float, folder: Path, home: Path, first: int) -> int:
    """Kill a process that loads one version after the other, after so long; return the last that it may have loaded."""
    command = [sys.executable, "-c", LOAD_AGAIN_AND_AGAIN, str(folder), str(home), str(first)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True) as process:
        assert process.stdout
        begun = [process.stdout.readline()]
        time.sleep(seconds)
        process.kill()
        return int([*begun, *process.stdout][-1])


@pytest.mark.rare("kills")
def test_a_loader_that_is_killed_at_any_moment_leaves_a_whole_version_and_a_repeat_ends_the_same(
    folder: Path, tmp_path: Path
) -> None:
    chosen = random.Random(11)
    home = tmp_path / "home"
    reader = LocalStore(home, "telco")
    both = "SELECT (SELECT count(*) FROM vertices) AS vertices, (SELECT count(*) FROM alerts) AS alerts"
    number = seen = 0
    load(ScenarioFolder(folder), home)
    for _ in range(KILLS):
        number = killed_after(chosen.random(), folder, home, number + 1)
        (row,) = reader.query(both, QueryLimits()).rows
        assert row["vertices"] - 50 == row["alerts"] - 51
        assert seen <= row["vertices"] - 50 <= number
        seen = row["vertices"] - 50
    grow(folder, number)
    load(ScenarioFolder(folder), home)
    load(ScenarioFolder(folder), tmp_path / "undisturbed")
    for query in (
        "SELECT * FROM vertices",
        "SELECT * FROM edges",
        "SELECT * FROM alerts",
        "SELECT * FROM link_metrics",
    ):
        asked = f"{query} ORDER BY ALL"
        undisturbed = LocalStore(tmp_path / "undisturbed", "telco").query(
            asked, QueryLimits(rows=10_000, bytes=10_000_000)
        )
        assert reader.query(asked, QueryLimits(rows=10_000, bytes=10_000_000)).rows == undisturbed.rows


def test_what_killed_loads_left_is_removed_after_a_day(folder: Path, tmp_path: Path) -> None:
    home = scenario_home(tmp_path, "telco")
    (home / "articles").mkdir(parents=True)
    for name, days in (("0123456789abcdef-1", 2), ("fedcba9876543210-1", 0), ("articles", 2)):
        (home / name).mkdir(exist_ok=True)
        os.utime(home / name, times=(time.time() - 86_400 * days,) * 2)
    load(ScenarioFolder(folder), tmp_path)
    assert {path.name for path in home.iterdir() if path.is_dir()} == {
        "fedcba9876543210-1", "articles", current_version(tmp_path, "telco")
    }  # fmt: skip


def test_a_reader_whose_version_is_removed_before_it_opens_it_gets_the_next(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    load(ScenarioFolder(folder), tmp_path)
    versions = iter(["removed", current_version(tmp_path, "telco"), "removed"])
    monkeypatch.setattr(
        local, "current_version", lambda home, name: next(versions, None) or current_version(home, name)
    )
    reader = LocalStore(tmp_path, "telco")
    assert reader.query("SELECT count(*) AS n FROM vertices", QueryLimits()).rows == [{"n": 50}]
    assert asyncio.run(reader.health()).vertices == 50


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
        LocalStore(tmp_path, "telco").query("SELECT 1", QueryLimits())


def test_several_readers_in_one_process_open_the_same_version(folder: Path, tmp_path: Path) -> None:
    load(ScenarioFolder(folder), tmp_path)
    readers = [LocalStore(tmp_path, "telco") for _ in range(2)]
    assert [reader.query("SELECT count(*) AS n FROM edges", QueryLimits()).rows for reader in readers] == [
        [{"n": 54}]
    ] * 2
