"""The agent's only tool: searches for one answer, for the person who asks, and adds to the answer's citations."""

from collections.abc import Iterator
from typing import Annotated

from agent_framework import FunctionTool, MiddlewareFailure
from pydantic import Field

from app.answering.base import Question, Searched
from app.answering.extractive.selection import evidence_of
from app.answering.prompts import NO_MORE_SEARCHES, TOOL_DESCRIPTION, TOOL_NAME, format_passages
from app.answering.query import limits_of, search_queries, within_room
from app.grounding.citations import CitationBook
from app.grounding.words import parse_question
from app.retrieval import Retrieval
from kb_pipeline.errors import KnowledgeBaseError


class KnowledgeBaseSearch:
    """Searches for the model a limited number of times. ``done`` says whether it has searched at all."""

    def __init__(self, retrieval: Retrieval, question: Question, book: CitationBook, rounds: int) -> None:
        self.tool = FunctionTool(name=TOOL_NAME, description=TOOL_DESCRIPTION, func=self.search)
        self.done = False
        self._retrieval = retrieval
        self._question = question
        self._book = book
        self._left = rounds
        self._new_searches: list[Searched] = []

    async def search(self, query: Annotated[str, Field(description="what to look for")]) -> str:
        """Search, and return the passages as numbered blocks.

        Raises:
            MiddlewareFailure: the search failed. It ends the answer; the model would see any other exception as text.
        """
        if self._left <= 0:  # the framework limits the rounds, but a model may request many searches in one round
            return NO_MORE_SEARCHES
        self._left -= 1
        words = query.strip() or search_queries(self._question)[0]
        who = self._question.who
        try:
            hits = await self._retrieval.search(words, who, top=self._question.top, filters=limits_of(self._question))
            citations = self._book.add(within_room(hits))
        except KnowledgeBaseError as exc:
            raise MiddlewareFailure(str(exc)) from exc
        is_doubtful = evidence_of(parse_question(words), hits) in ("unlikely", "none")
        self._new_searches.append(Searched(words, len(hits), is_doubtful))
        self.done = True
        return format_passages(citations, is_doubtful=is_doubtful)

    def new_searches(self) -> Iterator[Searched]:
        """Yield the searches since the last call."""
        while self._new_searches:
            yield self._new_searches.pop(0)
