"""Keeps the questions that belong to no conversation and were not answered, so that they are among the gaps.

They are kept in the store of conversations, one conversation for each day, under user names that nobody can have. Of an
answer only the reason is kept why its question counts. Questions of people who are signed in are kept only if content
is recorded. Of a pasted mail only the question is kept, and masked, unless whole questions may be kept.
"""

import asyncio
import logging
from collections.abc import Collection
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import uuid4

from app.callers.principal import LOCAL_USER, VISITOR, Principal
from app.conversations.base import MOST_LISTED, TURN_KINDS, ConversationStore, turns_of
from app.conversations.entries import Entry, now, title_of
from app.conversations.gaps import reason_of
from app.schema.answers import ChatAnswer
from app.schema.conversations import Turn
from kb_pipeline.errors import KnowledgeBaseError
from kb_pipeline.evaluation.gaps import DAYS
from kb_pipeline.personal import question_to_keep

# a caller's id never begins with a space: the header that names the caller is stripped
NOBODY = " nobody"
"""Has the questions that were asked where nobody signs in."""
SOMEBODY = " somebody"
"""Has the questions of those who had signed in."""

_MASKED_DAY, _WHOLE_DAY = "gaps-", "asked-"
"""Begin the ids of the conversations of a day. An earlier release kept everything as it was written."""
LOOSE = "loose_"
"""Begins the ids of their answers."""
_MOST_WAITING = 100
"""Questions that wait to be kept, a few KB each; more only when the store is stuck."""
_MOST_A_DAY = 1000
"""Questions of a user and day; a program that asks more must not fill the store."""
_CLOSING_SECONDS = 2
"""Seconds for what waits when the service stops."""
_log = logging.getLogger(__name__)


class LooseQuestions:
    """Keeps questions after their answers were given; :meth:`answered` returns at once and never raises.

    Those beyond a hundred that wait, or beyond a thousand a day, are not kept.
    """

    def __init__(self, store: ConversationStore, *, records_content: bool, keeps_whole: bool = False) -> None:
        self._store = store
        self._records_content = records_content
        self._keeps_whole = keeps_whole
        self._keeping: set[asyncio.Task[None]] = set()
        self._day = ""
        self._kept = 0
        self._dropped = 0

    def answered(self, question: str, who: Principal, answer: ChatAnswer) -> None:
        """Keep a question, if it was not answered and its words may be kept."""
        is_unnamed = who.user_id in (LOCAL_USER, VISITOR.user_id)
        if not (is_unnamed or self._records_content):
            return
        turn = Turn(
            response_id=f"{LOOSE}{uuid4().hex}", asked_at=now(), question=question, answer=_without_text(answer)
        )
        if reason_of(turn) is None:
            return
        if len(self._keeping) >= _MOST_WAITING:
            if self._dropped % _MOST_WAITING == 0:  # a log that is flooded would be in the way as well
                _log.warning("unanswered questions are not kept, because %d are waiting", len(self._keeping))
            self._dropped += 1
            return
        names = () if is_unnamed else (who.user_id, *who.names)
        task = asyncio.create_task(self._keep(NOBODY if is_unnamed else SOMEBODY, turn, names))
        self._keeping.add(task)
        task.add_done_callback(self._keeping.discard)

    async def close(self) -> None:
        """Keep what still waits, if that is soon done."""
        if self._keeping:
            _, late = await asyncio.wait(self._keeping, timeout=_CLOSING_SECONDS)
            for task in late:
                task.cancel()

    async def _keep(self, user_id: str, turn: Turn, names: Collection[str]) -> None:
        today = turn.asked_at[:10]
        is_new_day, self._day = today != self._day, today
        self._kept = 1 if is_new_day else self._kept + 1
        if self._kept > _MOST_A_DAY:
            return
        try:
            if self._keeps_whole:
                await self._store.keep_turn(user_id, f"{_WHOLE_DAY}{today}", turn)
            else:
                masked = await asyncio.to_thread(_masked, turn, names)
                await self._store.keep_turn(user_id, f"{_MASKED_DAY}{today}", masked)
            if is_new_day:
                await self._forget_old_days()
        except KnowledgeBaseError as exc:
            _log.warning("an unanswered question could not be kept: %s", exc)

    async def _forget_old_days(self) -> None:
        oldest = (datetime.now(UTC) - timedelta(days=DAYS)).date().isoformat()
        for user_id in (NOBODY, SOMEBODY):
            days = await self._store.conversations(user_id, MOST_LISTED)
            for day in days.conversations:
                if day.created_at[:10] < oldest:
                    await self._store.delete(user_id, day.id)


async def take_over(store: ConversationStore, *, keeps_whole: bool) -> None:
    """Mask what was kept as it was written, by an earlier release or while whole questions were kept.

    It can be interrupted and repeated: a day is deleted after all of it is kept masked.

    Raises:
        KnowledgeBaseError: the store cannot be used.
    """
    if keeps_whole:
        return
    for user_id in (NOBODY, SOMEBODY):
        days = await store.conversations(user_id, MOST_LISTED)
        for day in days.conversations:
            if day.id.startswith(_WHOLE_DAY):
                await _mask_day(store, user_id, day.id)


async def _mask_day(store: ConversationStore, user_id: str, whole_day: str) -> None:
    masked_day = f"{_MASKED_DAY}{whole_day.removeprefix(_WHOLE_DAY)}"
    by_response: dict[str, list[Entry]] = {}
    for each in await store.entries(user_id, whole_day, TURN_KINDS):
        by_response.setdefault(each.response_id, []).append(each)
    for entries in by_response.values():
        for turn in turns_of(entries):
            masked = await asyncio.to_thread(_masked, turn)
            body = masked.model_dump_json(exclude={"feedback", "stale", "share"})
            kept = [replace(each, body=body) for each in entries]
            await store.append(user_id, masked_day, kept, title=title_of(masked.question))
    await store.delete(user_id, whole_day)


def _masked(turn: Turn, names: Collection[str] = ()) -> Turn:
    """A turn with its question as others may read it, and what it continues; of a pasted mail only the question."""
    continued = tuple(question_to_keep(each, names) for each in turn.answer.continues) if turn.answer else ()
    answer = turn.answer.model_copy(update={"continues": continued}) if turn.answer else None
    return turn.model_copy(update={"question": question_to_keep(turn.question, names), "answer": answer})


def _without_text(answer: ChatAnswer) -> ChatAnswer:
    """What tells whether an answer is one: it may quote what others may not read."""
    return ChatAnswer(
        answer="",
        citations=(),
        answered_by=answer.answered_by,
        refused=answer.refused,
        is_closest=answer.is_closest,
        clarification=answer.clarification,
        continues=answer.continues,
    )
