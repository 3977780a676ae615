"""Tells from the wording of a question that it compares things, and which ones. Pure.

Choosing what to say about each of them is the task of the answerers.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from app.grounding.words import STOP_WORDS, words

_WHO = r"(?:i|we|you|one|they|people)"
_USE = r"(?:use|using|choose|pick|take|select|prefer|go\s+for|go\s+with|want|need)"
_WORTH = r"(?:better|best|faster|easier|safer|simpler|cheaper|quicker|preferable|recommended|right)"
_SAME = r"(?:the\s+same(?:\s+things?)?|different(?:\s+things)?|identical|interchangeable|equivalent)"
_OVER = r"(?:instead\s+of|rather\s+than|as\s+opposed\s+to)"
_SIDES = r"(?P<sides>.+)"
_ALL = r"(?P<sides>.+?\s(?:and|or)\s.+?)"
_ONE, _OTHER = r"(?P<one>.+?)", r"(?P<other>.+)"

_WORDINGS = tuple(
    re.compile(wording, re.IGNORECASE)
    for wording in (
        rf"\b(?:differences?|distinction|comparison)\s+(?:(?:is|are|exists?)\s+)?(?:there\s+)?between\s+{_SIDES}",
        rf"\b(?:choose|choosing|decide|choice)\s+between\s+{_SIDES}",
        rf"\b(?:unterschiede?|unterscheiden)\s+(?:\w+\s+)?zwischen\s+{_SIDES}",
        rf"\bhow\s+(?:do|are)\s+{_ALL}\s+(?:differ|different|compare)\b",
        rf"^are\s+{_ALL}\s+{_SAME}\b",
        rf"^(?:please\s+|can\s+you\s+)?compare\s+(?:{_ONE}\s+(?:with|to|against)\s+{_OTHER}|{_SIDES})",
        rf"\bhow\s+(?:does|do|is|are)\s+{_ONE}\s+(?:differ(?:ent)?\s+(?:from|to|than)|compare\s+(?:to|with))\s+{_OTHER}",
        rf"\bwhat\s+(?:distinguishes|differentiates|makes|sets)\s+{_ONE}\s+(?:(?:different|apart)\s+)?from\s+{_OTHER}",
        rf"^(?:is|are)\s+{_ONE}\s+(?:{_SAME}\s+(?:as|from|to|with)|{_WORTH}\s+than)\s+{_OTHER}",
        rf"^(?:is|are|what\s+is|which\s+is)\s+{_ONE}\s+or\s+(?P<other>.+?)\s+(?:the\s+)?{_WORTH}\b",
        rf"^(?:is|would)\s+it\s+(?:be\s+)?{_WORTH}\s+to\s+{_ONE}\s+(?:or|{_OVER})\s+{_OTHER}",
        rf"^when\b.*?\b{_USE}\s+{_ONE}\s*,?\s+and\s+when\s+{_OTHER}",
        rf"^(?:when|why|should|would|whether)\b[^,]*?\b{_USE}\s+(?P<one>[^,]+?)\s+(?:or|over|{_OVER})\s+{_OTHER}",
        rf"^(?:should|shall)\s+{_WHO}\s+(?!be\b){_ONE}\s+or\s+{_OTHER}",
        rf"\bdo\s+{_WHO}\s+(?:need|want)\s+(?!to\b){_ONE}\s+or\s+{_OTHER}",
        rf"^soll(?:te|ten|en)?\s+(?:ich|man|wir)\s+{_ONE}\s+oder\s+{_OTHER}",
        rf"^(?:what|which)\b(?:(?!\b(?:if|when|happens)\b)[^,:])*\b(?:{_WORTH}|{_USE})\b[^,:]*[,:]\s*{_ONE}\s+or\s+{_OTHER}",
        rf"\b(?:advantages?|benefits?|pros\s+and\s+cons|drawbacks?)\s+of\s+(?:{_ONE}\s+(?:over|{_OVER})\s+{_OTHER}|{_ALL}$)",
        rf"^{_ONE}\s+(?:versus|vs|v\.s)\s+{_OTHER}",
    )
)
_EITHER = re.compile(rf"^{_ONE}\s+(?:or|oder)\s+(?P<other>.+)\?$", re.IGNORECASE)
"""Both and nothing else: "PNG or JPEG?" """
_WHOLE_QUESTION = re.compile(
    r"\b(?:how|what|which|why|where|when|who|can|could|may|will|do|does|did|is|are|was|has|have|if|i|my|we|you"
    r"|wie|was|wo|kann|ist|ich)\b",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"(?<=[.?!])\s+|\n")
_ANOTHER_QUESTION = re.compile(
    r"(?:\s*[,;:–—]\s*(?:and\s+|or\s+)?|\s+(?:and|or)\s+)"
    r"(?:which|when|how|why|what|where|should|do|does|is|are|can)\b.*",
    re.IGNORECASE,
)
_PAUSE = re.compile(r"[,;:](?:\s|$)|\s[–—-]\s")
_LISTED = re.compile(r"\s*,\s*(?:and\s+|or\s+)?|\s+(?:and|or|und|oder|versus|vs)\s+", re.IGNORECASE)
_CIRCUMSTANCE = re.compile(r"\s+(for|when|if|while|in|on|with|during|to|für|bei)\s+(.+)", re.IGNORECASE)
_LEAD = STOP_WORDS | frozenset(
    "explain please tell describe choose pick take select prefer need want better rather".split()
)
_FIRST = re.compile(r"\W*([^\W_]+)\s+(?=\S)")
_AROUND = " \t.,;:?!\"'“”‘’*_"
_MOST_SIDES, _MOST_WORDS, _FEW_WORDS = 4, 6, 3
_LONGEST = 300
"""Characters of a sentence that is read; people compare in short ones."""


@dataclass(frozen=True, slots=True)
class Alternatives:
    """The things that a question compares, in its words and order, and the circumstances ("for screenshots")."""

    sides: tuple[str, ...]
    circumstance: str = ""

    def query(self, side: str) -> str:
        """What to search for one of the sides; what is said of all of them counts less, like an earlier question.

        "Push and pull subscriptions" are two kinds of subscriptions, "layers and channel masks" are not two of masks.
        """
        kind = self.sides[-1].rpartition(" ")[2]
        has_kind = " " in side or not kind.endswith("s") or side.endswith("s")
        return "\n".join(filter(None, (side, "" if has_kind else kind, self.circumstance)))


def comparison_of(question: str) -> Alternatives | None:
    """What a question compares: "the difference between A and B", "A or B?", "should I use A or B for C?".

    ``None`` if it does not say that it compares, or if what it compares has the same meaningful words or none.
    """
    sentences = _SENTENCE.split(re.sub(r"\bvs\.(?=\s)", "vs", question))
    readings = (each for sentence in sentences if len(sentence) <= _LONGEST for each in _readings(sentence.strip()))
    return next(filter(None, map(_comparison, readings)), None)


def _readings(sentence: str) -> Iterator[list[str]]:
    """Yield what may be the sides, as they stand in the sentence."""
    for wording in _WORDINGS:
        if found := wording.search(sentence):
            named = found.groupdict()
            if listed := named.get("sides"):
                yield _LISTED.split(_ANOTHER_QUESTION.sub("", listed))
            else:
                yield [_PAUSE.split(named["one"])[-1], _PAUSE.split(_ANOTHER_QUESTION.sub("", named["other"]))[0]]
    either = _EITHER.search(sentence)
    if either and not _WHOLE_QUESTION.search(sentence) and len(words(either["one"])) <= _FEW_WORDS:
        yield [either["one"], either["other"]]


def _comparison(reading: list[str]) -> Alternatives | None:
    *others, last = (_trimmed(side) for side in reading)
    circumstance = _CIRCUMSTANCE.search(last)
    if circumstance and not any(re.search(rf"\b{circumstance[1]}\b", side, re.IGNORECASE) for side in others):
        last = last[: circumstance.start()]
    else:
        circumstance = None
    sides = (*others, last)
    meanings = [frozenset(words(side)) for side in sides]
    are_told_apart = len(set(meanings)) == len(sides) and all(0 < len(meaning) <= _MOST_WORDS for meaning in meanings)
    if not are_told_apart or not 1 < len(sides) <= _MOST_SIDES:
        return None
    return Alternatives(sides, circumstance[2].strip(_AROUND) if circumstance else "")


def _trimmed(side: str) -> str:
    """Return a side without what leads to it ("In GIMP, should I use the")."""
    side = side.strip(_AROUND)
    while (first := _FIRST.match(side)) and first[1].lower() in _LEAD:
        side = side[first.end() :]
    return side
