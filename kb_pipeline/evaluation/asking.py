"""Asks the questions of the search that readers use, and keeps what was found.

Nobody in particular asks: what only some may read is found as well, because what a single person finds is the same
ranking without the rest.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from kb_pipeline.evaluation.matching import article_ranking, first_chunk, first_rank, holds_span, shows_image
from kb_pipeline.evaluation.questions import EvaluationQuestion, QuestionSet
from kb_pipeline.evaluation.records import Outcome, Ranked
from kb_pipeline.records import SearchHit
from kb_pipeline.workspace import Reader

DEPTH = 10
"""Chunks of a ranking that are looked at: more than anybody reads."""


@dataclass(frozen=True)
class Wording:
    """A question as it is asked: as it stands, or in other words."""

    question: EvaluationQuestion
    question_set: str
    text: str
    paraphrase: bool

    def outcome(self, **found: Any) -> Outcome:
        """An outcome of this wording; ``found`` are the fields that say what came of it."""
        question = self.question
        return Outcome(
            question_id=question.id,
            question_set=self.question_set,
            asked=self.text,
            paraphrase=self.paraphrase,
            kind=question.kind,
            article_id=question.article_id,
            section=question.section,
            answer_span=question.answer_span,
            image=question.image,
            **found,
        )


def wordings(sets: Sequence[QuestionSet]) -> Iterator[Wording]:
    """Every question of the sets in each of its wordings; one that several sets hold is asked once."""
    seen: set[str] = set()
    for questions in sets:
        for question in questions.questions:
            if question.id in seen:
                continue
            seen.add(question.id)
            yield Wording(question, questions.name, question.question, paraphrase=False)
            if question.paraphrase:
                yield Wording(question, questions.name, question.paraphrase, paraphrase=True)


def ask(reader: Reader, wording: Wording) -> Outcome:
    """What the search finds for one wording, and where in it the right things stand.

    Raises:
        SearchError: the index cannot answer.
    """
    return outcome_of(wording, reader.search(wording.text, top=DEPTH))


def outcome_of(wording: Wording, hits: Sequence[SearchHit]) -> Outcome:
    """The outcome that a ranking of at most ten chunks means for a wording."""
    question, chunks = wording.question, [hit.chunk for hit in hits]
    return wording.outcome(
        ranked=tuple(
            Ranked(article_id=hit.chunk.article_id, chunk_id=hit.chunk.id, score=round(hit.score, 6)) for hit in hits
        ),
        article_rank=first_rank(article_ranking(chunks), question.right_articles),
        span_rank=first_chunk(chunks, holds_span(question)) if question.answer_span else None,
        image_rank=first_chunk(chunks, shows_image(question)) if question.image else None,
        confidence=confidence_of(hits),
    )


def confidence_of(hits: Sequence[SearchHit]) -> float:
    """How sure the search is that it found an answer: of its best hit, else the best cosine, else the best BM25.

    Comparable between questions to one index only; 0 where nothing was found.
    """
    if not hits:
        return 0.0
    if hits[0].confidence is not None:
        return round(hits[0].confidence, 6)
    cosines = [hit.vector_score for hit in hits if hit.vector_score is not None]
    best = cosines or [hit.keyword_score for hit in hits if hit.keyword_score is not None]
    return round(max(best, default=0.0), 6)
