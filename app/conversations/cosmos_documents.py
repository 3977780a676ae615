"""What Azure Cosmos DB keeps of conversations: the shape of its two kinds of documents, and changes to them. Pure."""

from dataclasses import asdict
from typing import Any

from app.conversations.entries import Addition, Entry
from app.schema import ConversationSummary

Document = dict[str, Any]
Operation = tuple[Any, ...]
"""A line of a transactional batch, as the SDK takes it."""


def head_id(conversation_id: str) -> str:
    """Id of a conversation's own document."""
    return f"conversation:{conversation_id}"


def new_head(user_id: str, conversation_id: str, addition: Addition) -> Document:
    """A conversation that is not there yet."""
    return {
        "id": head_id(conversation_id),
        "userId": user_id,
        "type": "conversation",
        "conversationId": conversation_id,
        "title": addition.title,
        "createdAt": addition.active_at,
        "updatedAt": addition.active_at,
        "turns": 0,
        "additions": 0,
    }


def continued(head: Document, addition: Addition) -> Document:
    """A conversation when this was added."""
    updated_at = max(head["updatedAt"], addition.active_at or "")
    return {
        **head,
        "updatedAt": updated_at,
        "position": position_of(updated_at, head["conversationId"]),
        "turns": head["turns"] + addition.questions,
        "additions": head["additions"] + 1,
    }


def write_head(changed: Document, before: Document | None) -> Operation:
    """Write a conversation, on condition that it is still as it was (or still missing)."""
    if before is None:
        return ("create", (changed,))
    return ("replace", (before["id"], changed), {"if_match_etag": before["_etag"]})


def addition_document(head: Document, addition: Addition) -> Document:
    """What was added, in the place that the conversation now counts."""
    return {
        "id": f"addition:{head['conversationId']}:{head['additions']}",
        "userId": head["userId"],
        "type": "addition",
        "conversationId": head["conversationId"],
        "place": head["additions"],
        "responseId": addition.entries[0].response_id,
        "kinds": sorted({entry.kind for entry in addition.entries}),
        "keys": [searched_key(entry.kind, entry.key) for entry in addition.entries],
        "entries": [asdict(entry) for entry in addition.entries],
    }


def entries_of(document: Document) -> list[Entry]:
    """The entries of an addition."""
    return [Entry(**entry) for entry in document["entries"]]


def place_of(document: Document) -> tuple[str, int]:
    """Additions in their order."""
    return document["conversationId"], document["place"]


def searched_key(kind: str, key: str) -> str:
    """What an entry is found by."""
    return f"{kind} {key}"


def position_of(updated_at: str, conversation_id: str) -> str:
    """A text whose order is the order of the list."""
    return f"{updated_at} {conversation_id}"


def summary_of(head: Document) -> ConversationSummary:
    """A conversation in a list."""
    return ConversationSummary(
        id=head["conversationId"],
        title=head["title"],
        created_at=head["createdAt"],
        updated_at=head["updatedAt"],
        turns=head["turns"],
    )
