"""The contract of every store of conversations, and what all of them share: checks, turns, pages.

Every operation begins with the user whose data it may touch; there is none that reaches another's.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from app.conversations.entries import Addition, Entry, Filed, Kind, entry, now, whole_text
from app.conversations.paging import Position, read_position, write_position
from app.conversations.reading import TURN_KINDS, turns_of
from app.conversations.steps import Step
from app.conversations.titles import UNTITLED, one_line, title_of
from app.errors import AnswerError
from app.schema import Conversation, ConversationSummary, Feedback, Turn

MOST_LISTED = 200
_ID = re.compile(r"[A-Za-z0-9_-]{1,128}")
_KEY = re.compile(r"[!-~]{1,256}")
_LONGEST_USER_ID = 256


class UnknownConversationError(AnswerError):
    """This user has no such conversation, or no such answer in it."""

    status = 404
    code = "unknown_conversation"


class InvalidRequestError(AnswerError):
    """An id, title or place in a list that cannot be one."""

    status = 422
    code = "invalid_request"


@dataclass(frozen=True, slots=True)
class ConversationPage:
    """Conversations, the one last continued first. ``next`` leads on where there are more."""

    conversations: tuple[ConversationSummary, ...]
    next: str | None = None


class ConversationStore(ABC):
    """Keeps conversations, each as entries that are only added to, until their user deletes it.

    Appends from any number of processes neither lose nor reorder anything. All methods raise ``StorageError`` (or
    ``TransientError``, ``SettingsError``) when the store cannot be used.
    """

    # --- turns -----------------------------------------------------------------------------------

    async def begin_turn(
        self,
        user_id: str,
        conversation_id: str,
        response_id: str,
        question: str,
        previous_response_id: str | None = None,
    ) -> None:
        """Keep a question before it is answered. The first one makes the conversation and its title."""
        asked = Turn(response_id=response_id, asked_at=now(), question=whole_text(question))
        said = entry("question", response_id, asked.model_dump(mode="json"))
        place = entry("step", response_id, Step(previous_response_id).to_json())
        await self.append(user_id, conversation_id, [said, place], title=title_of(asked.question))

    async def finish_turn(self, user_id: str, conversation_id: str, turn: Turn) -> bool:
        """Keep what came of a question; ``False`` if the conversation was deleted meanwhile: nothing is kept then."""
        said = entry("answer", turn.response_id, turn.model_dump(mode="json", exclude={"feedback"}))
        try:
            await self.append(user_id, conversation_id, [said, entry("ended", turn.response_id, {})])
        except UnknownConversationError:
            return False
        return True

    async def give_feedback(self, user_id: str, conversation_id: str, response_id: str, feedback: Feedback) -> None:
        """Keep what the reader thinks of an answer; the last word holds.

        Raises:
            UnknownConversationError: this user has no such answer there.
        """
        if await self.conversation_of(user_id, response_id) != conversation_id:
            raise UnknownConversationError(f"there is no answer {response_id} in this conversation")
        said = entry("feedback", response_id, feedback.model_dump(mode="json"))
        await self.append(user_id, conversation_id, [said])

    # --- conversations ---------------------------------------------------------------------------

    async def conversations(self, user_id: str, limit: int = 50, after: str | None = None) -> ConversationPage:
        """The user's conversations, the one last continued first; ``after`` is the ``next`` of the page before.

        Raises:
            InvalidRequestError: ``after`` is none that we gave, or ``limit`` is not 1..200.
        """
        _check_user(user_id)
        if not 1 <= limit <= MOST_LISTED:
            raise InvalidRequestError(f"limit must be 1 to {MOST_LISTED}")
        position = read_position(after)
        if after is not None and position is None:
            raise InvalidRequestError("this list has no such place; begin it again")
        found = await self._list(user_id, limit + 1, position)
        shown = tuple(found[:limit])
        return ConversationPage(shown, write_position(shown[-1]) if len(found) > limit else None)

    async def conversation(self, user_id: str, conversation_id: str) -> Conversation:
        """A conversation with all its turns.

        Raises:
            UnknownConversationError: this user has none of that id.
        """
        _check(user_id, conversation_id)
        found = await self._read(user_id, conversation_id, TURN_KINDS)
        if found is None:
            raise _unknown(conversation_id)
        head, entries = found
        return Conversation(**head.model_dump(exclude={"turns"}), turns=turns_of(entries))

    async def rename(self, user_id: str, conversation_id: str, title: str) -> None:
        """Give a conversation another title; it keeps its place in the list.

        Raises:
            UnknownConversationError: this user has none of that id.
        """
        _check(user_id, conversation_id)
        if not await self._rename(user_id, conversation_id, one_line(whole_text(title)) or UNTITLED):
            raise _unknown(conversation_id)

    async def delete(self, user_id: str, conversation_id: str) -> None:
        """Remove a conversation with everything in it, for good.

        Raises:
            UnknownConversationError: this user has none of that id.
        """
        _check(user_id, conversation_id)
        if not await self._delete(user_id, conversation_id):
            raise _unknown(conversation_id)

    # --- entries ---------------------------------------------------------------------------------

    async def append(
        self, user_id: str, conversation_id: str, entries: Sequence[Entry], *, title: str | None = None
    ) -> None:
        """Add entries of one response, all or none; with a ``title`` the conversation is made if it is missing.

        Raises:
            UnknownConversationError: it is missing and there is no title.
            InvalidRequestError: an id cannot be one.
        """
        responses = {said.response_id for said in entries}
        _check(user_id, conversation_id, *responses)
        if len(responses) != 1:
            raise ValueError("entries that are added at once must be of one response")
        if not all(_KEY.fullmatch(said.key) for said in entries):
            raise InvalidRequestError("an item's id must be 1 to 256 visible ASCII characters")
        if not await self._append(user_id, conversation_id, Addition(tuple(entries), title)):
            raise _unknown(conversation_id)

    async def entries(self, user_id: str, conversation_id: str, kinds: Collection[Kind]) -> list[Entry]:
        """All entries of these kinds in the order in which they were added; none if there is no such conversation."""
        _check(user_id, conversation_id)
        found = await self._read(user_id, conversation_id, kinds)
        return found[1] if found else []

    async def find(self, user_id: str, kind: Kind, keys: Collection[str]) -> dict[str, Filed]:
        """The entry that holds for each of these keys, in whichever of the user's conversations; those there are."""
        _check_user(user_id)
        possible = [key for key in dict.fromkeys(keys) if _KEY.fullmatch(key)]
        found = await self._find(user_id, kind, possible) if possible else []
        return {filed.entry.key: filed for filed in found}

    async def conversation_of(self, user_id: str, response_id: str) -> str | None:
        """The conversation that a response belongs to; ``None`` if this user has no such response."""
        filed = (await self.find(user_id, "question", [response_id])).get(response_id)
        return filed.conversation_id if filed else None

    async def forget(self, user_id: str, conversation_id: str, response_id: str) -> None:
        """Remove every entry that belongs to a response, for good."""
        _check(user_id, conversation_id, response_id)
        await self._forget(user_id, conversation_id, response_id)

    async def close(self) -> None:  # noqa: B027  (not all have something to close)
        """Give back files and connections."""

    # --- what a backend does; ids are checked ------------------------------------------------------

    @abstractmethod
    async def _append(self, user_id: str, conversation_id: str, addition: Addition) -> bool:
        """Add, all or nothing; ``False``: the conversation is missing and may not be made."""

    @abstractmethod
    async def _read(
        self, user_id: str, conversation_id: str, kinds: Collection[Kind]
    ) -> tuple[ConversationSummary, list[Entry]] | None:
        """The conversation and its entries of these kinds, oldest first."""

    @abstractmethod
    async def _find(self, user_id: str, kind: Kind, keys: Sequence[str]) -> list[Filed]:
        """Entries by key, oldest first."""

    @abstractmethod
    async def _list(self, user_id: str, limit: int, after: Position | None) -> list[ConversationSummary]:
        """At most ``limit`` conversations, newest first, of those that come after a position."""

    @abstractmethod
    async def _rename(self, user_id: str, conversation_id: str, title: str) -> bool:
        """Change the title; ``False``: there is no such conversation."""

    @abstractmethod
    async def _delete(self, user_id: str, conversation_id: str) -> bool:
        """Remove all of it; ``False``: there is no such conversation."""

    @abstractmethod
    async def _forget(self, user_id: str, conversation_id: str, response_id: str) -> None:
        """Remove all of a response's entries, and count its question no more."""


def is_id(text: str) -> bool:
    """Whether a conversation or response may be called that."""
    return bool(_ID.fullmatch(text))


def _check(user_id: str, *ids: str) -> None:
    _check_user(user_id)
    if not all(map(is_id, ids)):
        raise InvalidRequestError("an id must be 1 to 128 letters, digits, - or _")


def _check_user(user_id: str) -> None:
    if not user_id or len(user_id) > _LONGEST_USER_ID or not user_id.isprintable():
        raise InvalidRequestError(f"a user id must be 1 to {_LONGEST_USER_ID} visible characters")


def _unknown(conversation_id: str) -> UnknownConversationError:
    return UnknownConversationError(f"there is no conversation {conversation_id}; it may have been deleted")
