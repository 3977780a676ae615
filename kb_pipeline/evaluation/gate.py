"""The gate for a new generation of the index: it must answer known questions as well as the one that it replaces."""

from collections.abc import Iterable
from dataclasses import dataclass

from kb_pipeline.errors import KnowledgeBaseError, TransientError
from kb_pipeline.evaluation.history import load_runs
from kb_pipeline.evaluation.judging import accept, judge, judge_live
from kb_pipeline.evaluation.questions import question_sets
from kb_pipeline.evaluation.records import Evaluation, EvaluationRun
from kb_pipeline.evaluation.retrieval import evaluate
from kb_pipeline.flow.workspace import Workspace
from kb_pipeline.search.catalog import Generation
from kb_pipeline.settings import Settings


@dataclass(frozen=True)
class GateDecision:
    """Whether a generation may be promoted, and why or why not; ``evaluation`` is the evaluation of it."""

    passed: bool
    reason: str = ""
    evaluation: Evaluation | None = None


def judge_generation(workspace: Workspace, live: Generation, at: str) -> GateDecision:
    """Compare the generation of these settings with the live one, by the question sets of the knowledge base.

    Without question sets it passes. If it cannot be evaluated, it does not pass. Evaluations in the history are reused.
    """
    building = workspace.generation
    try:
        sets = question_sets(workspace.settings)
        if not sets:
            return GateDecision(True)
        after = evaluate(workspace, building, sets, at)
    except KnowledgeBaseError as exc:
        return GateDecision(False, f"generation {building.id} cannot be evaluated: {exc}; {_by_hand(building.id)}")
    try:
        before = judge_live(workspace.settings, evaluate(workspace, live, sets, at))
    except KnowledgeBaseError as exc:
        return _without_comparison(workspace.settings, after, live, exc)
    after = judge(workspace.settings, after, before)
    return GateDecision(after.run.accepted, "" if after.run.accepted else refusal_of(after.run, live.id), after)


def find_refusal(workspace: Workspace, live_id: str) -> str:
    """Why the generation of these settings was refused when it was last judged; "" if it was not."""
    runs = load_runs(workspace.settings, "retrieval")
    newest = _newest(runs, workspace.generation.id)
    if newest is None or newest.accepted or newest.generation == live_id:
        return ""
    against = {run.generation for run in runs if run.id == newest.compared_with}
    return refusal_of(newest, live_id) if live_id in against else ""


def accept_generation(settings: Settings, generation_id: str) -> None:
    """Accept the last evaluation of a generation by hand."""
    if newest := _newest(load_runs(settings, "retrieval"), generation_id):
        accept(settings, newest)


def refusal_of(run: EvaluationRun, live_id: str) -> str:
    """The message for a refused generation: the measures in which it is worse, and what to do."""
    return (
        f"generation {run.generation} is not promoted, because it finds known answers significantly worse than "
        f"{live_id}: {'; '.join(run.worse)}; {_by_hand(run.generation)}"
    )


def _without_comparison(
    settings: Settings, after: Evaluation, live: Generation, exc: KnowledgeBaseError
) -> GateDecision:
    """The verdict if the live generation cannot be searched: pass, because readers lose nothing, unless it is busy."""
    reason = f"generation {live.id} cannot be asked: {exc}"
    if isinstance(exc, TransientError):
        return GateDecision(False, f"{reason}; the next run compares generation {after.run.generation} with it")
    return GateDecision(True, f"{reason}, so there was no comparison", judge(settings, after, None))


def _newest(runs: Iterable[EvaluationRun], generation_id: str) -> EvaluationRun | None:
    """The last evaluation of a generation."""
    own_runs = [run for run in runs if run.generation == generation_id]
    return max(own_runs, key=lambda run: (run.seen_at, run.made_at), default=None)


def _by_hand(generation_id: str) -> str:
    return f"fix what is worse and ingest again, or switch anyway: kb generations --switch {generation_id}"
