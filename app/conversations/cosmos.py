"""Conversations in Azure Cosmos DB for NoSQL: for services on several machines.

In the partition of a user there is a document for each conversation, and one for each time that something was added
to it. A conversation's document counts the additions; both change in one transactional batch, on condition that
nobody else added meanwhile. So additions are ordered, and none is lost, doubled, or outlives its conversation.
"""

import asyncio
import random
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from azure.core.exceptions import ResourceNotFoundError

from app.conversations.base import ConversationStore
from app.conversations.cosmos_account import CosmosAccount
from app.conversations.cosmos_documents import (
    Document,
    Operation,
    addition_document,
    continued,
    entries_of,
    head_id,
    new_head,
    place_of,
    position_of,
    searched_key,
    summary_of,
    write_head,
)
from app.conversations.entries import Addition, Entry, Filed, Kind
from app.conversations.paging import Position
from app.schema import ConversationSummary
from app.settings import AppSettings
from kb_pipeline.errors import TransientError

if TYPE_CHECKING:
    from azure.cosmos.aio import ContainerProxy

_TRIES = 60
_LONGEST_PAUSE = 0.25
_BATCH = 100
_KEYS_AT_ONCE = 50
_OVERTAKEN = frozenset({404, 409, 412, 424})
_ADDITIONS = """
SELECT c.id, c.conversationId, c.place,
    ARRAY(SELECT VALUE entry FROM entry IN c.entries WHERE ARRAY_CONTAINS(@kinds, entry.kind)) AS entries
FROM c WHERE c.userId = @user AND c.type = 'addition'
"""
_OF_CONVERSATION = f"{_ADDITIONS} AND c.conversationId = @conversation"
_NEWEST = """
SELECT TOP {limit} * FROM c WHERE c.userId = @user AND c.type = 'conversation' {further} ORDER BY c.position DESC
"""


class CosmosConversations(ConversationStore):
    """A container, partitioned by ``/userId``. Every query names the user as well."""

    def __init__(self, settings: AppSettings) -> None:
        """Say which account; it is reached by the first call.

        Raises:
            MissingExtraError: the packages are not installed.
        """
        self._account = CosmosAccount(settings)

    async def close(self) -> None:
        """Give back connections."""
        await self._account.close()

    async def _append(self, user_id: str, conversation_id: str, addition: Addition) -> bool:
        async def attempt(container: "ContainerProxy") -> bool | None:
            head = await _head(container, user_id, conversation_id)
            if head is None and addition.title is None:
                return False
            changed = continued(head or new_head(user_id, conversation_id, addition), addition)
            said = ("create", (addition_document(changed, addition),))
            return await _done(container, user_id, [write_head(changed, head), said]) or None

        return await self._until_first(conversation_id, attempt)

    async def _read(
        self, user_id: str, conversation_id: str, kinds: Collection[Kind]
    ) -> tuple[ConversationSummary, list[Entry]] | None:
        condition, values = _any_of("c.kinds", kinds)
        values |= {"@conversation": conversation_id, "@kinds": list(kinds)}
        with self._account.explained():
            container = await self._account.container()
            head = await _head(container, user_id, conversation_id)
            if head is None:
                return None
            documents = await _query(container, user_id, f"{_OF_CONVERSATION} AND {condition}", values)
        return summary_of(head), [entry for each in sorted(documents, key=place_of) for entry in entries_of(each)]

    async def _find(self, user_id: str, kind: Kind, keys: Sequence[str]) -> list[Filed]:
        documents: dict[str, Document] = {}
        with self._account.explained():
            container = await self._account.container()
            for start in range(0, len(keys), _KEYS_AT_ONCE):
                some = [searched_key(kind, key) for key in keys[start : start + _KEYS_AT_ONCE]]
                condition, values = _any_of("c.keys", some)
                values["@kinds"] = [kind]
                found = await _query(container, user_id, f"{_ADDITIONS} AND {condition}", values)
                documents.update({document["id"]: document for document in found})
        wanted = set(keys)
        return [
            Filed(document["conversationId"], entry)
            for document in sorted(documents.values(), key=place_of)
            for entry in entries_of(document)
            if entry.key in wanted
        ]

    async def _list(self, user_id: str, limit: int, after: Position | None) -> list[ConversationSummary]:
        further = "AND c.position < @after" if after else ""
        values = {"@after": position_of(*after)} if after else {}
        with self._account.explained():
            container = await self._account.container()
            query = _NEWEST.format(limit=int(limit), further=further)
            return list(map(summary_of, await _query(container, user_id, query, values)))

    async def _rename(self, user_id: str, conversation_id: str, title: str) -> bool:
        async def attempt(container: "ContainerProxy") -> bool | None:
            head = await _head(container, user_id, conversation_id)
            if head is None:
                return False
            return await _done(container, user_id, [write_head({**head, "title": title}, head)]) or None

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
            # its own document goes last: until then the conversation can be found, and deleted again
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
            some = documents[: _BATCH - 1]
            questions = sum(len(entries_of(document)) for document in some)
            change = write_head({**head, "turns": head["turns"] - questions}, head)
            done = await _done(container, user_id, [change, *_removals(some)])
            return (done and some == documents) or None

        await self._until_first(conversation_id, attempt)

    async def _until_first(
        self, conversation_id: str, attempt: Callable[["ContainerProxy"], Awaitable[bool | None]]
    ) -> bool:
        """Attempt a change, again as long as another writer was first (``None``), after longer and longer pauses."""
        for tries in range(_TRIES):
            await asyncio.sleep(random.uniform(0, min(_LONGEST_PAUSE, 0.01 * tries)))  # noqa: S311
            with self._account.explained():
                result = await attempt(await self._account.container())
            if result is not None:
                return result
        raise TransientError(f"too many add to the conversation {conversation_id} at once; try again", 1)


async def _head(container: "ContainerProxy", user_id: str, conversation_id: str) -> Document | None:
    try:
        return dict(await container.read_item(head_id(conversation_id), partition_key=user_id))
    except ResourceNotFoundError:
        return None


async def _done(container: "ContainerProxy", user_id: str, operations: Sequence[Operation]) -> bool:
    """Do all of these or none; ``False``: another writer was first."""
    from azure.cosmos.exceptions import CosmosBatchOperationError

    try:
        await container.execute_item_batch(list(operations), partition_key=user_id)
    except CosmosBatchOperationError as exc:
        if exc.status_code in _OVERTAKEN:
            return False
        raise
    return True


async def _query(container: "ContainerProxy", user_id: str, query: str, values: Mapping[str, object]) -> list[Document]:
    parameters: list[dict[str, object]] = [
        {"name": name, "value": value} for name, value in {"@user": user_id, **values}.items()
    ]
    return [found async for found in container.query_items(query, parameters=parameters, partition_key=user_id)]


def _removals(documents: Iterable[Document]) -> list[Operation]:
    return [("delete", (document["id"],)) for document in documents]


def _any_of(field: str, values: Collection[str]) -> tuple[str, dict[str, object]]:
    """A condition that an array holds one of these, and its parameters."""
    names: dict[str, object] = {f"@value{number}": value for number, value in enumerate(values)}
    return f"({' OR '.join(f'ARRAY_CONTAINS({field}, {name})' for name in names) or 'false'})", names
