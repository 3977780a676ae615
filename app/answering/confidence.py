"""How sure the search is that its hits answer a question: from their scores and words, in any language.

This is the one place that decides whether to answer, to offer what is closest, or to say that nothing answers.
"""

from collections.abc import Sequence
from math import exp
from operator import mul
from typing import Literal

from app.language.detection import language_of
from app.language.words import words
from kb_pipeline.languages import ENGLISH
from kb_pipeline.records import SearchHit

Evidence = Literal["answers", "closest", "unlikely", "nothing"]
"""``closest``: quote as what is closest. ``unlikely``: the same, and a model is told to doubt. ``nothing``: refuse."""

LEVELS: tuple[Evidence, ...] = ("nothing", "unlikely", "closest", "answers")

_MEASURED_MODEL = "all-MiniLM-L6-v2"
_CONSTANT, _WEIGHTS = -6.4, (7.6, 6.7)
"""Log odds that the article of the best hit answers, by logistic regression: of how near the question's rare words are
to the best section, and how much nearer its telling words are to it than to other sections. From 602 questions about
eight manuals, 174 of them without an answer: ``python -m benchmarks.confidence``, with what it tells of manuals that
were left out."""
_ANSWERS, _CLOSEST, _UNLIKELY = 0.7, 0.12, 0.06
"""The least probability of each level. 4 of those 174 questions are above the first, and 84 % of those in the manual's
words whose article is found first. 1 % of those whose article is among the first three are below the last one, and 10 %
of the 174."""
_ANSWERS_IN_OTHERS = 0.5
"""The first of these limits where question and section are in another language than English: the model has read
English, and its vectors of other words are less near. The likeliest of 20 German questions without an
answer has .37."""
_HALF, _THIRD = 0.5, 0.34
"""Shares of the question's words in the best hit, for indexes whose scores were not measured."""


def evidence_of(query: str, hits: Sequence[SearchHit]) -> Evidence:
    """How well the hits of a search, best first, can answer its query."""
    if not hits:
        return "nothing"
    best = hits[0]
    if best.embedding_model.startswith(_MEASURED_MODEL) and (signs := signs_of(best)):
        likely = probability(signs)
        if _ANSWERS_IN_OTHERS <= likely < _ANSWERS and _is_in_others(query, best):
            return "answers"
        limits: dict[Evidence, float] = {"answers": _ANSWERS, "closest": _CLOSEST, "unlikely": _UNLIKELY}
        return next((level for level, limit in limits.items() if likely >= limit), "nothing")
    return evidence_of_shared(max(shared_words(query, text_of(hit)) for hit in hits))


def signs_of(best: SearchHit) -> tuple[float, float] | None:
    """What the probability is computed of; ``None`` in an index without vectors of words."""
    if best.rare_score is None or best.above_usual is None:
        return None
    return best.rare_score, best.above_usual


def probability(signs: Sequence[float]) -> float:
    """The probability that the article of the best hit answers."""
    return 1 / (1 + exp(-_CONSTANT - sum(map(mul, _WEIGHTS, signs))))


def _is_in_others(query: str, best: SearchHit) -> bool:
    """Whether a section is in another language than English, and the question is not told to be English."""
    return language_of(query) != ENGLISH and language_of(best.chunk.content) not in (None, ENGLISH)


def evidence_of_shared(shared: float) -> Evidence:
    """How well texts can answer of which the best has this share of the question's words."""
    return "answers" if shared >= _HALF else "closest" if shared >= _THIRD else "nothing"


def shared_words(query: str, text: str) -> float:
    """The share of a query's words that a text has."""
    query_words = set(words(query))
    return len(query_words & set(words(text))) / len(query_words) if query_words else 0.0


def text_of(hit: SearchHit) -> str:
    """The text of a hit with its title and headings."""
    return "\n".join((hit.chunk.title, *hit.chunk.heading_path, hit.chunk.content))
