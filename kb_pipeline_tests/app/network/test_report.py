"""What a situation report says, line by line, and that nothing in it is the markup of others."""

import re

import numpy as np
import pytest

from app.network.alerts import Alert
from app.network.diagnosing import Diagnosis, Series, diagnose
from app.network.report import Quotation, SideFindings, write_report
from kb_pipeline.network.topology import Topology
from kb_pipeline_tests.app.network.conftest import BEGAN, NOW, SYMPTOMS, cut

BEGAN_AT = "2027-01-15 07:50:00 UTC"


def found(
    network: Topology, alerts: list[Alert], *, planned: tuple[str, ...] = (), series: Series | None = None
) -> Diagnosis:
    return diagnose(
        network, alerts, SYMPTOMS, NOW - 1800, NOW, planned=planned, series=series, directions={"loss": "up"}
    )


def lines(network: Topology, alerts: list[Alert], besides: SideFindings | None = None, **seen: Series) -> list[str]:
    return write_report(network, found(network, alerts, series=seen.get("series")), besides).splitlines()


def test_the_first_line_names_the_cause_how_likely_it_is_and_since_when(network: Topology) -> None:
    _, _, first, *_ = lines(network, cut(3))
    assert re.fullmatch(rf"\*\*Very likely cause: link3\*\* \(\d\d%\), since {BEGAN_AT}\.", first)


def test_where_nothing_points_to_a_cause_that_is_all_it_says(network: Topology) -> None:
    said = lines(network, [Alert("r1a", "FAN_WARN", NOW - 60), Alert("service4x", "SERVICE_DOWN", NOW - 1500)])
    assert said[2].startswith("**No common cause found.**")
    assert "## Why" not in said
    assert not any(" down: " in line or "weakened" in line for line in said)
    assert "- Unrelated by their type: FAN\\_WARN of r1a." in said


def test_what_is_named_for_its_own_alert_alone_comes_with_how_little_that_is(network: Topology) -> None:
    said = lines(network, [Alert("link5", "LINK_DOWN", BEGAN, "CRITICAL"), Alert("link9", "LINK_DOWN", BEGAN, "MAJOR")])
    assert re.fullmatch(
        rf"\*\*Named by its own alert: link5\*\* \(\d+%\), since {BEGAN_AT}\. No common cause was found, and "
        r"nothing else confirms it; below stands what follows if it has failed\.",
        said[2],
    )
    assert said[3].startswith("Also by their own alerts or measurements, and explained by nothing: link9 (")
    assert "## Who is hit" in said


def test_it_says_what_the_cause_itself_told(network: Topology) -> None:
    assert f"- It alerts itself: LINK\\_DOWN at {BEGAN_AT}." in lines(network, cut(3))
    again = [*cut(3), Alert("link3", "LINK_DOWN", BEGAN + 5)]
    assert f"- It alerts itself: LINK\\_DOWN at {BEGAN_AT} (2 times)." in lines(network, again)
    assert "- It raises no alert itself." in lines(network, cut(3, silent=True))


def test_it_says_who_should_have_alerted_and_did_not(network: Topology) -> None:
    without_one = [alert for alert in cut(3) if alert.entity != "service3y"]
    assert "- Expected and absent: alerts of service3y." in lines(network, without_one)


def test_it_says_what_the_cause_does_not_explain(network: Topology) -> None:
    assert "- Not explained: alerts of service9x." in lines(
        network, [*cut(3), Alert("service9x", "SERVICE_DOWN", NOW - 1500)]
    )


@pytest.mark.parametrize(
    ("value", "verdict"), [(50.0, "out of its baseline"), (0.1, "within its baseline")], ids=["broken", "as ever"]
)
def test_a_measurement_stands_beside_what_is_usual(network: Topology, value: float, verdict: str) -> None:
    times = NOW - 300.0 * np.arange(400)[::-1]
    usual = np.random.default_rng(1).normal(0.1, 0.02, 400)
    measured = {"link3": (times, {"loss": np.where(times >= BEGAN - 60, value, usual)})}
    (line,) = [each for each in lines(network, cut(3), series=measured) if each.startswith("- loss is ")]
    assert f"loss is {value:g}, usually 0." in line and verdict in line


def test_work_that_was_planned_is_named_beside_the_cause(network: Topology) -> None:
    report = write_report(network, found(network, cut(3), planned=("link3",)))
    assert "Maintenance of link3 was planned for this time." in report


def test_what_else_it_may_be_comes_with_the_check_that_tells_them_apart(network: Topology) -> None:
    said = lines(network, [Alert("path6x", "PATH_DOWN", BEGAN), Alert("service6x", "SERVICE_DOWN", BEGAN)])
    at = said.index("## Otherwise")
    assert all(each.endswith("check it") for each in said[at + 2 : at + 4])


def test_alerts_of_elements_that_nobody_knows_are_named(network: Topology) -> None:
    strangers = [Alert(f"far{number}", "LINK_DOWN", BEGAN) for number in range(10)]
    (line,) = [each for each in lines(network, [*cut(3), *strangers]) if "does not have" in each]
    assert line.endswith("far7 and 2 more.")


def test_what_could_not_be_looked_at_is_said_at_the_end(network: Topology) -> None:
    besides = SideFindings(missing=("telemetry could not be read",))
    assert lines(network, cut(3), besides)[-1] == "- telemetry could not be read"


def test_an_element_that_there_is_not_is_named_at_the_top_with_the_nearest(network: Topology) -> None:
    said = lines(network, cut(3), SideFindings(unknown=("Link-3", "pr0d-db")))
    assert said[3].startswith("The network does not have Link-3 (nearest: link")
    assert said[3].endswith("), pr0d-db, which the alert names.")


def test_a_way_of_the_failure_is_not_told_again_as_a_part_of_another(network: Topology) -> None:
    ways = [each for each in lines(network, cut(3)) if each.startswith("- Way of the failure: ")]
    assert [each.rpartition(" ← ")[2] for each in ways] == ["service3x", "service3y"]


def test_a_file_of_the_scenario_is_quoted_without_its_links_and_images(network: Topology) -> None:
    told = Quotation("Cut <b>", "1. Call ![x](https://evil.example/x.png)\n2. Wait", "cut.md")
    said = lines(network, cut(3), SideFindings(procedures=(told,)))
    at = said.index("## What to do now")
    title, _, first, second = said[at + 2 : at + 6]
    assert title == r"**Cut \<b\>** (file cut.md)"
    assert first == r"> 1. Call \!\[x\](https://evil.example/x.png)"
    assert second == "> 2. Wait"


def test_names_and_types_of_others_are_no_markup(network: Topology) -> None:
    hostile = Alert("[link](https://evil.example)", "![x](y)\n# Heading", BEGAN)
    report = write_report(network, found(network, [*cut(3), hostile]))
    assert "](https://evil.example)" not in report.replace("\\]\\(", "")
    assert "\n# Heading" not in report
