"""What an evaluation leaves behind: an outcome for each question that was asked, and scores over all of them.

One shape for what is found ("retrieval") and for what is answered ("answers"), so that both have one history.
"""

import re
from dataclasses import dataclass
from typing import Literal

from pydantic import Field, JsonValue, field_validator

from kb_pipeline.records import Record, Usage

Kind = Literal["retrieval", "answers"]

_RUN_ID = re.compile(r"(retrieval|answers)-[0-9a-f]{16}")


def is_run_id(name: str) -> bool:
    """Whether a run can have this id, which is also the name of its files."""
    return _RUN_ID.fullmatch(name) is not None


class Ranked(Record):
    """A chunk that was found, in its place of the ranking; ``score`` as the search gave it."""

    article_id: str
    chunk_id: str
    score: float


class Outcome(Record):
    """One question as it was asked, and what came of it.

    ``asked`` is the question or, if ``paraphrase``, the same in other words. Ranks begin at 1 and are ``None`` where
    the right one was not found: ``article_rank`` among the distinct articles, ``span_rank`` and ``image_rank`` among
    the chunks. ``values`` are the measures of this question alone, 0 to 1; ``detail`` is for people.
    """

    question_id: str
    question_set: str
    asked: str
    paraphrase: bool = False
    kind: str
    article_id: str | None
    section: str | None = None
    answer_span: str | None = None
    image: str | None = None
    ranked: tuple[Ranked, ...] = ()
    article_rank: int | None = None
    span_rank: int | None = None
    image_rank: int | None = None
    confidence: float | None = None
    values: dict[str, float] = Field(default_factory=dict)
    detail: dict[str, JsonValue] = Field(default_factory=dict)

    @property
    def key(self) -> tuple[str, bool]:
        """By which the same question is found again in another run."""
        return self.question_id, self.paraphrase

    @property
    def answerable(self) -> bool:
        """Whether an article answers it."""
        return self.article_id is not None


class Score(Record):
    """A measure over ``n`` questions, with its 95 % interval."""

    value: float
    low: float
    high: float
    n: int


Scores = dict[str, dict[str, Score]]
"""Measure, then group: "all" (questions as they stand), "paraphrase" (the same in other words), each kind."""


class AskedSet(Record):
    """A question set as it was when it was asked."""

    name: str
    sha256: str
    questions: int


class EvaluationRun(Record):
    """What was measured of one state of the knowledge base.

    ``id`` stands for all that could change the scores: generation and ``content`` (hash of what is indexed), ``code``
    (hash of ours), ``settings`` and question sets. ``accepted``: good enough for the next to be compared with;
    ``compared_with`` is the run that decided it, ``worse`` says in which measures it was significantly worse.
    ``seen_at``: when the knowledge base was last found in this state. ``usage``: what models that answered or judged
    were paid for; the number of their calls is not known.
    """

    id: str
    kind: Kind
    made_at: str
    seen_at: str
    generation: str
    content: str
    commit: str = ""
    code: str = ""
    settings: dict[str, str] = Field(default_factory=dict)
    question_sets: tuple[AskedSet, ...]
    scores: Scores
    unknown_articles: tuple[str, ...] = ()
    seconds: float = 0.0
    usage: tuple[Usage, ...] = ()
    accepted: bool = False
    accepted_by_hand: bool = False
    compared_with: str | None = None
    worse: tuple[str, ...] = ()

    @field_validator("id")
    @classmethod
    def _usable(cls, value: str) -> str:
        if not is_run_id(value):
            raise ValueError(f"{value!r} is no run's id")
        return value


@dataclass(frozen=True)
class Evaluation:
    """A run with the outcome of each question."""

    run: EvaluationRun
    outcomes: tuple[Outcome, ...]
