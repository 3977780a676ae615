"""Conversations in Azure Cosmos DB for NoSQL, for services on several machines.

The partition of a user contains one document for each conversation, and one for each addition to it. A conversation's
document counts its additions. Both change in one transactional batch, which fails if another writer was first. So
additions are ordered, and none is lost, duplicated, or left over after its conversation.
"""

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from azure.core.exceptions import ResourceNotFoundError
from tenacity import AsyncRetrying

from app.conversations.base import ConversationStore, has_words
from app.conversations.cosmos_account import CosmosAccount
from app.conversations.entries import Addition, Entry, Kind, Position, StoredEntry
from app.schema.conversations import ConversationSummary
from app.settings import AppSettings
from kb_pipeline.errors import TransientError
from kb_pipeline.services.retry import after_conflicts

if TYPE_CHECKING:
    from azure.cosmos.aio import ContainerProxy


Document = dict[str, Any]
Operation = tuple[Any, ...]
"""An operation of a transactional batch, as the SDK takes it."""


_TRIES = 60
_LONGEST_PAUSE = 0.25
"""Writers of one conversation overtake each other: with this pause in seconds, fifteen seconds of them."""
_BATCH = 100
"""What Cosmos DB takes in one transaction."""
_READ_AT_ONCE = 100
"""Additions that are read at once: an answer with its passages has some ten thousand characters."""
_KEYS_AT_ONCE = 50
"""Conditions of one query, far below what a query's text may have."""
_OVERTAKEN = frozenset({404, 409, 412, 424})
"""Statuses: found gone, made by another, changed meanwhile, or undone together with one of these."""
_ADDITIONS = """
SELECT c.id, c.conversationId, c.place,
    ARRAY(SELECT VALUE entry FROM entry IN c.entries WHERE ARRAY_CONTAINS(@kinds, entry.kind)) AS entries
FROM c WHERE c.userId = @user AND c.type = 'addition'
"""
_SINCE = """
SELECT c.conversationId, c.place,
    ARRAY(SELECT VALUE entry FROM entry IN c.entries WHERE ARRAY_CONTAINS(@kinds, entry.kind)) AS entries
FROM c WHERE c.type = 'addition' AND c.entries[0].at >= @at
"""
_OF_ANYBODY = """
SELECT c.userId, c.conversationId, c.place, c.entries FROM c
WHERE c.type = 'addition' AND ARRAY_CONTAINS(c.keys, @key)
"""
_ALL = "SELECT c.id, c.userId, c.type FROM c WHERE c.type IN ('conversation', 'addition')"
_OF_CONVERSATION = f"{_ADDITIONS} AND c.conversationId = @conversation"
_ASKED = "EXISTS(SELECT VALUE entry FROM entry IN c.entries WHERE entry.kind = 'question' AND {condition})"
_NEWEST = """
SELECT TOP {limit} * FROM c WHERE c.userId = @user AND c.type = 'conversation' {further} ORDER BY c.position DESC
"""


class _OvertakenError(TransientError):
    """Another writer changed the conversation first."""


