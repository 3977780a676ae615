"""AnswerEvaluator a knowledge base questions whose answers are known."""

from pathlib import Path

import pytest

from kb_pipeline.evaluation import retrieval
from kb_pipeline.evaluation.judging import judge_live
from kb_pipeline.evaluation.questions import question_sets, read_questions
from kb_pipeline.evaluation.records import Evaluation
from kb_pipeline.flow.workspace import Workspace
from kb_pipeline.settings import Settings
from kb_pipeline_tests.building import build_here
from kb_pipeline_tests.evaluation.known import AT, LATER, THINGS, ask_all, lose, question, write_questions


def evaluate(settings: Settings, at: str = AT) -> Evaluation:
    workspace = Workspace(settings)
    return retrieval.evaluate(workspace, workspace.reader().generation, question_sets(settings), at)


def forbid_asking(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("a question was asked")

    monkeypatch.setattr(retrieval, "ask", refuse)


def test_every_question_is_asked_of_what_readers_search(settings: Settings, things_published: None) -> None:
    write_questions(settings.evaluation_path, [question(thing, paraphrase=f"{thing}s?") for thing in THINGS[:6]])
    found = evaluate(settings)
    assert found.run.scores["article@1"]["all"].value == 1
    assert found.run.scores["span@5"]["all"].n == 6
    assert found.run.scores["article@5"]["paraphrase"].n == 6
    first = found.outcomes[0]
    assert (first.ranked[0].article_id, first.article_rank, first.span_rank) == ("anchor", 1, 1)
    assert first.ranked[0].chunk_id in Workspace(settings).index.entries()["anchor"]


def test_it_says_what_it_was_made_of(settings: Settings, things_published: None) -> None:
    path = write_questions(settings.evaluation_path, [question("anchor")])
    run = evaluate(settings).run
    assert run.generation == Workspace(settings).generation.id
    assert run.settings["embedder"] == "hashing"
    assert [(each.name, each.sha256, each.questions) for each in run.question_sets] == [
        ("things", read_questions(path).sha256, 1)
    ]
    assert run.commit
    assert run.code


def test_articles_that_are_not_there_are_named_and_count_as_not_found(
    settings: Settings, things_published: None
) -> None:
    write_questions(settings.evaluation_path, [question("anchor"), question("unicorn", also_in=["griffin"])])
    run = evaluate(settings).run
    assert run.unknown_articles == ("griffin", "unicorn")
    assert run.scores["article@5"]["all"].value == 0.5


def test_nothing_is_asked_twice_while_nothing_changed(
    settings: Settings, things_published: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask_all(settings)
    judge_live(settings, evaluate(settings))
    forbid_asking(monkeypatch)
    again = evaluate(settings, LATER)
    assert (again.run.made_at, again.run.seen_at) == (AT, LATER)
    assert len(again.outcomes) == len(THINGS) + 1


@pytest.mark.parametrize("change", ["an article", "the questions", "the code", "the settings"])
def test_whatever_changes_the_scores_is_measured_anew(
    change: str, settings: Settings, things_published: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_questions(settings.evaluation_path, [question("anchor"), question("teapot")])
    first = evaluate(settings).run
    match change:
        case "an article":
            lose(settings, ["anchor"])
            build_here(settings, "anchor")
        case "the questions":
            write_questions(settings.evaluation_path, [question("anchor")])
        case "the code":
            monkeypatch.setattr(retrieval, "code_hash", lambda: "other")
        case "the settings":
            monkeypatch.setattr(retrieval, "relevant_settings", lambda *_: {"index": "another"})
    assert evaluate(settings).run.id != first.id


def test_a_run_of_the_same_state_has_the_same_id_whoever_makes_it(settings: Settings, things_published: None) -> None:
    write_questions(settings.evaluation_path, [question("anchor")])
    assert evaluate(settings).run.id == evaluate(settings, LATER).run.id
    assert not (Path(settings.home) / "evaluation" / "runs").exists()
