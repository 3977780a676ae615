"""Streamed answers and the errors of the client.

Answers are streamed with the asynchronous ``openai`` SDK, so that a caller can stop one while it waits.
"""

import base64
import json
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import httpx
from pydantic import ValidationError

from app.schema.answers import WHOLE_ANSWER, ChatAnswer, Plan
from app.schema.wire import Problem
from kb_pipeline.asking import NO_OPTIONS, AskOptions

if TYPE_CHECKING:
    from openai import AsyncOpenAI, AsyncStream
    from openai.types.responses import Response, ResponseStreamEvent


CUT_SHORT = Problem(code="cut_short", message="the connection was lost before the answer was complete; ask again")
TOO_LONG = Problem(code="timeout", message="the service took too long; try again")
NO_IMAGE = Problem(code="not_found", message="there is no image at that address")
NOT_THE_SERVICE = Problem(
    code="not_the_service", message="the server at this address is not the agent service; check KB_APP_URL"
)


SERVICE_DOWN = "service_down"
"""The code of the problem that the service cannot be reached."""


class ClientError(Exception):
    """A request to the service failed. ``status`` is the HTTP status, or ``None`` if there is none."""

    def __init__(self, problem: Problem, status: int | None = None) -> None:
        super().__init__(problem.message)
        self.problem = problem
        self.status = status


class ServiceDownError(ClientError):
    """The service cannot be reached."""

    def __init__(self, url: str) -> None:
        super().__init__(Problem(code=SERVICE_DOWN, message=f"the service does not answer at {url}"))


def path_of(*parts: str) -> str:
    """The path of a route of the service: ``path_of("gaps", gap_id)``, whatever signs an id has."""
    return "/api/" + "/".join(quote(part, safe="") for part in parts)


def problem_of(reply: httpx.Response) -> Problem:
    """The problem that a response of the service reports, which was read to its end."""
    try:
        return problem_in(reply.json())
    except ValueError:
        return NOT_THE_SERVICE


def problem_in(body: object) -> Problem:
    """The problem that the service reports; ``body`` is the whole JSON response or its ``error``."""
    error = body.get("error", body) if isinstance(body, Mapping) else None
    try:
        return Problem.model_validate(error)
    except ValidationError:
        return NOT_THE_SERVICE


@dataclass(frozen=True, slots=True)
class SearchStep:
    """The service has searched the knowledge base, or the web, with these queries."""

    queries: tuple[str, ...]
    on_web: bool = False


@dataclass(frozen=True, slots=True)
class PlanStep:
    """The service has a plan for the question, or an item of it has another status: the plan as it is now."""

    plan: Plan


@dataclass(frozen=True, slots=True)
class ToolStep:
    """The service calls a tool."""

    name: str
    arguments: Mapping[str, Any]


Step = SearchStep | PlanStep | ToolStep


@dataclass(frozen=True, slots=True)
class SentPicture:
    """A picture to send with a question."""

    data: bytes
    media_type: str

    @property
    def url(self) -> str:
        """The picture as a data URL."""
        return f"data:{self.media_type};base64,{base64.b64encode(self.data).decode()}"


@dataclass(frozen=True, slots=True)
class Agent:
    """An agent elsewhere that speaks the Responses protocol, and may know nothing of our other routes.

    ``url`` is the address before ``/responses``; ``previous`` is the id of the response that a question follows.
    """

    url: str
    api_version: str = ""
    previous: str | None = None


@asynccontextmanager
async def open_answer(
    url: str,
    headers: Mapping[str, str],
    seconds: float,
    question: str,
    conversation: str | None,
    options: AskOptions = NO_OPTIONS,
    *,
    token: Callable[[], Awaitable[str]] | None = None,
    picture: SentPicture | None = None,
    agent: Agent | None = None,
) -> AsyncIterator["AnswerStream"]:
    """Stream the answer to a question; leaving the block early stops the answer.

    ``token`` is asked for an access token before each request. An ``agent`` is asked instead of the service.

    Raises:
        ClientError: the service refused the question or cannot be reached.
    """
    version = {"api-version": agent.api_version} if agent and agent.api_version else None
    sdk = _sdk(
        agent.url if agent else f"{url}/v1",
        token or "none",
        max_retries=0,
        timeout=seconds,
        default_headers=headers,
        default_query=version,
    )
    request: dict[str, Any] = {"extra_body": options.given()}
    if agent:
        request["metadata"] = {WHOLE_ANSWER: "true"}
        if agent.previous:
            request["previous_response_id"] = agent.previous
    else:  # the page makes links of references, whatever the service does for others
        request["extra_body"]["citation_style"] = "ref"
    if conversation:
        request["conversation"] = conversation
    said = _input(question, picture)
    async with sdk:
        with _client_errors(lost=ServiceDownError(agent.url if agent else url)):
            events = await sdk.responses.create(input=said, model="knowledge-base", stream=True, **request)
        async with events:
            yield AnswerStream(events)


