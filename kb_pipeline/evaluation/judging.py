"""Whether an evaluation is accepted, and what it is compared with.

The first is accepted, and every one that is not significantly worse than the one it is compared with; a worse one only
by hand. What was accepted is what the next is compared with.
"""

from kb_pipeline.evaluation.comparison import Comparison, compare
from kb_pipeline.evaluation.history import last_accepted, load_outcomes, load_run, load_runs, save, save_run
from kb_pipeline.evaluation.records import Evaluation, EvaluationRun
from kb_pipeline.settings import Settings


def judge_state(settings: Settings, evaluation: Evaluation) -> Evaluation:
    """Judge what readers have now by the last accepted state of it, and write it into the history."""
    known = load_run(settings, evaluation.run.id)
    return judge(settings, evaluation, None if known else _last_accepted(settings, evaluation.run))


def judge(settings: Settings, evaluation: Evaluation, against: Evaluation | None) -> Evaluation:
    """Judge an evaluation by another one, and write it into the history.

    One that was judged before keeps that judgement, unless it is ``against`` another one now.
    """
    run, before = evaluation.run, load_run(settings, evaluation.run.id)
    if against is not None and against.run.id != run.id and against.run.id != (before and before.compared_with):
        worse = compare(against, evaluation).worse
        accepted = run.accepted_by_hand or not worse
        run = run.model_copy(update={"accepted": accepted, "compared_with": against.run.id, "worse": worse})
    elif before is None:
        run = run.model_copy(update={"accepted": True})
    judged = Evaluation(run, evaluation.outcomes)
    if before is None:
        save(settings, judged)
    else:
        save_run(settings, run)
    return judged


def accept(settings: Settings, run: EvaluationRun) -> EvaluationRun:
    """Accept a run by hand, however it compares."""
    if run.accepted:
        return run
    accepted = run.model_copy(update={"accepted": True, "accepted_by_hand": True})
    save_run(settings, accepted)
    return accepted


def compared(settings: Settings, evaluation: Evaluation) -> tuple[EvaluationRun, Comparison] | None:
    """How an evaluation differs from the run it was judged by; ``None`` where there is none, or it is forgotten."""
    run_id = evaluation.run.compared_with
    before = load_run(settings, run_id) if run_id else None
    if before is None:
        return None
    return before, compare(Evaluation(before, load_outcomes(settings, before)), evaluation)


def _last_accepted(settings: Settings, run: EvaluationRun) -> Evaluation | None:
    before = last_accepted(load_runs(settings, run.kind), run.kind)
    return Evaluation(before, load_outcomes(settings, before)) if before else None
