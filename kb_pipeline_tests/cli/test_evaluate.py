"""``kb evaluate``: scores on the screen or as JSON, with an exit code."""

from pathlib import Path

import pytest

from kb_pipeline.cli import console
from kb_pipeline.evaluation.history import load_runs
from kb_pipeline.flow.workspace import Workspace
from kb_pipeline.settings import Settings
from kb_pipeline.upkeep.generations import promote_when_complete
from kb_pipeline.upkeep.reconcile import compare
from kb_pipeline_tests.building import build_here
from kb_pipeline_tests.cli.conftest import Run
from kb_pipeline_tests.evaluation.known import (
    CONTRARY,
    LATER,
    THINGS,
    ask_all,
    lose,
    publish_things,
    question,
    write_questions,
)


@pytest.mark.slow("runs whole commands")
def test_a_file_of_questions_is_scored_and_not_recorded(
    run: Run, things_published: None, settings: Settings, tmp_path: Path
) -> None:
    path = write_questions(tmp_path, [question("teapot", paraphrase="teapots"), question("unicorn")], "mine")
    said = run("evaluate", "--questions", str(path))
    assert said.code == 0
    for part in ("mine (2)", "MRR", "all questions 2 0.50", "in other words 1 1.00", ".00-1"):
        assert part in said.words
    assert "1 expected articles are not in the index (unicorn)" in said.words
    assert load_runs(settings) == []


@pytest.mark.slow("runs whole commands")
@pytest.mark.parametrize("width", [50, 80])
def test_a_narrow_terminal_gets_more_tables_and_whole_words(
    run: Run, things_published: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    monkeypatch.setattr(console.out, "width", width)
    nothing = question("unicorn", article_id=None, answer_span=None, kind="unanswerable")
    path = write_questions(tmp_path, [question("teapot", paraphrase="teapots"), nothing])
    said = run("evaluate", "--answers", "--questions", str(path))
    assert sum(line.startswith(" questions") for line in said.out.splitlines()) == (3 if width == 50 else 2), said.out
    assert {"answered", "precision", "recall", "refused", "cited"}.issubset(said.out.split())
    assert max(map(len, said.out.splitlines()[1:])) <= width


def test_as_json_it_tells_what_was_found_for_each_question(run: Run, things_published: None, tmp_path: Path) -> None:
    paths = [write_questions(tmp_path, [question(thing)], thing) for thing in ("teapot", "kettle")]
    told = run("evaluate", "--questions", str(paths[0]), "--questions", str(paths[1]), "--json").json
    assert told["scores"]["article@1"]["all"] == {"value": 1.0, "low": 1.0, "high": 1.0, "n": 2}
    first = told["questions"][0]
    assert (first["question_set"], first["question"], first["article_rank"]) == ("teapot", "Where is the teapot?", 1)
    assert first["articles"][0] == "teapot"
    assert first["chunks"][0].startswith("teapot-")


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--questions", "nowhere.jsonl"], "cannot read nowhere.jsonl"),
        (["--questions", "bad.jsonl"], "bad.jsonl:1: question: "),
        (["--questions", "bad.jsonl", "--accept"], "leave out --questions"),
        (["--graded"], "add --answers"),
        ([], "there are no questions in"),
    ],
)
def test_what_cannot_be_done_is_said(run: Run, arguments: list[str], problem: str) -> None:
    Path("bad.jsonl").write_text('{"question": 1, "article_id": "a"}\n')
    said = run("evaluate", *arguments)
    assert said.code == 2
    assert problem in said.words


def test_without_an_index_there_is_nothing_to_ask(run: Run) -> None:
    write_questions(Path(), [question("teapot")], "mine")
    said = run("evaluate", "--questions", "mine.jsonl")
    assert (said.code, "run: kb ingest" in said.err) == (2, True)


@pytest.mark.slow("runs whole commands")
def test_its_own_questions_are_recorded_and_a_loss_is_an_exit_code(
    run: Run, things_published: None, settings: Settings
) -> None:
    ask_all(settings)
    first = run("evaluate", "--json")
    assert (first.code, first.json["accepted"]) == (0, True)
    lose(settings, THINGS[:10])
    build_here(settings, *THINGS[:10])
    worse = run("evaluate")
    assert worse.code == 1
    for part in (
        "significantly worse: article@5 -",
        "kb evaluate --accept",
        "10 lost",
        f"Where is the {THINGS[0]}like?",
    ):
        assert part in worse.words
    assert run("evaluate", "--accept").code == 0
    assert run("evaluate").code == 0
    assert len(load_runs(settings)) == 2


@pytest.mark.slow("runs whole commands")
def test_a_refused_generation_is_told_by_status_and_generations(
    run: Run, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = Workspace(publish_things(settings, CONTRARY))
    ask_all(settings)
    assert not promote_when_complete(workspace, compare(workspace), LATER).switched
    monkeypatch.setenv("KB_EMBEDDER", CONTRARY)
    for said in (run("status"), run("generations")):
        assert "finds known answers significantly worse" in said.words
    assert run("status").code == 1
    refused = {each["id"]: each["refused"] for each in run("generations", "--json").json if each["refused"]}
    ((new, reason),) = refused.items()
    assert f"kb generations --switch {new}" in reason
    assert run("generations", "--switch", new).code == 0
    assert "finds known answers" not in run("status").words
