"""How well the search tells questions that it answers from others: what the model of ``app/answering/confidence.py`` is
made of, and what it tells of manuals that were left out when it was made.

    python -m benchmarks.confidence --of HOME QUESTIONS [--of HOME QUESTIONS ...]

Each pair is a knowledge base with the default embedder and a question set about it
(:mod:`kb_pipeline.evaluation.questions`). Right is a best hit of an article that answers. A pair is judged by the model
that is made of the others. What comes first are the weights from all pairs, to be rounded into the code. The knowledge
bases are only read.
"""

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from app.answering.confidence import evidence_of, signs_of
from kb_pipeline.evaluation.asking import wordings
from kb_pipeline.evaluation.questions import read_questions
from kb_pipeline.flow.workspace import open_workspace
from kb_pipeline.settings import load_settings

Floats = npt.NDArray[np.float64]

_PASSAGES = 5
_SHARES = (0, 0.01, 0.02, 0.05)


class Asked(NamedTuple):
    """A question that was searched for: whether it has an answer, whether that was found, in whose words it asks."""

    signs: tuple[float, ...]
    has_answer: bool
    is_right: bool
    is_reworded: bool
    is_answered: bool


def asked_of(home: str, questions: Path) -> Iterator[Asked]:
    """Search for every question in each of its wordings."""
    reader = open_workspace(load_settings(home=home)).reader()
    for wording in wordings([read_questions(questions)]):
        hits = reader.search(wording.text, top=_PASSAGES)
        if hits and (signs := signs_of(hits[0])):
            right = wording.question.right_articles
            yield Asked(
                signs,
                bool(right),
                hits[0].chunk.article_id in right,
                wording.paraphrase,
                evidence_of(wording.text, hits) == "answers",
            )


def fitted(asked: Sequence[Asked]) -> Floats:
    """The constant and the weights by logistic regression (Newton's method, weights pulled to 0 a little)."""
    values = np.array([each.signs for each in asked])
    mean, spread = values.mean(axis=0), values.std(axis=0)
    rows = np.column_stack([np.ones(len(values)), (values - mean) / spread])
    right = np.array([each.is_right for each in asked], np.float64)
    pull = np.array([0.0, *[1.0] * values.shape[1]])
    weights = np.zeros(rows.shape[1])
    for _ in range(30):
        likely = 1 / (1 + np.exp(-rows @ weights))
        curve = (rows * (likely * (1 - likely))[:, None]).T @ rows + np.diag(pull)
        weights += np.linalg.solve(curve, rows.T @ (right - likely) - pull * weights)
    of_signs = weights[1:] / spread
    return np.array([weights[0] - of_signs @ mean, *of_signs])


def scores_of(asked: Sequence[Asked], weights: Floats) -> Floats:
    """The log odds of each question."""
    scores: Floats = weights[0] + np.array([each.signs for each in asked]) @ weights[1:]
    return scores


def area(right: Floats, others: Floats) -> float:
    """How often a right answer scores higher than a question without one (the area under the ROC curve)."""
    return float(np.mean([(score > others).mean() + (score == others).mean() / 2 for score in right]))


def main() -> None:
    """Search, fit, and count."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--of", nargs=2, action="append", required=True, metavar=("HOME", "QUESTIONS"))
    sets = [list(asked_of(home, Path(questions))) for home, questions in parser.parse_args().of]
    everything = [each for asked in sets for each in asked]
    print("constant and weights:", " ".join(f"{weight:.2f}" for weight in fitted(everything)))
    unseen = [
        scores_of(asked, fitted([each for other in sets if other is not asked for each in other])) for asked in sets
    ]
    scores = np.concatenate(unseen)
    groups = {
        "found first, in the manual's words": [each.is_right and not each.is_reworded for each in everything],
        "found first, in other words": [each.is_right and each.is_reworded for each in everything],
        "another article first": [each.has_answer and not each.is_right for each in everything],
        "without an answer": [not each.has_answer for each in everything],
    }
    answered = np.array([each.is_answered for each in everything])
    without = np.sort(scores[groups["without an answer"]])[::-1]
    limits = [without[int(share * len(without))] for share in _SHARES]
    shares = " | ".join(f"at {share:.0%}" for share in _SHARES)
    print(f"\n| | questions | answered outright by the code | {shares} | AUC |")
    print("|---" * (4 + len(limits)) + "|")
    for name, chosen in groups.items():
        of_group = scores[chosen]
        at_limits = " | ".join(f"{(of_group > limit).mean():.2f}" for limit in limits)
        print(f"| {name} | {len(of_group)} | {answered[chosen].sum()} | {at_limits} | {area(of_group, without):.3f} |")


if __name__ == "__main__":
    main()
