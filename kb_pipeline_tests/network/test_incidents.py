"""Incidents whose causes are known: what a line may say, and what is refused with the file and the line."""

import json
from pathlib import Path

import pytest

from kb_pipeline.errors import ScenarioError
from kb_pipeline.network.checks import check_incidents
from kb_pipeline.network.incidents import Incident, incidents_of_tickets, read_incidents
from kb_pipeline.network.scenario import ScenarioFolder
from kb_pipeline.network.tables import read_tables

VERTICES = {"LINK-SYD-MEL": "TransportLink", "CORE-SYD-01": "CoreRouter", "VPN-ACME": "Service"}
GOOD = {"incident": "a cut", "until": "2026-11-02T03:46:00Z", "causes": ["LINK-SYD-MEL"]}


def written(folder: Path, *lines: object) -> ScenarioFolder:
    told = (line if isinstance(line, str) else json.dumps(line) for line in lines)
    (folder / "incidents.jsonl").write_text("\n".join(told) + "\n")
    return ScenarioFolder(folder)


def test_the_incidents_of_the_sample_can_be_used_and_are_of_several_kinds(folder: Path) -> None:
    scenario = ScenarioFolder(folder)
    tables = read_tables(scenario)
    types = dict(zip(tables.vertices["id"].to_pylist(), tables.vertices["type"].to_pylist(), strict=True))
    incidents = read_incidents(scenario, types)
    assert {len(each.causes) for each in incidents} == {0, 1, 2}
    assert any(each.planned for each in incidents) and any(each.alert for each in incidents)
    assert check_incidents(scenario, tables.vertices).passed


def test_it_asks_at_a_time_with_the_words_of_whoever_asked(folder: Path) -> None:
    cut, call = read_incidents(
        written(
            folder, GOOD, GOOD | {"incident": "a call", "alert": "VPN-ACME is slow", "until": "2026-11-02T05:00+01:00"}
        ),
        VERTICES,
    )
    assert cut.asked == "2026-11-02T03:46:00Z what broke?"
    assert call.asked == "VPN-ACME is slow\n2026-11-02T04:00:00Z"


def test_an_incident_is_the_same_under_another_name_and_another_with_another_cause() -> None:
    one = Incident.model_validate_json(json.dumps(GOOD))
    renamed = one.model_copy(update={"incident": "the cut", "note": "an excavator"})
    blamed = one.model_copy(update={"causes": ("CORE-SYD-01",)})
    assert one.id == renamed.id != blamed.id


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (GOOD | {"causes": ["LINK-SYD-MELL"]}, r"is no vertex of the network; did you mean LINK-SYD-MEL\?"),
        (GOOD | {"causes": ["link-syd-mel"]}, "is no vertex of the network"),
        (GOOD | {"causes": ["VPN-ACME"]}, "of kind service: it only suffers"),
        (GOOD | {"causes": ["LINK-SYD-MEL", "LINK-SYD-MEL"]}, "names an element twice"),
        (GOOD | {"planned": ["NOWHERE"]}, "'NOWHERE' of 'a cut' is no vertex"),
        (GOOD | {"causes": "LINK-SYD-MEL"}, "causes: "),
        (GOOD | {"causes": ["x"] * 51}, "causes: "),
        (GOOD | {"until": "2026-11-02T03:46:00"}, "until: .*timezone"),
        (GOOD | {"until": "yesterday"}, "until: "),
        (GOOD | {"cause": "LINK-SYD-MEL"}, "cause: "),
        (GOOD | {"alert": "x" * 100_001}, "alert: "),
        ({"incident": "a cut", "until": "2026-11-02T03:46:00Z"}, "causes: Field required"),
        ("[" * 5000, "Invalid JSON"),
        ("\x00", "Invalid JSON"),
    ],
)
def test_a_line_that_cannot_be_used_is_refused_with_file_and_line(folder: Path, line: object, told: str) -> None:
    scenario = written(folder, GOOD | {"incident": "another", "until": "2026-11-01T00:00:00Z"}, "", line)
    with pytest.raises(ScenarioError, match=rf"incidents\.jsonl:3: .*{told}"):
        read_incidents(scenario, VERTICES)


def test_the_same_incident_twice_is_refused(folder: Path) -> None:
    for again in (GOOD, GOOD | {"incident": "the same in other words"}, GOOD | {"incident": "A CUT", "causes": []}):
        with pytest.raises(ScenarioError, match=r"incidents\.jsonl:2: .* is there already"):
            read_incidents(written(folder, GOOD, again), VERTICES)


def test_a_file_outside_of_the_folder_a_folder_and_an_empty_file_are_refused(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "outside.jsonl").write_text(json.dumps(GOOD))
    manifest = folder / "scenario.yaml"
    text = manifest.read_text()
    for name, told in (
        ("../../outside.jsonl", "lies outside"),
        ("network", "no ordinary file"),
        ("none.jsonl", "not there"),
    ):
        manifest.write_text(text.replace("incidents: incidents.jsonl", f"incidents: {name}"))
        with pytest.raises(ScenarioError, match=told):
            read_incidents(ScenarioFolder(folder), VERTICES)
        with pytest.raises(ScenarioError, match=told):
            ScenarioFolder(folder).hashes()
    manifest.write_text(text)
    with pytest.raises(ScenarioError, match="holds no incident"):
        read_incidents(written(folder, ""), VERTICES)


def test_a_scenario_needs_no_incidents(folder: Path) -> None:
    manifest = folder / "scenario.yaml"
    manifest.write_text(manifest.read_text().replace("incidents: incidents.jsonl", ""))
    assert read_incidents(ScenarioFolder(folder), VERTICES) == ()


def test_incidents_are_no_part_of_what_readers_get(folder: Path) -> None:
    before = ScenarioFolder(folder).fingerprint(), ScenarioFolder(folder).hashes()
    scenario = written(folder, GOOD | {"causes": ["NOWHERE"]})
    assert (scenario.fingerprint() == before[0], scenario.hashes() == before[1]) == (True, False)
    found = check_incidents(scenario, read_tables(scenario).vertices)
    assert (found.passed, found.blocking) == (False, False)
    assert "NOWHERE" in found.problem


def test_a_ticket_that_carries_its_root_cause_is_an_incident_at_its_opening() -> None:
    ticket = {"ticket_id": "INC-1", "opened_at": "2026-11-02T03:50:00Z", "root_cause": {"id": "LINK-SYD-MEL"}}
    (found,) = incidents_of_tickets([ticket], VERTICES)
    assert (found.incident, found.causes, found.asked) == (
        "INC-1",
        ("LINK-SYD-MEL",),
        "2026-11-02T03:50:00Z what broke?",
    )


@pytest.mark.parametrize(
    "change",
    [
        {"kind": "maintenance"},
        {"root_cause": "LINK-SYD-MEL"},
        {"root_cause": {"id": "ELSEWHERE"}},
        {"root_cause": {"id": ["LINK-SYD-MEL"]}},
        {"opened_at": "in spring"},
        {"ticket_id": ""},
        {"ticket_id": "inc-known"},
    ],
)
def test_tickets_that_say_less_or_are_written_down_already_are_none(change: dict[str, object]) -> None:
    ticket = {"ticket_id": "INC-1", "opened_at": "2026-11-02T03:50:00Z", "root_cause": {"id": "LINK-SYD-MEL"}}
    assert incidents_of_tickets([ticket | change], VERTICES, ["INC-KNOWN"]) == []
