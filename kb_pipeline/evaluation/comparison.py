"""How two evaluations differ: question by question, and whether the second is significantly worse.

The rule: over all questions that both asked, in every wording that both used, the 95 % bootstrap interval of the
difference of a judged measure lies wholly below 0. With fewer than 20 such questions nothing is judged.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from kb_pipeline.evaluation.records import Evaluation, Kind, Outcome, Score
from kb_pipeline.evaluation.statistics import mean_score

FEWEST_QUESTIONS = 20
JUDGED: Mapping[Kind, tuple[str, ...]] = MappingProxyType(
    {
        "retrieval": ("article@5", "MRR@10", "span@5"),
        "answers": ("article cited", "words in the answer", "answered", "refused"),
    }
)
"""The measures in which a new state of the knowledge base must not be worse."""
TELLING: Mapping[Kind, tuple[str, ...]] = MappingProxyType(
    {"retrieval": ("article@5", "span@5"), "answers": ("article cited", "words in the answer", "refused")}
)
"""The measures by which a question is lost or won."""

Fate = Literal["lost", "won", "changed"]


@dataclass(frozen=True)
class Change:
    """A question that came out otherwise: lost or won, or only at other places of the ranking."""

    fate: Fate
    before: Outcome
    after: Outcome


@dataclass(frozen=True)
class Comparison:
    """What changed from one evaluation to another. ``differences``: by measure, after minus before, pooled.

    ``questions`` is how many both asked, ``wordings`` how often they asked them.
    """

    questions: int
    wordings: int
    differences: Mapping[str, Score]
    changes: tuple[Change, ...]
    worse: tuple[str, ...]

    def of(self, fate: Fate) -> list[Change]:
        """The questions of that fate."""
        return [change for change in self.changes if change.fate == fate]


def compare(before: Evaluation, after: Evaluation) -> Comparison:
    """Compare two evaluations of one kind over the questions that both asked."""
    kind = after.run.kind
    pairs = list(_pairs(before.outcomes, after.outcomes))
    questions = len({one.question_id for one, _ in pairs})
    names = dict.fromkeys(name for one, _ in pairs for name in one.values)
    differences = {name: score for name in names if (score := _difference(name, pairs))}
    changes = (Change(fate, one, other) for one, other in pairs if (fate := _fate(one, other, TELLING[kind])))
    judged = [name for name in JUDGED[kind] if name in differences] if questions >= FEWEST_QUESTIONS else []
    worse = (_said(name, differences[name]) for name in judged if differences[name].high < 0)
    return Comparison(questions, len(pairs), differences, tuple(changes), tuple(worse))


def _pairs(before: Sequence[Outcome], after: Sequence[Outcome]) -> Iterator[tuple[Outcome, Outcome]]:
    known = {one.key: one for one in before}
    return ((known[one.key], one) for one in after if one.key in known)


def _difference(name: str, pairs: Sequence[tuple[Outcome, Outcome]]) -> Score | None:
    """The mean difference of what both have a value of."""
    both = [(one, other) for one, other in pairs if name in one.values and name in other.values]
    if not both:
        return None
    differences = [other.values[name] - one.values[name] for one, other in both]
    return mean_score(differences, [one.question_id for one, _ in both])


def _fate(before: Outcome, after: Outcome, telling: Sequence[str]) -> Fate | None:
    shared = [name for name in telling if name in before.values and name in after.values]
    fell = any(after.values[name] < before.values[name] for name in shared)
    rose = any(after.values[name] > before.values[name] for name in shared)
    if fell != rose:
        return "lost" if fell else "won"
    places = [(one.article_rank, one.span_rank, one.image_rank, one.values) for one in (before, after)]
    return "changed" if places[0] != places[1] else None


def _said(name: str, score: Score) -> str:
    return f"{name} {score.value:+.3f} (95 % interval {score.low:+.3f} to {score.high:+.3f}, n = {score.n})"
