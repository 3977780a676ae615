"""What is named as the cause, what is not, and what is said of whom it hits."""

import itertools
import random

import numpy as np
import pyarrow as pa
import pytest

from app.network.alerts import Alert, alert_table
from app.network.diagnosing import Diagnosis, Series, conspicuous, diagnose, worth_measuring
from app.network.report import write_report
from kb_pipeline.network.topology import Topology
from kb_pipeline_tests.app.network.conftest import BEGAN, NOW, SYMPTOMS, cut


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


def test_an_element_is_named_for_a_grave_alert_of_its_own_although_nothing_confirms_it(network: Topology) -> None:
    diagnosis = found(network, [Alert("link5", "LINK_DOWN", NOW - 700, "CRITICAL"), Alert("r9a", "FAN_WARN", NOW - 60)])
    assert chosen(network, diagnosis) == {"link5"} == {network.ids[each.vertex] for each in diagnosis.alone}
    assert diagnosis.is_alone
    assert network.ids[diagnosis.ranking.causes[0].vertex] == "link5"
    assert {"path5x", "service5y"} <= {network.ids[each] for each in diagnosis.blast.perhaps}  # all of them silent


def test_an_element_that_measurably_carries_nothing_any_more_is_named_without_an_alert(network: Topology) -> None:
    times = NOW - 300.0 * np.arange(400)[::-1]
    idle = np.where(times >= BEGAN - 60, 0.0, np.random.default_rng(1).normal(0.1, 0.02, 400))
    diagnosis = found(network, [Alert("r9a", "FAN_WARN", NOW - 60)], series={"link5": (times, {"loss": idle})})
    assert chosen(network, diagnosis) == {"link5"} and diagnosis.is_alone
    assert "**Named by its own measurements: link5**" in write_report(network, diagnosis)


@pytest.mark.parametrize("severity", ["", "MINOR", "WARNING"])
def test_an_alert_that_is_not_grave_names_nothing_alone(network: Topology, severity: str) -> None:
    assert not found(network, [Alert("link5", "LINK_DOWN", NOW - 700, severity)]).ranking.chosen


def test_of_elements_that_alert_gravely_only_those_that_depend_on_no_other_are_named_alone(network: Topology) -> None:
    alerts = [Alert("r5a", "NODE_DOWN", NOW - 100, "MAJOR"), Alert("link5", "LINK_DOWN", NOW - 1790, "MAJOR")]
    diagnosis = found(network, [*alerts, Alert("link9", "LINK_DOWN", NOW - 900, "CRITICAL")])
    assert [network.ids[each.vertex] for each in diagnosis.alone] == ["link9", "r5a"]


def test_beside_a_cause_that_alerts_confirm_a_grave_alert_of_another_is_told_and_no_cause(network: Topology) -> None:
    diagnosis = found(network, [*cut(3), Alert("link5", "LINK_DOWN", NOW - 1500, "CRITICAL")])
    assert chosen(network, diagnosis) == {"link3"}
    assert not diagnosis.is_alone
    assert [network.ids[each.vertex] for each in diagnosis.alone] == ["link5"]
    assert network.number["link5"] not in (*diagnosis.blast.down, *diagnosis.blast.perhaps)


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


def test_what_measurably_goes_on_is_not_called_down(network: Topology) -> None:
    times = NOW - 300.0 * np.arange(400)[::-1]
    usual = np.random.default_rng(1).normal(0.1, 0.02, 400)
    idle = np.where(times >= BEGAN - 60, 0.0, usual)
    going_on = found(network, cut(3), series={"link3": (times, {"loss": usual})})
    stopped = found(network, cut(3), series={"link3": (times, {"loss": idle})})
    assert chosen(network, going_on) == chosen(network, stopped) == {"link3"}
    assert network.number["link3"] not in going_on.blast.down
    assert network.number["link3"] in stopped.blast.down
    assert "it carries nothing any more" in write_report(network, stopped)


def test_old_measurements_say_nothing_about_a_later_failure(network: Topology) -> None:
    times = BEGAN - 300 - 300.0 * np.arange(400)[::-1]
    usual = np.random.default_rng(1).normal(0.1, 0.02, 400)
    assert network.number["link3"] in found(network, cut(3), series={"link3": (times, {"loss": usual})}).blast.down


