"""Records a turn while it happens: the question before it is answered, then the result."""

import asyncio
import logging
from collections.abc import Callable
from itertools import takewhile
from types import TracebackType
from typing import Any, Self

from azure.ai.agentserver.responses import ResponseContext

from app.callers.picture import Picture
from app.conversations.base import ConversationStore, InvalidRequestError, asked_picture, is_id
from app.conversations.entries import now, responses_of_chain, steps_of
from app.errors import as_answer_error
from app.schema.answers import ChatAnswer, Clarification
from app.schema.conversations import Turn
from kb_pipeline.asking import NO_OPTIONS, AskOptions
from kb_pipeline.errors import KnowledgeBaseError

STOPPED = "this answer was stopped"
FAILED = "this answer failed unexpectedly; the service's log says why"

_log = logging.getLogger(__name__)
_under_way: set[asyncio.Task[Any]] = set()


class TurnRecorder:
    """Keeps one turn: the question on entering, the answer or the reason for its absence on leaving.

    The question creates the conversation. ``so_far`` returns the answer. If ``problem`` is set or an exception passes
    through, the turn has failed. A service that crashes leaves a question without an answer.
    """

    def __init__(
        self,
        store: ConversationStore,
        user_id: str,
        context: ResponseContext,
        question: str,
        picture: Picture | None = None,
        *,
        options: AskOptions = NO_OPTIONS,
        keep: bool = True,
    ) -> None:
        """With ``keep`` false nothing is kept."""
        self.so_far: Callable[[], ChatAnswer] | None = None
        self.problem: str | None = None
        self.conversation_id: str | None = None
        self._store = store
        self._user_id = user_id
        self._context = context
        self._question = question
        self._picture = picture
        self._options = options
        self._keep = keep
        self._asked_at = now()

    async def __aenter__(self) -> Self:
        if self._keep:
            self.conversation_id = await conversation_for(self._store, self._user_id, self._context)
            await self._store.begin_turn(
                self._user_id,
                self.conversation_id,
                self._context.response_id,
                self._question,
                _previous_response(self._context),
                self._picture,
                self._options,
            )
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Keep the result, even if the task that waits for it is cancelled."""
        if self.conversation_id is None:
            return
        keeping = asyncio.create_task(self._finish(self.conversation_id, problem))
        _under_way.add(keeping)
        keeping.add_done_callback(_under_way.discard)
        try:
            await asyncio.shield(keeping)
        except KnowledgeBaseError as exc:
            if problem is None:
                raise
            _log.warning("the result of %s could not be stored: %s", self._context.response_id, exc)

    async def _finish(self, conversation_id: str, problem: BaseException | None) -> None:
        failure = self.problem or (_reason(problem) if problem else None)
        said = self.so_far() if self.so_far else None
        answer = said if said and failure in (None, STOPPED) and (said.answer or failure is None) else None
        turn = Turn(
            response_id=self._context.response_id,
            asked_at=self._asked_at,
            question=self._question,
            picture=asked_picture(self._picture),
            options=self._options,
            answer=answer,
            problem=failure,
            rests_on=None if answer else tuple(sorted(said.rests_on)) if said else (),
        )
        await self._store.finish_turn(self._user_id, conversation_id, turn)


async def conversation_for(store: ConversationStore, user_id: str, context: ResponseContext) -> str:
    """The conversation that a response belongs to.

    It is the conversation of the response before it, else the one that the client names, else a new one.

    Raises:
        InvalidRequestError: the name that the client gives is not a valid id.
    """
    if previous := _previous_response(context):
        conversation_id = await store.conversation_of(user_id, previous)
        if conversation_id is not None:
            return conversation_id
    if context.conversation_id:
        if not is_id(context.conversation_id):
            raise InvalidRequestError("conversation must be 1 to 128 letters, digits, - or _")
        return context.conversation_id
    return f"conv_{context.response_id.removeprefix('caresp_')}"


async def pending_clarification(
    store: ConversationStore, user_id: str, context: ResponseContext
) -> Clarification | None:
    """What the answer before this question asked back; ``None`` if it did not.

    It is the last answer of the chain of responses that the request continues, else of the conversation that it names.
    Questions without an answer in between are passed over, because their asker asks again.
    """
    previous = _previous_response(context)
    if previous is None and not context.conversation_id:
        return None
    return await asked_back(
        store, user_id, await conversation_for(store, user_id, context), context.response_id, previous
    )


async def asked_back(
    store: ConversationStore, user_id: str, conversation_id: str, response_id: str, previous: str | None
) -> Clarification | None:
    """What the last answer before a response asked back: of the chain to ``previous``, else of the conversation."""
    steps = steps_of(await store.entries(user_id, conversation_id, {"step"}))
    before = takewhile(lambda key: key != response_id, steps)
    for earlier in reversed(responses_of_chain(steps, previous) if previous else list(before)):
        stored = (await store.find(user_id, "answer", [earlier])).get(earlier)
        if stored and (answer := stored.entry.value["answer"]):
            asked_back = answer.get("clarification")  # read alone: the passages of a long answer take a while
            return Clarification.model_validate(asked_back) if asked_back else None
    return None


def _previous_response(context: ResponseContext) -> str | None:
    return context.request.get("previous_response_id") if context.request else None


def _reason(problem: BaseException) -> str:
    if isinstance(problem, KnowledgeBaseError):
        return str(as_answer_error(problem))
    return FAILED if isinstance(problem, Exception) else STOPPED
