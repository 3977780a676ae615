"""What was measured of searches and answers, and what changed from one run to another."""

from typing import Literal

from pydantic import Field

from app.schema.base import Wire

QualityKind = Literal["retrieval", "answers"]
"""What is measured: what searches find, or what is answered."""


class QualityScore(Wire):
    """A measure over ``n`` questions with its 95 % interval."""

    value: float
    low: float
    high: float
    n: int


class QualityRun(Wire):
    """What was measured of one state of the knowledge base.

    ``scores`` are by measure, then by group: "all", "paraphrase" (in other words), each kind of question. ``worse``
    says in what it was significantly worse than the run ``compared_with``; then it is ``accepted`` only by hand.
    ``tokens`` are those that models read and wrote for it, ``cost`` what they cost, where that is known.
    """

    id: str
    kind: QualityKind
    made_at: str
    generation: str
    commit: str = ""
    settings: dict[str, str] = Field(default_factory=dict)
    question_sets: dict[str, int] = Field(default_factory=dict)
    scores: dict[str, dict[str, QualityScore]]
    unknown_articles: tuple[str, ...] = ()
    tokens: int = 0
    cost: float | None = None
    accepted: bool = False
    accepted_by_hand: bool = False
    compared_with: str | None = None
    worse: tuple[str, ...] = ()


class QualityMeasure(Wire):
    """Something that is measured, always from 0 to 1, the more the better: what it is a share of, in a sentence."""

    name: str
    kind: QualityKind
    meaning: str


class QualityRuns(Wire):
    """All that was measured, oldest first; ``measures`` in the order in which they are best shown."""

    runs: tuple[QualityRun, ...]
    measures: tuple[QualityMeasure, ...]


class FoundPassage(Wire):
    """A passage that was found or referred to; ``title`` is its article's, ``right`` whether that answers."""

    article_id: str
    chunk_id: str
    title: str
    right: bool


class EvaluatedAnswer(Wire):
    """What was answered. ``unsupported`` are its statements that no passage it refers to holds the words of.

    ``failure`` says why there is no answer; ``grounded`` is a model's judgement with its ``reason``, if one was asked.
    """

    text: str
    refused: bool = False
    failure: str = ""
    unsupported: tuple[str, ...] = ()
    grounded: float | None = None
    reason: str = ""


class EvaluatedQuestion(Wire):
    """A question as it was asked, what was expected, and what came of it.

    ``article_id`` is ``None`` where nothing answers. Ranks begin at 1; ``values`` are the measures of this question,
    ``missed`` those of them that say it went wrong.
    """

    question_id: str
    asked: str
    paraphrase: bool = False
    kind: str
    article_id: str | None = None
    title: str | None = None
    section: str | None = None
    answer_span: str | None = None
    image: str | None = None
    found: tuple[FoundPassage, ...] = ()
    article_rank: int | None = None
    span_rank: int | None = None
    image_rank: int | None = None
    confidence: float | None = None
    values: dict[str, float] = Field(default_factory=dict)
    missed: tuple[str, ...] = ()
    answer: EvaluatedAnswer | None = None


class QualityRunDetails(Wire):
    """A run with its questions, without those about articles that the asker may not see."""

    run: QualityRun
    questions: tuple[EvaluatedQuestion, ...]


class QualityChange(Wire):
    """A question that came out otherwise; ``changed``: neither lost nor won, but not the same either."""

    fate: Literal["lost", "won", "changed"]
    before: EvaluatedQuestion
    after: EvaluatedQuestion


class QualityComparison(Wire):
    """What changed from one run to another, over the questions that both asked.

    ``differences`` are by measure, after minus before. Changes leave out what the asker may not see.
    """

    before: QualityRun
    after: QualityRun
    questions: int
    differences: dict[str, QualityScore]
    changes: tuple[QualityChange, ...]
