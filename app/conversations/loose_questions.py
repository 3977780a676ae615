"""Keeps the questions that belong to no conversation and were not answered, so that they are among the gaps.

They are kept in the store of conversations, one conversation for each day, under user names that nobody can have. Of an
answer only the reason is kept why its question counts. Questions of people who are signed in are kept only if content
is recorded.
"""

import asyncio
import logging
from datetime import UTC, datetime, timedelta
from uuid import uuid4

from app.callers.principal import LOCAL_USER, VISITOR, Principal
from app.conversations.base import MOST_LISTED, ConversationStore
from app.conversations.entries import now
from app.conversations.gaps import unanswered
from app.schema.answers import ChatAnswer
from app.schema.conversations import Turn
from kb_pipeline.errors import KnowledgeBaseError
from kb_pipeline.evaluation.gaps import DAYS

# a caller's id never begins with a space: the header that names the caller is stripped
NOBODY = " nobody"
"""Has the questions that were asked where nobody signs in."""
SOMEBODY = " somebody"
"""Has the questions of those who had signed in."""

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

    def __init__(self, store: ConversationStore, *, records_content: bool) -> None:
        self._store = store
        self._records_content = records_content
        self._keeping: set[asyncio.Task[None]] = set()
        self._day = ""
        self._kept = 0
        self._dropped = 0

    def answered(self, question: str, who: Principal, answer: ChatAnswer) -> None:
        """Keep a question, if it was not answered and its words may be kept."""
        is_unnamed = who.user_id in (LOCAL_USER, VISITOR.user_id)
        turn = Turn(
            response_id=f"{LOOSE}{uuid4().hex}", asked_at=now(), question=question, answer=_without_text(answer)
        )
        if not (is_unnamed or self._records_content) or not any(unanswered([turn])):
            return
        if len(self._keeping) >= _MOST_WAITING:
            if self._dropped % _MOST_WAITING == 0:  # a log that is flooded would be in the way as well
                _log.warning("unanswered questions are not kept, because %d are waiting", len(self._keeping))
            self._dropped += 1
            return
        task = asyncio.create_task(self._keep(NOBODY if is_unnamed else SOMEBODY, turn))
        self._keeping.add(task)
        task.add_done_callback(self._keeping.discard)

    async def close(self) -> None:
        """Keep what still waits, if that is soon done."""
        if self._keeping:
            _, late = await asyncio.wait(self._keeping, timeout=_CLOSING_SECONDS)
            for task in late:
                task.cancel()

    async def _keep(self, user_id: str, turn: Turn) -> None:
        today = turn.asked_at[:10]
        is_new_day, self._day = today != self._day, today
        self._kept = 1 if is_new_day else self._kept + 1
        if self._kept > _MOST_A_DAY:
            return
        try:
            await self._store.keep_turn(user_id, f"asked-{today}", turn)
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
