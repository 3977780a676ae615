"""What the simulator of faults holds to be true."""

import pytest

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
