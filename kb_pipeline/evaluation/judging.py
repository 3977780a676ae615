"""Judges evaluations: accepts one unless it is worse than the last accepted one, as comparison.py defines it.

The first evaluation is always accepted. A worse one can be accepted by hand.
"""

from kb_pipeline.evaluation.comparison import Comparison, compare
from kb_pipeline.evaluation.history import last_accepted, load_outcomes, load_run, load_runs, save, save_run
from kb_pipeline.evaluation.records import Evaluation, EvaluationRun
from kb_pipeline.settings import Settings


def judge_live(settings: Settings, evaluation: Evaluation) -> Evaluation:
    """Judge an evaluation of the live generation by the last accepted one, and write it to the history."""
    run = evaluation.run
    if load_run(settings, run.id, run.scenario):
        return judge(settings, evaluation, None)
    before = last_accepted(load_runs(settings, run.kind, run.scenario), run.kind)
    return judge(settings, evaluation, Evaluation(before, load_outcomes(settings, before)) if before else None)


def judge(settings: Settings, evaluation: Evaluation, against: Evaluation | None) -> Evaluation:
    """Judge an evaluation by another one, and write it to the history.

    An evaluation that is in the history keeps its judgement, unless it is now compared with a different run.
    """
    run = evaluation.run
    before = load_run(settings, run.id, run.scenario)
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
    """Accept a run by hand, even if it is worse."""
    if run.accepted:
        return run
    accepted = run.model_copy(update={"accepted": True, "accepted_by_hand": True})
    save_run(settings, accepted)
    return accepted


def comparison_with_baseline(settings: Settings, evaluation: Evaluation) -> tuple[EvaluationRun, Comparison] | None:
    """Compare an evaluation with the run that it was judged by; ``None`` if there is none, or it was removed."""
    run_id = evaluation.run.compared_with
    before = load_run(settings, run_id, evaluation.run.scenario) if run_id else None
    if before is None:
        return None
    return before, compare(Evaluation(before, load_outcomes(settings, before)), evaluation)
