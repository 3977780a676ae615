"""Whether a question asks how to do something, so that a procedure may answer it (English and German).

"How do I measure it?" does. "How is it measured?", "How does it work?" and "How fast is it?" ask what is the case.
"""

import re
from collections.abc import Sequence

_TOKEN = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*|[.?!]")
_STEPS = re.compile(r"\b(?:steps?|instructions?|procedure)\b", re.IGNORECASE)
_MODALS = frozenset("can could should must may might shall would".split())
_PERSONS = frozenset("i we you one people users someone somebody anyone anybody".split())
_FINITE = _MODALS | frozenset("am is are was were be been do does did has have had will isn't aren't".split())
_DEGREES = frozenset("about big come far large long many much often old".split())
_BEFORE_NOUNS = frozenset("a an the this that these those it its they their he she his her my our your".split())
_MODALS_DE = frozenset(
    "darf dürfen geht kann können könnte könnten lassen lässt muss müssen müsste soll sollen sollte sollten".split()
)
_PERSONS_DE = frozenset("du ich man wir".split())
_INFINITIVE = re.compile(r"[^\W_]{2,}(?:en|ern|eln)", re.IGNORECASE)


def asks_how_to(question: str) -> bool:
    """Whether the asker, or anybody, is to do something, and the question is how."""
    if _STEPS.search(question):
        return True
    tokens = _TOKEN.findall(question)
    return any(
        (token.lower() == "how" and _is_english(tokens[at + 1 :]))
        or (token.lower() == "wie" and _is_german(tokens[at + 1 :], begins=at == 0 or tokens[at - 1] in ".?!"))
        for at, token in enumerate(tokens)
    )


def _is_english(after: Sequence[str]) -> bool:
    """Tell by the words after "how"."""
    first, second = ([token.lower() for token in after[:2]] + ["", ""])[:2]
    if first in _FINITE - _MODALS:  # "how do I", "how am I to"
        return second in _PERSONS and (first not in ("am", "is", "are", "was", "were") or "to" in after[2:4])
    if first == "to" or first in _MODALS | _PERSONS:
        return True
    # in shorthand, such as "how configure the proxy"; "how fast are they" and "see how the proxy works" are not
    return first.isalpha() and first not in _DEGREES | _BEFORE_NOUNS and second not in _FINITE | _PERSONS


def _is_german(after: Sequence[str], *, begins: bool) -> bool:
    """Tell by the words after "wie", which also compares ("so groß wie")."""
    sentence = list(after[: next((at for at, each in enumerate(after) if each in ".?!"), len(after))])
    if not sentence:
        return False
    if sentence[0].lower() in _MODALS_DE or any(each == "Sie" or each.lower() in _PERSONS_DE for each in sentence[:3]):
        return True
    # in shorthand, such as "Wie Drucker einrichten?"; a sentence has its verb second
    return begins and len(sentence) > 1 and sentence[0][0].isupper() and bool(_INFINITIVE.fullmatch(sentence[-1]))
