"""Answers while they are worded, by the ``openai`` SDK; asynchronous, because whoever waits must be able to stop."""

from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from app.client.problems import CUT_SHORT, TOO_LONG, ServiceDownError, ServiceError, problem_in
from app.schema import Problem

if TYPE_CHECKING:
    from openai import AsyncStream
    from openai.types.responses import Response, ResponseStreamEvent


@dataclass(frozen=True, slots=True)
class Searching:
    """The knowledge base is searched for the answer."""

    queries: tuple[str, ...]


@asynccontextmanager
async def open_answer(
    url: str, headers: Mapping[str, str], seconds: float, question: str, conversation: str | None
) -> AsyncIterator["AnswerStream"]:
    """The answer to a question as it is worded; leaving the block before its end stops it.

    Raises:
        ServiceError: the question was refused.
    """
    from openai import AsyncOpenAI

    sdk = AsyncOpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0, timeout=seconds, default_headers=headers)
    about: dict[str, Any] = {"conversation": conversation} if conversation else {}
    async with sdk:
        with _told(lost=ServiceDownError(url)):
            events = await sdk.responses.create(input=question, model="knowledge-base", stream=True, **about)
        async with events:
            yield AnswerStream(events)


class AnswerStream:
    """An answer that is being worded. ``response_id`` is known from its first event on."""

    def __init__(self, events: "AsyncStream[ResponseStreamEvent]") -> None:
        self._events = events
        self._ended = False
        self._failure: Problem | None = None
        self.response_id: str | None = None

    async def __aiter__(self) -> AsyncIterator[Searching | str]:
        """Its searches and its words.

        Raises:
            ServiceError: it failed, or broke off.
        """
        try:
            with _told(lost=ServiceError(CUT_SHORT)):
                # To the very end: what the SDK is left half-way in, the garbage collector ends, in whatever thread.
                async for event in self._events:
                    for said in self._read(event):
                        yield said
        except ServiceError:
            if not self._ended:
                raise
        if not self._ended:
            raise ServiceError(CUT_SHORT)
        if self._failure:
            raise ServiceError(self._failure)

    def _read(self, event: "ResponseStreamEvent") -> Iterator[Searching | str]:
        match event.type:
            case "response.created":
                self.response_id = event.response.id
            case "response.output_item.done" if event.item.type == "file_search_call":
                yield Searching(tuple(event.item.queries))
            case "response.output_text.delta":
                yield event.delta
            case "response.failed" | "response.incomplete":
                self._ended, self._failure = True, _failure(event.response)
            case "response.completed":
                self._ended = True


def _failure(response: "Response") -> Problem:
    if response.error is None:
        return CUT_SHORT
    return Problem(code=response.error.code, message=response.error.message)


@contextmanager
def _told(lost: ServiceError) -> Iterator[None]:
    """The SDK's failures as ours; ``lost`` is what a lost connection means here."""
    from openai import APIConnectionError, APIError, APIStatusError, APITimeoutError

    try:
        yield
    except APITimeoutError as exc:
        raise ServiceError(TOO_LONG) from exc
    except APIConnectionError as exc:
        raise lost from exc
    except APIStatusError as exc:
        raise ServiceError(problem_in(exc.body), exc.status_code) from exc
    except APIError as exc:
        raise ServiceError(problem_in(exc.body)) from exc