class CosmosConversations(ConversationStore):
    """A container, partitioned by ``/userId``. Every query of readers names the user as well."""

    def __init__(self, settings: AppSettings) -> None:
        """The first call connects.

        Raises:
            MissingExtraError: the packages are not installed.
        """
        self._account = CosmosAccount(settings)

    async def close(self) -> None:
        await self._account.close()

    async def count(self) -> int:
        return len([place for place in await self._all() if place["type"] == "conversation"])

    async def clear(self) -> None:
        # heads last: until then a conversation can be found, and deleted again
        for place in sorted(await self._all(), key=lambda place: place["type"] == "conversation"):
            with self._account.translated_errors():
                container = await self._account.container()
                with suppress(ResourceNotFoundError):  # another process was faster
                    await container.delete_item(place["id"], partition_key=place["userId"])

    async def _all(self) -> list[Document]:
        with self._account.translated_errors():
            container = await self._account.container()
            return [place async for place in container.query_items(_ALL)]

    async def _append(self, user_id: str, conversation_id: str, addition: Addition) -> bool:
        async def attempt(container: "ContainerProxy") -> bool | None:
            head = await _head(container, user_id, conversation_id)
            if head is None and addition.title is None:
                return False
            changed = _continued(head or _new_head(user_id, conversation_id, addition), addition)
            creation = ("create", (_addition_document(changed, addition),))
            return await _done(container, user_id, [_write_head(changed, head), creation]) or None

        return await self._until_first(conversation_id, attempt)

    async def _read(
        self, user_id: str, conversation_id: str, kinds: Collection[Kind]
    ) -> tuple[ConversationSummary, list[Entry]] | None:
        condition, values = _any_of("c.kinds", kinds)
        values |= {"@conversation": conversation_id, "@kinds": list(kinds)}
        with self._account.translated_errors():
            container = await self._account.container()
            head = await _head(container, user_id, conversation_id)
            if head is None:
                return None
            documents = await _query(container, user_id, f"{_OF_CONVERSATION} AND {condition}", values)
        return _summary_of(head), [e for document in sorted(documents, key=_place_of) for e in _entries_of(document)]

    async def _find(self, user_id: str, kind: Kind, keys: Sequence[str]) -> list[StoredEntry]:
        documents: dict[str, Document] = {}
        with self._account.translated_errors():
            container = await self._account.container()
            for start in range(0, len(keys), _KEYS_AT_ONCE):
                batch = [_searched_key(kind, key) for key in keys[start : start + _KEYS_AT_ONCE]]
                condition, values = _any_of("c.keys", batch)
                values["@kinds"] = [kind]
                matches = await _query(container, user_id, f"{_ADDITIONS} AND {condition}", values)
                documents.update({document["id"]: document for document in matches})
        searched = set(keys)
        return [
            StoredEntry(document["conversationId"], entry)
            for document in sorted(documents.values(), key=_place_of)
            for entry in _entries_of(document)
            if entry.key in searched
        ]

    async def _of_anybody(self, kind: Kind, key: str) -> list[tuple[str, StoredEntry]]:
        with self._account.translated_errors():
            container = await self._account.container()
            parameters = _parameters({"@key": _searched_key(kind, key)})
            # without a partition key, those of all users are looked into
            documents = [each async for each in container.query_items(_OF_ANYBODY, parameters=parameters)]
        return [
            (document["userId"], StoredEntry(document["conversationId"], entry))
            for document in sorted(documents, key=_place_of)
            for entry in _entries_of(document)
            if (entry.kind, entry.key) == (kind, key)
        ]

    async def _since(self, at: str, kinds: Collection[Kind], user_id: str | None) -> list[Entry]:
        values = {"@at": at, "@kinds": list(kinds)}
        with self._account.translated_errors():
            container = await self._account.container()
            if user_id is None:  # without a partition key, all of them are read
                documents = [each async for each in container.query_items(_SINCE, parameters=_parameters(values))]
            else:
                documents = await _query(container, user_id, f"{_SINCE} AND c.userId = @user", values)
        return [entry for document in sorted(documents, key=_place_of) for entry in _entries_of(document)]

    async def each_since(self, at: str, kinds: Collection[Kind]) -> AsyncIterator[Sequence[Entry]]:
        parameters = _parameters({"@at": at, "@kinds": list(kinds)})
        with self._account.translated_errors():
            container = await self._account.container()
            async for document in container.query_items(_SINCE, parameters=parameters, max_item_count=_READ_AT_ONCE):
                yield _entries_of(document)

    async def _list(
        self, user_id: str, limit: int, after: Position | None, words: Sequence[str]
    ) -> list[ConversationSummary]:
        further = "AND c.position < @after" if after else ""
        values: dict[str, object] = {"@after": _position_of(*after)} if after else {}
        with self._account.translated_errors():
            container = await self._account.container()
            if words:
                titled, of_titles = _all_in("c.title", words)
                # AND binds before OR; parentheses around it would double the time of a parser that backtracks
                further += f" AND ({titled} OR ARRAY_CONTAINS(@asked, c.conversationId))"
                values |= {**of_titles, "@asked": await _asked_with(container, user_id, words)}
            query = _NEWEST.format(limit=int(limit), further=further)
            return list(map(_summary_of, await _query(container, user_id, query, values)))

    async def _rename(self, user_id: str, conversation_id: str, title: str) -> bool:
        async def attempt(container: "ContainerProxy") -> bool | None:
            head = await _head(container, user_id, conversation_id)
            if head is None:
                return False
            return await _done(container, user_id, [_write_head({**head, "title": title}, head)]) or None

        return await self._until_first(conversation_id, attempt)

    async def _delete(self, user_id: str, conversation_id: str) -> bool:
        existed = False

        async def attempt(container: "ContainerProxy") -> bool | None:
            nonlocal existed
            head = await _head(container, user_id, conversation_id)
            if head is None:
                return existed
            existed = True
            values = {"@conversation": conversation_id, "@kinds": []}
            documents = await _query(container, user_id, _OF_CONVERSATION, values)
            # delete the head last: until then the conversation can be found, and deleted again
            removals = [*_removals(documents), ("delete", (head["id"],), {"if_match_etag": head["_etag"]})]
            batches = [removals[start : start + _BATCH] for start in range(0, len(removals), _BATCH)]
            return all([await _done(container, user_id, batch) for batch in batches]) or None

        return await self._until_first(conversation_id, attempt)

    async def _forget(self, user_id: str, conversation_id: str, response_id: str) -> None:
        values = {"@conversation": conversation_id, "@response": response_id, "@kinds": ["question"]}

        async def attempt(container: "ContainerProxy") -> bool | None:
            head = await _head(container, user_id, conversation_id)
            documents = await _query(container, user_id, f"{_OF_CONVERSATION} AND c.responseId = @response", values)
            if head is None or not documents:
                return True
            batch = documents[: _BATCH - 1]
            questions = sum(len(_entries_of(document)) for document in batch)
            change = _write_head({**head, "turns": head["turns"] - questions}, head)
            done = await _done(container, user_id, [change, *_removals(batch)])
            return (done and batch == documents) or None

        await self._until_first(conversation_id, attempt)

    async def _until_first(
        self, conversation_id: str, attempt: Callable[["ContainerProxy"], Awaitable[bool | None]]
    ) -> bool:
        """Attempt a change until no other writer was first (``None``)."""

        async def change() -> bool:
            with self._account.translated_errors():
                result = await attempt(await self._account.container())
            if result is None:
                raise _OvertakenError(
                    f"too many requests change the conversation {conversation_id} at once; try again", 1
                )
            return result

        policy = after_conflicts(_TRIES, 0.01, _LONGEST_PAUSE, lambda error: isinstance(error, _OvertakenError))
        return await AsyncRetrying(**policy)(change)


