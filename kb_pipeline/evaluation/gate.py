"""The gate before readers: a new generation of the index must find the known answers as well as the one it replaces."""

from collections.abc import Iterable
from dataclasses import dataclass

from kb_pipeline.errors import KnowledgeBaseError, TransientError
from kb_pipeline.evaluation.history import load_runs
from kb_pipeline.evaluation.judging import accept, judge, judge_state
from kb_pipeline.evaluation.questions import question_sets
from kb_pipeline.evaluation.records import Evaluation, EvaluationRun
from kb_pipeline.evaluation.retrieval import evaluate
from kb_pipeline.search.catalog import Generation
from kb_pipeline.settings import Settings
from kb_pipeline.workspace import Workspace


@dataclass(frozen=True)
class Verdict:
    """Whether a generation may be promoted, and what there is to say; ``evaluation`` is what it was judged by."""

    passed: bool
    reason: str = ""
    evaluation: Evaluation | None = None


def judge_generation(workspace: Workspace, live: Generation, at: str) -> Verdict:
    """Compare the generation of these settings with the one that readers use, by the knowledge base's own questions.

    Without questions it passes. Nothing is asked again while nothing changed. What cannot be measured does not pass.
    """
    building = workspace.generation
    try:
        sets = question_sets(workspace.settings)
        if not sets:
            return Verdict(True)
        after = evaluate(workspace, building, sets, at)
    except KnowledgeBaseError as exc:
        return Verdict(False, f"generation {building.id} cannot be evaluated: {exc}; {_by_hand(building.id)}")
    try:
        before = judge_state(workspace.settings, evaluate(workspace, live, sets, at))
    except KnowledgeBaseError as exc:
        return _unasked(workspace.settings, after, live, exc)
    after = judge(workspace.settings, after, before)
    return Verdict(after.run.accepted, "" if after.run.accepted else refusal_of(after.run, live.id), after)


def find_refusal(workspace: Workspace, live_id: str) -> str:
    """Why the generation of these settings was not promoted when it was judged last; empty, if it was not refused."""
    runs = load_runs(workspace.settings, "retrieval")
    newest = _newest(runs, workspace.generation.id)
    if newest is None or newest.accepted or newest.generation == live_id:
        return ""
    against = {run.generation for run in runs if run.id == newest.compared_with}
    return refusal_of(newest, live_id) if live_id in against else ""


def accept_generation(settings: Settings, generation_id: str) -> None:
    """Accept by hand what was measured of a generation last."""
    if newest := _newest(load_runs(settings, "retrieval"), generation_id):
        accept(settings, newest)


def refusal_of(run: EvaluationRun, live_id: str) -> str:
    """What a refused generation is worse in, and what a person can do."""
    return (
        f"generation {run.generation} is not promoted, because it finds known answers significantly worse than "
        f"{live_id}: {'; '.join(run.worse)}; {_by_hand(run.generation)}"
    )


def _unasked(settings: Settings, after: Evaluation, live: Generation, problem: KnowledgeBaseError) -> Verdict:
    """Where what is live cannot be asked, readers have nothing to lose; unless it is only busy."""
    reason = f"generation {live.id} cannot be asked: {problem}"
    if isinstance(problem, TransientError):
        return Verdict(False, f"{reason}; the next run compares generation {after.run.generation} with it")
    return Verdict(True, f"{reason}; so nothing is compared with it", judge(settings, after, None))


def _newest(runs: Iterable[EvaluationRun], generation_id: str) -> EvaluationRun | None:
    """What was measured of a generation last."""
    of_this = [run for run in runs if run.generation == generation_id]
    return max(of_this, key=lambda run: (run.seen_at, run.made_at), default=None)


def _by_hand(generation_id: str) -> str:
    return f"mend what is worse and ingest again, or have it by hand: kb generations --switch {generation_id}"
