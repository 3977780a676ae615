"""An investigation from the pasted alert to the report, on the sample scenario, also with parts that are broken."""

import asyncio
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from app.investigating.base import InvestigationEvent
from app.investigating.by_rules import RulesInvestigator
from kb_pipeline.errors import QueryFailedError
from kb_pipeline.network.base import Limits, NetworkStore, Rows
from kb_pipeline.network.loading import load
from kb_pipeline.network.local import LocalStore
from kb_pipeline.network.scenario import ScenarioFolder

SAMPLE = Path(__file__).parents[3] / "samples" / "scenarios" / "telco"
STORM = (SAMPLE / "alert_storm.md").read_text()
FIELDS = {
    "run_start": {"run_id", "alert", "timestamp"},
    "step_thinking": {"agent", "status"},
    "step_start": {"step", "agent"},
    "step_complete": {"step", "agent", "duration", "query", "response"},
    "message": {"text"},
    "run_complete": {"steps", "tokens", "time"},
}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> LocalStore:
    home = tmp_path_factory.mktemp("home")
    load(ScenarioFolder(SAMPLE), home)
    return LocalStore(home, "telco")


def events(store: NetworkStore, alert: str = STORM, scenario: Path = SAMPLE) -> list[InvestigationEvent]:
    async def all_of_them() -> list[InvestigationEvent]:
        return [event async for event in RulesInvestigator(store, ScenarioFolder(scenario)).investigate(alert)]

    return asyncio.run(all_of_them())


def report(told: list[InvestigationEvent]) -> str:
    (message,) = [event.data["text"] for event in told if event.event == "message"]
    return str(message)


class WithoutTelemetry(LocalStore):
    """A store whose telemetry cannot be read."""

    async def telemetry(self, query: str, limits: Limits) -> Rows:
        raise QueryFailedError("the telemetry does not answer")

    async def table(self, query: str, limits: Limits) -> Any:
        return await self.telemetry(query, limits)


class WithoutAnything(WithoutTelemetry):
    """A store that answers nothing."""

    async def topology(self, wanted: Any) -> Any:
        raise QueryFailedError("the graph does not answer")

    async def whole(self) -> Any:
        return await self.topology(None)


def test_the_report_names_the_cut_link_first_and_says_why_who_and_what_to_do(store: LocalStore) -> None:
    text = report(events(store))
    assert "LINK-SYD-MEL" in text.splitlines()[2]
    assert "1 Service down: VPN-ACME" in text
    assert "1 Service weakened, on what is left: VPN-BANK" in text
    assert "Penalties together: 12000 per hour" in text
    assert "> 1. Check the receive power of both ends" in text
    assert "INC-2026-0341" in text
    assert r"(file fibre-cut\.md)" in text
    assert "[Ref #" not in text  # nothing of it is in a knowledge base


def test_no_cause_is_certain_in_a_step_or_in_the_report(store: LocalStore) -> None:
    told = events(store)
    (ranked,) = [each.data["response"] for each in told if "causes shared by" in each.data.get("query", "")]
    assert ranked.splitlines()[0] == "LINK-SYD-MEL: 99%"
    assert "LINK-SYD-MEL** (99%)" in report(told)


def test_the_same_alert_gives_the_same_report_byte_for_byte(store: LocalStore) -> None:
    assert report(events(store)) == report(events(store))


def test_another_process_on_a_machine_with_another_clock_writes_the_same_bytes(
    store: LocalStore, tmp_path: Path
) -> None:
    program = (
        "import sys, pathlib; from kb_pipeline_tests.app.investigating import test_by_rules as here;"
        "home = pathlib.Path(sys.argv[1]); here.load(here.ScenarioFolder(here.SAMPLE), home);"
        "sys.stdout.buffer.write(here.report(here.events(here.LocalStore(home, 'telco'))).encode())"
    )
    elsewhere = {**os.environ, "PYTHONHASHSEED": "4711", "TZ": "Asia/Tokyo", "LC_ALL": "C"}
    ran = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)], env=elsewhere, cwd=SAMPLE.parents[2], capture_output=True
    )
    assert ran.stdout == report(events(store)).encode(), ran.stderr.decode()


def test_the_stream_has_its_order_and_its_fields(store: LocalStore) -> None:
    told = events(store)
    names = [event.event for event in told]
    assert (names[0], names[-1]) == ("run_start", "run_complete")
    assert names.count("message") == 1
    started = [event.data["step"] for event in told if event.event == "step_start"]
    assert started == [event.data["step"] for event in told if event.event == "step_complete"] == [1, 2, 3, 4, 5, 6]
    assert all(set(event.data) == FIELDS[event.event] for event in told)


def test_without_telemetry_the_pasted_alerts_are_diagnosed_and_the_report_says_so(store: LocalStore) -> None:
    told = events(WithoutTelemetry(store.home, "telco"))
    assert "LINK-SYD-MEL" in report(told).splitlines()[2]
    assert "the telemetry does not answer" in report(told)
    assert sum(event.data.get("error", False) for event in told) == 2


def test_without_anything_the_report_says_that_nothing_could_be_looked_at(store: LocalStore) -> None:
    told = events(WithoutAnything(store.home, "telco"))
    assert "Nothing could be diagnosed" in report(told)
    assert "the graph does not answer" in report(told)
    assert told[-1].event == "run_complete"


@pytest.mark.parametrize("alert", ["hello", "![x](http://evil.example/x.png) [a](http://evil.example)", "\0" * 100])
def test_what_is_pasted_brings_no_link_or_image_into_the_report(store: LocalStore, alert: str) -> None:
    text = report(events(store, f"{STORM}\n{alert}"))
    assert "evil.example" not in text
    assert "LINK-SYD-MEL" in text.splitlines()[2]
