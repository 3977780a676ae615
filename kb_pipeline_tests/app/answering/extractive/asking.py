"""Asks the extractive answerer, and keeps what it said."""

import asyncio
from collections.abc import Sequence

from app.answering.base import Message, Question
from app.answering.extractive.answerer import ExtractiveAnswerer
from app.answering.extractive.choosing import Quotable, best_lead, quotable
from app.answering.nearness import Nearness
from app.callers.principal import Principal
from app.library.articles import Articles
from app.library.retrieval import Retrieval
from app.schema.passages import Citation
from kb_pipeline.models.hashing import HashingEmbedder
from kb_pipeline_tests.app.answering.conftest import Asked


def ask(
    retrieval: Retrieval,
    text: str,
    *names: str,
    history: tuple[Message, ...] = (),
    top: int = 5,
) -> Asked:
    """What the answerer says to a person of these names."""
    question = Question(text, Principal("ann", names), top, history)
    answerer = ExtractiveAnswerer(retrieval, Articles(retrieval.workspace.layout))
    return asyncio.run(_asked(answerer, question))


async def _asked(answerer: ExtractiveAnswerer, question: Question) -> Asked:
    asked = Asked()
    async for event in answerer.answer(question, asked.book):
        asked.events.append(event)
    return asked


def quoted_of(question: str, citations: Sequence[Citation], *, is_sure: bool) -> Quotable | None:
    """What is quoted of passages, best first, each of which is all of its section."""
    nearness = Nearness(HashingEmbedder())
    lead = best_lead(question, citations, nearness)
    return quotable(question, lead, citations, [lead.citation], nearness, is_sure=is_sure) if lead else None
