"""The Responses protocol's storage: its responses and items, kept in their user's conversations.

A response is kept with the turn that it answers: while its question is not kept it waits, and where the question was
never kept, or was deleted meanwhile, nothing of it is.
"""

import asyncio
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, cast

from azure.ai.agentserver.responses import PlatformContext, ResponseProviderProtocol
from azure.ai.agentserver.responses.store import ResponseAlreadyExistsError

from app.conversations.base import ConversationStore, UnknownConversationError, is_id
from app.conversations.entries import Json, entry, now
from app.conversations.protocol_errors import BadReferenceError, UnknownResponseError, passed_on
from app.conversations.steps import Step, chain_of, page_of, steps_of, unsettled
from app.conversations.titles import title_of
from app.principal import LOCAL_USER

if TYPE_CHECKING:  # the library makes these types when they are first asked for, which takes it a while
    from azure.ai.agentserver.responses.models import OutputItem, ResponseObject

_UNDER_WAY = frozenset({"queued", "in_progress"})
_MOST_WAITING = 1000
_SETTLING_SECONDS = 5
_LOOK_AGAIN_SECONDS = 0.02


class ResponseStore(ResponseProviderProtocol):
    """Responses in a :class:`ConversationStore`, each user's apart from all others'."""

    def __init__(self, conversations: ConversationStore) -> None:
        """Say where conversations are kept."""
        self._conversations = conversations
        self._waiting: dict[tuple[str, str], list[Json]] = {}

    async def create_response(
        self,
        response: Json,
        input_items: Iterable[Json] | None,
        history_item_ids: Iterable[str] | None,
        *,
        context: PlatformContext | None = None,
    ) -> None:
        """Keep a new response, with what went into it.

        Raises:
            ResponseAlreadyExistsError: it is there already.
        """
        user, response_id = user_of(context), str(response["id"])
        with passed_on():
            if await self._conversations.find(user, "response", [response_id]):
                raise ResponseAlreadyExistsError(response_id)
            await self._keep(user, response, list(input_items or ()))

    async def update_response(self, response: Json, *, context: PlatformContext | None = None) -> None:
        """Keep a newer version of a response that is kept or waits."""
        user = user_of(context)
        with passed_on():
            await self._keep(user, response, self._waiting.pop((user, str(response["id"])), []))

    async def get_response(self, response_id: str, *, context: PlatformContext | None = None) -> "ResponseObject":
        """The newest version of a response.

        Raises:
            UnknownResponseError: this user has no such response.
        """
        with passed_on():
            found = await self._conversations.find(user_of(context), "response", [response_id])
        if response_id not in found:
            raise UnknownResponseError(response_id)
        return cast("ResponseObject", found[response_id].entry.value)

    async def delete_response(self, response_id: str, *, context: PlatformContext | None = None) -> None:
        """Remove a response, its items and its turn; the conversation goes with its last turn.

        Raises:
            UnknownResponseError: this user has no such response.
        """
        with passed_on():
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
        """What went into a response: all that it followed, then its own input.

        Raises:
            KeyError: this user has no such response.
        """
        user = user_of(context)
        with passed_on():
            conversation_id = await self._conversations.conversation_of(user, response_id)
            if conversation_id is None:
                raise KeyError(response_id)
            steps = await self._steps(user, conversation_id)
            own = steps[response_id]
            ids = list(dict.fromkeys([*chain_of(steps, own.previous_response_id), *own.input]))
            items = await self._items(user, page_of(ids, limit, ascending, after, before))
        return [item for item in items if item is not None]

    async def get_items(
        self, item_ids: Iterable[str], *, context: PlatformContext | None = None
    ) -> "list[OutputItem | None]":
        """Items by id, in that order; ``None`` for what this user does not have."""
        with passed_on():
            return await self._items(user_of(context), list(item_ids))

    async def get_history_item_ids(
        self,
        previous_response_id: str | None,
        conversation_id: str | None,
        limit: int,
        *,
        context: PlatformContext | None = None,
    ) -> list[str]:
        """What was said before: along the chain of responses, or else everything in the conversation.

        Raises:
            UnknownResponseError: this user has no such response; becomes HTTP 404.
            BadReferenceError: the conversation cannot be, or is another one; becomes HTTP 400.
            StoreFailedError: conversations cannot be read; becomes HTTP 500.
        """
        if conversation_id is not None and not is_id(conversation_id):
            raise BadReferenceError("conversation must be 1 to 128 letters, digits, - or _")
        with passed_on():
            return _newest(await self._said(user_of(context), previous_response_id, conversation_id), limit)

    async def conversation_of(self, user_id: str, response_id: str) -> str | None:
        """The conversation that a response belongs to; ``None`` if this user has no such response."""
        return await self._conversations.conversation_of(user_id, response_id)

    async def _said(self, user: str, previous_response_id: str | None, conversation_id: str | None) -> list[str]:
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

    async def _delete(self, user: str, response_id: str) -> None:
        conversation_id = await self._conversations.conversation_of(user, response_id)
        if conversation_id is None:
            raise UnknownResponseError(response_id)
        conversation = await self._conversations.conversation(user, conversation_id)
        left = [turn for turn in conversation.turns if turn.response_id != response_id]
        if not left:
            await self._conversations.delete(user, conversation_id)
            return
        step = (await self._steps(user, conversation_id))[response_id]
        await self._conversations.forget(user, conversation_id, response_id)
        # what followed it still follows what came before it
        place = Step(step.previous_response_id, final=True)
        await self._conversations.append(user, conversation_id, [entry("step", response_id, place.to_json())])
        if conversation.title == title_of(conversation.turns[0].question):
            await self._conversations.rename(user, conversation_id, title_of(left[0].question))

    async def _steps(self, user: str, conversation_id: str) -> dict[str, Step]:
        """The steps of a conversation, when those are all kept whose turns have just ended.

        The protocol's server says that a stream is complete before it lets us keep it, and who hears that may go on
        at once, also with another process of this service.
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
        found = await self._conversations.find(user, "item", ids)
        return [cast("OutputItem", found[key].entry.value) if key in found else None for key in ids]

    async def _keep(self, user: str, response: Json, given: list[Json]) -> None:
        """Keep a version of a response, with its items."""
        response_id, final = str(response["id"]), response.get("status") not in _UNDER_WAY
        place = (await self._conversations.find(user, "step", [response_id])).get(response_id)
        if place is None:
            if not final:
                self._wait(user, response_id, given)
            return
        before, came_out = Step.of(place.entry), list(response.get("output") or ())
        step = Step(before.previous_response_id, before.input or _ids(given), _ids(came_out), final)
        items = [item for item in (*given, *came_out) if item.get("id")]
        said = [
            *(entry("item", response_id, item, key=str(item["id"])) for item in items),
            entry("step", response_id, step.to_json()),
            entry("response", response_id, response),
        ]
        with suppress(UnknownConversationError):  # deleted while it was being answered
            await self._conversations.append(user, place.conversation_id, said)

    def _wait(self, user: str, response_id: str, given: list[Json]) -> None:
        self._waiting[user, response_id] = given
        if len(self._waiting) > _MOST_WAITING:  # of a response without an end, which there should not be
            del self._waiting[next(iter(self._waiting))]


def user_of(context: PlatformContext | None) -> str:
    """Whose request it is. Headers are read as Latin-1, and ours are UTF-8."""
    named = context.user_id_key if context else None
    if not named:
        return LOCAL_USER
    try:
        return named.encode("latin-1").decode()
    except UnicodeError:
        return named


def _ids(items: Iterable[Json]) -> tuple[str, ...]:
    return tuple(str(item["id"]) for item in items if item.get("id"))


def _newest(ids: list[str], limit: int) -> list[str]:
    return ids if limit < 0 else ids[-limit:] if limit else []
