"""Searches for the questions of an evaluation, and records the rankings.

The search ignores access lists: what a single user finds is the same ranking without the articles that are hidden from
that user.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from kb_pipeline.evaluation.matching import (
    article_ranking,
    first_chunk,
    first_rank,
    holds_span,
    shows_image,
    stands_on_page,
)
from kb_pipeline.evaluation.questions import EvaluationQuestion, QuestionSet
from kb_pipeline.evaluation.records import QuestionOutcome, Ranked
from kb_pipeline.flow.workspace import Reader
from kb_pipeline.records import SearchHit

DEPTH = 10
"""Chunks of a ranking that are evaluated; more than people read."""
_KEPT = {"kind", "article_id", "section", "answer_span", "image", "page"}
"""Fields of a question that its outcomes have, too."""


@dataclass(frozen=True)
class Wording:
    """A question in one of its wordings: the original, or the paraphrase."""

    question: EvaluationQuestion
    question_set: str
    text: str
    paraphrase: bool

    def outcome(self, **results: Any) -> QuestionOutcome:
        """An outcome of this wording, with the fields in ``results``."""
        return QuestionOutcome(
            question_id=self.question.id,
            question_set=self.question_set,
            asked=self.text,
            paraphrase=self.paraphrase,
            **self.question.model_dump(include=_KEPT),
            **results,
        )


def wordings(sets: Sequence[QuestionSet]) -> Iterator[Wording]:
    """Each question of the sets in each of its wordings. A question in several sets is asked once."""
    question_ids: set[str] = set()
    for question_set in sets:
        for question in question_set.questions:
            if question.id in question_ids:
                continue
            question_ids.add(question.id)
            yield Wording(question, question_set.name, question.question, paraphrase=False)
            if question.paraphrase:
                yield Wording(question, question_set.name, question.paraphrase, paraphrase=True)


def ask(reader: Reader, wording: Wording) -> QuestionOutcome:
    """Search for one wording, and rank the right article, passage and image.

    Raises:
        SearchError: the index cannot answer.
    """
    return outcome_of(wording, reader.search(wording.text, top=DEPTH))


def outcome_of(wording: Wording, hits: Sequence[SearchHit]) -> QuestionOutcome:
    """The outcome of a wording for a ranking of at most :data:`DEPTH` chunks."""
    question, chunks = wording.question, [hit.chunk for hit in hits]
    return wording.outcome(
        ranked=tuple(
            Ranked(article_id=hit.chunk.article_id, chunk_id=hit.chunk.id, score=round(hit.score, 6)) for hit in hits
        ),
        article_rank=first_rank(article_ranking(chunks), question.right_articles),
        span_rank=first_chunk(chunks, holds_span(question)) if question.answer_span else None,
        image_rank=first_chunk(chunks, shows_image(question)) if question.image else None,
        page_rank=first_chunk(chunks, stands_on_page(question)) if question.page else None,
        confidence=confidence_of(hits),
    )


def confidence_of(hits: Sequence[SearchHit]) -> float:
    """How confident the search is: the confidence of its best hit, else the best cosine, else the best BM25 score.

    Values can only be compared between questions to the same index; 0 if there are no hits.
    """
    if not hits:
        return 0.0
    if hits[0].confidence is not None:
        return round(hits[0].confidence, 6)
    cosines = [hit.vector_score for hit in hits if hit.vector_score is not None]
    best = cosines or [hit.keyword_score for hit in hits if hit.keyword_score is not None]
    return round(max(best, default=0.0), 6)
