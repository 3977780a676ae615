"""The records of an evaluation: an outcome for each question that was asked, and scores over all of them.

Evaluations of search results ("retrieval"), of answers ("answers") and of a scenario's diagnosis ("diagnosis") have the
same records: an incident whose causes are known is a question as well. Each scenario has a history of its own.
"""

import re
from dataclasses import dataclass
from typing import Literal

from pydantic import Field, JsonValue, field_validator

from kb_pipeline.records import Record, Usage

Kind = Literal["retrieval", "answers", "diagnosis"]

_RUN_ID = re.compile(r"(retrieval|answers|diagnosis)-[0-9a-f]{16}")


def is_run_id(name: str) -> bool:
    """Whether this is the id of a run, which is also the name of its files."""
    return _RUN_ID.fullmatch(name) is not None


class Ranked(Record):
    """A chunk in a ranking; ``score`` is the one of the search."""

    article_id: str
    chunk_id: str
    score: float


class QuestionOutcome(Record):
    """The outcome of one question in one wording.

    Ranks begin at 1, and are ``None`` if nothing right was found.

    Attributes:
        asked: the text that was asked: the question or, if ``paraphrase``, its paraphrase.
        ranked: the chunks that were found, best first.
        article_rank: rank of the first right article among the distinct articles.
        span_rank: rank of the first chunk that contains the answer's words.
        image_rank: rank of the first chunk that shows the right image.
        page_rank: rank of the first chunk that stands on the right page.
        confidence: how confident the search was.
        values: this question's value of each measure, from 0 to 1.
        detail: further information for people.
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
    page: int | None = None
    ranked: tuple[Ranked, ...] = ()
    article_rank: int | None = None
    span_rank: int | None = None
    image_rank: int | None = None
    page_rank: int | None = None
    confidence: float | None = None
    values: dict[str, float] = Field(default_factory=dict)
    detail: dict[str, JsonValue] = Field(default_factory=dict)

    @property
    def key(self) -> tuple[str, bool]:
        """Identifies the same question and wording in another run."""
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
"""Scores by measure and group: "all" (the original questions), "paraphrase" (their paraphrases), and each kind."""


class AskedSet(Record):
    """A question set as it was when it was asked."""

    name: str
    sha256: str
    questions: int


class EvaluationRun(Record):
    """The evaluation of one state of the knowledge base, or of a network.

    Attributes:
        id: hash of everything that could change the scores: generation, content, commit, code, settings, question sets.
        made_at: when it was evaluated.
        seen_at: when the knowledge base was last found in this state.
        generation: of the index; of a network, its version.
        content: hash of the entries in the index, or of the tickets of a scenario.
        code: hash of the code that decides the results.
        settings: the settings that decide the results.
        unknown_articles: right articles of questions that are not in the index.
        usage: of the models that answered or graded; the number of their calls is not known.
        accepted: good enough to compare the next run with.
        compared_with: the run that it was judged by.
        worse: the measures in which it was significantly worse.
        scenario: whose diagnosis it is; empty for search and answers.
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
    scenario: str = ""

    @field_validator("id")
    @classmethod
    def _usable(cls, value: str) -> str:
        if not is_run_id(value):
            raise ValueError(f"{value!r} is not the id of a run")
        return value


@dataclass(frozen=True)
class Evaluation:
    """A run with the outcome of each question."""

    run: EvaluationRun
    outcomes: tuple[QuestionOutcome, ...]
