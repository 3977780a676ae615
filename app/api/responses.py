"""``/v1/responses``: the Responses protocol, by its official server, answered by our answerer.

Beside the text, a response carries each search as a ``file_search_call`` and each reference as a ``url_citation``;
everything about its citations is at ``/api/responses/<id>/answer``.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from typing import Any

from azure.ai.agentserver.responses import (
    ResponseContext,
    ResponseEventStream,
    ResponseProviderProtocol,
    ResponsesAgentServerHost,
    ResponsesServerOptions,
)

from app.answering.base import Searched
from app.answering.grounded import GroundedAnswer
from app.api.asking import asking
from app.api.cancelling import until_set
from app.api.problems import UNEXPECTED
from app.api.response_events import AnswerEvents, Event
from app.api.response_input import read_input
from app.conversations.turns import STOPPED, TurnRecorder
from app.errors import AnswerError, BadQuestionError, UpstreamBusyError, as_answer_error
from app.service import Service
from kb_pipeline.errors import KnowledgeBaseError

_log = logging.getLogger(__name__)
Request = Mapping[str, Any]
"""``CreateResponse`` of the protocol: plain JSON that was validated."""


def responses_host(
    get_service: Callable[[], Service], store: ResponseProviderProtocol | None
) -> ResponsesAgentServerHost:
    """The protocol's server; without a store of ours it uses that of the platform it is hosted on."""
    options = ResponsesServerOptions(default_model="knowledge-base", sse_keep_alive_interval_seconds=15)
    host = ResponsesAgentServerHost(options=options, store=store, configure_observability=None, access_log=None)

    @host.response_handler  # type: ignore[arg-type]  # its events are dicts of many types
    async def respond(
        request: Request, context: ResponseContext, cancelled: asyncio.Event
    ) -> AsyncGenerator[Event, None]:
        async with aclosing(_respond(get_service(), request, context, cancelled)) as events:
            async for event in events:
                yield event

    return host


async def _respond(
    service: Service, request: Request, context: ResponseContext, cancelled: asyncio.Event
) -> AsyncGenerator[Event, None]:
    stream = ResponseEventStream(response_id=context.response_id, request=request)
    yield stream.emit_created()
    yield stream.emit_in_progress()
    try:
        async with aclosing(_answer(service, request, context, stream, cancelled)) as events:
            async for event in events:
                yield event
    except KnowledgeBaseError as exc:
        error = as_answer_error(exc)
        _log.warning("response %s failed: %s", context.response_id, error)
        yield stream.emit_failed(code=_code(error), message=str(error))
    except Exception:
        _log.exception("response %s failed unexpectedly", context.response_id)
        yield stream.emit_failed(code="server_error", message=UNEXPECTED)


async def _answer(
    service: Service,
    request: Request,
    context: ResponseContext,
    stream: ResponseEventStream,
    cancelled: asyncio.Event,
) -> AsyncGenerator[Event, None]:
    who = asking.get()
    text, history = await read_input(context)
    question = service.question(text, who, history=history)
    answer = GroundedAnswer(service.answerer, question, service.book())
    said = AnswerEvents(stream)
    keep = request.get("store") is not False
    async with TurnRecorder(service.conversations, who.user_id, context, question.text, keep=keep) as turn:
        turn.so_far = answer.so_far
        async with aclosing(until_set(cancelled, answer.events())) as events:
            async for event in events:
                for out in said.searched(event) if isinstance(event, Searched) else said.text(event.delta):
                    yield out
        if cancelled.is_set():
            turn.problem = STOPPED
            return
        whole = answer.so_far()
        for out in said.end(whole):
            yield out
    # only now: who hears of the end may ask for what was kept
    yield stream.emit_completed(usage=said.usage(whole))


def _code(error: AnswerError) -> str:
    """Our failure in the protocol's few words."""
    if isinstance(error, BadQuestionError):
        return "invalid_prompt"
    return "rate_limit_exceeded" if isinstance(error, UpstreamBusyError) else "server_error"
