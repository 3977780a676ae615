"""Compares two evaluations, question by question, and decides whether the second is significantly worse.

It is worse in a measure if the 95 % bootstrap interval of the difference, over all wordings that both asked, lies
entirely below 0. With fewer than 20 common questions nothing is judged, except diagnoses: incidents whose causes are
known are few, and the same data gives the same diagnosis, so none is lost by chance. Then more lost than won is worse.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from kb_pipeline.evaluation.records import Evaluation, Kind, QuestionOutcome, Score
from kb_pipeline.evaluation.statistics import mean_score

FEWEST_QUESTIONS = 20
"""Questions from which an interval says something; of fewer, each that changed is counted."""
JUDGED: Mapping[Kind, tuple[str, ...]] = MappingProxyType(
    {
        "retrieval": ("article@5", "MRR@10", "span@5"),
        "answers": ("article cited", "words in the answer", "answered", "refused"),
        "diagnosis": ("top-1", "top-3", "no common cause"),
    }
)
"""The measures in which a new evaluation must not be worse."""
TELLING: Mapping[Kind, tuple[str, ...]] = MappingProxyType(
    {
        "retrieval": ("article@5", "span@5"),
        "answers": ("article cited", "words in the answer", "refused"),
        "diagnosis": ("top-1", "top-3", "no common cause"),
    }
)
"""The measures that decide whether a question was lost or won."""

Fate = Literal["lost", "won", "changed"]


@dataclass(frozen=True)
class ChangedOutcome:
    """A question with another outcome: lost, won, or only with other ranks or values."""

    fate: Fate
    before: QuestionOutcome
    after: QuestionOutcome


@dataclass(frozen=True)
class Comparison:
    """The comparison of two evaluations. ``differences`` are by measure, after minus before, over all wordings.

    ``questions`` is how many questions both asked. ``worse`` describes the measures that are significantly worse; of
    few incidents, how many were lost.
    """

    questions: int
    differences: Mapping[str, Score]
    changes: tuple[ChangedOutcome, ...]
    worse: tuple[str, ...]

    def of(self, fate: Fate) -> list[ChangedOutcome]:
        """The changes of this kind."""
        return [change for change in self.changes if change.fate == fate]


def compare(before: Evaluation, after: Evaluation) -> Comparison:
    """Compare two evaluations of one kind over the questions that both asked."""
    kind = after.run.kind
    by_key = {outcome.key: outcome for outcome in before.outcomes}
    pairs = [(by_key[outcome.key], outcome) for outcome in after.outcomes if outcome.key in by_key]
    questions = len({old.question_id for old, _ in pairs})
    names = dict.fromkeys(name for old, _ in pairs for name in old.values)
    differences = {name: score for name in names if (score := _difference(name, pairs))}
    changes = [ChangedOutcome(fate, old, new) for old, new in pairs if (fate := _fate(old, new, TELLING[kind]))]
    if questions < FEWEST_QUESTIONS:
        worse = _counted(changes, questions) if kind == "diagnosis" else []
    else:
        judged = [name for name in JUDGED[kind] if name in differences]
        worse = [_described(name, differences[name]) for name in judged if differences[name].high < 0]
    return Comparison(questions, differences, tuple(changes), tuple(worse))


def _counted(changes: Sequence[ChangedOutcome], of: int) -> list[str]:
    """Whether more was lost than won, in words, where there are too few for an interval."""
    lost, won = (sum(change.fate == fate for change in changes) for fate in ("lost", "won"))
    return [f"{lost} of {of} incidents lost, {won} won"] if lost > won else []


def _difference(name: str, pairs: Sequence[tuple[QuestionOutcome, QuestionOutcome]]) -> Score | None:
    """The mean difference over the pairs in which both outcomes have the measure."""
    both = [(old, new) for old, new in pairs if name in old.values and name in new.values]
    if not both:
        return None
    differences = [new.values[name] - old.values[name] for old, new in both]
    return mean_score(differences, [old.question_id for old, _ in both])


def _fate(before: QuestionOutcome, after: QuestionOutcome, telling: Sequence[str]) -> Fate | None:
    shared = [name for name in telling if name in before.values and name in after.values]
    fell = any(after.values[name] < before.values[name] for name in shared)
    rose = any(after.values[name] > before.values[name] for name in shared)
    if fell != rose:
        return "lost" if fell else "won"
    old, new = ((one.article_rank, one.span_rank, one.image_rank, one.page_rank, one.values) for one in (before, after))
    return "changed" if old != new else None


def _described(name: str, score: Score) -> str:
    return f"{name} {score.value:+.3f} (95 % interval {score.low:+.3f} to {score.high:+.3f}, n = {score.n})"
