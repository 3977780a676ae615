"""The storage of the Responses protocol: keeps its responses and items in their user's conversations.

A response is kept with its turn. It waits until the turn's question is kept. If the question was never kept, or was
deleted meanwhile, nothing of the response is kept.

What is read back is what the caller may see of its answer now (:mod:`app.library.withheld`). Of an answer that is
shown only in part the messages remain, as steps, plans and results of tools name what was found; of a response that
failed, nothing that was said until then.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from azure.ai.agentserver.responses import (
    FoundryApiError,
    FoundryBadRequestError,
    FoundryResourceNotFoundError,
    PlatformContext,
    ResponseProviderProtocol,
)
from azure.ai.agentserver.responses.store import ResponseAlreadyExistsError

from app.callers.principal import LOCAL_USER
from app.conversations.base import ConversationStore, UnknownConversationError, is_id
from app.conversations.entries import (
    Json,
    ResponseLink,
    chain_of,
    entry,
    latest,
    now,
    page_of,
    steps_of,
    title_of,
    unsettled,
)
from app.errors import AnswerError, as_answer_error
from app.schema.answers import ChatAnswer
from app.schema.asking import picture_path
from app.schema.conversations import Turn
from kb_pipeline.errors import KnowledgeBaseError

if TYPE_CHECKING:
    from azure.ai.agentserver.responses.models import OutputItem, ResponseObject


_log = logging.getLogger(__name__)


class UnknownResponseError(FoundryResourceNotFoundError, KeyError):
    """This user has no such response: HTTP 404."""

    def __init__(self, response_id: str) -> None:
        # the base classes' own __init__ logs a warning that they are experimental
        Exception.__init__(self, f"there is no response {response_id}; it may have been deleted, or is somebody else's")
        body = _body(str(self.args[0]), "previous_response_not_found")
        body["error"]["param"] = "previous_response_id"
        self.response_body = body


class BadReferenceError(FoundryBadRequestError):
    """The request refers to earlier responses in a way that is not valid: HTTP 400."""

    def __init__(self, message: str) -> None:
        Exception.__init__(self, message)
        self.response_body = _body(message, "invalid_request_error")


class StoreFailedError(FoundryApiError):
    """The conversations cannot be read or written now: HTTP 500. ``problem`` is for readers."""

    def __init__(self, message: str) -> None:
        # the server repeats this text in a header, which must not contain a path or a character beyond Latin-1
        Exception.__init__(self, "conversations cannot be used; the service's log says why")
        self.problem = message
        self.response_body = _body(message, "storage_error", "server_error")


@contextmanager
def as_protocol_errors() -> Iterator[None]:
    """Turn failures of the store into errors that the server reports, instead of "not found" or nothing."""
    try:
        yield
    except KnowledgeBaseError as exc:
        _log.warning("conversations could not be used: %s", exc)
        note_failure(as_answer_error(exc))
        raise StoreFailedError(str(as_answer_error(exc))) from exc


failures: ContextVar[list[AnswerError] | None] = ContextVar("failures", default=None)
"""What failed in the store while a request was answered, because the server may report less."""


def note_failure(error: AnswerError) -> None:
    """Add to :data:`failures`."""
    noted = failures.get()
    if noted is not None:
        noted.append(error)


def _body(message: str, code: str, kind: str = "invalid_request_error") -> dict[str, dict[str, str]]:
    return {"error": {"message": message, "type": kind, "code": code}}


@dataclass(frozen=True, slots=True)
class _Sight:
    """What the caller may see of a response: the turn as it is kept, and as it is shown."""

    kept: Turn | None
    shown: Turn | None

    @property
    def is_withheld(self) -> bool:
        return self.kept is not None and self.kept.answer is not None and (self.shown is None or not self.shown.answer)

    @property
    def is_whole(self) -> bool:
        is_known = self.kept is not None and (self.kept.answer is not None or self.kept.rests_on is not None)
        return is_known and self.kept == self.shown

    def of_item(self, item: Json) -> Json | None:
        """An input or output as the caller may see it; ``None`` if it is left out."""
        answer = self.shown.answer if self.shown else None
        if answer and _carries_answer(item):
            return {**item, "output": {"answer": answer.model_dump(mode="json")}}
        if self.is_whole or item.get("role") == "user":
            return item
        return item if answer and item.get("type", "message") == "message" else None


def _carries_answer(item: Json) -> bool:
    output = item.get("output")
    return item.get("type") == "structured_outputs" and isinstance(output, Mapping) and "answer" in output


_UNDER_WAY = frozenset({"queued", "in_progress"})
_MOST_WAITING = 1000
"""Responses whose input waits for their end: far more than a service answers at once."""
_SETTLING_SECONDS = 5
"""Longer than a write takes; what is not whole by then never will be."""
_LOOK_AGAIN_SECONDS = 0.02
"""A write takes a few milliseconds."""


class ResponseStore(ResponseProviderProtocol):
    """Keeps responses in a :class:`ConversationStore`, separately for each user."""

    def __init__(self, conversations: ConversationStore, shown: Callable[[Sequence[Turn]], Sequence[Turn]]) -> None:
        """``shown`` removes from turns what the current caller may not see."""
        self._conversations = conversations
        self._shown = shown
        self._waiting: dict[tuple[str, str], list[Json]] = {}

    async def create_response(
        self,
        response: Json,
        input_items: Iterable[Json] | None,
        history_item_ids: Iterable[str] | None,
        *,
        context: PlatformContext | None = None,
    ) -> None:
        """Keep a new response with its input.

        Raises:
            ResponseAlreadyExistsError: the response exists already.
        """
        user, response_id = user_of(context), str(response["id"])
        with as_protocol_errors():
            if await self._conversations.find(user, "response", [response_id]):
                raise ResponseAlreadyExistsError(response_id)
            await self._keep(user, response, list(input_items or ()))

    async def update_response(self, response: Json, *, context: PlatformContext | None = None) -> None:
        user = user_of(context)
        with as_protocol_errors():
            await self._keep(user, response, self._waiting.pop((user, str(response["id"])), []))

    async def get_response(self, response_id: str, *, context: PlatformContext | None = None) -> "ResponseObject":
        """The newest version of a response.

        Raises:
            UnknownResponseError: this user has no such response.
        """
        user = user_of(context)
        with as_protocol_errors():
            filed = (await self._conversations.find(user, "response", [response_id])).get(response_id)
            sight = (await self._sights(user, [response_id]))[response_id]
        if filed is None or sight.is_withheld:
            raise UnknownResponseError(response_id)
        response = filed.entry.value
        seen = [item for each in response.get("output") or () if (item := sight.of_item(each)) is not None]
        return cast("ResponseObject", {**response, "output": seen})

    async def delete_response(self, response_id: str, *, context: PlatformContext | None = None) -> None:
        """Delete a response, its items and its turn. The last turn of a conversation takes the conversation with it.

        Raises:
            UnknownResponseError: this user has no such response.
        """
        with as_protocol_errors():
            await self._delete(user_of(context), response_id)

    async def get_input_items(
        self,
        response_id: str,
        limit: int = 20,
        ascending: bool = False,
        after: str | None = None,
        before: str | None = None,
        *,
        context: PlatformContext | None = None,
    ) -> "list[OutputItem]":
        """The input of a response: the items of all responses before it, then its own input.

        Raises:
            KeyError: this user has no such response.
        """
        user = user_of(context)
        with as_protocol_errors():
            conversation_id = await self._conversations.conversation_of(user, response_id)
            if conversation_id is None or (await self._sights(user, [response_id]))[response_id].is_withheld:
                raise KeyError(response_id)
            steps = await self._steps(user, conversation_id)
            own = steps[response_id]
            ids = list(dict.fromkeys([*chain_of(steps, own.previous_response_id), *own.input]))
            items = await self._items(user, page_of(ids, limit, ascending, after, before))
        return [item for item in items if item is not None]

    async def get_items(
        self, item_ids: Iterable[str], *, context: PlatformContext | None = None
    ) -> "list[OutputItem | None]":
        """Items by id, in the given order; ``None`` for an item that this user does not have."""
        with as_protocol_errors():
            return await self._items(user_of(context), list(item_ids))

    async def get_history_item_ids(
        self,
        previous_response_id: str | None,
        conversation_id: str | None,
        limit: int,
        *,
        context: PlatformContext | None = None,
    ) -> list[str]:
        """Ids of the earlier items: along the chain of responses, or else all items of the conversation.

        Those of failed responses are left out: a model would read a question that nobody answered, and answer it again.

        Raises:
            UnknownResponseError: this user has no such response; becomes HTTP 404.
            BadReferenceError: the conversation is not valid, or is another one; becomes HTTP 400.
            StoreFailedError: the conversations cannot be read; becomes HTTP 500.
        """
        if conversation_id is not None and not is_id(conversation_id):
            raise BadReferenceError("conversation must be 1 to 128 letters, digits, - or _")
        user = user_of(context)
        with as_protocol_errors():
            ids = await self._earlier_items(user, previous_response_id, conversation_id)
            ids = await self._without_failures(user, ids)
        if limit < 0:
            return ids
        return ids[-limit:] if limit else []

    async def is_shown(self, user_id: str, response_id: str, *, whole: bool) -> bool:
        """Whether the current caller may see a response, or the ``whole`` of it: everything that was sent then.

        One that is being written is shown: what it says was looked up a moment ago.
        """
        sight = (await self._sights(user_id, [response_id]))[response_id]
        if sight.is_whole or sight.kept is None:
            return True
        return not whole and not sight.is_withheld

    async def is_conversation_shown(self, user_id: str, response_id: str) -> bool:
        """Whether the current caller may see the whole of all answers in the conversation of a response."""
        conversation_id = await self._conversations.conversation_of(user_id, response_id)
        if conversation_id is None:
            return True
        answered = await self._conversations.entries(user_id, conversation_id, {"answer"})
        sights = await self._sights(user_id, [*latest(answered)])
        return all(sight.is_whole for sight in sights.values())

    async def shows_now(self, answer: ChatAnswer) -> bool:
        """Whether the current caller may see the whole of an answer that is being written."""
        turn = Turn(response_id="", asked_at="", question="", answer=answer)
        return list(await asyncio.to_thread(self._shown, [turn])) == [turn]

    async def _earlier_items(
        self, user: str, previous_response_id: str | None, conversation_id: str | None
    ) -> list[str]:
        if previous_response_id is None:
            steps = await self._steps(user, conversation_id) if conversation_id else {}
            return list(dict.fromkeys(key for step in steps.values() for key in step.items))
        belongs_to = await self._conversations.conversation_of(user, previous_response_id)
        if belongs_to is None:
            raise UnknownResponseError(previous_response_id)
        if conversation_id not in (None, belongs_to):
            raise BadReferenceError(
                f"{previous_response_id} is of another conversation: give previous_response_id or conversation, "
                "not both"
            )
        return chain_of(await self._steps(user, belongs_to), previous_response_id)

    async def _without_failures(self, user: str, ids: Sequence[str]) -> list[str]:
        filed = await self._conversations.find(user, "item", ids)
        of_response = {key: item.entry.response_id for key, item in filed.items()}
        responses = await self._conversations.find(user, "response", set(of_response.values()))
        failed = {key for key, response in responses.items() if response.entry.value.get("status") == "failed"}
        return [key for key in ids if of_response.get(key) not in failed]

    async def _delete(self, user: str, response_id: str) -> None:
        conversation_id = await self._conversations.conversation_of(user, response_id)
        if conversation_id is None:
            raise UnknownResponseError(response_id)
        conversation = await self._conversations.conversation(user, conversation_id)
        remaining = [turn for turn in conversation.turns if turn.response_id != response_id]
        if not remaining:
            await self._conversations.delete(user, conversation_id)
            return
        step = (await self._steps(user, conversation_id))[response_id]
        await self._conversations.forget(user, conversation_id, response_id)
        # keep an empty step, so that later responses still follow the earlier ones
        empty = ResponseLink(step.previous_response_id, final=True)
        await self._conversations.append(user, conversation_id, [entry("step", response_id, empty.to_json())])
        if conversation.title == title_of(conversation.turns[0].question):
            await self._conversations.rename(user, conversation_id, title_of(remaining[0].question))

    async def _steps(self, user: str, conversation_id: str) -> dict[str, ResponseLink]:
        """Return the steps of a conversation, once the responses of the turns that have just ended are kept.

        The protocol's server announces the end of a stream before it lets us keep the response, and a client may
        continue at once, even with another process of this service.
        """
        give_up = time.monotonic() + _SETTLING_SECONDS
        while True:
            entries = await self._conversations.entries(user, conversation_id, {"step", "ended"})
            steps = steps_of(entries)
            settled = not unsettled(entries, steps, since=now(ago=_SETTLING_SECONDS))
            if settled or time.monotonic() > give_up:  # a clock elsewhere may be fast
                return steps
            await asyncio.sleep(_LOOK_AGAIN_SECONDS)

    async def _items(self, user: str, ids: Sequence[str]) -> "list[OutputItem | None]":
        """Return items by id, without those of withheld answers: a model would repeat them."""
        filed = await self._conversations.find(user, "item", ids)
        sights = await self._sights(user, {item.entry.response_id for item in filed.values()})
        shown: dict[str, Json | None] = {}
        for key, item in filed.items():
            sight = sights[item.entry.response_id]
            shown[key] = None if sight.is_withheld else sight.of_item(item.entry.value)
        return [cast("OutputItem | None", shown.get(key)) for key in ids]

    async def _sights(self, user: str, response_ids: Collection[str]) -> dict[str, _Sight]:
        """Return what the current caller may see of each response now; all that is kept was read before."""
        answers = await self._conversations.find(user, "answer", response_ids) if response_ids else {}
        sights: dict[str, _Sight] = dict.fromkeys(response_ids, _Sight(None, None))
        for conversation_id in {answer.conversation_id for answer in answers.values()}:
            entries = await self._conversations.entries(user, conversation_id, {"answer"})
            turns = [Turn.model_validate(answer.value) for answer in latest(entries).values()]
            shown = {turn.response_id: turn for turn in await asyncio.to_thread(self._shown, turns)}
            for turn in turns:
                if turn.response_id in answers:
                    sights[turn.response_id] = _Sight(turn, shown.get(turn.response_id))
        return sights

    async def _keep(self, user: str, response: Json, inputs: list[Json]) -> None:
        response_id, final = str(response["id"]), response.get("status") not in _UNDER_WAY
        filed = (await self._conversations.find(user, "step", [response_id])).get(response_id)
        if filed is None:
            if not final:
                self._wait(user, response_id, inputs)
            return
        before, outputs = ResponseLink.of(filed.entry), list(response.get("output") or ())
        step = ResponseLink(before.previous_response_id, before.input or _ids(inputs), _ids(outputs), final)
        items = [without_picture(item, response_id) for item in (*inputs, *outputs) if item.get("id")]
        entries = [
            *(entry("item", response_id, item, key=str(item["id"])) for item in items),
            entry("step", response_id, step.to_json()),
            entry("response", response_id, response),
        ]
        with suppress(UnknownConversationError):  # deleted while it was being answered
            await self._conversations.append(user, filed.conversation_id, entries)

    def _wait(self, user: str, response_id: str, inputs: list[Json]) -> None:
        self._waiting[user, response_id] = inputs
        if len(self._waiting) > _MOST_WAITING:  # only if responses never end, which should not happen
            del self._waiting[next(iter(self._waiting))]


def user_of(context: PlatformContext | None) -> str:
    """The user of a request. The server reads headers as Latin-1, but ours are UTF-8."""
    named = context.user_id_key if context else None
    if not named:
        return LOCAL_USER
    try:
        return named.encode("latin-1").decode()
    except UnicodeError:
        return named


def without_picture(item: Json, response_id: str) -> Json:
    """An item with the address of the picture instead of its bytes, which are kept once, with the turn."""
    content = item.get("content")
    if not isinstance(content, list) or not any(_is_picture(part) for part in content):
        return item
    parts = [{**part, "image_url": picture_path(response_id)} if _is_picture(part) else part for part in content]
    return {**item, "content": parts}


def _is_picture(part: object) -> bool:
    return isinstance(part, Mapping) and part.get("type") == "input_image"


def _ids(items: Iterable[Json]) -> tuple[str, ...]:
    return tuple(str(item["id"]) for item in items if item.get("id"))
