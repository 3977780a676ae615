"""The diagnosis is asked of the store that readers have; what it could not look at is no diagnosis."""

import asyncio
import json
import shutil
from pathlib import Path

import pyarrow as pa
import pytest

from app.evaluating.diagnosing import evaluate_diagnosis
from kb_pipeline.errors import QueryFailedError, ScenarioError
from kb_pipeline.evaluation.diagnosis import told_of
from kb_pipeline.evaluation.history import save
from kb_pipeline.evaluation.records import Evaluation
from kb_pipeline.network.base import QueryLimits
from kb_pipeline.network.loading import load
from kb_pipeline.network.local.store import LocalStore
from kb_pipeline.network.scenario import ScenarioFolder
from kb_pipeline.settings import Settings
from kb_pipeline_tests.evaluation.known import AT, LATER

pytestmark = pytest.mark.slow("builds a whole knowledge base")

SAMPLE = Path(__file__).parents[3] / "samples" / "scenarios" / "telco"


class WithoutTelemetry(LocalStore):
    """A store whose telemetry cannot be read."""

    def __init__(self, settings: Settings, scenario: ScenarioFolder) -> None:
        super().__init__(settings.home_path, scenario.scenario.name)

    async def table(self, query: str, limits: QueryLimits) -> tuple[pa.Table, bool]:
        raise QueryFailedError("the disk is gone")


class Forgetful(WithoutTelemetry):
    """A store that fails once."""

    has_failed = False

    async def table(self, query: str, limits: QueryLimits) -> tuple[pa.Table, bool]:
        if not Forgetful.has_failed:
            Forgetful.has_failed = True
            raise QueryFailedError("the disk is slow")
        return await LocalStore.table(self, query, limits)


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """The sample, loaded."""
    folder = Path(shutil.copytree(SAMPLE, tmp_path / "scenarios" / "telco"))
    load(ScenarioFolder(folder), tmp_path / "home")
    return Settings(home=str(tmp_path / "home"), staging=str(tmp_path / "staging"), scenarios=str(folder.parent))


def evaluated(settings: Settings, at: str = AT) -> Evaluation:
    return asyncio.run(evaluate_diagnosis(settings, "telco", at))


def test_each_recorded_incident_is_diagnosed_and_kept_with_its_candidates(settings: Settings) -> None:
    evaluation = evaluated(settings)
    told = {each.incident: each for each in map(told_of, evaluation.outcomes)}
    lines = (SAMPLE / "incidents.jsonl").read_text().splitlines()
    assert list(told) == [json.loads(line)["incident"] for line in lines]
    assert told["the storm"].given.named == ("LINK-SYD-MEL",)
    assert told["the storm"].given.ranked[0].probability > 0.8
    assert told["a switch is replaced"].given.planned == ("AGG-MEL-02",)
    assert evaluation.run.scenario == "telco" and evaluation.run.generation


def test_the_same_incidents_and_data_give_the_same_every_time(settings: Settings) -> None:
    first, second = evaluated(settings), evaluated(settings, LATER)
    assert first.run.id == second.run.id
    assert [each.values for each in first.outcomes] == [each.values for each in second.outcomes]


def test_what_is_in_the_history_is_not_diagnosed_again(settings: Settings) -> None:
    first = evaluated(settings)
    save(settings, first)
    again = evaluated(settings, LATER)
    assert (again.run.made_at, again.run.seen_at, again.outcomes) == (AT, LATER, first.outcomes)


def test_another_window_or_another_ticket_of_planned_work_is_another_run(settings: Settings) -> None:
    first = evaluated(settings).run.id
    assert evaluated(settings.model_copy(update={"window_minutes": 10})).run.id != first
    (Path(settings.scenarios) / "telco/tickets/CHG-2026-0077.json").unlink()
    without = evaluated(settings)
    assert without.run.id != first
    assert without.run.scores["planned work"]["all"].value == 0


def test_where_a_step_fails_there_is_no_diagnosis_and_the_run_is_measured_again(settings: Settings) -> None:
    failing = settings.model_copy(update={"network": f"{__name__}:Forgetful"})
    first, second = evaluated(failing), evaluated(failing)
    assert told_of(first.outcomes[0]).given.failure == "the disk is slow"
    assert not any(told_of(each).given.failure for each in second.outcomes)
    assert first.run.id != second.run.id
    assert first.run.scores["top-1"]["all"].value < second.run.scores["top-1"]["all"].value


def test_where_nothing_can_be_diagnosed_nothing_is_measured(settings: Settings) -> None:
    with pytest.raises(ScenarioError, match=r"no incident of telco could be diagnosed: .*the disk is gone"):
        evaluated(settings.model_copy(update={"network": f"{__name__}:WithoutTelemetry"}))