def _input(question: str, picture: SentPicture | None) -> Any:  # noqa: ANN401 - what the SDK takes
    if picture is None:
        return question
    parts = [{"type": "input_image", "image_url": picture.url, "detail": "auto"}]
    if question:
        parts.append({"type": "input_text", "text": question})
    return [{"type": "message", "role": "user", "content": parts}]


def load_sdk() -> None:
    """Import what the first call of :func:`open_answer` would import: the SDK loads its parts when they are used."""
    _ = _sdk("http://localhost/v1").responses


def _sdk(base_url: str, key: str | Callable[[], Awaitable[str]] = "none", **options: Any) -> "AsyncOpenAI":
    from openai import AsyncOpenAI, DefaultAsyncHttpxClient

    return AsyncOpenAI(
        base_url=base_url, api_key=key, http_client=DefaultAsyncHttpxClient(verify=_certificates()), **options
    )


@cache
def _certificates() -> ssl.SSLContext:
    """Loading them takes 50 ms, which each question would wait for."""
    return httpx.create_ssl_context()


class AnswerStream:
    """An answer that is being streamed. ``response_id`` is set by the first event.

    ``answer`` is the whole answer, if the response carried it. ``sources`` are titles by address, of its annotations.
    """

    def __init__(self, events: "AsyncStream[ResponseStreamEvent]") -> None:
        self._events = events
        self.has_ended = False
        self.problem: Problem | None = None
        """Why the answer failed or is not complete."""
        self.text = ""
        self.response_id: str | None = None
        self.answer: ChatAnswer | None = None
        self.sources: dict[str, str] = {}

    async def __aiter__(self) -> AsyncIterator[Step | str]:
        """Yield the steps of the answer and the pieces of its text.

        Raises:
            ClientError: the answer failed, or the connection was lost.
        """
        try:
            with _client_errors(lost=ClientError(CUT_SHORT)):
                # Read to the very end: otherwise the garbage collector closes the SDK's generator in some other thread.
                async for event in self._events:
                    for part in self._read(event):
                        yield part
        except ClientError:
            if not self.has_ended:
                raise
        if not self.has_ended:
            raise ClientError(CUT_SHORT)
        if self.problem:
            raise ClientError(self.problem)

    def _read(self, event: "ResponseStreamEvent") -> Iterator[Step | str]:
        match event.type:
            case "response.created":
                self.response_id = event.response.id
            case "response.output_item.done" if event.item.type == "file_search_call":
                yield SearchStep(tuple(event.item.queries))
            case "response.output_item.done" if event.item.type == "web_search_call":
                yield SearchStep((str(getattr(event.item.action, "query", "")),), on_web=True)
            case "response.output_item.done" if event.item.type == "reasoning":
                yield from _plan(event.item)
            case "response.output_item.done" if event.item.type == "function_call":
                yield ToolStep(event.item.name, _arguments(event.item.arguments))
            case "response.output_item.done" if str(event.item.type) == "structured_outputs":
                self.answer = _whole_answer(event.item) or self.answer
            case "response.output_text.annotation.added":
                self._add_source(event.annotation)
            case "response.output_text.delta":
                self.text += event.delta
                yield event.delta
            case "response.failed" | "response.incomplete":
                self.has_ended, self.problem = True, _failure(event.response)
            case "response.completed":
                self.has_ended = True

    def _add_source(self, annotation: object) -> None:
        said = annotation if isinstance(annotation, Mapping) else vars(annotation)
        url, title = said.get("url"), said.get("title")
        if isinstance(url, str) and url not in self.sources:
            self.sources[url] = title if isinstance(title, str) else ""


def _whole_answer(item: object) -> ChatAnswer | None:
    """The answer that a response of ours carries; such an item of another agent, or of a question back, has none."""
    output = getattr(item, "output", None)
    try:
        return ChatAnswer.model_validate(output.get("answer")) if isinstance(output, Mapping) else None
    except ValidationError:
        return None


def _plan(item: object) -> Iterator[PlanStep]:
    """Yield the plan of a reasoning item; it is a field of ours, which other reasoning has not."""
    try:
        plan = Plan.model_validate(getattr(item, "plan", None))
    except ValidationError:
        return
    yield PlanStep(plan)


def _arguments(text: str) -> Mapping[str, Any]:
    try:
        arguments = json.loads(text)
    except ValueError:
        return {}
    return arguments if isinstance(arguments, dict) else {}


def _failure(response: "Response") -> Problem:
    if response.error is None:
        return CUT_SHORT
    return Problem(code=response.error.code, message=response.error.message)


@contextmanager
def _client_errors(lost: ClientError) -> Iterator[None]:
    """Raise the SDK's errors as ours; ``lost`` is raised for a lost connection."""
    from openai import APIConnectionError, APIError, APIStatusError, APITimeoutError

    try:
        yield
    except APITimeoutError as exc:
        raise ClientError(TOO_LONG) from exc
    except APIConnectionError as exc:
        raise lost from exc
    except APIStatusError as exc:
        raise ClientError(problem_in(exc.body), exc.status_code) from exc
    except APIError as exc:
        raise ClientError(problem_in(exc.body)) from exc
