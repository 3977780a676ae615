"""The model calls of one answer: each has to come to its end, and all of them are counted."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import Any, Protocol, TypeVar

import anyio
from agent_framework import ChatContext, ChatMiddleware, ChatResponse, ChatResponseUpdate, ResponseStream
from anyio.streams.memory import MemoryObjectSendStream

from app.answering.upstream import CUT_SHORT, FILTERED, explain
from app.errors import AnswerError, UpstreamCutShortError, UpstreamRefusedError
from app.schema import TokenUsage
from app.settings import AppSettings
from kb_pipeline.errors import KnowledgeBaseError

NO_ANSWER = "the model gave no answer; ask again, or in other words"
_AHEAD = 64
OUT_OF_ROOM = "\n\n*(The model reached the limit of its answer's length here; ask for the rest.)*"


class NoAnswerError(AnswerError):
    """The model ended its answer properly, and there is nothing in it."""


class ModelCalls(ChatMiddleware):
    """Watches the calls of one answer.

    A stream that stops without a finish reason was cut off; neither the SDK nor the framework calls that an error.
    """

    def __init__(self) -> None:
        self.usage: TokenUsage | None = None
        self.begun = False
        self.out_of_room = False

    async def process(self, context: ChatContext, call_next: Callable[[], Awaitable[None]]) -> None:
        """Look at one call; what is wrong with it is raised from within its stream."""
        options = context.options or {}
        may_search = bool(options.get("tools")) and options.get("tool_choice") != "none"
        self.begun = False
        context.stream_transform_hooks.append(self._began)
        context.stream_result_hooks.append(lambda response: self._ended(response, may_search=may_search))
        await call_next()

    def _began(self, update: ChatResponseUpdate) -> ChatResponseUpdate:
        self.begun = True
        return update

    def _ended(self, response: ChatResponse[Any], *, may_search: bool) -> ChatResponse[Any]:
        if used := response.usage_details:
            tokens = TokenUsage(
                input_tokens=used.get("input_token_count") or 0, output_tokens=used.get("output_token_count") or 0
            )
            self.usage = added(self.usage, tokens)
        if response.finish_reason is None:
            raise UpstreamCutShortError(CUT_SHORT)
        if response.finish_reason == "content_filter":
            raise AnswerError(FILTERED)
        self.out_of_room = response.finish_reason == "length"
        searches = may_search and any(c.type == "function_call" for m in response.messages for c in m.contents)
        if not searches and not response.text.strip():
            raise NoAnswerError(NO_ANSWER)
        return response


def added(one: TokenUsage | None, other: TokenUsage | None) -> TokenUsage | None:
    """Both together; ``None`` is what no server told."""
    if one is None or other is None:
        return one or other
    return TokenUsage(
        input_tokens=one.input_tokens + other.input_tokens, output_tokens=one.output_tokens + other.output_tokens
    )


class Update(Protocol):
    """Part of what a model says."""

    @property
    def text(self) -> str:
        """Its words, if any."""


UpdateT = TypeVar("UpdateT", bound=Update)


async def updates(
    stream: ResponseStream[UpdateT, Any], calls: ModelCalls, settings: AppSettings
) -> AsyncGenerator[UpdateT, None]:
    """What a model sends, as it comes. Closing this closes the connection to the model.

    Raises:
        AnswerError: the model failed, or was silent for too long.
        KnowledgeBaseError: a search that it asked for failed.
    """
    send, receive = anyio.create_memory_object_stream[UpdateT](_AHEAD)
    # The framework's stream wants to live in one task, and to be cancelled rather than closed in the middle.
    reading = asyncio.create_task(_read(stream, send, settings.chat_timeout_seconds))
    try:
        with receive:
            async for update in receive:
                yield update
        await reading
    except Exception as exc:
        problem = explain(exc, settings, begun=calls.begun)
        if problem is None:
            raise
        raise problem from _worth_telling(problem, exc)
    finally:
        reading.cancel()
        await asyncio.gather(reading, return_exceptions=True)


async def _read(stream: ResponseStream[UpdateT, Any], send: MemoryObjectSendStream[UpdateT], silence: float) -> None:
    async with send, stream:
        while True:
            async with asyncio.timeout(silence):
                update = await anext(stream, None)
            if update is None:
                return
            await send.send(update)


def _worth_telling(problem: KnowledgeBaseError, raised: Exception) -> BaseException | None:
    if isinstance(problem, UpstreamRefusedError):
        return None  # the refusal may quote the key that was refused, so nothing of it is passed on
    return problem.__cause__ if problem.__traceback__ else raised  # one of ours from within has its own cause
