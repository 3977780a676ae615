"""`benchmarks.diagnosis.alarms`, `.nab` and `.petshop` on small data of their form, of which the figures are known."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from benchmarks.diagnosis import alarms, nab, petshop
from benchmarks.diagnosis.sequences import deviations

PERIOD = 86_400


def recorded(folder: Path, *, topology: bool = True) -> alarms.Recorded:
    """Ten devices in a row. On every other one type 0 comes ten seconds before type 1; type 2 comes at any time."""
    draw = np.random.default_rng(5)
    rows = []
    for device in range(0, 10, 2):
        for at in draw.integers(0, PERIOD - 10, 40):
            rows += [(0, device, at), (1, device + 1 if topology else device, at + 10)]
        rows += [(2, device, at) for at in draw.integers(0, PERIOD, 40)]
    folder.mkdir()
    table = pd.DataFrame(rows, columns=["alarm_id", "device_id", "start_timestamp"])
    table.assign(end_timestamp=table["start_timestamp"]).to_csv(folder / "Alarm.csv", index=False)
    causes = np.zeros((3, 3), int)
    causes[0, 1] = 1
    np.save(folder / "DAG.npy", causes)
    if topology:
        np.save(folder / "Topology.npy", np.eye(10, k=1, dtype=int) + np.eye(10, k=-1, dtype=int))
    return alarms.read(folder)


@pytest.mark.parametrize("topology", [True, False])
def test_a_type_that_comes_before_another_is_found_and_chance_is_not(tmp_path: Path, topology: bool) -> None:
    found = alarms.sequenced(recorded(tmp_path / "net", topology=topology))
    assert (found["f1"], found["precision"], found["recall"]) == (1.0, 1.0, 1.0)
    assert found["if_every_pair_is_named"] == round(2 / 7, 3)


def test_the_same_second_counts_and_what_comes_later_does_not() -> None:
    rows = [(0, kind, 1000.0 * turn) for turn in range(50) for kind in (0, 1)]
    rows += [(0, 2, 1000.0 * turn + 61) for turn in range(50)]
    found = deviations(pd.DataFrame(rows, columns=["device", "type", "at"]), {0: [0]}, 3)
    assert (found[0, 1] > 3, found[1, 0] > 3, found[0, 2] > 3) == (True, True, False)


def test_every_alarm_is_in_one_group_whatever_their_order_and_neighbours_are_grouped(tmp_path: Path) -> None:
    found = alarms.correlated(recorded(tmp_path / "net"))
    assert (found["alarms"], found["in_exactly_one"], found["same_when_shuffled"]) == (600, True, True)
    assert found["groups"] < found["groups_if_devices_stood_elsewhere"]  # type: ignore[operator]


def test_an_alarm_that_is_in_no_group_or_in_two_is_noticed(tmp_path: Path) -> None:
    network = recorded(tmp_path / "net")
    topology, alerts = alarms.network_of(network.joined), alarms.alerts_of(network.alarms)
    incidents = alarms.grouped(topology, alerts)
    assert set(alarms.memberships(topology, alerts, incidents[1:])) == {0, 1}
    assert set(alarms.memberships(topology, alerts, [*incidents, incidents[0]])) == {1, 2}


def shop(folder: Path) -> Path:
    """A page that calls a search that calls a database; in an issue the search is slow."""
    names = ["page", "search", "database"]
    calls = pd.DataFrame([[0, 1, 0], [0, 0, 1], [0, 0, 0]], index=names, columns=names)
    low = folder / "low_traffic"
    (low / "noissue").mkdir(parents=True)
    (low / "train" / "issue_0").mkdir(parents=True)
    calls.to_csv(low / "graph.csv")
    draw = np.random.default_rng(2)
    columns = pd.MultiIndex.from_tuples([(name, "latency", "Average") for name in names])
    usual = pd.DataFrame(draw.normal(0.1, 0.01, (400, 3)), columns=columns)
    usual.to_csv(low / "noissue" / "metrics.csv")
    slow = usual.iloc[:5].copy()
    slow[[("page", "latency", "Average"), ("search", "latency", "Average")]] += 1.0
    slow.to_csv(low / "train" / "issue_0" / "metrics.csv")
    told = {"target": {"node": "page", "metric": "latency"}, "root_cause": {"node": "search"}}
    (low / "train" / "issue_0" / "target.json").write_text(json.dumps(told))
    return folder


def test_a_slow_search_is_named_and_in_normal_times_nothing_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["petshop", str(shop(tmp_path))])
    petshop.main()
    issue, normal, whole = map(json.loads, capsys.readouterr().out.splitlines())
    assert (issue["place"], normal["splits"], whole["top1"]["n"]) == (1, "5 of 5", 1)
    assert whole["latency windows"]["mean"] >= 0.95


def test_normal_times_are_cut_as_the_authors_do_and_into_windows_as_long_as_an_issue() -> None:
    assert [begin for begin, _ in petshop.splits(589)] == [294, 352, 410, 468, 526, 584]
    assert petshop.windows(589)[0] == (294, 299)
    assert petshop.windows(589)[-1] == (584, 589)


def test_a_jump_of_a_measurement_is_an_alarm_and_what_goes_on_is_none() -> None:
    values = np.random.default_rng(1).normal(50, 1, 600)
    values[500:] += 40
    minutes = pd.date_range("2026-01-01", periods=600, freq="5min")
    scores = nab.ours(pd.DataFrame({"timestamp": minutes, "value": values}))
    assert scores[500:506].max() > scores[:500].max() > 0
    assert not scores[506:518].any()
