"""Asks known questions, several at once, of the answerer that the service uses, and reads the answers.

Each question is asked as a person who may see the article that answers it. A question that fails is a result, too.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from urllib.parse import unquote

from app.answering import open_answerer
from app.answering.base import Answerer, Question
from app.answering.grounded import GroundedAnswer
from app.callers.principal import Principal
from app.errors import AnswerError
from app.evaluating.claims import claims_of, supporters
from app.evaluating.grading import Grader
from app.grounding.citations import IMAGE_ROUTE, CitationBook
from app.grounding.references import used_numbers
from app.library.articles import Articles
from app.library.retrieval import Retrieval
from app.schema.answers import ChatAnswer
from app.settings import AppSettings
from kb_pipeline.errors import KnowledgeBaseError
from kb_pipeline.evaluation.answers import CheckedClaim, CitedPassage, GivenAnswer, Tokens
from kb_pipeline.evaluation.asking import Wording
from kb_pipeline.flow.workspace import Reader, open_workspace
from kb_pipeline.settings import Settings

_MODEL_CALLS_AT_ONCE = 4
"""An answer of a model is waited for, not computed here; more at once meet the limits of endpoints."""


@dataclass(frozen=True)
class AnswerEvaluator:
    """An open answerer, how many questions it takes at once, and a grader if answers are to be judged."""

    settings: AppSettings
    reader: Reader
    articles: Articles
    answerer: Answerer
    grader: Grader | None
    at_once: int

    async def answers(self, wordings: Sequence[Wording]) -> list[GivenAnswer]:
        """The answers to all wordings, in their order.

        Raises:
            AnswerError: none of them could be answered; the message says what failed first.
        """
        free = asyncio.Semaphore(self.at_once)

        async def answered(wording: Wording) -> GivenAnswer:
            async with free:
                return await self._answer(wording)

        answers = await asyncio.gather(*map(answered, wordings))
        if answers and all(answer.failure for answer in answers):
            raise AnswerError(f"no question could be answered; the first: {answers[0].failure}")
        return answers

    async def ask(self, wording: Wording) -> ChatAnswer:
        """Ask one wording as a person who may see the article that answers.

        Raises:
            KnowledgeBaseError: it could not be answered.
        """
        article_id = wording.question.article_id
        names = await asyncio.to_thread(self.articles.readers, article_id) if article_id else ()
        question = Question(wording.text, Principal(names=names), self.settings.search_top)
        return await GroundedAnswer(self.answerer, question, CitationBook(), falls_back=False).whole()

    async def _answer(self, wording: Wording) -> GivenAnswer:
        started = time.perf_counter()
        try:
            answer = await self.ask(wording)
        except KnowledgeBaseError as exc:
            return GivenAnswer(failure=str(exc), seconds=_since(started))
        given = (await asyncio.to_thread(read_answer, answer)).model_copy(update={"seconds": _since(started)})
        return await self._graded(wording.text, answer, given) if self.grader else given

    async def _graded(self, question: str, answer: ChatAnswer, given: GivenAnswer) -> GivenAnswer:
        assert self.grader is not None
        try:
            grade, used = await self.grader.grade(question, answer)
        except KnowledgeBaseError as exc:
            return given.model_copy(update={"grading_failure": str(exc)})
        tokens = given.tokens + Tokens(input=used.input_tokens, output=used.output_tokens)
        return given.model_copy(update={"grade": grade, "refused": grade.refused, "tokens": tokens})


@asynccontextmanager
async def open_answer_evaluator(
    knowledge_base: Settings, settings: AppSettings, *, graded: bool
) -> AsyncIterator[AnswerEvaluator]:
    """Open the answerer that these settings select.

    Raises:
        IndexMissingError: nothing has been published yet.
        SettingsError: grading needs a model, and none is set.
    """
    workspace = open_workspace(knowledge_base)
    async with AsyncExitStack() as opened:
        grader = Grader(settings) if graded else None
        if grader:
            opened.push_async_callback(grader.close)
        retrieval = Retrieval(workspace)
        opened.callback(retrieval.close)
        reader = await asyncio.to_thread(retrieval.reader)
        articles = Articles(workspace.layout, workspace.deferred_titles)
        answerer = open_answerer(settings, retrieval, articles)
        opened.push_async_callback(answerer.close)
        at_once = knowledge_base.worker_count if settings.mode == "extractive" else _MODEL_CALLS_AT_ONCE
        yield AnswerEvaluator(settings, reader, articles, answerer, grader, at_once)


def read_answer(answer: ChatAnswer) -> GivenAnswer:
    """The measured properties of an answer."""
    by_number = {citation.number: citation for citation in answer.citations}
    cited = [by_number[number] for number in used_numbers(answer.answer) if number in by_number]
    image_urls = dict.fromkeys(image.url for citation in answer.citations for image in citation.images)
    return GivenAnswer(
        text=answer.answer,
        cited=tuple(
            CitedPassage(
                number=c.number, article_id=c.article_id, chunk_id=c.chunk_id, score=c.score, pages=c.pages_for_readers
            )
            for c in cited
        ),
        rests_on=tuple(sorted(answer.tells_of)),
        claims=tuple(_checked(answer)),
        images=tuple(unquote(url.removeprefix(IMAGE_ROUTE)) for url in image_urls if f"]({url})" in answer.answer),
        refused=answer.refused,
        tokens=Tokens(input=answer.usage.input_tokens, output=answer.usage.output_tokens) if answer.usage else Tokens(),
    )


def _checked(answer: ChatAnswer) -> Iterable[CheckedClaim]:
    for claim in claims_of(answer.answer):
        supporting = supporters(claim, answer.citations)
        yield CheckedClaim(text=claim.text, references=claim.numbers, supporting=tuple(sorted(supporting)))


def _since(started: float) -> float:
    return round(time.perf_counter() - started, 3)
