"""The contract of all stores of conversations, and what they share: checks, turns and paging.

Every operation takes the user whose data it may touch; no operation reaches the data of another user. What reads the
turns of all users is not for readers, and does not say whose they are.
"""

import base64
import re
import secrets
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Collection, Iterable, Sequence
from contextlib import suppress

from pydantic import ValidationError

from app.callers.picture import Picture
from app.conversations.entries import (
    UNTITLED,
    Addition,
    Entry,
    Kind,
    Position,
    ResponseLink,
    StoredEntry,
    damaged_entry,
    entry,
    latest,
    now,
    one_line,
    read_position,
    title_of,
    whole_text,
    write_position,
)
from app.errors import AnswerError
from app.schema.asking import AskedPicture
from app.schema.conversations import (
    UNANSWERED,
    Conversation,
    ConversationList,
    ConversationSummary,
    Feedback,
    Share,
    Turn,
)
from kb_pipeline.asking import NO_OPTIONS, AskOptions

TURN_KINDS: frozenset[Kind] = frozenset({"question", "answer", "feedback"})
_OWN_KINDS: frozenset[Kind] = TURN_KINDS | {"share"}
"""What makes up the turns of a conversation for whoever it belongs to: links are nobody else's to know."""
_SHARED_KINDS: frozenset[Kind] = frozenset({"question", "answer"})
"""What makes them up for whoever opens a link: what its asker thinks of an answer is nobody else's to know either."""
_SECRET_BYTES = 24
"""192 bits: nobody guesses the link of an answer."""


def turns_of(entries: Iterable[Entry]) -> tuple[Turn, ...]:
    """The turns that these entries make up, in the order of their questions."""
    by_response: dict[str, dict[Kind, Entry]] = {}
    for item in entries:
        if item.kind == "question" or item.response_id in by_response:
            by_response.setdefault(item.response_id, {})[item.kind] = item
    turns: list[Turn] = []
    for parts in by_response.values():
        answer, feedback, share = parts.get("answer"), parts.get("feedback"), parts.get("share")
        values = answer.value if answer else {**parts["question"].value, "problem": UNANSWERED}
        try:
            added = {"feedback": feedback.value if feedback else None, "share": _link_of(share)}
            turns.append(Turn.model_validate({**values, **added}))
        except ValidationError as exc:
            raise damaged_entry(parts["question"].response_id) from exc
    return tuple(turns)


def _link_of(share: Entry | None) -> str | None:
    """The id of the link that this entry makes; ``None`` if there is none, or it takes it back."""
    return share.key if share and not share.value["is_taken_back"] else None


def has_words(text: str, words: Iterable[str]) -> bool:
    """Whether a title or a question has all of these words, which are in lower case."""
    lower = text.lower()
    return all(word in lower for word in words)


MOST_LISTED = 200
"""Conversations in a page of the list."""
_MOST_WORDS = 16
"""Words of which all are looked for in conversations: each is one more condition of a query."""
_ID = re.compile(r"[A-Za-z0-9_-]{1,128}")
_KEY = re.compile(r"[!-~]{1,256}")
_LONGEST_USER_ID = 256
"""Characters: a partition key of Cosmos DB has room for more."""


class UnknownConversationError(AnswerError):
    """This user has no such conversation, or no such answer in it."""

    status = 404
    code = "unknown_conversation"


class UnknownShareError(AnswerError):
    """No answer is shared by this link."""

    status = 404
    code = "unknown_share"


class InvalidRequestError(AnswerError):
    """An id, title or position in a list is not valid."""

    status = 422
    code = "invalid_request"


