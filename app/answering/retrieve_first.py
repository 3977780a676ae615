"""Answers by one model call, for models without tools: search first, then let the model answer from the passages."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import TYPE_CHECKING

from agent_framework import ChatMiddleware, Message

from app.answering.base import Answerer, AnswerEvent, Finished, Question, Searched, TextPart
from app.answering.confidence import evidence_of
from app.answering.extractive.answerer import ExtractiveAnswerer
from app.answering.history import FitHistory, passages_content
from app.answering.markers import FirstResponse, WithoutMarkers
from app.answering.nearness import Nearness, nearness_of
from app.answering.on_web import look_up
from app.answering.prompts import MARKERS_ANSWERED, PROMPT_VERSION, RETRIEVE_FIRST_INSTRUCTIONS, SEARCH_MARKERS
from app.answering.query import limits_of, search_for, within_room
from app.answering.vision import ReadImage, ShowImages, asked
from app.callers.principal import Principal
from app.grounding.citations import CitationBook
from app.library.retrieval import Retrieval
from app.model.calls import NO_ANSWER, OUT_OF_ROOM, ModelCalls, ModelText, NoAnswerError, updates
from app.model.client import ChatClient
from app.model.passages import format_passages
from app.schema.answers import TokenUsage
from app.schema.passages import Citation
from app.settings import AppSettings
from app.tools import AnyTool

if TYPE_CHECKING:
    from app.judging.base import Judge
    from app.web.lookup import WebLookup

ReadImageFor = Callable[[Principal], ReadImage]


class ModelAnswerer(Answerer):
    """The base of answerers that use a model. All answers share the client; everything else is made for each answer."""

    instead: ExtractiveAnswerer
    prompt_version = PROMPT_VERSION

    def __init__(
        self,
        settings: AppSettings,
        retrieval: Retrieval,
        client: ChatClient,
        images: ReadImageFor,
        instead: ExtractiveAnswerer,
        web: "WebLookup | None" = None,
        tools: Mapping[str, AnyTool] | None = None,
        judge: "Judge | None" = None,
    ) -> None:
        """``instead`` speaks when the model cannot be reached. ``web`` may be searched, too.

        ``tools`` are for a model that calls them. ``judge`` says which statements of an answer are not borne out.
        """
        self.settings = settings
        self.retrieval = retrieval
        self.client = client
        self.images = images
        self.model = settings.chat_model
        self.instead = instead
        self.web = web
        self.tools = tools or {}
        self.judge = judge
        self.sees_images = settings.vision and settings.vision_images > 0

    def web_for(self, question: Question) -> "WebLookup | None":
        """The web, unless the profile does not search it and the asker did not ask for it."""
        return self.web if question.profile.web_search or question.options.web else None

    def around_calls(self, question: Question, book: CitationBook, calls: ModelCalls) -> list[ChatMiddleware]:
        """The middleware of each model call of an answer, outermost first."""
        around: list[ChatMiddleware] = [calls, FitHistory(self.settings.history_tokens)]
        if self.sees_images:
            around.append(ShowImages(book, self.images(question.who), self.settings))
        return around

    @property
    def nearness(self) -> Nearness:
        return nearness_of(self.retrieval.reader().embedder)

    async def close(self) -> None:
        await self.client.close()
        if self.judge:
            await self.judge.close()


def history_of(question: Question) -> list[Message]:
    """The earlier messages of the conversation as the framework's messages."""
    return [Message(message.role, [message.text]) for message in question.history if message.text.strip()]


