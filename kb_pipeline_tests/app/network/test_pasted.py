"""Pasted text becomes evidence: elements, alert types, times and alerts are found as people and programs write them."""

import json
import re
from datetime import UTC, datetime
from pathlib import Path
from unicodedata import normalize

import pytest

from app.network.pasted import NAMED, Pasted, read_pasted
from kb_pipeline.network.scenario import ScenarioFolder
from kb_pipeline.network.tables import read_network
from kb_pipeline.network.topology import Topology
from kb_pipeline_tests.app.network.conftest import NOW, SYMPTOMS
from kb_pipeline_tests.app.network.published import SAMPLE

MESSAGES = Path(__file__).with_name("messages")
LINE = "2027-01-15T08:00:00Z CRITICAL LINK_DOWN link3: loss of signal"


def read(text: str, network: Topology, now: float = NOW) -> Pasted:
    return read_pasted(text, network, SYMPTOMS, now)


def told(text: str, network: Topology) -> list[tuple[str, str]]:
    return [(each.entity, each.kind) for each in read(text, network).alerts]


@pytest.mark.parametrize("text", [LINE, json.dumps({"at": "2027-01-15T08:00:00Z", "type": "LINK_DOWN", "on": "link3"})])
def test_elements_types_and_times_are_found_in_lines_and_in_json(network: Topology, text: str) -> None:
    pasted = read(text, network)
    assert (pasted.entities, pasted.kinds, pasted.newest) == (("link3",), ("LINK_DOWN",), 1_800_000_000.0)
    assert [(each.entity, each.kind) for each in pasted.alerts] == [("link3", "LINK_DOWN")]


@pytest.mark.parametrize(
    ("written", "after"),
    [
        ("2027-01-15 08:00", 0.0),
        ("2027-01-15T09:00:00+01:00", 0.0),
        ("2027/01/15 08:00:00", 0.0),
        ("15.01.2027 08:00:00", 0.0),
        ("15.01.2027, 08:00", 0.0),
        ("2027-01-15 08:00:00,250", 0.25),
        ("2027-01-15 08:00:00.5", 0.5),
        ("2027-01-15 08:00:00,7", 0.0),
        ("Jan 15 08:00:00", 0.0),
        ("Jan 15 2027 08:00:00", 0.0),
    ],
)
@pytest.mark.parametrize("line", ["{} LINK_DOWN link3", "link3,{},LINK_DOWN", "LINK_DOWN;{};link3"])
def test_times_are_read_as_people_and_programs_write_them(
    network: Topology, written: str, after: float, line: str
) -> None:
    (alert,) = read(line.format(written), network).alerts
    assert (alert.entity, alert.kind, alert.at) == ("link3", "LINK_DOWN", 1_800_000_000.0 + after)


@pytest.mark.parametrize("text", ["", "\0", "9999-99-99T99:99:99Z", "Feb 31 08:00:00", '{"a": [1, null]}', "null", "7"])
def test_any_text_can_be_pasted(network: Topology, text: str) -> None:
    assert read(text, network).alerts == ()


@pytest.mark.parametrize("text", ["[" * 5000, "[" * 90 + "]" * 90, "link3" * 10000, '{"a":' * 60 + "1" + "}" * 60])
def test_no_text_is_too_deep_or_too_long(network: Topology, text: str) -> None:
    assert read(text, network).alerts == ()


def test_an_alert_without_a_time_is_one_of_now(network: Topology) -> None:
    pasted = read("LINK_DOWN on link3", network)
    assert (pasted.alerts[0].at, pasted.newest) == (NOW, None)


@pytest.mark.parametrize("text", [f"{LINE}\nNODE_DOWN r4a", f"NODE_DOWN r4a\n{LINE}"])
def test_an_alert_without_a_time_has_that_of_the_text_if_it_names_one(network: Topology, text: str) -> None:
    assert {each.at for each in read(text, network, NOW + 86400).alerts} == {NOW}


def test_a_time_without_a_year_is_of_the_last_twelve_months(network: Topology) -> None:
    (alert,) = read("Nov 20 10:00:00 r3a %LINK-3-UPDOWN: link3, changed state to down", network).alerts
    assert datetime.fromtimestamp(alert.at, UTC).isoformat() == "2026-11-20T10:00:00+00:00"


@pytest.mark.parametrize(
    "line",
    [
        "Jan 15 07:59:00 r3a %LINK-3-UPDOWN: Interface link3, changed state to down",
        "<189>Jan 15 07:59:00 r3a %LINK-3-UPDOWN: Interface link3, changed state to down",
        "<34>1 2027-01-15T07:59:00Z r3a.example.net ifd - - link3 changed state to down",
        "*Jan 15 07:59:00.123: r3a: link3 changed state to down",
    ],
)
def test_the_machine_that_wrote_a_line_of_syslog_only_tells_of_others(network: Topology, line: str) -> None:
    assert told(line, network) == [("link3", NAMED)]


def test_the_machine_that_wrote_a_line_of_syslog_is_meant_if_the_line_names_no_other(network: Topology) -> None:
    assert told("Jan 15 07:59:00 r3a %SYS-5-RESTART: System restarted", network) == [("r3a", NAMED)]