@pytest.fixture(scope="module")
def star() -> Topology:
    """A router with ten links, and two paths with a service each on every link."""
    vertices, edges = [("hub", "Router")], []
    for number in range(10):
        vertices.append((f"link{number}", "Link"))
        edges.append((f"link{number}", "hub", "all"))
        for letter in "xy":
            path, service = f"path{number}{letter}", f"service{number}{letter}"
            vertices += [(path, "Path"), (service, "Service")]
            edges += [(path, f"link{number}", "all"), (service, path, "any")]
    names = [name for name, _ in vertices]
    kinds = ["service" if kind == "Service" else "infrastructure" for _, kind in vertices]
    table = pa.table({"id": names, "type": [kind for _, kind in vertices], "kind": kinds, "name": names})
    rows = list(zip(*edges, strict=True))
    labels = ["needs"] * len(edges)
    return Topology(table, pa.table({"source": rows[0], "target": rows[1], "label": labels, "needs": rows[2]}))


def test_a_router_that_failed_in_part_is_named_and_only_what_hangs_on_that_part_is_down(star: Topology) -> None:
    diagnosis = found(star, [Alert("hub", "NODE_DOWN", BEGAN, "MAJOR"), *cut(1), *cut(4), *cut(7)])
    assert chosen(star, diagnosis) == {"hub"}
    down = {star.ids[each] for each in diagnosis.blast.down}
    assert down == {
        name for each in (1, 4, 7) for name in star.ids if name.lstrip("acehiklnprstv").startswith(str(each))
    }
    assert "- It failed in part: link1, link4, link7, and what depends on that." in write_report(star, diagnosis)


def test_of_two_dependents_one_may_hang_on_the_part_that_failed(network: Topology) -> None:
    vertices = [("hub", "Router"), *((name, "Link") for name in ("near", "far"))]
    vertices += [(f"{link}{number}", "Path") for link in ("near", "far") for number in range(8)]
    edges = [("near", "hub"), ("far", "hub")] + [(name, name.rstrip("0123456789")) for name, kind in vertices[3:]]
    names, kinds = zip(*vertices, strict=True)
    source, target = zip(*edges, strict=True)
    table = pa.table({"id": names, "type": kinds, "kind": ["infrastructure"] * len(names), "name": names})
    rest = {"label": ["needs"] * len(edges), "needs": ["all"] * len(edges)}
    small = Topology(table, pa.table({"source": source, "target": target, **rest}))
    alerts = [Alert("hub", "NODE_DOWN", BEGAN, "MAJOR"), Alert("near", "LINK_DOWN", BEGAN, "MAJOR")]
    diagnosis = found(small, [*alerts, *(Alert(f"near{number}", "PATH_DOWN", BEGAN) for number in range(8))])
    assert chosen(small, diagnosis) == {"hub"}
    assert not {small.ids[each] for each in diagnosis.blast.down} & {"far", "far0"}


def test_a_router_all_of_whose_links_fail_has_failed_as_a_whole(star: Topology) -> None:
    diagnosis = found(star, [alert for number in range(10) for alert in cut(number)])
    assert chosen(star, diagnosis) == {"hub"}
    assert len(diagnosis.blast.down) == len(star.ids)


def test_one_link_of_a_silent_router_is_no_failure_of_a_part_of_it(star: Topology) -> None:
    assert chosen(star, found(star, cut(4))) == {"link4"}


@pytest.fixture(scope="module")
def houses() -> Topology:
    """Four routers, and six switches with four stations each; two of the switches stand beside a router of others."""
    vertices = [(f"router{number}", "Router", f"house{number}") for number in range(4)]
    edges = []
    for number in range(6):
        vertices.append((f"switch{number}", "Switch", "house0" if number in (2, 3) else f"cabin{number}"))
        edges.append((f"switch{number}", f"router{number % 3 + 1 if number in (2, 3) else number % 3}"))
        for station in range(4):
            vertices.append((f"station{number}{station}", "Station", ""))
            edges.append((f"station{number}{station}", f"switch{number}"))
    names, types, sites = zip(*vertices, strict=True)
    kinds = ["infrastructure"] * len(names)
    table = pa.table({"id": names, "type": types, "kind": kinds, "name": names, "site": sites})
    source, target = zip(*edges, strict=True)
    labels, needs = ["needs"] * len(edges), ["all"] * len(edges)
    return Topology(table, pa.table({"source": source, "target": target, "label": labels, "needs": needs}))


