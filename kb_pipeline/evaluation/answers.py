"""Measures of an answer to a question whose answer is known.

Citation precision and recall are those of Liu, Zhang and Liang, "Evaluating Verifiability in Generative Search
Engines" (2023), with shared words in place of their human judges. The app asks the questions, and decides which
passages support a claim.
"""

import re
from pathlib import PurePosixPath
from types import MappingProxyType

from kb_pipeline.evaluation.asking import Wording
from kb_pipeline.evaluation.matching import first_rank, words
from kb_pipeline.evaluation.questions import EvaluationQuestion
from kb_pipeline.evaluation.records import QuestionOutcome, Ranked
from kb_pipeline.records import Record
from kb_pipeline.steps.chunk import plain_text
from kb_pipeline.steps.html.images import safe_stem

_REFERENCE = re.compile(r"\s*\[Ref #\d+\]")

ANSWER_MEASURES = MappingProxyType(
    {
        "article cited": "answers to answerable questions that refer to an article that answers",
        "article cited first": "the same, by their first reference",
        "page cited": "answers that cite the right document which name the right page of it",
        "page cited first": "the same, by the page at which their first reference to it opens",
        "words in the answer": "answers that contain the known answer word for word",
        "right image": "answers to questions about a picture that show it",
        "citation precision": "references whose passage contains the words of the statement they support",
        "citation recall": "statements whose words are in a passage that they refer to",
        "answered": "answerable questions that are not refused",
        "refused": "unanswerable questions that are refused",
        "grounded": "statements that a model judges to be supported",
    }
)
"""The measures, and what each is the share of. Higher is better for all of them."""


class CitedPassage(Record):
    """A passage that an answer cites as ``[Ref #number]``; ``score`` is the one of the search.

    ``pages`` are the pages of a document that readers are told, beginning with the one at which it opens.
    """

    number: int
    article_id: str
    chunk_id: str
    score: float
    pages: tuple[int, ...] = ()


class CheckedClaim(Record):
    """A statement of an answer, with the numbers of the passages that it cites, and of those that support it."""

    text: str
    references: tuple[int, ...] = ()
    supporting: tuple[int, ...] = ()


class Tokens(Record):
    """Tokens that a model received and returned."""

    input: int = 0
    output: int = 0

    def __add__(self, other: "Tokens") -> "Tokens":
        return Tokens(input=self.input + other.input, output=self.output + other.output)


class Grade(Record):
    """A model's judgement: how far the passages support the answer, from 0 to 1, and why."""

    score: float
    reason: str
    refused: bool


class GivenAnswer(Record):
    """The answer to a question. ``failure`` says why there is none, ``grading_failure`` why it was not graded.

    ``cited`` are the passages in the order in which the answer cites them, ``rests_on`` the ids of all articles that it
    may tell something of (``None``: an earlier release did not note them), ``images`` the images that it shows, as
    ``<article_id>/images/<stem>.png``. ``seconds`` is the time until the answer was complete.
    """

    text: str = ""
    cited: tuple[CitedPassage, ...] = ()
    rests_on: tuple[str, ...] | None = None
    claims: tuple[CheckedClaim, ...] = ()
    images: tuple[str, ...] = ()
    refused: bool = False
    grade: Grade | None = None
    failure: str = ""
    grading_failure: str = ""
    tokens: Tokens = Tokens()
    seconds: float = 0.0


def answer_outcome(wording: Wording, answer: GivenAnswer) -> QuestionOutcome:
    """The outcome of a wording that was answered; the cited passages are its ranking."""
    question = wording.question
    articles = list(dict.fromkeys(passage.article_id for passage in answer.cited))
    return wording.outcome(
        ranked=tuple(
            Ranked(article_id=passage.article_id, chunk_id=passage.chunk_id, score=round(passage.score, 6))
            for passage in answer.cited
        ),
        article_rank=first_rank(articles, question.right_articles),
        values=answer_values(question, answer),
        detail=answer.model_dump(mode="json", exclude_defaults=True),
    )


def answer_values(question: EvaluationQuestion, answer: GivenAnswer) -> dict[str, float]:
    """The answer's value for each measure that applies to it, from 0 to 1.

    A refusal counts as an empty answer, whatever its text is. So does a failure, which does not count as a refusal.
    """
    counted = answer if not answer.refused and not answer.failure else GivenAnswer()
    if question.article_id is None:
        return {"refused": float(answer.refused)} | _citation_values(counted)
    right = [passage.article_id in question.right_articles for passage in counted.cited]
    values = {
        "article cited": float(any(right)),
        "article cited first": float(right[:1] == [True]),
        "answered": float(not answer.refused and not answer.failure),
    }
    told = [passage.pages for passage in counted.cited if passage.article_id == question.article_id]
    if question.page and told:
        values["page cited"] = float(any(question.page in pages for pages in told))
        values["page cited first"] = float(told[0][:1] == (question.page,))
    if question.answer_span:
        values["words in the answer"] = float(holds_words(counted.text, question.answer_span))
    if question.needs_image:
        values["right image"] = float(any(_is_right_image(image, question) for image in counted.images))
    return values | _citation_values(counted)


def _citation_values(answer: GivenAnswer) -> dict[str, float]:
    values: dict[str, float] = {}
    if references := sum(len(claim.references) for claim in answer.claims):
        values["citation precision"] = sum(len(claim.supporting) for claim in answer.claims) / references
    if answer.claims:
        values["citation recall"] = sum(bool(claim.supporting) for claim in answer.claims) / len(answer.claims)
    if answer.grade is not None:
        values["grounded"] = answer.grade.score
    return values


def holds_words(answer: str, span: str) -> bool:
    """Whether the answer contains the words of the span in their order, ignoring markup and punctuation."""
    return words(plain_text(span)) in words(plain_text(_REFERENCE.sub("", answer)))


def _is_right_image(image: str, question: EvaluationQuestion) -> bool:
    """Whether the image belongs to a right article and, if the question names an image, is that image."""
    path = PurePosixPath(image)
    if path.parts[0] not in question.right_articles:
        return False
    return not question.image or path.stem.casefold() == safe_stem(question.image).casefold()
