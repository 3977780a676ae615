"""Words as they are compared: which of a text carry meaning, in what form, and how much each one tells.

Here: comparing words. Not here: what is made of it (:mod:`app.grounding.support`, :mod:`app.grounding.selection`).
"""

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable
from functools import lru_cache

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_TARGET = re.compile(r"\]\([^()\s]*+(?:\([^()\s]*+\)[^()\s]*+)*+\)")
_REFERENCE = re.compile(r"\[Ref #\d+\]")

STOP_WORDS = frozenset(
    (
        "a about after again all also am an and any are as at be because been before being between both but by can "
        "could did do does doing don't done down each else every few for from further get gets getting had has have "
        "having he her here him his how i if in into is isn't it it's its itself just like make makes me might more "
        "most much must my no nor not now of off on once one only or other our out over own please same shall she "
        "should show so some such than that that's the their them then there these they this those through to too try "
        "under until up upon us use used using very want was we well were what what's when where whether which while "
        "who whom whose why will with within would you your "
        "aber als am auch auf aus bei bin bis das dass dem den der des die doch du durch ein eine einem einen einer es "
        "für hat ich ihr im ist kann man mein mich mir mit nach nicht noch nur ob oder sich sie sind um und uns unter "
        "vom von vor wann warum wenn wer wie wir wird wo zu zum zur"
    ).split()
)
"""Words that say nothing about the matter (English and German)."""

_ENDINGS = re.compile(r"(?:(?<=\w{3})(?:ations?|ings?|edly|ed|ies|ers?|es|ly|e|s|y))$")
_DOUBLED = re.compile(r"([bdgklmnprt])\1$")


@lru_cache(maxsize=16_384)
def _stem(word: str) -> str:
    """A word without its ending: coarse, so that "cropping", "cropped" and "crop" are one."""
    stem = _ENDINGS.sub("", word)
    return _DOUBLED.sub(r"\1", stem) if stem != word else word


def readable(text: str) -> str:
    """Markdown without what a reader does not see: link targets, references to passages."""
    return _REFERENCE.sub(" ", _TARGET.sub("]", text)) if "[" in text else text


def words(text: str) -> list[str]:
    """The words of some markdown that carry meaning, without their endings; link targets and references left out."""
    found = (word.replace("’", "'") for word in _WORD.findall(readable(text).lower()))
    return [_stem(word.removesuffix("'s")) for word in found if word not in STOP_WORDS]


class Weights:
    """How much a word tells: the rarer among these texts, the more (the IDF of BM25, never negative)."""

    def __init__(self, texts: Iterable[Collection[str]]) -> None:
        counted = [set(text) for text in texts]
        self._texts = len(counted)
        self._found = Counter(word for text in counted for word in text)

    def of(self, word: str) -> float:
        """Weight of a word; largest for one that is in none of the texts."""
        found = self._found[word]
        return math.log1p((self._texts - found + 0.5) / (found + 0.5))

    def sum(self, of: Iterable[str]) -> float:
        """Weight of several words, the same in whatever order."""
        return math.fsum(map(self.of, of))
