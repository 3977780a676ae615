"""Many alerts of one kind become one sign; signs become incidents."""

from app.network.alerts import Alert, alert_table, reduce_alerts
from app.network.incidents import find_incidents
from kb_pipeline.network.topology import Topology
from kb_pipeline_tests.app.network.conftest import BEGAN, SYMPTOMS, cut


def test_a_storm_of_one_kind_is_one_sign_that_says_how_often(network: Topology) -> None:
    storm = [Alert("link3", "LINK_DOWN", BEGAN + second, "MAJOR") for second in range(500)]
    (sign,), strangers = reduce_alerts(alert_table(storm), network, SYMPTOMS)
    assert (sign.count, sign.first, sign.last) == (500, BEGAN, BEGAN + 499)
    assert strangers == {}


def test_every_sign_is_in_exactly_one_incident_and_strangers_to_each_other_are_apart(network: Topology) -> None:
    signs, _ = reduce_alerts(alert_table([*cut(3), *cut(8), *cut(3, BEGAN + 3000, silent=True)]), network, SYMPTOMS)
    incidents = find_incidents(network, signs)
    assert sorted(sign.vertex for each in incidents for sign in each.signs) == sorted(sign.vertex for sign in signs)
    ids = [
        {network.ids[vertex][4:5] for vertex in each.vertices if network.ids[vertex].startswith("link")}
        for each in incidents
    ]
    assert {"3"} in ids and {"8"} in ids


def test_alerts_of_days_are_as_many_signs_as_there_are_silences_between_them(network: Topology) -> None:
    days = [Alert("link3", "LINK_DOWN", BEGAN + 86400.0 * day + 60 * minute) for day in range(3) for minute in range(9)]
    signs, _ = reduce_alerts(alert_table(days), network, SYMPTOMS)
    assert [(sign.first, sign.count) for sign in signs] == [(BEGAN + 86400.0 * day, 9) for day in range(3)]


def groups(network: Topology, alerts: list[Alert]) -> list[set[str]]:
    signs, _ = reduce_alerts(alert_table(alerts), network, SYMPTOMS)
    return [{network.ids[each] for each in incident.vertices} for incident in find_incidents(network, signs)]


def test_the_two_ends_of_a_silent_link_belong_together_and_other_routers_do_not(network: Topology) -> None:
    both = [Alert("r3a", "NODE_DOWN", BEGAN), Alert("r3b", "NODE_DOWN", BEGAN + 60), Alert("r4a", "NODE_DOWN", BEGAN)]
    assert sorted(groups(network, both), key=len) == [{"r4a"}, {"r3a", "r3b"}]


def test_an_alert_that_goes_on_for_hours_belongs_to_what_began_with_it_and_joins_nothing_later(
    network: Topology,
) -> None:
    chronic = [Alert("r3a", "NODE_DOWN", BEGAN + 600.0 * number) for number in range(30)]
    with_it, later = Alert("link3", "LINK_DOWN", BEGAN + 60), Alert("r3b", "NODE_DOWN", BEGAN + 9000)
    assert sorted(groups(network, [*chronic, with_it, later]), key=len) == [{"r3b"}, {"r3a", "link3"}]
