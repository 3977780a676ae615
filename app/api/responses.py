"""``/v1/responses``: the Responses protocol. Its official server calls our answerer.

Which items a response has: :mod:`app.api.answer_events`. The full citations are at ``/api/responses/<id>/answer``.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, TypeVar, cast

from azure.ai.agentserver.responses import (
    ResponseContext,
    ResponseEventStream,
    ResponseProviderProtocol,
    ResponsesAgentServerHost,
    ResponsesServerOptions,
)
from pydantic import ValidationError

from app.answering.base import Message
from app.answering.grounded import GroundedAnswer
from app.answering.profiles import profile_named
from app.api.answer_events import AnswerEvents, Event
from app.api.gate import asking
from app.api.owners import ResponseOwners
from app.api.problems import UNEXPECTED
from app.callers.picture import Picture, bytes_of
from app.callers.principal import Principal
from app.conversations.base import ConversationStore, UnknownConversationError
from app.conversations.entries import responses_of_chain, steps_of
from app.conversations.responses_store import StoreFailedError, note_failure
from app.conversations.turns import STOPPED, TurnRecorder, conversation_for, pending_clarification
from app.errors import AnswerError, BadQuestionError, StoreUnavailableError, UpstreamBusyError, as_answer_error
from app.grounding.references import without_references
from app.grounding.source_style import SourceStyle, without_sources
from app.library.withheld import shown
from app.logs.auditing import Noted, note, note_answer, noted_now, write_note
from app.schema.answers import WHOLE_ANSWER
from app.schema.asking import picture_at, with_picture_text
from app.schema.passages import CitationStyle
from app.service import AgentService
from kb_pipeline.asking import AskOptions
from kb_pipeline.errors import KnowledgeBaseError

T = TypeVar("T")


async def until_set(stop: asyncio.Event, items: AsyncGenerator[T, None]) -> AsyncGenerator[T, None]:
    """Yield items until ``stop`` is set, then close the generator, even while it waits for its next item."""
    stopping = asyncio.create_task(stop.wait())
    try:
        async with aclosing(items):
            while not stop.is_set():
                following = asyncio.ensure_future(anext(items))
                try:
                    await asyncio.wait({following, stopping}, return_when=asyncio.FIRST_COMPLETED)
                finally:
                    if not following.done():
                        following.cancel()
                        await asyncio.gather(following, return_exceptions=True)
                if following.cancelled():
                    return
                try:
                    item = following.result()
                except StopAsyncIteration:
                    return
                yield item
    finally:
        stopping.cancel()


_UNSUPPORTED = frozenset({"input_file", "input_audio"})


@dataclass(frozen=True)
class Input:
    """What a request says: the question, the address of its picture ("" if it has none), and the messages before."""

    question: str
    picture_url: str
    history: tuple[Message, ...]


async def read_input(
    context: ResponseContext, conversations: ConversationStore, user_id: str, earlier: Sequence[Message] | None = None
) -> Input:
    """The question and the messages before it: stored turns first, then the messages of the request itself.

    ``earlier`` are in place of the stored turns as the protocol's server has them.

    Raises:
        BadQuestionError: the last message is not the user's, or it has content that is no text and no picture.
    """
    own = list(await context.get_input_items())
    items = [*(await context.get_history() if earlier is None else ()), *own]
    thread = [*(earlier or ()), *messages(items, await texts_of_pictures(conversations, user_id, items))]
    if not thread or thread[-1].role != "user":
        raise BadQuestionError("there is no question: the last message must be the user's")
    last = [item for item in own if item.get("type", "message") == "message"]
    urls = _picture_urls(last[-1].get("content")) if last else []
    if len(urls) > 1:
        raise BadQuestionError("a question can come with one picture; send the others with questions of their own")
    return Input(thread[-1].text, urls[0] if urls else "", tuple(thread[:-1]))


async def earlier_as_shown(service: AgentService, who: Principal, context: ResponseContext) -> list[Message] | None:
    """The messages before a question without those that its asker may no longer see; ``None`` if they may see all.

    The platform of a hosted agent keeps the messages of responses, and does not ask who may read what they rest on.
    """
    store = service.conversations
    try:
        kept = await store.conversation(who.user_id, await conversation_for(store, who.user_id, context))
    except UnknownConversationError:
        return None
    turns = (await shown(service.articles, kept, who)).turns
    if turns == kept.turns:
        return None
    steps = steps_of(await store.entries(who.user_id, kept.id, {"step"}))
    previous = context.request.get("previous_response_id") if context.request else None
    chain = responses_of_chain(steps, previous) if previous else list(steps)
    return [
        message
        for turn in turns
        if turn.answer and turn.response_id in chain
        for message in (
            Message("user", turn.in_words),
            Message("assistant", without_references(turn.answer.answer)),
        )
    ]


async def texts_of_pictures(
    conversations: ConversationStore, user_id: str, items: Iterable[Mapping[str, Any]]
) -> dict[str, str]:
    """What was read on the pictures of earlier questions, by the addresses that their messages have."""
    addresses = {url: picture_at(url) for item in items for url in _picture_urls(item.get("content"), strict=False)}
    ids = {response_id for response_id in addresses.values() if response_id}
    answers = await conversations.find(user_id, "answer", ids) if ids else {}
    pictures = {key: filed.entry.value.get("picture") or {} for key, filed in answers.items()}
    return {url: str(pictures.get(key or "", {}).get("text", "")) for url, key in addresses.items()}


def _picture_urls(content: object, *, strict: bool = True) -> list[str]:
    """The addresses of the pictures in a message.

    Raises:
        BadQuestionError: ``strict``, and a picture has none.
    """
    parts = content if isinstance(content, list | tuple) else ()
    pictures = [part for part in parts if isinstance(part, Mapping) and part.get("type") == "input_image"]
    urls = [part.get("image_url") for part in pictures]
    if strict and not all(isinstance(url, str) and url for url in urls):
        raise BadQuestionError("a picture must be in image_url, as a data URL; files are not kept here")
    return [url for url in urls if isinstance(url, str)]


def messages(items: Iterable[Mapping[str, Any]], on_pictures: Mapping[str, str] | None = None) -> list[Message]:
    """The messages of users and assistants, without searches, other items and system messages.

    A client's system message could override the rules of this agent. ``on_pictures`` is what was read on the pictures
    of earlier messages, by their addresses.
    """
    parsed = [_message(item, on_pictures or {}) for item in items if item.get("type", "message") == "message"]
    return [message for message in parsed if message is not None]


def _message(item: Mapping[str, Any], on_pictures: Mapping[str, str]) -> Message | None:
    content = item.get("content")
    match item.get("role"):
        case "user":
            read = " ".join(on_pictures.get(url, "") for url in _picture_urls(content, strict=False))
            return Message("user", with_picture_text(_text(content), read.strip()))
        case "assistant":
            return Message("assistant", without_sources(without_references(_text(content))))
        case _:
            return None


def _text(content: object) -> str:
    if isinstance(content, str):
        return content
    parts = [part for part in content if isinstance(part, Mapping)] if isinstance(content, list | tuple) else []
    if unreadable := _UNSUPPORTED.intersection(str(part.get("type")) for part in parts):
        raise BadQuestionError(f"a question is text and a picture; leave out {', '.join(sorted(unreadable))}")
    return "\n".join(str(part.get("text", "")) for part in parts if part.get("type") != "input_image")


_log = logging.getLogger(__name__)
Request = Mapping[str, Any]
"""``CreateResponse`` of the protocol: validated JSON."""


def responses_host(
    get_service: Callable[[], AgentService], store: ResponseProviderProtocol | None, owners: ResponseOwners
) -> ResponsesAgentServerHost:
    """The protocol's server. Without a ``store`` it uses the one of the hosting platform."""
    options = ResponsesServerOptions(default_model="knowledge-base", sse_keep_alive_interval_seconds=15)
    host = ResponsesAgentServerHost(options=options, store=store, configure_observability=None, access_log=None)

    @host.response_handler  # type: ignore[arg-type]  # its events are dicts of several types
    async def respond(
        request: Request, context: ResponseContext, cancelled: asyncio.Event
    ) -> AsyncGenerator[Event, None]:
        async with (
            owners.answering(context.response_id, asking.get().user_id),
            aclosing(_respond(get_service(), owners, request, context, cancelled, hosted=store is None)) as events,
        ):
            async for event in events:
                yield event

    return host