class ConversationStore(ABC):
    """Keeps conversations. Each one consists of entries, which are only added to until the user deletes it.

    Any number of processes can append at the same time without losing or reordering entries. All methods raise
    ``StorageError`` (or ``TransientError``, ``SettingsError``) if the store cannot be used.
    """

    # --- turns -----------------------------------------------------------------------------------

    async def begin_turn(
        self,
        user_id: str,
        conversation_id: str,
        response_id: str,
        question: str,
        previous_response_id: str | None = None,
        picture: Picture | None = None,
        options: AskOptions = NO_OPTIONS,
    ) -> None:
        """Keep a question before it is answered. The first question creates the conversation and its title."""
        turn = Turn(
            response_id=response_id,
            asked_at=now(),
            question=whole_text(question),
            picture=asked_picture(picture),
            options=options,
        )
        question_entry = entry(
            "question", response_id, turn.model_dump(mode="json", exclude={"stale", "standing", "share"})
        )
        step_entry = entry("step", response_id, ResponseLink(previous_response_id).to_json())
        await self.append(user_id, conversation_id, [question_entry, step_entry], title=title_of(turn.question))
        if picture:  # apart from the rest, because it is large
            value = {"media_type": picture.media_type, "data": base64.b64encode(picture.data).decode()}
            with suppress(UnknownConversationError):  # deleted meanwhile
                await self.append(user_id, conversation_id, [entry("picture", response_id, value)])

    async def finish_turn(self, user_id: str, conversation_id: str, turn: Turn) -> bool:
        """Keep the result of a question. Returns ``False`` if the conversation was deleted meanwhile."""
        answer = entry(
            "answer", turn.response_id, turn.model_dump(mode="json", exclude={"feedback", "stale", "standing", "share"})
        )
        try:
            await self.append(user_id, conversation_id, [answer, entry("ended", turn.response_id, {})])
        except UnknownConversationError:
            return False
        return True

    async def keep_turn(self, user_id: str, conversation_id: str, turn: Turn) -> None:
        """Keep a turn with its result at once. The first one creates the conversation and its title."""
        value = turn.model_dump(mode="json", exclude={"feedback", "stale", "standing", "share"})
        kept = [entry(kind, turn.response_id, value) for kind in ("question", "answer")]
        await self.append(user_id, conversation_id, kept, title=title_of(turn.question))

    async def give_feedback(self, user_id: str, response_id: str, feedback: Feedback) -> None:
        """Keep the reader's feedback on an answer; it replaces earlier feedback.

        Raises:
            UnknownConversationError: this user has no such answer.
        """
        new = entry("feedback", response_id, feedback.model_dump(mode="json"))
        await self.append(user_id, await self.place_of(user_id, response_id), [new])

    async def source_opened(self, user_id: str, response_id: str, number: int) -> None:
        """Keep that the reader opened a source of an answer, by the number of its reference.

        Raises:
            UnknownConversationError: this user has no such answer.
        """
        new = entry("opened", response_id, {}, key=f"{response_id}.{number}")
        await self.append(user_id, await self.place_of(user_id, response_id), [new])

    # --- links to answers ------------------------------------------------------------------------

    async def share(self, user_id: str, conversation_id: str, response_id: str) -> Share:
        """Let others read an answer by a link, which stays the same however often it is asked for.

        Raises:
            UnknownConversationError: this user has no such answer there.
        """
        turn = await self._answered(user_id, conversation_id, response_id)
        if turn.share:
            return Share(id=turn.share, response_id=response_id)
        new = entry("share", response_id, {"is_taken_back": False}, key=f"share_{secrets.token_urlsafe(_SECRET_BYTES)}")
        await self.append(user_id, conversation_id, [new])
        return Share(id=new.key, response_id=response_id)

    async def take_back(self, user_id: str, conversation_id: str, response_id: str) -> None:
        """Let nobody else read an answer any more: each link that it ever had leads nowhere.

        Raises:
            UnknownConversationError: this user has no such answer there.
        """
        await self._answered(user_id, conversation_id, response_id)
        links = latest(await self.entries(user_id, conversation_id, {"share"}))
        back = [
            entry("share", response_id, {"is_taken_back": True}, key=link.key)
            for link in links.values()
            if link.response_id == response_id and _link_of(link)
        ]
        if back:
            await self.append(user_id, conversation_id, back)

    async def shared(self, share_id: str) -> tuple[Turn, ...]:
        """The turns of the conversation that a link leads into, up to its answer; whose they are is not told.

        Raises:
            UnknownShareError: there is no such link, it was taken back, or what it led to was deleted.
        """
        found = await self._of_anybody("share", share_id) if is_id(share_id) else []
        turns: list[Turn] = []
        if found and _link_of(found[-1][1].entry):
            user_id, filed = found[-1]
            stored = await self._read(user_id, filed.conversation_id, _SHARED_KINDS)
            for turn in turns_of(stored[1]) if stored else ():
                turns.append(turn)
                if turn.response_id == filed.entry.response_id:
                    return tuple(turns)
        raise UnknownShareError("nothing is shared by this link, or not any more; ask whoever sent it to you")

    async def _answered(self, user_id: str, conversation_id: str, response_id: str) -> Turn:
        turns = (await self.conversation(user_id, conversation_id)).turns
        turn = next((turn for turn in turns if turn.response_id == response_id and turn.answer), None)
        if turn is None:
            raise UnknownConversationError(f"there is no answer {response_id[:80]!r} in this conversation")
        return turn

    # --- conversations ---------------------------------------------------------------------------

    async def conversations(
        self, user_id: str, limit: int = 50, after: str | None = None, *, containing: str = ""
    ) -> ConversationList:
        """The user's conversations, the most recent first; ``after`` is the ``next`` of the page before.

        ``containing``: only those whose title, or one of whose questions, has all of these words, whatever their case.
        Answers are not looked into: they may rest on articles that the user may no longer read.

        Raises:
            InvalidRequestError: ``after`` is not a ``next`` of this list, or ``limit`` is not 1..200.
        """
        _check_user(user_id)
        if not 1 <= limit <= MOST_LISTED:
            raise InvalidRequestError(f"limit must be 1 to {MOST_LISTED}")
        position = read_position(after)
        if after is not None and position is None:
            raise InvalidRequestError("the position in the list is not valid; start again at the beginning")
        words = tuple(dict.fromkeys(whole_text(containing).lower().split()))[:_MOST_WORDS]
        listed = await self._list(user_id, limit + 1, position, words)
        shown = tuple(listed[:limit])
        return ConversationList(conversations=shown, next=write_position(shown[-1]) if len(listed) > limit else None)

    async def conversation(self, user_id: str, conversation_id: str) -> Conversation:
        """A conversation with all its turns.

        Raises:
            UnknownConversationError: this user has no conversation with this id.
        """
        _check(user_id, conversation_id)
        stored = await self._read(user_id, conversation_id, _OWN_KINDS)
        if stored is None:
            raise _unknown(conversation_id)
        head, entries = stored
        return Conversation(**head.model_dump(exclude={"turns"}), turns=turns_of(entries))

    async def rename(self, user_id: str, conversation_id: str, title: str) -> None:
        """Change the title of a conversation; its position in the list stays the same.

        Raises:
            UnknownConversationError: this user has no conversation with this id.
        """
        _check(user_id, conversation_id)
        if not await self._rename(user_id, conversation_id, one_line(whole_text(title)) or UNTITLED):
            raise _unknown(conversation_id)

    async def delete(self, user_id: str, conversation_id: str) -> None:
        """Delete a conversation and everything in it permanently.

        Raises:
            UnknownConversationError: this user has no conversation with this id.
        """
        _check(user_id, conversation_id)
        if not await self._delete(user_id, conversation_id):
            raise _unknown(conversation_id)

    # --- entries ---------------------------------------------------------------------------------

    async def append(
        self, user_id: str, conversation_id: str, entries: Sequence[Entry], *, title: str | None = None
    ) -> None:
        """Add entries of one response, all or none. With a ``title``, a missing conversation is created.

        Raises:
            UnknownConversationError: the conversation is missing, and there is no title.
            InvalidRequestError: an id is not valid.
        """
        responses = {item.response_id for item in entries}
        _check(user_id, conversation_id, *responses)
        if len(responses) != 1:
            raise ValueError("entries that are added together must belong to one response")
        if not all(_KEY.fullmatch(item.key) for item in entries):
            raise InvalidRequestError("an item's id must be 1 to 256 visible ASCII characters")
        if not await self._append(user_id, conversation_id, Addition(tuple(entries), title)):
            raise _unknown(conversation_id)

    async def entries(self, user_id: str, conversation_id: str, kinds: Collection[Kind]) -> list[Entry]:
        """All entries of these kinds, in the order of their addition; empty if there is no such conversation."""
        _check(user_id, conversation_id)
        stored = await self._read(user_id, conversation_id, kinds)
        return stored[1] if stored else []

    async def find(self, user_id: str, kind: Kind, keys: Collection[str]) -> dict[str, StoredEntry]:
        """The latest entry for each of these keys that exists, in any of the user's conversations."""
        _check_user(user_id)
        possible = [key for key in dict.fromkeys(keys) if _KEY.fullmatch(key)]
        stored = await self._find(user_id, kind, possible) if possible else []
        return {filed.entry.key: filed for filed in stored}

    async def picture(self, user_id: str, response_id: str) -> tuple[bytes, str]:
        """The picture that came with a question, and its media type.

        Raises:
            UnknownConversationError: this user has no such question, or it came without one.
        """
        filed = (await self.find(user_id, "picture", [response_id])).get(response_id)
        if filed is None:
            raise UnknownConversationError(f"there is no picture of {response_id[:80]!r}")
        return base64.b64decode(filed.entry.value["data"]), str(filed.entry.value["media_type"])

    async def conversation_of(self, user_id: str, response_id: str) -> str | None:
        """The conversation that a response belongs to; ``None`` if this user has no such response."""
        filed = (await self.find(user_id, "question", [response_id])).get(response_id)
        return filed.conversation_id if filed else None

    async def place_of(self, user_id: str, response_id: str) -> str:
        """The conversation that a response belongs to.

        Raises:
            UnknownConversationError: this user has no such response.
        """
        conversation_id = await self.conversation_of(user_id, response_id)
        if conversation_id is None:
            raise UnknownConversationError(f"there is no answer {response_id[:80]!r}")
        return conversation_id

    async def forget(self, user_id: str, conversation_id: str, response_id: str) -> None:
        """Delete all entries of a response permanently."""
        _check(user_id, conversation_id, response_id)
        await self._forget(user_id, conversation_id, response_id)

    async def turns_since(self, at: str, user_id: str | None = None) -> tuple[Turn, ...]:
        """The turns since a time (ISO 8601, UTC), with all that was added to them; those of one user are in order.

        Without a user, they are those of all users, and nothing tells whose they are. A turn whose question is older is
        not among them.
        """
        if user_id is not None:
            _check_user(user_id)
        return turns_of(await self._since(at, TURN_KINDS, user_id))

    async def sources_opened_since(self, at: str) -> int:
        """How many sources of answers were opened since a time (ISO 8601, UTC), by anybody; each counts once."""
        return len(latest(await self._since(at, frozenset[Kind]({"opened"}), None)))

    async def close(self) -> None:  # noqa: B027  (some stores have nothing to close)
        """Close files and connections."""

    # --- what a backend implements; ids are already checked ------------------------------------------

    async def probe(self) -> None:  # noqa: B027  (a service says in its answers how it is)
        """See whether conversations can be read and kept; a store that does not exist yet passes.

        Raises:
            StorageError: they cannot.
        """

    @abstractmethod
    async def count(self) -> int:
        """The number of conversations of all users."""

    @abstractmethod
    async def clear(self) -> None:
        """Delete all conversations of all users permanently. It can be interrupted and repeated."""

    @abstractmethod
    async def _append(self, user_id: str, conversation_id: str, addition: Addition) -> bool:
        """Add all entries or none. Return ``False`` if the conversation is missing and there is no title."""

    @abstractmethod
    async def _read(
        self, user_id: str, conversation_id: str, kinds: Collection[Kind]
    ) -> tuple[ConversationSummary, list[Entry]] | None:
        """Return the conversation and its entries of these kinds, oldest first."""

    @abstractmethod
    async def _find(self, user_id: str, kind: Kind, keys: Sequence[str]) -> list[StoredEntry]:
        """Return the entries with these keys, oldest first."""

    @abstractmethod
    async def _of_anybody(self, kind: Kind, key: str) -> list[tuple[str, StoredEntry]]:
        """Return the entries with this key, each with its user, oldest first; the key must be a secret."""

    @abstractmethod
    async def _since(self, at: str, kinds: Collection[Kind], user_id: str | None) -> list[Entry]:
        """Return the entries of these kinds since a time, of one user or all, those of a conversation oldest first."""

    @abstractmethod
    def each_since(self, at: str, kinds: Collection[Kind]) -> AsyncIterator[Sequence[Entry]]:
        """Yield the entries of these kinds since a time, of all users, some at once and in no order.

        However many there are, they are never all in memory.
        """

    @abstractmethod
    async def _list(
        self, user_id: str, limit: int, after: Position | None, words: Sequence[str]
    ) -> list[ConversationSummary]:
        """Return at most ``limit`` conversations after a position, newest first; see :func:`has_words`."""

    @abstractmethod
    async def _rename(self, user_id: str, conversation_id: str, title: str) -> bool:
        """Change the title. Return ``False`` if there is no such conversation."""

    @abstractmethod
    async def _delete(self, user_id: str, conversation_id: str) -> bool:
        """Delete everything. Return ``False`` if there is no such conversation."""

    @abstractmethod
    async def _forget(self, user_id: str, conversation_id: str, response_id: str) -> None:
        """Delete all entries of a response, and subtract its question from the number of turns."""


def asked_picture(picture: Picture | None) -> AskedPicture | None:
    """What a turn says of its picture."""
    return AskedPicture(width=picture.width, height=picture.height, text=picture.text) if picture else None


def is_id(text: str) -> bool:
    """Whether a text is a valid id of a conversation or a response."""
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
