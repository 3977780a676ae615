"""Question sets: what is asked to measure the knowledge base, and what would be right. Files of JSON lines."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

from pydantic import (
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    field_validator,
    model_validator,
)

from kb_pipeline.errors import QuestionSetError, remedy
from kb_pipeline.records import Record
from kb_pipeline.settings import Settings
from kb_pipeline.steps.fingerprint import fingerprint, sha256

UNANSWERABLE = "unanswerable"
"""The usual kind of questions that no article answers; what tells them is that their article is null."""
RESERVED = ("all", "paraphrase")
"""Groups of every table of scores, which no kind can be called."""

_LARGEST = 50_000_000
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_SPACE = re.compile(r"\s+")
_Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=4000)]
_Optional = Annotated[_Text | None, BeforeValidator(lambda value: None if value == "" else value)]
_Kind = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=40)]


class EvaluationQuestion(Record):
    """A question, and what answers it. Further fields of a line are the author's notes and are not looked at.

    ``article_id`` is the right article, ``None`` where none answers; ``also_in``: others that are right as well.
    ``answer_span``: words of the right passage as they stand there; ``image``: file name of the screenshot that shows
    the answer; ``paraphrase``: the question in words that the articles do not use, asked as well.
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

    @field_validator("kind")
    @classmethod
    def _free(cls, kind: str) -> str:
        if kind in RESERVED:
            raise ValueError(f"no kind can be called {kind!r}: that names a group of every table of scores")
        return kind

    @model_validator(mode="after")
    def _consistent(self) -> "EvaluationQuestion":
        if self.article_id is None and (self.answer_span or self.also_in or self.image):
            raise ValueError("without article_id nothing answers: leave out answer_span, also_in and image")
        if self.article_id is not None and self.kind == UNANSWERABLE:
            raise ValueError(f"what is {UNANSWERABLE} has no article_id: it is null")
        return self

    @property
    def id(self) -> str:
        """The same wherever it stands, until its words or its article change."""
        return fingerprint(_folded(self.question), self.article_id)[:12]

    @property
    def right_articles(self) -> frozenset[str]:
        """Articles that answer; empty where none does."""
        return frozenset((self.article_id, *self.also_in)) if self.article_id else frozenset()


class QuestionSet(Record):
    """A file of questions; ``sha256`` is of its bytes."""

    name: str
    sha256: str
    questions: tuple[EvaluationQuestion, ...]


def question_sets(settings: Settings) -> tuple[QuestionSet, ...]:
    """The knowledge base's own question sets, in order of name; none, if nobody wrote any.

    Raises:
        QuestionSetError: one is unusable, or the folder of KB_EVALUATION is not there.
    """
    folder = settings.evaluation_path
    if settings.evaluation and not folder.is_dir():
        raise QuestionSetError(f"KB_EVALUATION is {settings.evaluation}, which is no folder on this machine")
    return tuple(read_questions(path) for path in sorted(folder.glob("*.jsonl")))


def read_questions(path: Path) -> QuestionSet:
    """One file: a JSON object a line, empty lines between them as you like.

    Raises:
        QuestionSetError: it cannot be read, or a line is no question; the message names file and line.
    """
    data = _bytes(path)
    questions: dict[str, tuple[int, EvaluationQuestion]] = {}
    for number, line in _lines(data):
        question = _question(path, number, line)
        if question.id in questions:
            raise QuestionSetError(f"{path}:{number}: the same question as in line {questions[question.id][0]}")
        questions[question.id] = number, question
    if not questions:
        raise QuestionSetError(f"{path} holds no question; write one JSON object a line, or remove the file")
    return QuestionSet(name=path.stem, sha256=sha256(data), questions=tuple(each for _, each in questions.values()))


def _bytes(path: Path) -> bytes:
    try:
        if path.stat().st_size > _LARGEST:
            raise QuestionSetError(f"{path} is larger than {_LARGEST // 1_000_000} MB, which no question set is")
        return path.read_bytes()
    except OSError as exc:
        what_to_do = remedy(exc, "check that it is a file that may be read")
        raise QuestionSetError(f"cannot read {path}: {exc.strerror or exc}; {what_to_do}") from exc


def _lines(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Lines that hold something, with their numbers; only a line feed ends one."""
    for number, line in enumerate(data.removeprefix(_BYTE_ORDER_MARK).split(b"\n"), 1):
        if stripped := line.strip():
            yield number, stripped


def _question(path: Path, number: int, line: bytes) -> EvaluationQuestion:
    try:
        return EvaluationQuestion.model_validate_json(line)
    except ValidationError as exc:
        problem = exc.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, problem["loc"]))
        said = problem["msg"].removeprefix("Value error, ")
        raise QuestionSetError(f"{path}:{number}: {f'{where}: ' if where else ''}{said}") from exc


def _folded(text: str) -> str:
    return _SPACE.sub(" ", text).casefold()