async def _respond(
    service: AgentService,
    owners: ResponseOwners,
    request: Request,
    context: ResponseContext,
    cancelled: asyncio.Event,
    *,
    hosted: bool,
) -> AsyncGenerator[Event, None]:
    stream = ResponseEventStream(response_id=context.response_id, request=request)
    noted = noted_now.get() or Noted("ask", asking.get().user_id)
    noted.about = context.response_id
    try:
        yield stream.emit_created()
        yield stream.emit_in_progress()
        async with aclosing(_answer(service, owners, request, context, stream, cancelled, hosted=hosted)) as events:
            async for event in events:
                yield event
    except KnowledgeBaseError as exc:
        error = as_answer_error(exc)
        _log.warning("a response failed: %s", exc)
        noted.write(service.audit, "failed")
        if isinstance(error, StoreUnavailableError):
            note_failure(error)
        yield stream.emit_failed(code=_code(error), message=str(error))
    except StoreFailedError as exc:
        noted.write(service.audit, "failed")
        yield stream.emit_failed(code="server_error", message=exc.problem)
    except Exception:
        _log.exception("a response failed unexpectedly")
        noted.write(service.audit, "failed")
        yield stream.emit_failed(code="server_error", message=UNEXPECTED)
    finally:
        noted.write(service.audit, "done")  # it was stopped