@pytest.mark.parametrize(
    ("text", "alerts"),
    [
        ("r3a has lost power. Which services are affected?", [("r3a", NAMED)]),
        ("NODE_DOWN on r3a and r4a", [("r3a", "NODE_DOWN"), ("r4a", "NODE_DOWN")]),
        ("node down: R3A", [("r3a", "NODE_DOWN")]),
        ("alertname=NodeDown instance=r3a:9100", [("r3a", "NODE_DOWN")]),
        ("link down between r3a and r3b on link3", [("link3", "LINK_DOWN")]),
        (f"{LINE}, traffic moved to link4", [("link3", "LINK_DOWN")]),
        ("Element: r3a\nAlarm: NODE_DOWN\nTime: 2027-01-15 08:00", [("r3a", "NODE_DOWN")]),
        (
            "Element: r3a\nAlarm: NODE_DOWN\n\nElement: link4\nAlarm: LINK_DOWN",
            [("r3a", "NODE_DOWN"), ("link4", "LINK_DOWN")],
        ),
    ],
)
def test_a_type_is_said_of_the_elements_that_can_have_it(
    network: Topology, text: str, alerts: list[tuple[str, str]]
) -> None:
    assert told(text, network) == alerts


def alertmanager(*labels: dict[str, str]) -> dict[str, object]:
    alerts = [
        {
            "annotations": {"summary": "see the runbook"},
            "endsAt": "2027-01-15T09:00:00Z",
            "labels": each,
            "receivers": [{"name": "noc"}],
            "startsAt": "2027-01-15T08:00:00Z",
            "updatedAt": "2027-01-15T08:00:10Z",
        }
        for each in labels
    ]
    return {"receiver": "noc", "commonLabels": labels[0], "alerts": alerts, "truncatedAlerts": 0}


TWO = ({"alertname": "LINK_DOWN", "instance": "link3:9100"}, {"alertname": "SERVICE_DOWN", "instance": "service3x"})


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(alertmanager(*TWO)),
        json.dumps(alertmanager(*TWO), indent=2),
        json.dumps(alertmanager(*TWO)["alerts"]),
        "\n".join(json.dumps(each) for each in alertmanager(*TWO)["alerts"]),  # type: ignore[attr-defined]
        json.dumps({"data": {"group": alertmanager(*TWO)}}),
    ],
    ids=["webhook", "indented", "list", "lines", "wrapped"],
)
def test_each_alert_in_json_is_one_and_begins_when_the_earliest_time_says(network: Topology, text: str) -> None:
    alerts = read(text, network).alerts
    assert [(each.entity, each.kind) for each in alerts] == [("link3", "LINK_DOWN"), ("service3x", "SERVICE_DOWN")]
    assert {each.at for each in alerts} == {NOW}


def test_an_object_whose_lists_name_nothing_is_one_alert(network: Topology) -> None:
    text = json.dumps({"on": "link3", "type": "LINK_DOWN", "tags": [{"key": "team", "value": "north"}]})
    assert told(text, network) == [("link3", "LINK_DOWN")]


def test_an_alert_is_as_grave_as_it_says(network: Topology) -> None:
    assert [each.severity for each in read(f"{LINE}\nminor: NODE_DOWN r3a\nr4a", network).alerts] == [
        "CRITICAL",
        "MINOR",
        "",
    ]


@pytest.mark.parametrize("name", ["R-3a", "r_3A", "r-3-a"])
def test_dashes_underscores_and_case_make_no_other_name(network: Topology, name: str) -> None:
    assert read(f"NODE_DOWN on {name}", network).entities == ("r3a",)


@pytest.mark.parametrize(
    "text", ["hello", "foo bar baz", "what is wrong today?", "a pre-shared key", "see http://x.example/r99"]
)
def test_a_greeting_names_nothing(network: Topology, text: str) -> None:
    assert read(text, network) == Pasted((), (), (), (), None)


@pytest.mark.parametrize(("text", "unknown"), [("NODE_DOWN on r99a", ("r99a",)), ("CORE-X is gone", ("CORE-X",))])
def test_what_looks_like_an_element_and_is_none_is_told(network: Topology, text: str, unknown: tuple[str, ...]) -> None:
    assert read(text, network).unknown == unknown


@pytest.mark.parametrize("dash", ["\u2010", "\u2011", "\u2013", "\u2212", " "])
def test_a_dash_of_another_program_or_none_makes_no_other_name(network: Topology, dash: str) -> None:
    assert read(f"r{dash}3a is silent", network).entities == ("r3a",)


@pytest.mark.parametrize("text", ["\u8282\u70b9r3a\u65ad\u4e86", "\u201cr3a\u201d", "**r3a**", "\uff523\uff41\ub2e4"])
def test_a_name_is_found_between_letters_of_other_scripts_and_signs(network: Topology, text: str) -> None:
    assert read(text, network).entities == ("r3a",)


@pytest.mark.parametrize("text", ["r3ab", "xr3a", "r3a\u00df", "\u00fcr3a", "r3a-x", "link3-r3a-b"])
def test_a_part_of_another_name_is_no_name(network: Topology, text: str) -> None:
    assert read(text, network).entities == ()


@pytest.fixture(scope="module")
def sample() -> Topology:
    return Topology(*read_network(ScenarioFolder(SAMPLE)))


def test_of_messages_that_ask_nothing_in_whatever_language_none_names_an_element(sample: Topology) -> None:
    """A hundred greetings, thanks, tries and chatter in thirty languages."""
    for message in (MESSAGES / "of_nothing.txt").read_text().splitlines():
        assert read(message, sample).alerts == (), message


def test_messages_about_a_network_in_whatever_language_name_their_elements_and_no_others(sample: Topology) -> None:
    """A hundred lines, sentences and objects about the sample in twenty languages. Of a compound with a word of the
    language its element is not known, but told as the nearest.
    """
    for message in (MESSAGES / "of_the_sample.txt").read_text().splitlines():
        found = read(message, sample)
        if not found.entities:
            assert found.unknown == ("LINK-MEL-ADL-Strecke",), message
        for entity in found.entities:
            name = sample.table["name"][sample.number[entity]].as_py()
            assert name in message or letters(entity) in letters(message), message


def letters(text: str) -> str:
    return re.sub(r"[^A-Z0-9]", "", normalize("NFKC", text).upper())
