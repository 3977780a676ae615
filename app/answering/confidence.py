"""How sure the search is that its hits answer a question: from their scores alone, in any language.

This is the one place that decides whether to answer, to offer what is closest, or to say that nothing answers.
"""

from collections.abc import Sequence
from typing import Literal

from app.language.words import words
from kb_pipeline.records import SearchHit

Evidence = Literal["answers", "closest", "unlikely", "nothing"]
"""``closest``: quote as what is closest. ``unlikely``: the same, and a model is told to doubt. ``nothing``: refuse."""

LEVELS: tuple[Evidence, ...] = ("nothing", "unlikely", "closest", "answers")

_MEASURED_MODEL = "all-MiniLM-L6-v2"
_CLOSEST, _UNLIKELY = 0.36, 0.33
_ANSWERS, _WEAKEST = 0.43, 0.465
"""Measured on 158 questions with an answer and 52 without one, about two manuals that were used for nothing else
(benchmarks/questions/unseen_calibration.jsonl). No question without an answer has a weakest word as near as
``_WEAKEST``; 58 % of those in the manual's words do whose answer the search finds first, and 11 % in other words. None
of those whose answer is in the first three sections is below ``_UNLIKELY``, and 27 % of those without one are. Cosine,
BM25 and the distance to the next hit, all weighed together, told them apart no better."""
_HALF, _THIRD = 0.5, 0.34
"""Shares of the question's words in the best hit, for indexes whose scores were not measured."""


def evidence_of(query: str, hits: Sequence[SearchHit]) -> Evidence:
    """How well the hits of a search, best first, can answer its query."""
    if not hits:
        return "nothing"
    best = hits[0]
    if best.confidence is not None and best.embedding_model.startswith(_MEASURED_MODEL):
        if best.confidence >= _ANSWERS and (best.weakest_word or 0.0) >= _WEAKEST:
            return "answers"
        return "closest" if best.confidence >= _CLOSEST else "unlikely" if best.confidence >= _UNLIKELY else "nothing"
    return evidence_of_shared(max(shared_words(query, text_of(hit)) for hit in hits))


def evidence_of_shared(shared: float) -> Evidence:
    """How well texts can answer of which the best has this share of the question's words."""
    return "answers" if shared >= _HALF else "closest" if shared >= _THIRD else "nothing"


def shared_words(query: str, text: str) -> float:
    """The share of a query's words that a text has."""
    asked = set(words(query))
    return len(asked & set(words(text))) / len(asked) if asked else 0.0


def text_of(hit: SearchHit) -> str:
    """The text of a hit with its title and headings."""
    return "\n".join((hit.chunk.title, *hit.chunk.heading_path, hit.chunk.content))
