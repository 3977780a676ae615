"""What a request of the Responses protocol says: the last words of the user are the question, all before is history."""

from collections.abc import Iterable, Mapping
from typing import Any

from azure.ai.agentserver.responses import ResponseContext

from app.answering.base import Message
from app.errors import BadQuestionError
from app.grounding.references import without_references

_NEVER_SHOWN = frozenset({"input_image", "input_file", "input_audio"})


async def read_input(context: ResponseContext) -> tuple[str, tuple[Message, ...]]:
    """The question and what was said before it: stored turns first, then what the request itself brings.

    Raises:
        BadQuestionError: the last message is not the user's, or carries what we cannot read.
    """
    said = [*messages(await context.get_history()), *messages(await context.get_input_items())]
    if not said or said[-1].role != "user":
        raise BadQuestionError("there is no question: the last message must be the user's")
    return said[-1].text, tuple(said[:-1])


def messages(items: Iterable[Mapping[str, Any]]) -> list[Message]:
    """The words of users and answers; searches and other items are left out, system messages as well.

    A client's system message does not instruct this agent: it would be a way around its rules.
    """
    found = [_message(item) for item in items if item.get("type", "message") == "message"]
    return [message for message in found if message is not None]


def _message(item: Mapping[str, Any]) -> Message | None:
    match item.get("role"):
        case "user":
            return Message("user", _text(item.get("content")))
        case "assistant":
            return Message("assistant", without_references(_text(item.get("content"))))
        case _:
            return None


def _text(content: object) -> str:
    if isinstance(content, str):
        return content
    parts = [part for part in content if isinstance(part, Mapping)] if isinstance(content, list | tuple) else []
    if unreadable := _NEVER_SHOWN.intersection(str(part.get("type")) for part in parts):
        raise BadQuestionError(f"only text can be asked; leave out {', '.join(sorted(unreadable))}")
    return "\n".join(str(part.get("text", "")) for part in parts)
