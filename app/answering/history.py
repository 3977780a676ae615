"""Fits a conversation into a model's window, without changing the caller's messages.

The framework's own compaction is not used: it drops whole groups, the current question among them, and turns the
results of tools into text of the assistant, where articles would no longer be marked as data.
"""

from collections.abc import Awaitable, Callable, Sequence

from agent_framework import ChatContext, ChatMiddleware, Content, Message

from app.model.passages import shorten_passages
from app.model.tokens import estimate_tokens

PASSAGES = "kb_passages"
"""Marks a text content of a user's message that holds passages rather than the user's words."""

_TOKENS_PER_MESSAGE = 8
"""Tokens of a message beside its text: OpenAI's formats take 3 or 4; twice that is on the safe side."""
_EARLIER_SHARE = 0.75
"""Share of the budget for earlier turns, so that long passages never drive out the whole conversation."""
_SHORT = 480
"""Characters that each passage keeps when they do not all fit: its first sentences."""


class FitHistory(ChatMiddleware):
    """Limits the messages of each call to ``tokens``; images have a budget of their own."""

    def __init__(self, tokens: int) -> None:
        self.tokens = tokens

    async def process(self, context: ChatContext, call_next: Callable[[], Awaitable[None]]) -> None:
        """Replace the messages of this call, not those of the conversation."""
        instructions = str((context.options or {}).get("instructions") or "")
        context.messages = fit(context.messages, self.tokens - estimate_tokens(instructions))
        await call_next()


def fit(messages: Sequence[Message], budget: int) -> list[Message]:
    """The messages of a call within a budget of tokens.

    Earlier turns get three quarters of it, and the oldest are dropped first. Passages get the rest: if that does not
    suffice, passages are shortened, those of the oldest search first, and only then more earlier turns are dropped.
    The current question always stays.
    """
    question = max((at for at, message in enumerate(messages) if message.role == "user"), default=0)
    earlier = _newest_turns(list(messages[:question]), int(budget * _EARLIER_SHARE))
    current = _shortened(list(messages[question:]), budget - _tokens(earlier))
    return [*_newest_turns(earlier, budget - _tokens(current)), *current]


def _newest_turns(messages: list[Message], budget: int) -> list[Message]:
    """Return the newest whole turns that fit; a turn begins with a message of the user."""
    starts = [at for at, message in enumerate(messages) if message.role == "user"]
    for start in [0, *starts]:
        if _tokens(messages[start:]) <= budget:
            return messages[start:]
    return []


def _shortened(messages: list[Message], budget: int) -> list[Message]:
    """Shorten passages, the oldest first, until the messages fit or no passages are left to shorten."""
    fitting = list(messages)
    for at, message in enumerate(messages):
        if _tokens(fitting) <= budget:
            break
        contents = [_short(content) for content in message.contents]
        fitting[at] = Message(message.role, contents, author_name=message.author_name, message_id=message.message_id)
    return fitting


def _short(content: Content) -> Content:
    if content.type == "function_result" and content.call_id:
        result = shorten_passages(str(content.result or ""), _SHORT)
        return Content.from_function_result(content.call_id, id=content.id, result=result)
    if content.type == "text" and content.additional_properties.get(PASSAGES):
        return passages_content(shorten_passages(content.text or "", _SHORT))
    return content


def passages_content(blocks: str) -> Content:
    """Passages as a part of a user's message."""
    return Content.from_text(blocks, additional_properties={PASSAGES: True})


def _tokens(messages: Sequence[Message]) -> int:
    return sum(_TOKENS_PER_MESSAGE + sum(map(_content_tokens, message.contents)) for message in messages)


def _content_tokens(content: Content) -> int:
    if content.type == "function_call":
        return estimate_tokens(f"{content.name}{content.arguments}")
    text = content.result if content.type == "function_result" else content.text
    return estimate_tokens(str(text or ""))
