"""What is searched for when nobody rewords the question: a follow-up borrows the words that it leans on.

Here: the words, and which of two searches to believe. Not here: searching.
"""

import re
from collections.abc import Iterator, Sequence

from app.answering.base import Question
from kb_pipeline.records import SearchHit

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
_GAIN = 0.02
"""How much better what is found must cover a question together with the one before. From 0 to 0.05 it makes no
difference: of 30 follow-ups 27 find their article among the first five (25 without), and of 114 questions that follow
another subject as many as without."""


def search_queries(question: Question) -> list[str]:
    """What to look up: one query, or two of which :func:`believed` takes one.

    "And how do I undo it?" after "How do I crop a layer?" makes no sense alone: both are looked up together, its own
    words first. Of other follow-ups nobody can tell by their words ("How do I change the radius?"): such a one is
    looked up alone, and with what was asked before. At most two questions are borrowed from, and only as long as those
    lean on the one before in turn.
    """
    together = "\n".join((question.text, *_borrowed(question)))
    if together == question.text or _leans(question.text):
        return [together]
    return [question.text, together]


def believed(alone: Sequence[SearchHit], together: Sequence[SearchHit]) -> bool:
    """Whether what was found together with the question before is what was meant: it covers more of more words.

    Where the index cannot tell how well its hits cover a question, the words of the question alone decide.
    """
    coverage = [hits[0].confidence if hits else None for hits in (alone, together)]
    return coverage[0] is not None and coverage[1] is not None and coverage[1] > coverage[0] + _GAIN


def _borrowed(question: Question) -> Iterator[str]:
    asked = [message.text for message in question.history if message.role == "user"]
    for text in reversed(asked[-_MOST_TURNS:]):
        yield text
        if not _leans(text):
            return


def _leans(text: str) -> bool:
    """Whether a question makes no sense on its own: it carries on, points back, or says next to nothing.

    Knows the function words of English; in other languages only a single word does.
    """
    words = [word.lower() for word in _WORD.findall(text)]
    content = [word for word in words if word not in _FUNCTION_WORDS | _CONNECTIVES | _POINTERS]
    if not content or (len(content) == 1 and (len(words) <= _FRAGMENT or words[0] in _CONNECTIVES)):
        return True
    points = any(word in _POINTERS for word in words) or words[:2] in (["what", "about"], ["how", "about"])
    return points and len(content) <= _SEVERAL
