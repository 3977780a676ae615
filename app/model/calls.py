"""Runs the model calls of one answer: checks that each call ends properly, counts tokens and explains failures."""

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from typing import Any, Protocol, TypeVar

import anyio
import openai
from agent_framework import (
    ChatContext,
    ChatMiddleware,
    ChatResponse,
    ChatResponseUpdate,
    ResponseStream,
    UsageDetails,
)
from agent_framework.exceptions import AgentFrameworkException, ChatClientException
from anyio.streams.memory import MemoryObjectSendStream

from app.errors import (
    AnswerError,
    NotAcceptedError,
    UpstreamBusyError,
    UpstreamCutShortError,
    UpstreamMissingError,
    UpstreamRefusedError,
    UpstreamTimeoutError,
)
from app.model.client import chat_endpoint
from app.schema.answers import TokenUsage
from app.settings import AppSettings
from kb_pipeline.errors import KnowledgeBaseError
from kb_pipeline.models.openai_client import ROLE
from kb_pipeline.services.service import retry_after

FILTERED = "the model's content filter refused this question or its answer; ask in other words"
CUT_SHORT = "the model's answer was cut off in the middle; ask again"

_UNREADABLE = (json.JSONDecodeError, UnicodeDecodeError, openai.APIResponseValidationError)
_MISREAD = (AttributeError, KeyError, TypeError)
"""What the framework's client raises for a response that is no chat completion, for instance a web page."""


def explain(failure: Exception, settings: AppSettings, *, begun: bool) -> KnowledgeBaseError | None:
    """Turn an exception of the SDK or the framework into one that says what happened and what to do.

    ``begun`` says whether some of the answer had arrived. ``None`` means that the exception is a bug of ours.
    """
    for cause in _causes(failure):
        if isinstance(cause, KnowledgeBaseError):
            return cause
        if isinstance(cause, TimeoutError | openai.APITimeoutError):
            return _silence(settings)
        if isinstance(cause, openai.APIStatusError):
            return _status(cause, settings)
        if isinstance(cause, openai.APIConnectionError):
            if begun:
                return UpstreamCutShortError(CUT_SHORT)
            return AnswerError(
                f"the model endpoint cannot be reached; check {_url_setting(settings)} and that it is running"
            )
        misread = isinstance(cause, ChatClientException) and isinstance(cause.__cause__, _MISREAD)
        if misread or isinstance(cause, _UNREADABLE):
            return AnswerError(f"the model endpoint sent no chat completion; check {_url_setting(settings)}")
        if isinstance(cause, openai.APIError):
            return AnswerError(f"the model failed in the middle of its answer: {_detail(cause, settings)}")
    if isinstance(failure, AgentFrameworkException | openai.OpenAIError):
        return AnswerError("the call to the model failed; the service's log says why")
    return None


def _causes(failure: BaseException | None) -> Iterator[BaseException]:
    while failure is not None:
        yield failure
        failure = failure.__cause__ or failure.__context__


def _status(refusal: openai.APIStatusError, settings: AppSettings) -> AnswerError:
    endpoint = chat_endpoint(settings)
    match refusal.status_code:
        case 401 | 403:
            role = f", or without a key this service's role {ROLE} on the Azure OpenAI resource"
            return UpstreamRefusedError(
                f"the model endpoint refused our credentials ({refusal.status_code}); check {endpoint.key_setting}"
                + (role if endpoint.azure else "")
            )
        case 404:
            kind = "deployment" if endpoint.azure else "model"
            name_setting = "its name" if settings.is_model_chosen else "KB_CHAT_MODEL"
            return UpstreamMissingError(
                f"the model endpoint knows no {kind} {endpoint.deployment(settings.chat_model or '')!r} (404); "
                f"check {name_setting} and {_url_setting(settings)}"
            )
        case 429 | 503:
            return _busy(refusal)
        case 408 | 504:
            return _silence(settings)
        case status if status >= 500:
            return AnswerError(f"the model endpoint failed ({status}); ask again in a while")
    return NotAcceptedError(_not_accepted(refusal, settings))


def _busy(refusal: openai.APIStatusError) -> AnswerError:
    if refusal.code == "insufficient_quota":
        return UpstreamBusyError("the model's quota is used up; raise it where the key was issued")
    return UpstreamBusyError(
        f"the model is too busy ({refusal.status_code}); ask again in a while",
        retry_after=retry_after(refusal.response.headers),
    )


def _not_accepted(refusal: openai.APIStatusError, settings: AppSettings) -> str:
    if refusal.code == "content_filter":
        return FILTERED
    if refusal.code == "context_length_exceeded":
        return "the conversation is too long for this model; begin a new one, or lower KB_HISTORY_TOKENS"
    detail = _detail(refusal, settings)
    hint = ""
    if settings.is_model_chosen:
        hint = "; test the model again"
    elif settings.mode == "agent" and "tool" in detail.lower():
        hint = "; for a model without tools set KB_ANSWERING=retrieve-first"
    elif settings.vision and "image" in detail.lower():
        hint = "; for a model that sees no images set KB_VISION=false"
    return f"the model endpoint did not accept the question ({refusal.status_code}): {detail}{hint}"


def _silence(settings: AppSettings) -> UpstreamTimeoutError:
    return UpstreamTimeoutError(
        f"the model was silent for {settings.chat_timeout_seconds:g} s; ask again, or raise KB_CHAT_TIMEOUT_SECONDS"
    )


def _url_setting(settings: AppSettings) -> str:
    return chat_endpoint(settings).url_setting


def _detail(failure: openai.APIError, settings: AppSettings) -> str:
    """Return the endpoint's own message on one line, without any key or token that it quotes."""
    message = failure.body.get("message") if isinstance(failure.body, dict) else None
    return chat_endpoint(settings).service.words(message or failure.message)


