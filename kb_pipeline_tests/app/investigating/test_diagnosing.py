"""What is named as the cause, what is not, and what is said of whom it hits."""

import itertools
import random

import numpy as np
import pytest

from app.investigating.alerts import Alert
from app.investigating.diagnosing import Diagnosis, Series, diagnose
from kb_pipeline.network.topology import Topology
from kb_pipeline_tests.app.investigating.conftest import BEGAN, NOW, SYMPTOMS, cut


def found(
    network: Topology, alerts: list[Alert], *, planned: tuple[str, ...] = (), series: Series | None = None
) -> Diagnosis:
    return diagnose(
        network, alerts, SYMPTOMS, NOW - 1800, NOW, planned=planned, series=series, directions={"loss": "up"}
    )


def chosen(network: Topology, diagnosis: Diagnosis) -> set[str]:
    return {network.ids[cause.vertex] for cause in diagnosis.ranking.chosen}


def test_a_cut_link_is_named_and_not_its_routers_or_paths(network: Topology) -> None:
    diagnosis = found(network, cut(3))
    assert chosen(network, diagnosis) == {"link3"}
    assert diagnosis.ranking.chosen[0].certainty == "very likely"


def test_a_cause_that_is_silent_itself_is_found_by_what_depends_on_it(network: Topology) -> None:
    assert chosen(network, found(network, cut(3, silent=True))) == {"link3"}


def test_two_independent_failures_are_both_named(network: Topology) -> None:
    assert chosen(network, found(network, [*cut(3), *cut(8, BEGAN - 300)])) == {"link3", "link8"}


@pytest.mark.parametrize(
    "alerts",
    [
        [],
        [Alert("r1a", "FAN_WARN", NOW - 60), Alert("r2a", "FAN_WARN", NOW - 50)],
        [Alert("service4x", "SERVICE_DOWN", NOW - 1500), Alert("path9y", "PATH_DOWN", NOW - 90)],
        [Alert("link5", "LINK_DOWN", NOW - 700)],
    ],
    ids=["nothing", "meaningless", "strewn", "one link that hits nobody"],
)
def test_what_points_to_nothing_has_no_common_cause(network: Topology, alerts: list[Alert]) -> None:
    diagnosis = found(network, alerts)
    assert chosen(network, diagnosis) == set()
    assert diagnosis.blast.down == ()


def test_a_service_with_a_living_second_path_is_weakened_and_never_called_down(network: Topology) -> None:
    diagnosis = found(network, cut(0))
    down = {network.ids[each] for each in diagnosis.blast.down}
    assert down == {"link0", "path0x", "path0y", "service0x", "service0y"}
    assert {network.ids[each] for each in diagnosis.blast.weakened} == {"double"}


def test_every_step_of_a_way_is_a_dependency_of_the_network(network: Topology) -> None:
    ways = found(network, [*cut(3), *cut(8)]).paths
    assert ways
    assert all(pair in network.labels for way in ways for pair in itertools.pairwise(way))


def test_measurements_decide_between_causes_that_alerts_cannot_tell_apart(network: Topology) -> None:
    alerts = [Alert(f"path6{letter}", "PATH_DOWN", BEGAN) for letter in "xy"]
    times = NOW - 300.0 * np.arange(400)[::-1]
    usual = np.random.default_rng(1).normal(0.1, 0.02, 400)
    broken = np.where(times >= BEGAN - 60, 50.0, usual)
    by_router = found(network, alerts, series={"r6a": (times, {"loss": broken}), "link6": (times, {"loss": usual})})
    by_link = found(network, alerts, series={"r6a": (times, {"loss": usual}), "link6": (times, {"loss": broken})})
    assert network.ids[by_router.ranking.causes[0].vertex] == "r6a"
    assert network.ids[by_link.ranking.causes[0].vertex] == "link6"


def test_planned_work_on_a_cause_is_recognized(network: Topology) -> None:
    assert [network.ids[each] for each in found(network, cut(3), planned=("link3", "r9a")).maintenance] == ["link3"]


def test_the_order_of_the_alerts_changes_nothing(network: Topology) -> None:
    alerts = [*cut(3), *cut(8), Alert("r1a", "FAN_WARN", NOW - 60)]
    shuffled = alerts.copy()
    random.Random(4).shuffle(shuffled)
    assert found(network, shuffled) == found(network, alerts)


def test_names_mean_nothing(network: Topology) -> None:
    """The same network under other names has the same causes."""
    import pyarrow as pa

    renamed = {name: f"n{number:03}" for number, name in enumerate(sorted(network.ids, key=lambda each: each[::-1]))}
    edges = [(renamed[network.ids[one]], renamed[network.ids[other]]) for one, other in network.labels]
    needs = ["any" if network.kinds[one] == "service" else "all" for one, _ in network.labels]
    table = pa.table(
        {
            "id": [renamed[each] for each in network.ids],
            "type": network.types,
            "kind": network.kinds,
            "name": network.names,
        }
    )
    other = Topology(
        table,
        pa.table(
            {
                "source": [e[0] for e in edges],
                "target": [e[1] for e in edges],
                "label": ["x"] * len(edges),
                "needs": needs,
            }
        ),
    )
    alerts = [*cut(3), *cut(8)]
    told = found(other, [Alert(renamed[each.entity], each.kind, each.at) for each in alerts])
    assert chosen(other, told) == {renamed[each] for each in chosen(network, found(network, alerts))}


def test_alerts_of_elements_that_the_network_does_not_have_are_counted(network: Topology) -> None:
    assert found(network, [*cut(3), Alert("stranger", "LINK_DOWN", BEGAN)]).strangers == {"stranger": 1}
