"""Which elements are compared as causes, where there are more than can be."""

import pytest

from app.network.alerts import Alert, alert_table, alerting_types, reduce_alerts
from app.network.candidates import find_candidates
from app.network.likelihood import Seen
from kb_pipeline.network.topology import Topology
from kb_pipeline_tests.app.network.conftest import BEGAN, SYMPTOMS, cut


@pytest.fixture
def seen(network: Topology) -> Seen:
    """A cut link, and a service of every other pair that alerts for nothing."""
    noise = [Alert(f"service{number}x", "SERVICE_DOWN", BEGAN - number) for number in range(4, 20)]
    signs, _ = reduce_alerts(alert_table([*cut(3), *noise]), network, SYMPTOMS)
    return Seen(network, signs, alerting_types(network, signs, SYMPTOMS), {}, 1800.0, frozenset())


def test_all_infrastructure_below_what_alerts_is_compared_if_it_is_little(network: Topology, seen: Seen) -> None:
    candidates = find_candidates(seen, 1000)
    names = {network.ids[each] for each in candidates}
    assert candidates == sorted(candidates)
    assert {"link3", "r3a", "r3b", "path3x", "link19"} <= names
    assert not {"service3x", "link2", "r0a"} & names


@pytest.mark.parametrize("most", [1, 3, 10])
def test_of_many_those_are_compared_whose_dependents_alert_most(network: Topology, seen: Seen, most: int) -> None:
    candidates = find_candidates(seen, most)
    assert len(candidates) == most
    assert "link3" in {network.ids[each] for each in candidates}