def _head_id(conversation_id: str) -> str:
    """The id of a conversation's own document, its head."""
    return f"conversation:{conversation_id}"


def _new_head(user_id: str, conversation_id: str, addition: Addition) -> Document:
    """The head of a new conversation, before its first addition is counted."""
    return {
        "id": _head_id(conversation_id),
        "userId": user_id,
        "type": "conversation",
        "conversationId": conversation_id,
        "title": addition.title,
        "createdAt": addition.active_at,
        "updatedAt": addition.active_at,
        "turns": 0,
        "additions": 0,
    }


def _continued(head: Document, addition: Addition) -> Document:
    updated_at = max(head["updatedAt"], addition.active_at or "")
    return {
        **head,
        "updatedAt": updated_at,
        "position": _position_of(updated_at, head["conversationId"]),
        "turns": head["turns"] + addition.questions,
        "additions": head["additions"] + 1,
    }


def _write_head(changed: Document, before: Document | None) -> Operation:
    """Write a head on condition that it has not changed since (or is still missing)."""
    if before is None:
        return ("create", (changed,))
    return ("replace", (before["id"], changed), {"if_match_etag": before["_etag"]})


def _addition_document(head: Document, addition: Addition) -> Document:
    """The document of the addition that the head counts last."""
    return {
        "id": f"addition:{head['conversationId']}:{head['additions']}",
        "userId": head["userId"],
        "type": "addition",
        "conversationId": head["conversationId"],
        "place": head["additions"],
        "responseId": addition.entries[0].response_id,
        "kinds": sorted({entry.kind for entry in addition.entries}),
        "keys": [_searched_key(entry.kind, entry.key) for entry in addition.entries],
        "entries": [asdict(entry) for entry in addition.entries],
    }


