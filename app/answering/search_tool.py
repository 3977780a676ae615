"""The agent's one tool, made for one answer: bound to its question, to who asks it, and to its citations."""

from collections.abc import Iterator
from typing import Annotated

from agent_framework import FunctionTool, MiddlewareFailure
from pydantic import Field

from app.answering.base import Question, Searched
from app.answering.prompts import NO_MORE_SEARCHES, TOOL_DESCRIPTION, TOOL_NAME, format_passages
from app.answering.query import search_queries
from app.answering.searching import read_around
from app.grounding.citations import CitationBook
from app.retrieval import Retrieval
from kb_pipeline.errors import KnowledgeBaseError


class KnowledgeBaseSearch:
    """Searches for the model, a bounded number of times; ``done`` says whether it ever did."""

    def __init__(self, retrieval: Retrieval, question: Question, book: CitationBook, rounds: int) -> None:
        self.tool = FunctionTool(name=TOOL_NAME, description=TOOL_DESCRIPTION, func=self.search)
        self.done = False
        self._retrieval = retrieval
        self._question = question
        self._book = book
        self._left = rounds
        self._news: list[Searched] = []

    async def search(self, query: Annotated[str, Field(description="what to look for")]) -> str:
        """Passages as numbered blocks.

        Raises:
            MiddlewareFailure: the search failed; this ends the answer, where any other exception is told to the model.
        """
        if self._left <= 0:  # the framework counts rounds, and a model may ask for many searches in one
            return NO_MORE_SEARCHES
        self._left -= 1
        words = query.strip() or search_queries(self._question)[0]
        who = self._question.who
        try:
            hits = await self._retrieval.search(words, who, top=self._question.top)
            found = await read_around(hits, who, self._retrieval, self._book)
        except KnowledgeBaseError as exc:
            raise MiddlewareFailure(str(exc)) from exc
        self._news.append(Searched(words, len(hits)))
        self.done = True
        return format_passages(found)

    def news(self) -> Iterator[Searched]:
        """Searches that were not told of yet."""
        while self._news:
            yield self._news.pop(0)
