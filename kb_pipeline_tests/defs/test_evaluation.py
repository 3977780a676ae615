"""Evaluations through Dagster: assets with a history, their check, the gate's verdict in the history of an ingest."""

import base64
from pathlib import Path

import dagster as dg
import pytest

from kb_pipeline.contributions import open_queue
from kb_pipeline.evaluation.history import load_runs
from kb_pipeline.flow.workspace import Workspace
from kb_pipeline.settings import Settings, load_settings
from kb_pipeline_tests.building import build_here
from kb_pipeline_tests.defs.runs import check, execute, logged, shown, values
from kb_pipeline_tests.evaluation.known import CONTRARY, OTHER, THINGS, ask_all, lose, question, write_questions

pytestmark = pytest.mark.slow("a run of Dagster")


def live() -> str:
    return Workspace(load_settings()).reader().generation.id


def failure(result: dg.ExecuteInProcessResult) -> str:
    """The error that the run ended with, and its causes."""
    (error,) = [event.step_failure_data.error for event in result.all_events if event.is_step_failure]
    return error.to_string()


def not_worse(instance: dg.DagsterInstance, asset: str = "retrieval_quality") -> tuple[bool, dict[str, object]]:
    found = check(instance, "not_worse", asset)
    return found.passed, values(found.metadata)


def test_the_scores_are_numbers_with_a_history_and_a_picture(
    instance: dg.DagsterInstance, things_published: None, settings: Settings
) -> None:
    ask_all(settings)
    assert execute(instance, "evaluate_retrieval").success
    told = shown(instance, "retrieval_quality")
    assert (told["article@5"], told["article@5 (lookup)"], told["questions"]) == (1.0, 1.0, len(THINGS) + 1)
    assert told["generation"] == live()
    row = told["scores"][0]
    assert (row["questions"], row["n"], row["article@5"]) == (
        "all questions",
        str(len(THINGS)),
        "1.00 (1.00\u20111.00)",
    )
    address = told["history"].partition("base64,")[2].rstrip(")")
    assert base64.b64decode(address).startswith(b"\x89PNG")
    assert not_worse(instance)[0]
    assert [run.id for run in load_runs(settings)] == [told["evaluation"]]


def test_a_loss_fails_the_check_and_shows_which_questions(
    instance: dg.DagsterInstance, things_published: None, settings: Settings
) -> None:
    ask_all(settings)
    execute(instance, "evaluate_retrieval")
    lose(settings, THINGS[:10])
    build_here(settings, *THINGS[:10])
    assert execute(instance, "evaluate_retrieval").success
    passed, told = not_worse(instance)
    assert not passed
    assert "article@5 -" in str(told["worse"])
    lost = shown(instance, "retrieval_quality")["lost"]
    assert f"Where is the {THINGS[0]}like?" in {row["question"] for row in lost}
    assert execute(instance, "evaluate_retrieval", accept=True).success
    assert not_worse(instance)[0]


def test_questions_that_nobody_asked_before_are_compared_with_nothing(
    instance: dg.DagsterInstance, things_published: None, settings: Settings
) -> None:
    write_questions(settings.evaluation_path, [question(thing) for thing in THINGS[:3]])
    execute(instance, "evaluate_retrieval")
    write_questions(settings.evaluation_path, [question(thing) for thing in THINGS[3:6]])
    assert execute(instance, "evaluate_retrieval").success
    assert not_worse(instance)[0]
    assert "differences" not in shown(instance, "retrieval_quality")


def test_where_nobody_wrote_questions_it_says_how_to_begin(instance: dg.DagsterInstance, settings: Settings) -> None:
    assert execute(instance, "evaluate_retrieval").success
    assert execute(instance, "evaluate_answering").success
    for asset in ("retrieval_quality", "answer_quality"):
        assert str(settings.evaluation_path) in shown(instance, asset)["how_to_begin"]
        assert not_worse(instance, asset)[0]


def test_questions_for_articles_that_are_not_there_are_warned_of(
    instance: dg.DagsterInstance, things_published: None, settings: Settings
) -> None:
    write_questions(settings.evaluation_path, [question("unicorn"), question("anchor")])
    assert "questions ask for unicorn" in logged(instance, execute(instance, "evaluate_retrieval"))
    assert shown(instance, "retrieval_quality")["unknown_articles"] == "unicorn"


