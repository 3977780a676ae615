"""How likely the found passages answer a question at all, so that nothing is quoted where nothing answers.

Measured with all-MiniLM-L6-v2 on software manuals in English. Set so that of 51 development questions that the manual
answers none is refused, and all 5 that it does not; judged on 63 and 25 others, most of the latter near misses ("How do
I connect Oxygen to a MongoDB database?"): 1 is refused wrongly, and 4 are answered as if they had an answer, of which
11 more get "the closest" (with cosines alone it was 1, 8 and 8). A question in words that no article uses looks like
one without an answer to all of these scores: so neither is refused flatly. Other languages were not measured. Other
models' scores lie elsewhere, so for those only words count.
"""

from collections.abc import Sequence
from typing import Literal

from app.grounding.asked import Asked
from app.grounding.words import words
from kb_pipeline.records import Chunk, SearchHit

Evidence = Literal["strong", "weak", "unlikely", "none"]
"""``weak``: the closest passages, to be called that. ``unlikely``: no answer, but perhaps leads."""

_MEASURED_MODEL = "all-MiniLM-L6-v2"
_COVERED, _PARTLY, _HARDLY = 0.43, 0.36, 0.29
_NEAR = 0.45
"""Cosine of a passage that may answer in other words."""
_UNRELATED, _LIKELY, _SURE = 0.28, 0.40, 0.50
_MOST_WORDS, _HALF, _FEW_WORDS = 0.7, 0.5, 0.34


def evidence_of(asked: Asked, hits: Sequence[SearchHit]) -> Evidence:
    """How well the hits of a search, best first, can answer what was asked."""
    if not hits:
        return "none"
    cosines = [hit.vector_score for hit in hits if hit.vector_score is not None]
    if hits[0].embedding_model.startswith(_MEASURED_MODEL):
        if hits[0].confidence is not None:
            return _by_coverage(hits[0].confidence, max(cosines, default=0.0))
        if cosines:
            return _by_cosine(max(cosines), _most_shared(asked, hits))
    shared = _most_shared(asked, hits)
    return "strong" if shared >= _HALF else "weak" if shared >= _FEW_WORDS else "none"


def _by_coverage(confidence: float, cosine: float) -> Evidence:
    """By how the best hit covers each word of the question, and whether any is near as a whole."""
    if confidence >= _COVERED:
        return "strong"
    if confidence >= _PARTLY or cosine >= _NEAR:
        return "weak"
    return "unlikely" if confidence >= _HARDLY else "none"


def _by_cosine(cosine: float, shared: float) -> Evidence:
    """For an index without the words' own vectors."""
    if cosine < _UNRELATED:
        return "none"
    if cosine < _LIKELY and shared < _MOST_WORDS:
        return "unlikely" if shared >= _FEW_WORDS else "none"
    return "weak" if cosine < _SURE and shared < _MOST_WORDS else "strong"


def _most_shared(asked: Asked, hits: Sequence[SearchHit]) -> float:
    return max(_shared(asked, hit.chunk) for hit in hits)


def _shared(asked: Asked, chunk: Chunk) -> float:
    """How many of the question's words a chunk holds, as a share."""
    said = set(words(" ".join((chunk.title, *chunk.heading_path, chunk.content))))
    return sum(share for word, share in asked.words.items() if word in said) / (sum(asked.words.values()) or 1.0)
