"""The agent's searches for one answer, for the person who asks; they add to the answer's citations.

One tool searches the knowledge base; the other one the web, where that is on. All calls of tools count as searches.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated

from agent_framework import FunctionTool, MiddlewareFailure
from pydantic import Field

from app.answering.base import Question, Searched, ToolEnded, ToolStarted
from app.answering.confidence import evidence_of
from app.answering.on_web import LookedUp, look_up
from app.answering.prompts import NO_MORE_SEARCHES, TOOL_DESCRIPTION, TOOL_NAME, WEB_TOOL_DESCRIPTION, WEB_TOOL_NAME
from app.answering.query import limits_of, search_queries, within_room
from app.grounding.citations import CitationBook
from app.library.retrieval import Retrieval
from app.model.passages import format_passages
from kb_pipeline.errors import KnowledgeBaseError

if TYPE_CHECKING:
    from app.web.lookup import WebLookup


class KnowledgeBaseSearch:
    """Searches for the model a limited number of times. ``done`` says whether it has searched at all."""

    def __init__(
        self,
        retrieval: Retrieval,
        question: Question,
        book: CitationBook,
        rounds: int,
        web: "WebLookup | None" = None,
        topics: Sequence[str] | None = None,
    ) -> None:
        """``topics``: search only articles with one of these topics."""
        self.tools = [FunctionTool(name=TOOL_NAME, description=TOOL_DESCRIPTION, func=self.search)]
        if web:
            self.tools.append(FunctionTool(name=WEB_TOOL_NAME, description=WEB_TOOL_DESCRIPTION, func=self.search_web))
        self.done = False
        self._retrieval = retrieval
        self._question = question
        self._book = book
        self._left = rounds
        self._web = web
        self._topics = topics
        self.new_steps: list[Searched | ToolStarted | ToolEnded] = []

    async def search(self, query: Annotated[str, Field(description="what to look for")]) -> str:
        """Search, and return the passages as numbered blocks.

        Raises:
            MiddlewareFailure: the search failed. It ends the answer; the model would see any other exception as text.
        """
        if not self.may_search():
            return NO_MORE_SEARCHES
        words = query.strip() or search_queries(self._question)[0]
        who = self._question.who
        try:
            filters = limits_of(self._question)
            hits = await self._retrieval.search(
                words, who, top=self._question.top, filters=filters, topics=self._topics
            )
            citations = self._book.add(within_room(hits))
        except KnowledgeBaseError as exc:
            raise MiddlewareFailure(str(exc)) from exc
        is_doubtful = evidence_of(words, hits) in ("unlikely", "nothing")
        self.new_steps.append(Searched(words, len(hits), is_doubtful))
        self.done = True
        return format_passages(citations, is_doubtful=is_doubtful)

    async def search_web(self, query: Annotated[str, Field(description="what to look for")]) -> str:
        """Search the web, and return what the best pages say as numbered blocks; it finds nothing rather than fail."""
        if not self.may_search():
            return NO_MORE_SEARCHES
        words = query.strip() or search_queries(self._question)[0]
        [looked_up] = await look_up(self._web, [words], self._question) or [LookedUp(words)]
        searched, citations = looked_up.cite(self._book)
        self.new_steps.append(searched)
        self.done = True
        return format_passages(citations, is_doubtful=searched.is_doubtful)

    def may_search(self) -> bool:
        """Count a search, if there may be one more."""
        # the framework limits the rounds, but a model may request many searches in one round
        self._left -= 1
        return self._left >= 0

    def steps(self) -> Iterator[Searched | ToolStarted | ToolEnded]:
        """Yield what was done since the last call."""
        while self.new_steps:
            yield self.new_steps.pop(0)