def test_a_file_that_is_no_question_set_fails_the_run_with_its_line(
    instance: dg.DagsterInstance, things_published: None, settings: Settings
) -> None:
    write_questions(settings.evaluation_path, [{"question": "Where?"}])
    result = execute(instance, "evaluate_retrieval")
    assert "things.jsonl:1: article_id: Field required" in failure(result)


def test_answers_are_evaluated_in_the_same_way(
    instance: dg.DagsterInstance, things_published: None, settings: Settings
) -> None:
    write_questions(settings.evaluation_path, [question(thing) for thing in THINGS[:3]])
    assert execute(instance, "evaluate_answering").success
    told = shown(instance, "answer_quality")
    assert told["article cited"] == 1.0
    assert not_worse(instance, "answer_quality")[0]


def test_materializing_it_asks_no_paid_model_unless_that_is_said(
    instance: dg.DagsterInstance, things_published: None, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_questions(settings.evaluation_path, [question(THINGS[0])])
    monkeypatch.setenv("KB_CHAT_MODEL", "gpt-5")
    monkeypatch.setenv("KB_OPENAI_API_KEY", "none")
    result = execute(instance, "evaluate_answering", paid=False)
    assert result.success
    assert "nothing was asked, because answers of the chat model are paid for" in logged(instance, result)
    assert not instance.get_latest_materialization_event(dg.AssetKey("answer_quality"))


def test_an_ingest_that_completes_a_worse_generation_leaves_readers_and_says_so(
    instance: dg.DagsterInstance, things_published: None, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask_all(settings)
    before = live()
    monkeypatch.setenv("KB_EMBEDDER", CONTRARY)
    new = Workspace(load_settings()).generation.id
    result = execute(instance, "ingest_articles")
    assert result.success
    assert live() == before
    assert "is not promoted, because it finds known answers significantly worse" in logged(instance, result)
    passed, told = not_worse(instance)
    assert not passed
    assert f"kb generations --switch {new}" in str(told["reason"])
    assert execute(instance, "switch_generation", generation=new).success
    assert live() == new


def test_an_ingest_that_completes_a_good_one_shows_its_scores(
    instance: dg.DagsterInstance, things_published: None, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask_all(settings)
    monkeypatch.setenv("KB_EMBEDDER", OTHER)
    new = Workspace(load_settings()).generation.id
    assert execute(instance, "ingest_articles").success
    assert live() == new
    assert shown(instance, "retrieval_quality")["generation"] == new
    assert not_worse(instance)[0]


def test_the_night_skips_what_has_no_questions(instance: dg.DagsterInstance, settings: Settings) -> None:
    from kb_pipeline.definitions import defs

    schedule = defs().resolve_schedule_def("nightly_evaluation")
    with dg.build_schedule_context(instance=instance, resources=defs().resources) as context:
        assert str(Path(settings.home) / "evaluation") in str(schedule.evaluate_tick(context).skip_message)
        write_questions(settings.evaluation_path, [question("anchor")])
        assert len(schedule.evaluate_tick(context).run_requests or ()) == 1


def test_lost_questions_wait_for_a_reviewer_once(
    instance: dg.DagsterInstance, things_published: None, settings: Settings
) -> None:
    ask_all(settings)
    execute(instance, "evaluate_retrieval")
    assert list(open_queue(settings).list()) == []
    lose(settings, THINGS[:2])
    build_here(settings, *THINGS[:2])
    told = []
    for _ in range(2):
        result = execute(instance, "evaluate_retrieval")
        told.append("wait for a reviewer: kb contributions --state pending" in logged(instance, result))
        handed_in = open_queue(settings).list("pending")
        assert {one.service for one in handed_in} <= set(THINGS[:2])
        assert [(one.source, one.type, one.contributed_by) for one in handed_in] == [
            ("evaluation", "Pitfall", "") for _ in handed_in
        ]
        assert 1 <= len(handed_in) <= 2
    assert told == [True, False], "the second time they are there already"
