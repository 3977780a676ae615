"""Asks an answerer made from settings, and keeps what it said."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

import pytest

from app.answering import open_answerer
from app.answering.base import AnswerEvent, Finished, Message, Question, Searched, TextPart
from app.callers.principal import Principal
from app.grounding.citations import CitationBook
from app.library.articles import Articles
from app.library.retrieval import Retrieval
from app.settings import AppSettings
from app.web import open_web
from kb_pipeline.asking import AskOptions
from kb_pipeline.flow.workspace import Workspace
from kb_pipeline.settings import Settings


@dataclass
class Asked:
    """What came of a question."""

    book: CitationBook = field(default_factory=CitationBook)
    events: list[AnswerEvent] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "".join(event.delta for event in self.events if isinstance(event, TextPart))

    @property
    def searches(self) -> list[str]:
        return [event.query for event in self.events if isinstance(event, Searched)]

    @property
    def end(self) -> Finished:
        assert isinstance(self.events[-1], Finished)
        return self.events[-1]


Ask = Callable[..., Asked]


@pytest.fixture(scope="session")
def retrieval(knowledge_base: Settings) -> Iterator[Retrieval]:
    """Searches the small knowledge base."""
    searching = Retrieval(Workspace(knowledge_base))
    yield searching
    searching.close()


@pytest.fixture
def ask(retrieval: Retrieval) -> Ask:
    """``ask("question", base_url=..., search_rounds=1)`` asks an answerer of these settings; it sees no images unless
    told to."""

    def asked(
        text: str,
        *,
        base_url: str,
        who: Principal | None = None,
        history: tuple[Message, ...] = (),
        top: int = 2,
        into: Asked | None = None,
        on_web: bool = False,
        **settings: Any,
    ) -> Asked:
        made = AppSettings(chat_model="gpt-test", chat_base_url=base_url, **{"vision": False, **settings})
        question = Question(text, who or Principal(), top, history, AskOptions(web=on_web))
        return asyncio.run(answer(made, retrieval, question, into or Asked()))

    return asked


async def answer(settings: AppSettings, retrieval: Retrieval, question: Question, into: Asked) -> Asked:
    """What an answerer of these settings says; what it said before it failed stays in ``into``."""
    answerer = open_answerer(settings, retrieval, Articles(retrieval.workspace.layout), open_web(settings))
    try:
        async with aclosing(answerer.answer(question, into.book)) as events:
            async for event in events:
                into.events.append(event)
    finally:
        await answerer.close()
    return into
