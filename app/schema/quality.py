"""Evaluations, and what changed between two of them."""

from typing import Literal

from pydantic import Field

from app.schema.wire import Wire

QualityKind = Literal["retrieval", "answers"]
"""What a run evaluates: search or answers."""


class QualityScore(Wire):
    """A measure over ``n`` questions with its 95 % interval."""

    value: float
    low: float
    high: float
    n: int


class QualityRun(Wire):
    """An evaluation of one state of the knowledge base.

    ``scores`` are by measure, then by group: "all", "paraphrase", each kind of question. ``worse`` lists the measures
    that are significantly worse than in the run ``compared_with``; such a run can only be accepted manually.
    ``tokens`` counts what models read and wrote for it; ``cost`` is ``None`` if it is not known.
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
    """A measure from 0 to 1, higher is better; ``meaning`` explains it in a sentence."""

    name: str
    kind: QualityKind
    meaning: str


class QualityRuns(Wire):
    """All runs, oldest first; ``measures`` are in display order."""

    runs: tuple[QualityRun, ...]
    measures: tuple[QualityMeasure, ...]


class FoundPassage(Wire):
    """A passage that was found or cited: the title of its article, and whether that article answers the question."""

    article_id: str
    chunk_id: str
    title: str
    right: bool


class EvaluatedAnswer(Wire):
    """An answer in an evaluation. ``unsupported`` are statements whose words are in no cited passage.

    ``failure`` says why there is no answer. ``grounded`` is a model's grade with its ``reason``, if a model graded it.
    """

    text: str
    refused: bool = False
    failure: str = ""
    unsupported: tuple[str, ...] = ()
    grounded: float | None = None
    reason: str = ""


class EvaluatedQuestion(Wire):
    """A question of an evaluation with the expected result and the outcome.

    ``article_id`` is ``None`` if no article answers. Ranks begin at 1. ``values`` are the measures of this question,
    ``missed`` the measures that failed.
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
    page: int | None = None
    found: tuple[FoundPassage, ...] = ()
    article_rank: int | None = None
    span_rank: int | None = None
    image_rank: int | None = None
    page_rank: int | None = None
    confidence: float | None = None
    values: dict[str, float] = Field(default_factory=dict)
    missed: tuple[str, ...] = ()
    answer: EvaluatedAnswer | None = None


class QualityRunDetails(Wire):
    """A run with its questions, except those about articles that the caller may not see."""

    run: QualityRun
    questions: tuple[EvaluatedQuestion, ...]


class QualityChange(Wire):
    """A question whose outcome changed; ``changed`` means neither lost nor won."""

    fate: Literal["lost", "won", "changed"]
    before: EvaluatedQuestion
    after: EvaluatedQuestion


class QualityComparison(Wire):
    """The changes between two runs, over the questions that both asked.

    ``differences`` are by measure, after minus before. Changes that the caller may not see are left out.
    """

    before: QualityRun
    after: QualityRun
    questions: int
    differences: dict[str, QualityScore]
    changes: tuple[QualityChange, ...]


class UseCount(Wire):
    """Something that happened ``times`` of the times ``of`` that it could."""

    what: str
    times: int
    of: int


class UseOfAnswers(Wire):
    """How the answers of the last ``days`` days were used; ``made_at`` is ``None`` if nobody counted yet."""

    made_at: str | None
    days: int
    counts: tuple[UseCount, ...] = ()