class RetrieveFirstAnswerer(ModelAnswerer):
    """One search in the reader's words, then one model call with the passages and their images, without tools.

    If the search tells that nothing answers, ``instead`` says so. The model is not asked then: it would cost money to
    be refused or, worse, to be answered from what the model remembers. The model may want more to be searched for
    (:mod:`app.answering.markers`): then it is called once more, with what the knowledge base and the web have.
    """

    answered_by = "retrieve-first"

    async def answer(self, question: Question, book: CitationBook) -> AsyncGenerator[AnswerEvent, None]:
        query, hits = await search_for(question, self.retrieval)
        evidence = evidence_of(query, hits)
        looked_up = await look_up(self.web_for(question), [query], question) if question.options.web else []
        is_on_web = any(each.passages for each in looked_up)
        if evidence == "nothing" and not is_on_web and (not hits or hits[0].confidence is not None):
            async with aclosing(self.instead.answer_from(question, query, hits, book)) as refusal:
                async for event in refusal:
                    yield event
            return
        citations = book.add(within_room(hits))
        is_doubtful = evidence in ("unlikely", "nothing")
        yield Searched(query, len(hits), is_doubtful)
        for each in looked_up:
            searched, found = each.cite(book)
            yield searched
            citations += found
            is_doubtful = is_doubtful and searched.is_doubtful
        passages = format_passages(citations, is_doubtful=is_doubtful)
        calls = ModelCalls()
        seen = question.picture.text if question.picture else ""
        first = FirstResponse((passages, question.text, seen, *(message.text for message in question.history)))
        shown = False
        asking = self._asked(passages, RETRIEVE_FIRST_INSTRUCTIONS + SEARCH_MARKERS, question, book, calls)
        async with aclosing(asking) as said:
            async for part in said:
                if isinstance(part, TokenUsage):
                    yield part
                elif text := first.feed(part):
                    shown = True
                    yield TextPart(text)
        if searches := first.searches:
            async with aclosing(self._once_more(searches, citations, question, book, calls)) as more:
                async for event in more:
                    shown = shown or isinstance(event, TextPart)
                    yield event
        elif text := first.finish():
            shown = shown or bool(text.strip())
            yield TextPart(text)
        if not shown and first.repeats:  # a passage told it to say nothing else
            async with aclosing(self.instead.answer_from(question, query, hits, book)) as quoted:
                async for other in quoted:
                    if not isinstance(other, Searched):
                        yield replace(other, usage=calls.usage) if isinstance(other, Finished) else other
            return
        if not shown:
            raise NoAnswerError(NO_ANSWER)
        if calls.out_of_room:
            yield TextPart(OUT_OF_ROOM)
        yield Finished(calls.usage)

    async def _once_more(
        self,
        searches: Sequence[str],
        citations: Sequence[Citation],
        question: Question,
        book: CitationBook,
        calls: ModelCalls,
    ) -> AsyncGenerator[Searched | TextPart | TokenUsage, None]:
        """Search for what the model wants, all together, and call it again with what was found."""
        limits, top = limits_of(question), question.top
        searching = (self.retrieval.search(words, question.who, top=top, filters=limits) for words in searches)
        found, looked_up = await asyncio.gather(
            asyncio.gather(*searching), look_up(self.web_for(question), searches, question)
        )
        by_number = {citation.number: citation for citation in citations}
        for words, hits in zip(searches, found, strict=True):
            added = book.add(within_room(hits))
            by_number |= {citation.number: citation for citation in added}
            yield Searched(words, len(hits), evidence_of(words, hits) in ("unlikely", "nothing"))
        for each in looked_up:
            searched, added = each.cite(book)
            by_number |= {citation.number: citation for citation in added}
            yield searched
        passages = f"{MARKERS_ANSWERED}\n\n{format_passages(by_number.values())}"
        without = WithoutMarkers()
        async with aclosing(self._asked(passages, RETRIEVE_FIRST_INSTRUCTIONS, question, book, calls)) as said:
            async for part in said:
                if isinstance(part, TokenUsage):
                    yield part
                elif text := without.feed(part):
                    yield TextPart(text)
        if text := without.finish():
            yield TextPart(text)

    async def _asked(
        self, passages: str, instructions: str, question: Question, book: CitationBook, calls: ModelCalls
    ) -> AsyncGenerator[str | TokenUsage, None]:
        """Call the model, and yield what it says without its thoughts."""
        if role := question.profile.instructions:
            instructions = f"{role}\n\n{instructions}"
        words = ModelText()
        said = [passages_content(passages), *asked(question, sees_images=self.sees_images)]
        stream = self.client.get_response(
            [*history_of(question), Message("user", said)],
            stream=True,
            options={"instructions": instructions},
            middleware=self.around_calls(question, book, calls),
        )
        async with aclosing(updates(stream, calls, self.settings)) as pieces:
            async for piece in pieces:
                for used in calls.new_usage():
                    yield used
                if text := words.feed(piece.text):
                    yield text
        if text := words.finish():
            yield text
        if not words.spoken:
            raise NoAnswerError(NO_ANSWER)