def _style(service: AgentService, request: Request) -> CitationStyle:
    """Return how this request wants references, which is a field that the protocol does not have.

    Raises:
        BadQuestionError: there is no such style.
    """
    match request.get("citation_style"):
        case None:
            return service.settings.citation_style
        case "ref" | "source" as style:
            return cast(CitationStyle, style)
        case _:
            raise BadQuestionError("citation_style must be ref or source")


def _options(request: Request) -> AskOptions:
    """Return the options of a question: fields that the protocol does not have.

    Raises:
        BadQuestionError: one is not what it must be.
    """
    given = {name: request[name] for name in AskOptions.model_fields if request.get(name) is not None}
    try:
        return AskOptions.model_validate(given)
    except ValidationError as exc:
        name = str(exc.errors()[0]["loc"][0])
        raise BadQuestionError(f"{name} must be {AskOptions.model_fields[name].description}") from exc


def _wants_whole_answer(request: Request) -> bool:
    """Return whether the response shall carry the whole answer.

    It is said in ``metadata``, the one field that gateways pass on whatever is in it.
    """
    said = request.get("metadata")
    return isinstance(said, Mapping) and said.get(WHOLE_ANSWER) == "true"


async def _answer(
    service: AgentService,
    owners: ResponseOwners,
    request: Request,
    context: ResponseContext,
    stream: ResponseEventStream,
    cancelled: asyncio.Event,
    *,
    hosted: bool,
) -> AsyncGenerator[Event, None]:
    who = asking.get()
    earlier = await earlier_as_shown(service, who, context) if hosted else None
    said = await read_input(context, service.conversations, who.user_id, earlier)
    picture = await read_picture_at(said.picture_url, service) if said.picture_url else None
    conversation = await conversation_for(service.conversations, who.user_id, context) if service.web else ""
    question = service.question(
        said.question,
        who,
        _options(request),
        history=said.history,
        clarification=await pending_clarification(service.conversations, who.user_id, context),
        conversation=conversation,
        profile=profile_named(request.get("model")),
        picture=picture,
    )
    answer = GroundedAnswer(service.answerer, question, service.book())
    style = SourceStyle(answer.citations) if _style(service, request) == "source" else None
    emit = AnswerEvents(stream, style, carries_answer=_wants_whole_answer(request))
    keep = request.get("store") is not False
    recorder = TurnRecorder(
        service.conversations, who.user_id, context, question.text, picture, options=question.options, keep=keep
    )
    async with recorder as turn:
        owners.kept(context.response_id)
        turn.so_far = answer.so_far
        owners.writes(context.response_id, answer.so_far)
        note(text=question.text)
        try:
            async with aclosing(until_set(cancelled, answer.events())) as events:
                async for event in events:
                    for out in emit.of(event):
                        yield out
        finally:
            note_answer(question.text, answer.so_far())
        if cancelled.is_set():
            turn.problem = STOPPED
            return
        whole = answer.so_far()
        service.own_findings.answered(question.text, who, whole)
        for out in emit.end(whole):
            yield out
    write_note(service.audit, "done")
    # after the turn is stored: a client may request it as soon as the response is complete
    yield stream.emit_completed(usage=emit.usage(whole))


async def read_picture_at(url: str, service: AgentService) -> Picture:
    """The picture in a data URL, checked and read.

    Raises:
        BadQuestionError: it is another address, too large, or no picture that can be read, or none can be sent.
        UpstreamBusyError: too many are being read.
    """
    data = await asyncio.to_thread(bytes_of, url, service.settings.picture_bytes)
    return await service.picture_reader.read(data)


def _code(error: AnswerError) -> str:
    """The protocol's code for our error."""
    if isinstance(error, BadQuestionError):
        return "invalid_prompt"
    return "rate_limit_exceeded" if isinstance(error, UpstreamBusyError) else "server_error"
