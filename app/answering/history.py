"""What of a conversation fits into a model's window. Pure: the caller's messages stay as they are.

Not the framework's compaction: that drops whole groups, the current question among them, and puts what a tool
returned into the assistant's mouth, where the text of articles would no longer be marked as such.
"""

import math
from collections.abc import Awaitable, Callable, Sequence

from agent_framework import ChatContext, ChatMiddleware, Content, Message

from app.answering.prompts import shorten_passages

PASSAGES = "kb_passages"
"""Marks a text content of a user's message that holds passages and no words of the user."""

_BYTES_PER_TOKEN = 3
_TOKENS_PER_MESSAGE = 8
_WORDS_SHARE = 0.75
_SHORT = 480


def estimate_tokens(text: str) -> int:
    """Tokens of a text, on the safe side, by its bytes in UTF-8: 3 each.

    Common tokenizers reach 4 to 4.5 bytes for English, 3 to 4 for other European languages and code, and about 3
    (one character) for Chinese or Japanese. The real ones would have to be downloaded, and differ by model.
    """
    return math.ceil(len(text.encode("utf-8", "replace")) / _BYTES_PER_TOKEN)


class FitHistory(ChatMiddleware):
    """Gives a model what fits into ``tokens`` of the conversation; images have a budget of their own."""

    def __init__(self, tokens: int) -> None:
        self.tokens = tokens

    async def process(self, context: ChatContext, call_next: Callable[[], Awaitable[None]]) -> None:
        """Replace the messages of this call, not those of the conversation."""
        instructions = str((context.options or {}).get("instructions") or "")
        context.messages = fit(context.messages, self.tokens - estimate_tokens(instructions))
        await call_next()


def fit(messages: Sequence[Message], budget: int) -> list[Message]:
    """The messages of a call within a budget of tokens.

    What was said before gets three quarters of it, oldest turns dropped first. What searches found gets the rest: if
    that does not suffice, passages are shortened, those of the oldest search first, and only then more is dropped of
    what was said. The current question always stays.
    """
    before, now = _split(messages)
    before = _newest_turns(before, int(budget * _WORDS_SHARE))
    now = _shortened(now, budget - _tokens(before))
    return [*_newest_turns(before, budget - _tokens(now)), *now]


def _split(messages: Sequence[Message]) -> tuple[list[Message], list[Message]]:
    """What was said before, and everything from the current question on."""
    asked = max((at for at, message in enumerate(messages) if message.role == "user"), default=0)
    return list(messages[:asked]), list(messages[asked:])


def _newest_turns(messages: list[Message], budget: int) -> list[Message]:
    """The newest whole turns that fit; a turn begins where the user speaks."""
    starts = [at for at, message in enumerate(messages) if message.role == "user"]
    for start in [0, *starts]:
        if _tokens(messages[start:]) <= budget:
            return messages[start:]
    return []


def _shortened(messages: list[Message], budget: int) -> list[Message]:
    """Passages shortened, oldest first, until the messages fit or there is nothing left to shorten."""
    fitting = list(messages)
    for at, message in enumerate(messages):
        if _tokens(fitting) <= budget:
            break
        fitting[at] = _with_short_passages(message)
    return fitting


def _with_short_passages(message: Message) -> Message:
    contents = [_short(content) for content in message.contents]
    return Message(message.role, contents, author_name=message.author_name, message_id=message.message_id)


def _short(content: Content) -> Content:
    if content.type == "function_result" and content.call_id:
        result = shorten_passages(str(content.result or ""), _SHORT)
        return Content.from_function_result(content.call_id, id=content.id, result=result)
    if content.type == "text" and content.additional_properties.get(PASSAGES):
        return passages_content(shorten_passages(content.text or "", _SHORT))
    return content


def passages_content(blocks: str) -> Content:
    """Passages within a user's message."""
    return Content.from_text(blocks, additional_properties={PASSAGES: True})


def _tokens(messages: Sequence[Message]) -> int:
    return sum(_TOKENS_PER_MESSAGE + sum(map(_content_tokens, message.contents)) for message in messages)


def _content_tokens(content: Content) -> int:
    if content.type == "function_call":
        return estimate_tokens(f"{content.name}{content.arguments}")
    said = content.result if content.type == "function_result" else content.text
    return estimate_tokens(str(said or ""))
