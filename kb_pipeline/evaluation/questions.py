"""Question sets: the questions of an evaluation with their right answers, in files of JSON lines."""

import re
from pathlib import Path
from typing import Annotated

from pydantic import (
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    field_validator,
    model_validator,
)

from kb_pipeline.errors import QuestionSetError, remedy
from kb_pipeline.records import Record
from kb_pipeline.settings import Settings
from kb_pipeline.steps.fingerprint import fingerprint, sha256
from kb_pipeline.steps.json_lines import numbered_lines, read_line

UNANSWERABLE = "unanswerable"
"""The usual kind of a question that no article answers; what makes it one is that its ``article_id`` is null."""
RESERVED = ("all", "paraphrase")
"""Names that cannot be used as a kind, because they name groups in every table of scores."""

_LARGEST = 50_000_000
"""Bytes: a hundred thousand questions."""
_SPACE = re.compile(r"\s+")
_Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=4000)]
_Optional = Annotated[_Text | None, BeforeValidator(lambda value: None if value == "" else value)]
_Kind = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=40)]


class EvaluationQuestion(Record):
    """A question with its right answer. Other fields of a line are the author's notes, and are ignored.

    Attributes:
        article_id: the right article; ``None`` if no article answers the question.
        also_in: other articles that are right as well.
        answer_span: words of the right passage, exactly as they are there.
        image: file name of the screenshot that shows the answer.
        page: number of the page of the document that holds the answer, counted from 1, whatever is printed on it.
        paraphrase: the question in words that the articles do not use; it is asked as well.
    """

    model_config = ConfigDict(frozen=True, extra="ignore", strict=True)

    question: _Text
    article_id: _Text | None
    section: str | None = None
    answer_span: _Optional = None
    kind: _Kind = "question"
    needs_image: bool = False
    paraphrase: _Optional = None
    also_in: Annotated[tuple[_Text, ...], BeforeValidator(lambda value: value or ()), Field(strict=False)] = ()
    image: _Optional = None
    page: Annotated[int, Field(ge=1)] | None = None

    @field_validator("kind")
    @classmethod
    def _free(cls, kind: str) -> str:
        if kind in RESERVED:
            raise ValueError(f"kind {kind!r} is reserved for the score tables")
        return kind

    @model_validator(mode="after")
    def _consistent(self) -> "EvaluationQuestion":
        if self.article_id is None and (self.answer_span or self.also_in or self.image or self.page):
            raise ValueError(
                "a question without article_id has no answer: leave out answer_span, also_in, image and page"
            )
        if self.article_id is not None and self.kind == UNANSWERABLE:
            raise ValueError(f"an {UNANSWERABLE} question must have article_id null")
        return self

    @property
    def id(self) -> str:
        """A hash of the question and its article, which is the same in every question set."""
        return fingerprint(_SPACE.sub(" ", self.question).casefold(), self.article_id)[:12]

    @property
    def right_articles(self) -> frozenset[str]:
        """The articles that answer the question; empty if none does."""
        return frozenset((self.article_id, *self.also_in)) if self.article_id else frozenset()


class QuestionSet(Record):
    """A file of questions, with its SHA-256."""

    name: str
    sha256: str
    questions: tuple[EvaluationQuestion, ...]


def question_sets(settings: Settings) -> tuple[QuestionSet, ...]:
    """Read the question sets of the knowledge base, in order of name.

    Raises:
        QuestionSetError: a file is invalid, or the folder of KB_EVALUATION does not exist.
    """
    folder = settings.evaluation_path
    if settings.evaluation and not folder.is_dir():
        raise QuestionSetError(f"KB_EVALUATION is {settings.evaluation}, which is not a folder on this machine")
    return tuple(read_questions(path) for path in sorted(folder.glob("*.jsonl")))


def read_questions(path: Path) -> QuestionSet:
    """Read one question set: a JSON object on each line, empty lines are ignored.

    Raises:
        QuestionSetError: it cannot be read, or a line is invalid; the message names file and line.
    """
    data = _read(path)
    questions: dict[str, tuple[int, EvaluationQuestion]] = {}
    for number, line in numbered_lines(data):
        try:
            question = read_line(EvaluationQuestion, line)
        except ValueError as exc:
            raise QuestionSetError(f"{path}:{number}: {exc}") from exc
        if question.id in questions:
            raise QuestionSetError(f"{path}:{number}: the same question as in line {questions[question.id][0]}")
        questions[question.id] = number, question
    if not questions:
        raise QuestionSetError(f"{path} holds no question; write one JSON object a line, or remove the file")
    return QuestionSet(name=path.stem, sha256=sha256(data), questions=tuple(one for _, one in questions.values()))


def _read(path: Path) -> bytes:
    try:
        if path.stat().st_size > _LARGEST:
            raise QuestionSetError(f"{path} is larger than {_LARGEST // 1_000_000} MB, the limit for a question set")
        return path.read_bytes()
    except OSError as exc:
        what_to_do = remedy(exc, "check that it is a file that may be read")
        raise QuestionSetError(f"cannot read {path}: {exc.strerror or exc}; {what_to_do}") from exc
