"""What the simulator of faults holds to be true, and how candidates are ranked by measurements alone."""

import pytest

from benchmarks.diagnosis.petshop import rank_by_measurements
from benchmarks.diagnosis.simulator import simulate


@pytest.mark.parametrize("seed", [24, 92])
def test_what_lost_all_its_ways_to_several_faults_is_down(seed: int) -> None:
    incident = simulate(seed, "normal", faults=2)
    network = incident.network.topology
    source, target, is_any = network.edges
    lost = {number for number, name in enumerate(network.ids) if name in incident.down}
    ways: dict[int, set[int]] = {}
    for one, other, suffices in zip(source.tolist(), target.tolist(), is_any.tolist(), strict=True):
        if suffices:
            ways.setdefault(one, set()).add(other)
    without = {one for one, others in ways.items() if others <= lost}
    assert without
    assert without <= lost
    assert not incident.down & incident.weakened


def test_the_same_seed_gives_the_same_incident() -> None:
    one, other = (simulate(7, "hard") for _ in range(2))
    assert (one.alerts, one.causes, one.down, one.weakened) == (other.alerts, other.causes, other.down, other.weakened)


def test_where_everything_is_within_its_baseline_nothing_is_a_cause() -> None:
    calls = {"shop": ["search"], "search": []}
    assert rank_by_measurements(calls, "shop", {"shop": 2.5, "search": 2.1}, {"shop": True, "search": True}, 1.0) == []


def test_trouble_is_followed_to_the_deepest_measured_element() -> None:
    calls = {"shop": ["search", "pay"], "search": ["database"], "pay": []}
    strange = {"shop": 3.0, "search": 3.2, "database": 3.5, "pay": 0.1}
    measured = {"shop": True, "search": True, "pay": True, "database": False}
    assert next(name for name, _ in rank_by_measurements(calls, "shop", strange, measured, 1.0)) == "search"
