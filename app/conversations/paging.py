"""Places in the list of conversations, as a client carries them from one page to the next."""

import base64
import binascii
import json
from typing import NamedTuple

from app.schema import ConversationSummary


class Position(NamedTuple):
    """A conversation's place: newest first, by id where the time is the same."""

    updated_at: str
    id: str


def write_position(last: ConversationSummary) -> str:
    """The place behind a conversation, as a token."""
    return base64.urlsafe_b64encode(json.dumps([last.updated_at, last.id]).encode()).decode()


def read_position(token: str | None) -> Position | None:
    """The place that a token means; ``None`` if it is none."""
    if token is None or len(token) > 1000:
        return None
    try:
        updated_at, conversation_id = json.loads(base64.b64decode(token.encode(), altchars=b"-_", validate=True))
    except (binascii.Error, ValueError, TypeError):
        return None
    if not (isinstance(updated_at, str) and isinstance(conversation_id, str) and token.isascii()):
        return None
    return Position(updated_at, conversation_id)
