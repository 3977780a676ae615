"""What is searched for when nobody rewords the question: a follow-up borrows the words that it leans on. Pure."""

import re
from collections.abc import Iterator

from app.answering.base import Question

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_CONNECTIVES = _words("and but or also then so besides otherwise what's how's")
_POINTERS = _words("it its they them their that those these this there same instead one ones else")
_FUNCTION_WORDS = _words(
    "a an the i we you he she me us my our your to of in on at by for from with as about into if is are was were be "
    "been do does did done can could should would will may might must has have had how what which who whom whose why "
    "when where not no yes ok okay please thanks more again any some all very just only than too"
)
_FRAGMENT = 3
_SEVERAL = 5
_MOST_TURNS = 2


def search_query(question: Question) -> str:
    """The words to look up: the question's own, and before-asked ones where it makes no sense without them.

    "And how do I undo it?" after "How do I crop a layer?" looks up both, its own words first. At most two questions
    are borrowed from, and only as long as those lean on the one before in turn. Knows the function words of English;
    in other languages a question borrows when it is a single word.
    """
    words = [question.text]
    if _leans(question.text):
        words += _borrowed(question)
    return "\n".join(words)


def _borrowed(question: Question) -> Iterator[str]:
    asked = [message.text for message in question.history if message.role == "user"]
    for text in reversed(asked[-_MOST_TURNS:]):
        yield text
        if not _leans(text):
            return


def _leans(text: str) -> bool:
    """Whether a question makes no sense on its own: it carries on, points back, or says next to nothing."""
    words = [word.lower() for word in _WORD.findall(text)]
    content = [word for word in words if word not in _FUNCTION_WORDS | _CONNECTIVES | _POINTERS]
    if not content or (len(content) == 1 and (len(words) <= _FRAGMENT or words[0] in _CONNECTIVES)):
        return True
    points = any(word in _POINTERS for word in words) or words[:2] in (["what", "about"], ["how", "about"])
    return points and len(content) <= _SEVERAL
