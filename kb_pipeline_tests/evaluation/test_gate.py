"""The gate before readers: a generation that finds known answers significantly worse is not promoted."""

import pytest

from kb_pipeline.errors import SearchError, TransientError
from kb_pipeline.evaluation import gate, retrieval
from kb_pipeline.evaluation.gate import find_refusal
from kb_pipeline.evaluation.history import load_runs
from kb_pipeline.flow.workspace import Workspace
from kb_pipeline.search.lance.index import LanceDBIndex
from kb_pipeline.settings import Settings
from kb_pipeline.upkeep.generations import Promotion, promote_when_complete, switch_to
from kb_pipeline.upkeep.reconcile import compare
from kb_pipeline_tests.building import build_here
from kb_pipeline_tests.evaluation.known import CONTRARY, LATER, OTHER, ask_all, publish_things


@pytest.fixture(autouse=True)
def questions(settings: Settings) -> None:
    ask_all(settings)


@pytest.fixture
def other(settings: Settings) -> Settings:
    """Another generation, complete, which finds the same."""
    return publish_things(settings, OTHER)


@pytest.fixture
def worse(settings: Settings) -> Settings:
    """Another generation, complete, which finds less."""
    return publish_things(settings, CONTRARY)


def promote(settings: Settings) -> Promotion:
    workspace = Workspace(settings)
    return promote_when_complete(workspace, compare(workspace), LATER)


def live(settings: Settings) -> str:
    return Workspace(settings).reader().generation.id


@pytest.mark.slow("builds a whole knowledge base")
def test_a_generation_that_is_as_good_is_promoted(settings: Settings, other: Settings) -> None:
    promotion = promote(other)
    assert promotion.switched
    assert promotion.verdict
    assert promotion.verdict.passed
    assert live(settings) == Workspace(other).generation.id
    assert [run.accepted for run in load_runs(settings)] == [True, True]


@pytest.mark.slow("builds a whole knowledge base")
def test_a_worse_one_is_not_and_it_is_said_why_and_what_to_do(settings: Settings, worse: Settings) -> None:
    old, new = Workspace(settings).generation.id, Workspace(worse).generation.id
    promotion = promote(worse)
    assert not promotion.switched
    assert live(settings) == old
    for part in (new, old, "significantly worse", "MRR@10 -", f"kb generations --switch {new}"):
        assert part in promotion.reason
    assert find_refusal(Workspace(worse), old) == promotion.reason
    assert find_refusal(Workspace(settings), old) == ""


@pytest.mark.slow("builds a whole knowledge base")
def test_the_verdict_holds_while_nothing_changes_and_nothing_is_asked_again(
    worse: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = promote(worse)

    def refuse(*_: object) -> None:
        raise AssertionError("a question was asked")

    monkeypatch.setattr(retrieval, "ask", refuse)
    assert promote(worse).reason == first.reason
    assert len(load_runs(worse)) == 2


@pytest.mark.slow("builds a whole knowledge base")
def test_a_person_can_have_it_all_the_same(settings: Settings, worse: Settings) -> None:
    promote(worse)
    new = Workspace(worse).generation.id
    switch_to(Workspace(worse), new, LATER)
    assert live(settings) == new
    newest = next(run for run in load_runs(settings) if run.generation == new)
    assert (newest.accepted, newest.accepted_by_hand) == (True, True)
    assert find_refusal(Workspace(worse), Workspace(settings).generation.id) == ""


def test_without_questions_it_is_promoted_unasked(worse: Settings) -> None:
    for file in worse.evaluation_path.glob("*.jsonl"):
        file.unlink()
    promotion = promote(worse)
    assert promotion.switched
    assert promotion.verdict == gate.GateDecision(True)


@pytest.mark.slow("builds a whole knowledge base")
def test_a_way_back_to_the_better_one_is_promoted(settings: Settings, worse: Settings) -> None:
    switch_to(Workspace(worse), Workspace(worse).generation.id, LATER)
    build_here(settings)
    assert promote(settings).switched


def test_questions_that_cannot_be_read_keep_readers_where_they_are(settings: Settings, other: Settings) -> None:
    (settings.evaluation_path / "broken.jsonl").write_text("{")
    promotion = promote(other)
    assert not promotion.switched
    assert "broken.jsonl:1" in promotion.reason
    assert "kb generations --switch" in promotion.reason


def fail_live(monkeypatch: pytest.MonkeyPatch, settings: Settings, problem: Exception) -> None:
    """From now on the generation of ``settings`` cannot be searched."""
    model, search = Workspace(settings).embedder.model_id, LanceDBIndex._search

    def failing(self: LanceDBIndex, *query: object) -> object:
        if self.embedding_model == model:
            raise problem
        return search(self, *query)

    monkeypatch.setattr(LanceDBIndex, "_search", failing)


@pytest.mark.slow("builds a whole knowledge base")
def test_where_readers_cannot_ask_there_is_nothing_to_lose(
    settings: Settings, other: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    fail_live(monkeypatch, settings, SearchError("the table is gone"))
    promotion = promote(other)
    assert promotion.switched
    assert "the table is gone, so there was no comparison" in promotion.reason


@pytest.mark.slow("builds a whole knowledge base")
def test_where_they_only_have_to_wait_so_does_the_gate(
    settings: Settings, other: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    fail_live(monkeypatch, settings, TransientError("busy"))
    promotion = promote(other)
    assert not promotion.switched
    assert "busy; the next run compares" in promotion.reason
    monkeypatch.undo()
    assert promote(other).switched