def _entries_of(document: Document) -> list[Entry]:
    return [Entry(**entry) for entry in document["entries"]]


def _place_of(document: Document) -> tuple[str, int]:
    return document["conversationId"], document["place"]


def _searched_key(kind: str, key: str) -> str:
    return f"{kind} {key}"


def _position_of(updated_at: str, conversation_id: str) -> str:
    """A text that sorts like the list of conversations."""
    return f"{updated_at} {conversation_id}"


def _summary_of(head: Document) -> ConversationSummary:
    return ConversationSummary(
        id=head["conversationId"],
        title=head["title"],
        created_at=head["createdAt"],
        updated_at=head["updatedAt"],
        turns=head["turns"],
    )


async def _head(container: "ContainerProxy", user_id: str, conversation_id: str) -> Document | None:
    try:
        return dict(await container.read_item(_head_id(conversation_id), partition_key=user_id))
    except ResourceNotFoundError:
        return None


async def _done(container: "ContainerProxy", user_id: str, operations: Sequence[Operation]) -> bool:
    """Execute all operations or none. Return ``False`` if another writer was first."""
    from azure.cosmos.exceptions import CosmosBatchOperationError

    try:
        await container.execute_item_batch(list(operations), partition_key=user_id)
    except CosmosBatchOperationError as exc:
        if exc.status_code in _OVERTAKEN:
            return False
        raise
    return True


def _parameters(values: Mapping[str, object]) -> list[dict[str, object]]:
    return [{"name": name, "value": value} for name, value in values.items()]


async def _query(container: "ContainerProxy", user_id: str, query: str, values: Mapping[str, object]) -> list[Document]:
    parameters = _parameters({"@user": user_id, **values})
    return [document async for document in container.query_items(query, parameters=parameters, partition_key=user_id)]


async def _asked_with(container: "ContainerProxy", user_id: str, words: Sequence[str]) -> list[str]:
    """Return the ids of the conversations in which a question has all of these words."""
    condition, values = _all_in("entry.body", [json.dumps(word, ensure_ascii=False)[1:-1] for word in words])
    query = f"{_ADDITIONS} AND {_ASKED.format(condition=condition)}"
    documents = await _query(container, user_id, query, {**values, "@kinds": ["question"]})
    return list(
        dict.fromkeys(
            document["conversationId"]
            for document in documents
            if any(has_words(entry.value["question"], words) for entry in _entries_of(document))
        )
    )


def _removals(documents: Iterable[Document]) -> list[Operation]:
    return [("delete", (document["id"],)) for document in documents]


def _any_of(field: str, values: Collection[str]) -> tuple[str, dict[str, object]]:
    """Return a condition that an array contains one of these values, and its parameters."""
    names: dict[str, object] = {f"@value{number}": value for number, value in enumerate(values)}
    return f"({' OR '.join(f'ARRAY_CONTAINS({field}, {name})' for name in names) or 'false'})", names


def _all_in(field: str, words: Collection[str]) -> tuple[str, dict[str, object]]:
    """Return a condition that a text has all of these words, which are in lower case, and its parameters."""
    names: dict[str, object] = {f"@{field.replace('.', '_')}{number}": word for number, word in enumerate(words)}
    return " AND ".join(f"CONTAINS(LOWER({field}), {name})" for name in names), names
