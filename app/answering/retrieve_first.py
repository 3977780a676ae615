"""Answers by one model call: search first, then let the model word what was found. For models without tools."""

from collections.abc import AsyncGenerator
from contextlib import aclosing

from agent_framework import Message

from app.answering.base import AnswerEvent, Finished, Question, Searched, Text
from app.answering.history import passages_content
from app.answering.model_answerer import ModelAnswerer, history_of
from app.answering.model_calls import NO_ANSWER, OUT_OF_ROOM, ModelCalls, NoAnswerError, updates
from app.answering.prompts import RETRIEVE_FIRST_INSTRUCTIONS, format_passages
from app.answering.searching import read_around, search_for
from app.answering.thoughts import WithoutThoughts
from app.grounding.citations import CitationBook


class RetrieveFirstAnswerer(ModelAnswerer):
    """One search in the words of the reader, one model call with the passages and their images, no tools."""

    answered_by = "retrieve-first"

    async def answer(self, question: Question, book: CitationBook) -> AsyncGenerator[AnswerEvent, None]:
        """Answer; see the base class."""
        query, hits = await search_for(question, self.retrieval)
        found = await read_around(hits, question.who, self.retrieval, book)
        yield Searched(query, len(hits))
        calls, words = ModelCalls(), WithoutThoughts()
        stream = self.client.get_response(
            [*history_of(question), Message("user", [passages_content(format_passages(found)), question.text])],
            stream=True,
            options={"instructions": RETRIEVE_FIRST_INSTRUCTIONS},
            middleware=self.around_calls(question, book, calls),
        )
        async with aclosing(updates(stream, calls, self.settings)) as said:
            async for update in said:
                if piece := words.feed(update.text):
                    yield Text(piece)
        if piece := words.finish():
            yield Text(piece)
        if not words.spoken:
            raise NoAnswerError(NO_ANSWER)
        if calls.out_of_room:
            yield Text(OUT_OF_ROOM)
        yield Finished(calls.usage)
