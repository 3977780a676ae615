"""How words are compared: which words of a text carry meaning, in what form, and how much weight each one has.

:mod:`app.grounding.support` and :mod:`app.answering.extractive.selection` use it.
"""

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from app.grounding.how_to import asks_how_to

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
    """Remove the ending of a word, coarsely: "cropping", "cropped" and "crop" become the same."""
    stem = _ENDINGS.sub("", word)
    return _DOUBLED.sub(r"\1", stem) if stem != word else word


def readable(text: str) -> str:
    """Markdown without the parts that a reader does not see: link targets and references to passages."""
    return _REFERENCE.sub(" ", _TARGET.sub("]", text)) if "[" in text else text


def words(text: str) -> list[str]:
    """The meaningful words of a markdown text, without their endings, link targets and references."""
    candidates = (word.replace("’", "'") for word in _WORD.findall(readable(text).lower()))
    return [_stem(word.removesuffix("'s")) for word in candidates if word not in STOP_WORDS]


class Weights:
    """Weights of words: the fewer of these texts contain a word, the more it weighs (BM25's IDF, never negative)."""

    def __init__(self, texts: Iterable[Collection[str]]) -> None:
        word_sets = [set(text) for text in texts]
        self._texts = len(word_sets)
        self._text_count = Counter(word for text in word_sets for word in text)

    def of(self, word: str) -> float:
        """Weight of a word; largest for a word that none of the texts contains."""
        count = self._text_count[word]
        return math.log1p((self._texts - count + 0.5) / (count + 0.5))

    def sum(self, of: Iterable[str]) -> float:
        """Weight of several words, independent of their order."""
        return math.fsum(map(self.of, of))


_BORROWED = 0.5
_OTHERWISE = re.compile(
    r"\b(?:what|which|who|whose|whom|why|when|where|how|is|are|was|were|does|did|has|have|will"
    r"|was|welche[rsmn]?|wer|warum|wann|wie|wo|ist|sind|hat|gibt)\b",
    re.IGNORECASE,
)
_ASKS_WHICH = re.compile(
    r"^(?:[^\W_]+\W+){0,8}?(?:(?P<which>what|which|how\s+(?:many|much|long|often|large|big|far|old)"
    r"|welche[rsmn]?|was\s+(?:ist|sind|steht|gilt)|wie\s+(?:viele?|lange|oft|groß|weit|alt))"
    r"|where|why|when|who|whom|whose|how|is|are|does|did|do|can|could|may|should|wo|warum|wann|wer|wie|kann|ist|gibt)\b",
    re.IGNORECASE,
)


_ASKS_TO_SEE = re.compile(
    r"\blooks?\s+like\b|\bsieht\b(?=.*\baus\b)|\b(?:show|zeige?n?)\s+(?:me|us|mir|uns)\b"
    r"|\b(?:is there|are there|can I see)\s+(?:an?|any|the)?\s*(?:screenshots?|pictures?|images?)\s+(?:of|for)\b",
    re.IGNORECASE,
)


_LONGEST_ASKED = 300
"""Characters of a question that are read for what it asks to see; the time for that grows faster than they do."""
_ON_SCREEN = re.compile(
    r"\b(?:pre-?)?(?:selected|set|used|chosen|checked|ticked|marked|shown|displayed|highlighted|listed|filled in"
    r"|entered)\b"
    r"(?=.*\b(?:dialog|dialogue|window|screen|panel|form|wizard|tool options|preferences|settings)s?\b)"
    r"|\b(?:in|on) (?:the|its|this|that) (?:picture|screenshot|figure|illustration|example (?:window|dialog))\b"
    r"|\b(?:does|do)\b.*\b(?:dialog|dialogue|window|screen|panel|form|wizard)s?\b.*\b(?:show|have|list|display)\b"
    r"|\b(?:shown|displayed|stands?|written) (?:beside|next to|at|on)\b"
    r"|\b(?:dialog|fenster)\b.*\b(?:ausgewählt|gewählt|eingestellt|angekreuzt|markiert|angezeigt)\b"
    r"|\b(?:im|auf dem) (?:bild|bildschirmfoto|screenshot)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class ParsedQuestion:
    """The words of a question and how much each counts: 1 for its own words, less for those of earlier questions.

    ``how``: something is to be done, so a procedure may be the answer. The headings of a procedure say what it is
    about, its steps do not.
    ``which``: a value may be, such as one on a screenshot; it does not say where something is, why, when, or whether.
    ``to_see``: a picture may be. ``on_screen``: the value is one that a window shows, so its picture may have it.
    """

    words: Mapping[str, float]
    how: bool = False
    which: bool = False
    to_see: bool = False
    on_screen: bool = False

    def worth(self, weights: Weights) -> dict[str, float]:
        """The share that each word has in the weight of the whole question."""
        worth = {word: share * weights.of(word) for word, share in self.words.items()}
        total = sum(worth.values()) or 1.0
        return {word: value / total for word, value in worth.items()}


def parse_question(query: str) -> ParsedQuestion:
    """Read a search query: its first line is the question, the other lines are earlier questions."""
    own, *borrowed = query.split("\n")
    subject = _ASKS_TO_SEE.sub(" ", own)
    weights = dict.fromkeys(words("\n".join(borrowed)), _BORROWED) | dict.fromkeys(words(subject), 1.0)
    asks = _ASKS_WHICH.match(own.rpartition(". ")[2].strip())
    which = asks is not None and asks["which"] is not None
    return ParsedQuestion(
        weights,
        how=asks_how_to(own) or not _OTHERWISE.search(own),
        which=which,
        to_see=subject != own,
        on_screen=which and subject == own and _ON_SCREEN.search(own[:_LONGEST_ASKED]) is not None,
    )