NO_ANSWER = "the model gave no answer; ask again, or in other words"
_AHEAD = 64
"""Updates that may wait for a slow reader before the model has to."""
OUT_OF_ROOM = "\n\n*(The model reached the limit of its answer's length here; ask for the rest.)*"


class NoAnswerError(AnswerError):
    """The model ended its answer properly, but the answer is empty."""


class ModelCalls(ChatMiddleware):
    """Watches the calls of one answer.

    A stream that stops without a finish reason was cut off; neither the SDK nor the framework treats that as an error.
    """

    def __init__(self) -> None:
        self.usage: TokenUsage | None = None
        """Of the calls that have ended."""
        self.begun = False
        self.out_of_room = False
        self._of_running_call: TokenUsage | None = None
        self._told: TokenUsage | None = None

    def new_usage(self) -> Iterator[TokenUsage]:
        """Yield what all calls have used so far, the running one included, if it is known and has changed."""
        usage = added(self.usage, self._of_running_call)
        if usage and usage != self._told:
            self._told = usage
            yield usage

    async def process(self, context: ChatContext, call_next: Callable[[], Awaitable[None]]) -> None:
        """Watch one call. Errors are raised while its stream is read."""
        options = context.options or {}
        may_search = bool(options.get("tools")) and options.get("tool_choice") != "none"
        self.begun = False
        context.stream_transform_hooks.append(self._began)
        context.stream_result_hooks.append(lambda response: self._ended(response, may_search=may_search))
        await call_next()

    def _began(self, update: ChatResponseUpdate) -> ChatResponseUpdate:
        self.begun = True
        for content in update.contents:
            if content.type == "usage" and content.usage_details:
                self._of_running_call = _tokens(content.usage_details)
        return update

    def _ended(self, response: ChatResponse[Any], *, may_search: bool) -> ChatResponse[Any]:
        self._of_running_call = None
        if response.usage_details:
            self.usage = added(self.usage, _tokens(response.usage_details))
        if response.finish_reason is None:
            raise UpstreamCutShortError(CUT_SHORT)
        if response.finish_reason == "content_filter":
            raise NotAcceptedError(FILTERED)
        self.out_of_room = response.finish_reason == "length"
        searches = may_search and any(c.type == "function_call" for m in response.messages for c in m.contents)
        if not searches and not response.text.strip():
            raise NoAnswerError(NO_ANSWER)
        return response


def _tokens(used: UsageDetails) -> TokenUsage:
    return TokenUsage(
        input_tokens=used.get("input_token_count") or 0, output_tokens=used.get("output_token_count") or 0
    )


def added(one: TokenUsage | None, other: TokenUsage | None) -> TokenUsage | None:
    """The sum of both; ``None`` stands for usage that the server did not report."""
    if one is None or other is None:
        return one or other
    return TokenUsage(
        input_tokens=one.input_tokens + other.input_tokens, output_tokens=one.output_tokens + other.output_tokens
    )


class Update(Protocol):
    """A part of a model's answer."""

    @property
    def text(self) -> str:
        """The words of this part, if any."""


UpdateT = TypeVar("UpdateT", bound=Update)


async def updates(
    stream: ResponseStream[UpdateT, Any], calls: ModelCalls, settings: AppSettings
) -> AsyncGenerator[UpdateT, None]:
    """Yield what a model sends, as it arrives. Closing the generator closes the connection to the model.

    Raises:
        AnswerError: the model failed, or was silent for too long.
        KnowledgeBaseError: a search that the model requested failed.
    """
    send, receive = anyio.create_memory_object_stream[UpdateT](_AHEAD)
    # The framework's stream must be read in a single task, and be cancelled rather than closed before its end.
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
    """Return the cause to attach to a problem."""
    if isinstance(problem, UpstreamRefusedError):
        return None  # the refusal may quote the key that was refused
    return problem.__cause__ if problem.__traceback__ else raised  # a raised error of ours already has its cause


_OPENING, _CLOSING = "<think>", "</think>"
_LONGEST_HELD = 16
"""Longest part of a word that is held back, in characters: Chinese and Japanese have no spaces."""


class ModelText:
    """What a model says, piece by piece: in whole words, and without the ``<think>...</think>`` at the beginning.

    Open reasoning models write their thoughts this way. Most servers move them to a field of their own, some do not.
    Some servers send single characters; checking, sending and showing each costs what a word costs.
    """

    def __init__(self) -> None:
        self._held = ""
        self.spoken = False

    def feed(self, piece: str) -> str:
        """Take the next piece, and return the text that may be shown now."""
        self._held += piece
        if not self.spoken and not self._begins():
            return ""
        end = len(self._held)
        if end < _LONGEST_HELD:
            end = max(self._held.rfind(" "), self._held.rfind("\n")) + 1
        text, self._held = self._held[:end], self._held[end:]
        return text

    def finish(self) -> str:
        """Return the text that was held back; thoughts without an end are dropped."""
        if not self.spoken and self._held.lstrip().startswith(_OPENING):
            return ""
        text = self._held if self.spoken else self._held.lstrip()
        self._held, self.spoken = "", self.spoken or bool(text)
        return text

    def _begins(self) -> bool:
        """Leave out the thoughts so far, and return whether readers are spoken to."""
        begun = self._held.lstrip()
        if _OPENING.startswith(begun[: len(_OPENING)]):
            if _CLOSING not in begun:
                self._held = begun[: len(_OPENING)] + begun[len(_OPENING) :][-len(_CLOSING) :]
                return False
            begun = begun.partition(_CLOSING)[2].lstrip()
        self._held = begun
        self.spoken = bool(begun)
        return self.spoken
