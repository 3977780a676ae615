"""Answers by an agent: the model searches, reads, searches again if necessary, and answers."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace
from functools import cached_property

from agent_framework import Agent, FunctionTool, Message

from app.answering.base import AnswerEvent, Finished, Question, Step, TextPart
from app.answering.prompts import AGENT_TEMPLATE, ROLE, RULES, fill
from app.answering.retrieve_first import ModelAnswerer, RetrieveFirstAnswerer, history_of
from app.answering.search_tool import KnowledgeBaseSearch
from app.answering.tool_calls import ToolCalls
from app.answering.vision import asked
from app.grounding.citations import CitationBook
from app.model.calls import OUT_OF_ROOM, ModelCalls, ModelText, NoAnswerError, added, updates
from app.schema.answers import TokenUsage
from app.tools import AnyTool

_PARAGRAPH = "\n\n"


class AgentAnswerer(ModelAnswerer):
    """The model has the search, where the web is on another one for that, and the tools that programs have as well, for
    a limited number of calls; then it must answer.

    The first round must be a call (``tool_choice: required``): models are worst at judging whether a question needs
    one, and a needless search costs less than an answer without sources. Text before the first search is therefore not
    part of the answer. If an endpoint or a model ignores this and never searches, or ends without an answer, the
    question is answered as if the model had no tools.
    """

    answered_by = "agent"
    template = AGENT_TEMPLATE

    @cached_property
    def _without_tools(self) -> RetrieveFirstAnswerer:
        return RetrieveFirstAnswerer(self.settings, self.retrieval, self.client, self.images, self.instead, self.web)

    def _callable(self, question: Question) -> Mapping[str, AnyTool]:
        """Return the tools that the profile may call."""
        named = question.profile.tools
        return self.tools if named is None else {name: tool for name, tool in self.tools.items() if name in named}

    def _agent(self, tools: Sequence[FunctionTool], question: Question) -> Agent:
        profile = question.profile
        told = fill(
            self.template,
            rules=RULES,
            tools={tool.name: tool.description for tool in tools},
            department=question.who.department,
            role=profile.instructions or ROLE,
        )
        return Agent(self.client, told, name=profile.name, id=f"{profile.name}/{self.prompt_version}")

    async def answer(self, question: Question, book: CitationBook) -> AsyncGenerator[AnswerEvent, None]:
        # what the asker wants to be searched does not depend on what the model calls
        if question.options.web or question.profile.mode == "retrieve-first":
            async with aclosing(self._without_tools.answer(question, book)) as events:
                async for event in events:
                    yield event
            return
        calls = ModelCalls()
        spoken = ended = False
        try:
            async with aclosing(self._with_tools(question, book, calls)) as events:
                async for event in events:
                    if isinstance(event, TokenUsage):
                        yield event
                        continue
                    if isinstance(event, TextPart) and spoken and not ended:
                        yield TextPart(_PARAGRAPH)  # the model wrote text, searched again, and continues
                    ended = isinstance(event, TextPart)
                    spoken = spoken or ended
                    yield event
        except NoAnswerError:
            ended = False
        if not ended:
            if spoken:
                yield TextPart(_PARAGRAPH)
            async with aclosing(self._without_tools.answer(question, book)) as others:
                async for other in others:
                    match other:
                        case Finished(usage):
                            yield replace(other, usage=added(calls.usage, usage))
                        case TokenUsage():
                            yield added(calls.usage, other) or other
                        case _:
                            yield other
            return
        if calls.out_of_room:
            yield TextPart(OUT_OF_ROOM)
        yield Finished(calls.usage)

    async def _with_tools(
        self, question: Question, book: CitationBook, calls: ModelCalls
    ) -> AsyncGenerator[Step | TextPart | TokenUsage, None]:
        search = KnowledgeBaseSearch(
            self.retrieval, question, book, self.settings.search_rounds, self.web_for(question)
        )
        calling = ToolCalls(self._callable(question), question, book, search)
        tools = [*search.tools, *calling.functions]
        stream = self._agent(tools, question).run(
            [*history_of(question), Message("user", asked(question, sees_images=self.sees_images))],
            stream=True,
            tools=tools,
            options={"tool_choice": "required"},
            middleware=self.around_calls(question, book, calls),
        )
        words = ModelText()
        async with aclosing(updates(stream, calls, self.settings)) as pieces:
            async for piece in pieces:
                for used in calls.new_usage():
                    yield used
                for step in search.steps():
                    if text := words.finish():
                        yield TextPart(text)
                    words = ModelText()
                    yield step
                if search.done and (text := words.feed(piece.text)):
                    yield TextPart(text)
        if search.done and (text := words.finish()):
            yield TextPart(text)
