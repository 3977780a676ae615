"""The quality of the diagnosis through Dagster: an asset with a history, and a check against the last accepted run."""

import base64
import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pytest

from kb_pipeline.defs.resources import KnowledgeBase
from kb_pipeline.evaluation.history import load_runs
from kb_pipeline.network.loading import load
from kb_pipeline.network.scenario import ScenarioFolder
from kb_pipeline.settings import Settings
from kb_pipeline_tests.defs.runs import check, shown, values

SAMPLE = Path(__file__).parents[2] / "samples" / "scenarios" / "telco"
STORM = {"incident": "the storm", "until": "2026-11-02T03:46:40Z", "causes": ["LINK-SYD-MEL"]}
ASKED_LATE = {"incident": "asked too late", "until": "2026-11-02T09:00:00Z", "causes": ["LINK-SYD-MEL"]}


@pytest.fixture
def folder(tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The sample, loaded."""
    monkeypatch.setenv("KB_SCENARIOS", str(tmp_path / "scenarios"))
    folder = Path(shutil.copytree(SAMPLE, tmp_path / "scenarios" / "telco"))
    load(ScenarioFolder(folder), settings.home_path)
    return folder


@pytest.fixture(autouse=True)
def partition(instance: dg.DagsterInstance) -> None:
    instance.add_dynamic_partitions("scenarios", ["telco"])


def record(folder: Path, *incidents: dict[str, object]) -> None:
    (folder / "incidents.jsonl").write_text("".join(f"{json.dumps(each)}\n" for each in incidents))


def evaluate(instance: dg.DagsterInstance, **config: bool) -> dg.ExecuteInProcessResult:
    from kb_pipeline.definitions import defs

    run_config = {"ops": {"diagnosis_quality": {"config": config}}}
    return (
        defs()
        .resolve_job_def("evaluate_diagnosis")
        .execute_in_process(
            instance=instance,
            partition_key="telco",
            run_config=run_config,
            resources=defs().resources,
            raise_on_error=False,
        )
    )


def failures(result: dg.ExecuteInProcessResult) -> Iterator[str]:
    for event in result.all_events:
        if event.is_step_failure and event.step_failure_data.error:
            yield event.step_failure_data.error.to_string()


@pytest.mark.slow("a run of Dagster")
def test_the_scores_are_numbers_with_a_history_a_picture_and_what_was_missed(
    instance: dg.DagsterInstance, folder: Path, settings: Settings
) -> None:
    assert evaluate(instance).success
    told = shown(instance, "diagnosis_quality")
    lines = (folder / "incidents.jsonl").read_text().splitlines()
    assert told["n"] == len(lines)
    for name in ("top-1", "top-3", "no common cause", "planned work", "Brier", "seconds"):
        assert isinstance(told[name], float), name
    assert told["scores"][0]["incidents"] == "all incidents"
    assert told["missed"].startswith("| incident | had failed | named |")
    assert base64.b64decode(told["history"].partition("base64,")[2].rstrip(")")).startswith(b"\x89PNG")
    assert check(instance, "not_worse", "diagnosis_quality").passed
    assert [run.id for run in load_runs(settings, scenario="telco")] == [told["evaluation"]]
    assert load_runs(settings) == []


@pytest.mark.slow("a run of Dagster")
def test_a_lost_incident_is_a_warning_with_its_name_until_the_run_is_accepted(
    instance: dg.DagsterInstance, folder: Path, settings: Settings
) -> None:
    record(folder, STORM)
    evaluate(instance)
    for told in (folder / "telemetry").iterdir():  # what was measured tells it as well
        header, *rows = told.read_text().splitlines(keepends=True)
        told.write_text(header + "".join(row for row in rows if "2026-11-02T03:" not in row))
    load(ScenarioFolder(folder), settings.home_path)
    assert evaluate(instance).success
    found = check(instance, "not_worse", "diagnosis_quality")
    assert (found.passed, found.severity) == (False, dg.AssetCheckSeverity.WARN)
    told = values(found.metadata)
    assert told["worse"] == "1 of 1 incidents lost, 0 won"
    assert told["lost"][0]["incident"] == "the storm"
    assert shown(instance, "diagnosis_quality")["lost"][0]["named before"] == "LINK-SYD-MEL"
    evaluate(instance, accept=True)
    assert check(instance, "not_worse", "diagnosis_quality").passed


@pytest.mark.slow("a run of Dagster")
def test_incidents_that_are_not_of_the_run_before_are_compared_with_nothing(
    instance: dg.DagsterInstance, folder: Path
) -> None:
    record(folder, STORM)
    evaluate(instance)
    record(folder, ASKED_LATE)
    assert evaluate(instance).success
    assert check(instance, "not_worse", "diagnosis_quality").passed
    told = shown(instance, "diagnosis_quality")
    assert "asked too late" in told["missed"] and "differences" not in told


@pytest.mark.slow("a run of Dagster")
def test_nothing_is_diagnosed_again_while_nothing_changed(
    instance: dg.DagsterInstance, folder: Path, settings: Settings
) -> None:
    evaluate(instance)
    (first,) = load_runs(settings, scenario="telco")
    evaluate(instance)
    (again,) = load_runs(settings, scenario="telco")
    assert (again.id, again.made_at, again.seconds) == (first.id, first.made_at, first.seconds)


@pytest.mark.slow("a run of Dagster")
def test_a_cause_that_is_no_vertex_fails_the_run_with_file_and_line(instance: dg.DagsterInstance, folder: Path) -> None:
    record(folder, STORM, STORM | {"incident": "a typo", "causes": ["LINK-SYD-MELL"]})
    (told,) = failures(evaluate(instance))
    assert "incidents.jsonl:2" in told and "did you mean LINK-SYD-MEL?" in told


@pytest.mark.slow("a run of Dagster")
def test_a_scenario_that_is_not_loaded_says_so(instance: dg.DagsterInstance, folder: Path, settings: Settings) -> None:
    shutil.rmtree(settings.home_path / "network")
    (told,) = failures(evaluate(instance))
    assert "kb scenario load telco" in told


@pytest.mark.slow("a run of Dagster")
def test_without_incidents_it_says_how_to_begin(instance: dg.DagsterInstance, folder: Path, settings: Settings) -> None:
    manifest = folder / "scenario.yaml"
    manifest.write_text(manifest.read_text().replace("incidents: incidents.jsonl", ""))
    load(ScenarioFolder(folder), settings.home_path)
    assert evaluate(instance).success
    told = shown(instance, "diagnosis_quality")
    assert told["n"] == 0 and "incidents.jsonl" in told["how_to_begin"]
    assert check(instance, "not_worse", "diagnosis_quality").passed
    assert load_runs(settings, scenario="telco") == []


@pytest.mark.slow("a run of Dagster")
def test_tickets_whose_alerts_are_still_there_are_incidents_as_well(
    instance: dg.DagsterInstance, folder: Path, settings: Settings
) -> None:
    ticket = {"ticket_id": "INC-2026-0999", "opened_at": "2026-11-02T03:50:00Z", "root_cause": {"id": "LINK-SYD-MEL"}}
    (folder / "tickets/INC-2026-0999.json").write_text(json.dumps(ticket))
    record(folder, ASKED_LATE)
    evaluate(instance)
    (run,) = load_runs(settings, scenario="telco")
    assert {asked.name: asked.questions for asked in run.question_sets} == {"incidents": 1, "tickets": 1}
    assert run.scores["top-1"]["all"].value == 0.5


@pytest.mark.slow("a run of Dagster")
def test_words_of_a_file_are_no_markup(instance: dg.DagsterInstance, folder: Path) -> None:
    record(folder, ASKED_LATE | {"incident": "a|b <img src=x> [c](http://d)"})
    evaluate(instance)
    (row,) = shown(instance, "diagnosis_quality")["missed"].splitlines()[2:]
    assert row.startswith("| a\\|b \\<img src=x> \\[c\\](http://d) |")


@pytest.mark.slow("a run of Dagster")
def test_every_night_each_loaded_scenario_with_incidents_is_measured(
    instance: dg.DagsterInstance, folder: Path, settings: Settings
) -> None:
    from kb_pipeline.definitions import defs
    from kb_pipeline.defs.schedules import quality_schedules

    schedule = next(each for each in quality_schedules(settings) if each.name == "nightly_diagnosis")

    def tick() -> list[str | None]:
        context = dg.build_schedule_context(
            instance=instance, repository_def=defs().get_repository_def(), resources={"kb": KnowledgeBase()}
        )
        return [request.partition_key for request in schedule.evaluate_tick(context).run_requests or []]

    instance.add_dynamic_partitions("scenarios", ["gone"])
    assert tick() == ["telco"]
    shutil.rmtree(settings.home_path / "network")
    assert tick() == []