def unpowered(*switches: int) -> list[Alert]:
    """The alerts of switches without power, and of their stations."""
    own = [Alert(f"switch{number}", "NODE_DOWN", BEGAN, "MAJOR") for number in switches]
    stations = itertools.product(switches, range(4))
    return [*own, *(Alert(f"station{one}{other}", "UNREACHABLE", BEGAN + 20, "MAJOR") for one, other in stations)]


def test_what_fails_together_at_one_site_is_one_cause_and_all_that_hangs_on_it_is_down(houses: Topology) -> None:
    diagnosis = found(houses, [Alert("router0", "NODE_DOWN", BEGAN, "MAJOR"), *unpowered(0, 2, 3)])
    assert chosen(houses, diagnosis) == {"router0"}
    down = {houses.ids[each] for each in diagnosis.blast.down}
    assert {"router0", "switch2", "switch3", "station20", "station33"} <= down
    assert "- What stands at the same site failed with it: switch2, switch3." in write_report(houses, diagnosis)


def test_one_of_several_at_a_site_that_fails_is_no_failure_of_the_site(houses: Topology) -> None:
    assert chosen(houses, found(houses, unpowered(2))) == {"switch2"}


def test_a_dead_link_is_a_candidate_also_if_nothing_that_depends_on_it_alerts(network: Topology) -> None:
    times = NOW - 300.0 * np.arange(400)[::-1]
    usual = np.random.default_rng(1).normal(0.1, 0.02, 400)
    stopped = np.where(times >= BEGAN - 60, 0.0, usual)
    alerts = [Alert("link9", "LINK_DOWN", NOW - 100, "WARNING")]
    dead = found(network, alerts, series={"link6": (times, {"loss": stopped})}).ranking.causes
    living = found(network, alerts, series={"link6": (times, {"loss": usual})}).ranking.causes
    assert "link6" in {network.ids[cause.vertex] for cause in dead}
    assert "link6" not in {network.ids[cause.vertex] for cause in living}


def test_what_does_not_alert_is_measured_as_far_as_there_is_room(network: Topology) -> None:
    measured = worth_measuring(network, alert_table(cut(3)), SYMPTOMS, NOW - 1800, NOW)
    assert {"link3", "link6", "r0a"} <= set(measured)
    assert "service3x" not in measured


def test_of_two_alerts_that_nothing_confirms_the_graver_one_is_believed_more(network: Topology) -> None:
    pair = [Alert("link5", "LINK_DOWN", NOW - 700, "WARNING"), Alert("link9", "LINK_DOWN", NOW - 700, "CRITICAL")]
    ranked = found(network, pair).ranking.causes
    assert [network.ids[cause.vertex] for cause in ranked[:2]] == ["link9", "link5"]
    assert ranked[0].probability > 2 * ranked[1].probability


def test_who_else_would_be_hit_is_told_if_another_cause_is_not_unlikely(network: Topology) -> None:
    alerts = [Alert("path5x", "PATH_DOWN", NOW - 700, "CRITICAL"), Alert("service5x", "SERVICE_DOWN", NOW - 690)]
    diagnosis = found(network, alerts)
    assert {network.ids[each] for each in diagnosis.blast.down} == {"path5x", "service5x"}
    assert {network.ids[each] for each in diagnosis.blast.perhaps} == {"link5", "path5y", "service5y"}
    assert "- 1 Path also down if it is otherwise: path5y" in write_report(network, diagnosis)


def test_planned_work_on_a_cause_is_recognized(network: Topology) -> None:
    assert [network.ids[each] for each in found(network, cut(3), planned=("link3", "r9a")).maintenance] == ["link3"]


def test_the_order_of_the_alerts_changes_nothing(network: Topology) -> None:
    alerts = [*cut(3), *cut(8), Alert("r1a", "FAN_WARN", NOW - 60)]
    shuffled = alerts.copy()
    random.Random(4).shuffle(shuffled)
    assert found(network, shuffled) == found(network, alerts)


def test_names_mean_nothing(network: Topology) -> None:
    """The same network under other names has the same causes."""
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


def test_what_is_worth_a_longer_look_is_the_most_surprising_first() -> None:
    times = NOW - 300 * np.arange(606)[::-1]
    usual = np.random.default_rng(1).normal(10, 1, 606)
    worse = {name: np.append(usual[:600], np.full(6, value)) for name, value in (("link1", 20.0), ("link2", 90.0))}
    series: Series = {name: (times, {"loss": values}) for name, values in {**worse, "link3": usual}.items()}
    assert conspicuous(series, {"loss": "up"}, NOW - 1800, NOW) == ["link2", "link1"]
