"""Checks that a caller owns a response before the request reaches the Responses protocol's server.

That server keeps the events of every stream in a registry of the process, replays them to anyone with the id, and
never removes them. So :class:`RequireResponseOwner` checks every request that names a response, and
:class:`ResponseOwners` removes the streams. :class:`ValidateCursors` checks the cursors of lists.
"""

import logging
import re
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager, suppress

from azure.ai.agentserver.core.streaming import EventStreamNotFoundError, streams
from starlette.datastructures import QueryParams
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from app.api.gate import asking
from app.api.problems import answer_problem
from app.conversations.base import ConversationStore, InvalidRequestError
from app.conversations.responses_store import ResponseStore
from app.errors import AnswerError, as_answer_error
from app.schema.answers import ChatAnswer
from kb_pipeline.errors import KnowledgeBaseError

_NAMED = re.compile(r"/responses/([^/]+)")
_LIST = re.compile(r"/responses/[^/]+/input_items")
_log = logging.getLogger(__name__)
_REPLAY_SECONDS = 600
"""How long a finished stream can be replayed."""


class ResponseOwners:
    """The owner of each response: taken from the conversations, or from the request until its turn is stored there."""

    def __init__(self, conversations: ConversationStore) -> None:
        self._conversations = conversations
        self._asked_by: dict[str, str] = {}
        self._running: dict[str, Callable[[], ChatAnswer] | None] = {}
        self._ended: deque[tuple[float, str]] = deque()

    @asynccontextmanager
    async def answering(self, response_id: str, user_id: str) -> AsyncIterator[None]:
        """A block in which a response is being written."""
        self._asked_by[response_id] = user_id
        self._running[response_id] = None
        try:
            yield
        finally:
            self.kept(response_id)
            self._running.pop(response_id, None)
            self._ended.append((time.monotonic(), response_id))
            while self._ended and self._ended[0][0] < time.monotonic() - _REPLAY_SECONDS:
                await _forget(self._ended.popleft()[1])

    def kept(self, response_id: str) -> None:
        """The turn is stored: from now on the conversations have the owner, and whether the turn was deleted."""
        self._asked_by.pop(response_id, None)

    def writes(self, response_id: str, so_far: Callable[[], ChatAnswer]) -> None:
        """Tell what a response says so far, which a reader who comes back is sent."""
        self._running[response_id] = so_far

    def so_far(self, response_id: str) -> ChatAnswer | None:
        """What a response says that is being written here."""
        so_far = self._running.get(response_id)
        return so_far() if so_far else None

    async def is_of(self, response_id: str, user_id: str) -> bool:
        """Whether a response exists and belongs to this user."""
        if self._asked_by.get(response_id) == user_id:
            return True
        return await self._conversations.conversation_of(user_id, response_id) is not None

    async def forget(self, response_ids: Iterable[str]) -> None:
        """Remove the events of deleted responses; those of a running response are removed some time after its end."""
        for response_id in response_ids:
            if response_id not in self._running:
                await _forget(response_id)


class RequireResponseOwner:
    """Lets only the owner of a response send requests about it to the protocol's server.

    Whatever shows it also requires that the user may still read all articles that the answer rests on, unless the
    server reads it from our own store, which shows the part that they may see. Deleting it shows nothing.
    """

    def __init__(self, app: ASGIApp, *, owners: ResponseOwners, store: ResponseStore, hosted: bool) -> None:
        """``hosted``: the platform of a hosted agent stores the responses and checks whose they are, except in replays.

        It does not ask who may read the articles, so ``store`` tells that there as well.
        """
        self._app = app
        self._owners = owners
        self._store = store
        self._hosted = hosted

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        # checked whether or not such a route exists
        named = _NAMED.search(scope["path"]) if scope["type"] == "http" else None
        app = await self._checked(named[1], scope) if named else self._app
        await app(scope, receive, send)

    async def _checked(self, response_id: str, scope: Scope) -> ASGIApp:
        """The application that answers a request about this response."""
        user_id, replays = asking.get().user_id, "stream" in QueryParams(scope.get("query_string", b""))
        try:
            if (replays or not self._hosted) and not await self._owners.is_of(response_id, user_id):
                return _not_found(response_id)
            if scope["method"] != "DELETE" and not await self._is_shown(response_id, user_id, scope, replays=replays):
                return _not_found(response_id)
        except KnowledgeBaseError as exc:
            _log.warning("a request failed: %s", exc)
            return answer_problem(as_answer_error(exc))
        return self._app

    async def _is_shown(self, response_id: str, user_id: str, scope: Scope, *, replays: bool) -> bool:
        if answer := self._owners.so_far(response_id):  # the server sends it from memory
            return await self._store.shows_now(answer)
        if self._hosted and _LIST.search(scope["path"]):
            return await self._store.is_conversation_shown(user_id, response_id)
        return await self._store.is_shown(user_id, response_id, whole=replays or self._hosted)


def _not_found(response_id: str) -> JSONResponse:
    """The error that the protocol's server itself returns."""
    kind = "invalid_request_error"
    message = f"Response with id '{response_id[:80]}' not found."
    return JSONResponse({"error": {"code": kind, "message": message, "param": "response_id", "type": kind}}, 404)


async def _forget(response_id: str) -> None:
    with suppress(EventStreamNotFoundError):
        await streams.get(response_id)  # deleting a stream that does not exist would leave a marker forever
        await streams.delete(response_id)


class ValidateCursors:
    """Refuses an ``after`` or ``before`` that is not an item of the caller."""

    def __init__(self, app: ASGIApp, *, conversations: ConversationStore) -> None:
        self._app = app
        self._conversations = conversations

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        app = self._app
        if scope["type"] == "http" and _LIST.search(scope["path"]):
            query = QueryParams(scope["query_string"])
            places = [place for name in ("after", "before") for place in query.getlist(name)]
            if problem := await self._problem(places):
                app = answer_problem(problem)
        await app(scope, receive, send)

    async def _problem(self, places: list[str]) -> AnswerError | None:
        try:
            entries = await self._conversations.find(asking.get().user_id, "item", places)
        except KnowledgeBaseError as exc:
            return as_answer_error(exc)
        if set(places) <= set(entries):
            return None
        return InvalidRequestError("the list has no item with this id; start again without after and before")
