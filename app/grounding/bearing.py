"""Which passages bear out a statement, judged without a model: by shared words, numbers and names.

Cutting an answer into statements is the task of :mod:`app.grounding.statements`.
"""

import re
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from app.grounding.sentences import units_of
from app.grounding.ways import Way, leads_elsewhere, ways_in
from app.grounding.words import Weights, readable, words
from app.schema import Citation

ENOUGH = 0.55
"""Share of a statement, by weight of its words, that a passage must contain.

Measured with 888 sentences of the passages of 111 questions, each reworded twice, and as many of other articles about
the same products (GIMP, DITA, the Debian installer, the help desk of the samples): 97 % of the first have at least this
share, and 3 % of the others; with 0.45 it is 98 and 9 %, with 0.65 94 and 1 %."""

CLEARLY_BETTER = 0.2
"""How much more of a statement another passage must contain, to be cited in place of one that a model chose."""

ENOUGH_TOGETHER = 0.7
"""The same for several passages together."""

_WRITTEN = 0.45
"""The same for a passage that the model itself refers to: it has read the passages, too."""

_AS_GOOD = 0.1
_ASKED = 0.5
_SAME_LANGUAGE = 0.2
"""Share of the words of a text that are among those of passages in its language, also if it is about something else.

Of sentences from other articles 98 % have it, and none of those in German and French."""
_ENGLISH = frozenset("a and are can for from if of that the then this to with you your".split())
"""Words that short passages in English may lack, and that other languages do not share."""
_FEW_ENGLISH = 2
_UNITS = 400
_TOGETHER = 2

_TOKEN = re.compile(r"[^\W_]+")
_NUMBER = re.compile(r"(?<![\w.,:])\d+(?:[.,:]\d+)*(?![\w])")
_LABEL = re.compile(
    r"\*\*([^*\n]{1,80})\*\*|`([^`\n]{1,80})`|[“\"„]([^“”\"„\n]{1,80})[”\"“]|(?<![\w*])\*([^*\s][^*\n]{0,80})\*(?![\w*])"
)
_LONGEST_NAME = 5
_ANSWERING = frozenset(words("yes possible able allow need require following way step case answer information article"))
"""Words with which an answer begins and that say nothing about the matter."""
_ASKS_FOR = re.compile(
    r"(?:^|[.!?;,:]\s+)(?:(?:and|at|but|by|for|from|in|into|of|on|so|to|under|with|bei|für|in|mit|von|zu)\s+)?"
    r"(?:what|which|who|whom|whose|when|where|why|how|was|welche[mnrs]?|wer|wen|wem|wann|wo|warum|wie|wieso)\b",
    re.IGNORECASE,
)
"""A question that "yes" does not answer."""
_DENIES = re.compile(r"\b(?:not|never|no|cannot|without|nor|neither|nicht|nie|kein\w*|ohne)\b|n['’]t\b", re.IGNORECASE)
_DENIAL = "¬"
"""Stands for all words that deny. A statement and a sentence of which only one denies do not say the same.

Of 452 sentences to which a "not" was added, 71 % are no longer borne out; of 78 that lost theirs, 82 %."""


@dataclass(frozen=True, slots=True)
class _Passage:
    number: int
    units: tuple[frozenset[str], ...]
    around: frozenset[str]
    """Words of the title and the headings, which say what the passage is about."""
    tokens: frozenset[str]
    numbers: frozenset[str]
    ways: frozenset[Way]
    words: frozenset[str]

    @classmethod
    def of(cls, citation: Citation) -> "_Passage":
        around = "\n".join((citation.title, citation.section, *citation.heading_path))
        units = tuple(_words(unit.text) for unit in units_of(citation.passage)[:_UNITS])
        text = f"{around}\n{readable(citation.passage)}"
        own = frozenset(words(around))
        return cls(
            citation.number,
            units,
            own,
            tokens=frozenset(_tokens(text)),
            numbers=frozenset(_numbers(text)),
            ways=frozenset(ways_in(text)),
            words=own.union(*units),
        )


class Bearing:
    """Compares statements with the passages that an answer may cite."""

    def __init__(self, citations: Sequence[Citation], question: str = "") -> None:
        """``question``: what is asked. An answer repeats words of it that no article may have."""
        self._question = frozenset(words(question))
        self._asks_for_more = _ASKS_FOR.search(question) is not None
        self._passages = {citation.number: _Passage.of(citation) for citation in citations}
        self._weights = Weights(unit for passage in self._passages.values() for unit in passage.units)
        tokens = frozenset[str]().union(*(passage.tokens for passage in self._passages.values()))
        self._tokens = tokens | (_ENGLISH if len(tokens & _ENGLISH) >= _FEW_ENGLISH else frozenset())
        self._is_comparable = self.speaks(question)

    def speaks(self, said: str) -> bool:
        """Whether a text is in the language of the passages, so that its words can be compared with theirs."""
        if not self._passages:
            return True
        tokens = [token for token in _tokens(said) if not token.isdigit()]
        return sum(token in self._tokens for token in tokens) >= _SAME_LANGUAGE * len(tokens)

    def answers(self, said: str) -> bool:
        """Whether a statement adds something to a question that asks what, how, or why, and does not only repeat it."""
        return not self._asks_for_more or bool(self._added(said))

    def told(self, said: str, numbers: Sequence[int]) -> frozenset[str]:
        """The words of a statement that these passages bear out, and of their headings, under which it is true."""
        return frozenset(words(said)).union(*(self._passages[number].around for number in numbers))

    def asked_share(self, told: AbstractSet[str]) -> float:
        """The share of the question's words that is among these; 1 if it is in another language."""
        asked = self._question - _ANSWERING if self._is_comparable else frozenset[str]()
        return len(asked & told) / len(asked) if asked else 1.0

    def supporters(self, said: str, written: Sequence[int] = (), cited: Sequence[int] = ()) -> tuple[int, ...]:
        """The numbers of the passages to cite for a statement; none if nothing bears it out.

        These are the passages that the author has ``written`` if they bear it out, each or all together, and no other
        one does clearly better; else one that has been ``cited`` just before, if it is as good as the best; else the
        best.
        """
        shares = {number: self.share(said, number) for number in self._passages}
        top = max(shares.values(), default=0.0)
        kept = tuple(n for n in written if shares.get(n, 0.0) >= max(_WRITTEN, top - CLEARLY_BETTER))
        if kept:
            return kept
        if top >= ENOUGH:
            near = [n for n in cited if shares.get(n, 0.0) >= max(ENOUGH, top - _AS_GOOD)]
            return tuple(near[:1]) or (max(shares, key=lambda n: (round(shares[n], 6), -n)),)
        both = tuple(n for n in written if n in self._passages)
        return both if len(both) > 1 and self.share(said, *both) >= ENOUGH_TOGETHER else ()

    def share(self, said: str, *numbers: int) -> float:
        """The share of a statement that passages contain together.

        It is 0 if they lack a number or a name in it, know another way to the same key or entry, deny what it says, or
        have nothing that it adds to the question: words of the question are easily repeated around an invented one.
        """
        passages = [self._passages[number] for number in numbers]
        if leads_elsewhere(frozenset(ways_in(said)), frozenset[Way]().union(*(passage.ways for passage in passages))):
            return 0.0
        if not frozenset[str]().union(*(passage.numbers for passage in passages)).issuperset(_numbers(said)):
            return 0.0
        own = frozenset[str]().union(*(passage.words for passage in passages))
        if any(not own.issuperset(words(name)) for name in _names(said)):
            return 0.0
        added = self._added(said)
        if added and self._question and own.isdisjoint(added):
            return 0.0
        return self._covered(_words(said), passages)

    def _added(self, said: str) -> frozenset[str]:
        return frozenset(words(said)) - self._question - _ANSWERING

    def _covered(self, statement: frozenset[str], passages: Sequence[_Passage]) -> float:
        missing = set(statement)
        denied = []
        for passage in passages:
            missing -= passage.around
            for _ in range(_TOGETHER):
                best = max(passage.units, key=lambda unit: self._weigh(unit & missing), default=passage.around)
                denied += [_DENIAL in best] if best & missing else []
                missing -= best
        if denied and (not denied[0] if _DENIAL in statement else all(denied)):
            return 0.0
        covered = self._weigh(statement - missing)
        lacking = self._weigh(missing - self._question) + _ASKED * self._weigh(missing & self._question)
        return covered / (covered + lacking) if covered else 0.0

    def _weigh(self, chosen: AbstractSet[str]) -> float:
        """Return the weight of several words: from a half for those of every unit, to 1 for those of none.

        Among few passages rarity says less than in a language: an unknown word may be the author's way of speaking.
        """
        return 0.5 * len(chosen) + 0.5 * self._weights.sum(chosen) / self._weights.of("")


def _words(text: str) -> frozenset[str]:
    denial = (_DENIAL,) if _DENIES.search(text) else ()
    return frozenset((*words(text), *denial))


def _tokens(text: str) -> list[str]:
    return _TOKEN.findall(text.lower())


def _numbers(text: str) -> Iterator[str]:
    for match in _NUMBER.finditer(readable(text)):
        yield match[0].replace(",", "")


def _names(said: str) -> Iterator[str]:
    """Yield names that are set apart: labels of buttons and menus, code, quoted words."""
    for match in _LABEL.finditer(said):
        name = next(filter(None, match.groups()), "")
        following = said[match.end() : match.end() + 1]
        if len(_tokens(name)) <= _LONGEST_NAME and not name.endswith(":") and following != ":":
            yield name
