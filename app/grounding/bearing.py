"""Which passages bear out a statement, judged without a model: by shared words, numbers and names.

Cutting an answer into statements is the task of :mod:`app.grounding.statements`.
"""

import re
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from heapq import nlargest
from itertools import chain, takewhile

from app.grounding.evidence import (
    COUNTS,
    Denial,
    Evidence,
    EvidencePassage,
    clauses_of,
    counts_in,
    denials_in,
    denied_in,
    in_order,
    numbers_in,
    tokens,
)
from app.grounding.ways import Way, leads_elsewhere, ways_in
from app.grounding.words import STOP_WORDS, Weights, words
from app.schema.passages import Citation

ENOUGH = 0.65
"""Share of a statement, by weight of its words, that a place of a passage must contain.

Measured with 443 sentences of the passages of 24 questions: without every seventh word 97 % are borne out, with two
foreign words besides 87 %, two neighbouring ones joined 96 %. Of 198 sentences under the name of another option 23 %
are, and of 301 made of the halves of two sentences far apart 60 %; when the words of any two sentences were enough, it
was 98 and 93 %."""

CLEARLY_BETTER = 0.2
"""How much more of a statement another passage must contain, to be cited in place of one that a model chose."""

_WRITTEN = 0.55
"""The same for a passage that the model itself refers to: it has read the passages, too."""

_AS_GOOD = 0.1
_ADDED = 0.5
"""Share of the words that a statement adds to the question that a place must contain."""
_STRANGE = 0.5
"""How much a word of the question counts that no passage has: the asker may call the same thing otherwise."""
_SAME_LANGUAGE = 0.2
"""Share of the words of a text that are among those of passages in its language, also if it is about something else.

Of sentences from other articles 98 % have it, and none of those in German and French."""
_COUNTING = 2
"""Digits of the numbers with which an author counts."""
_OWN_LANGUAGE, _A_SENTENCE = 0.5, 4
"""The same for a question of so many words that is surely in the language of the passages: then so is its answer."""
_ENGLISH = frozenset("a and are can for from if of that the then this to with you your".split())
"""Words that short passages in English may lack, and that other languages do not share."""
_FEW_ENGLISH = 2
_TAKEN = 2
"""Words that a clause of a statement says of another thing than its passage does, from which it is not borne out."""
_ACTIONS = frozenset(
    words(
        "open click choose select press pick tick go navigate enter type use set add drag move check uncheck make"
        " create change save find see hold turn switch run start close remove delete insert copy paste draw apply"
    )
)
"""Words with which instructions begin, which are about nothing yet."""
_PLACES = 5
"""Places of a passage that are compared with a statement."""

_LABEL = re.compile(
    r"\*\*([^*\n]{1,80})\*\*|`([^`\n]{1,80})`|[“\"„]([^“”\"„\n]{1,80})[”\"“]|(?<![\w*])\*([^*\s][^*\n]{0,80})\*(?![\w*])"
)
_PRESSED = re.compile(
    r"\b(?i:click|clicking|choose|select|press|pick|tick|klicken sie auf|wählen sie)(?:\s(?:on|the|den|die|das|auf))*\s"
    r"(?P<name>[^\W\d_a-zß-öø-ÿ][^\s.,;:()<>→*_\"“”`|]*(?:[ \t][^\s.,;:()<>→*_\"“”`|]+){0,3})"
)
"""What is pressed or chosen and written with a capital letter, without being set apart."""
_ELEMENTS = frozenset("button buttons menu tab dialog option tool icon box window field entry key command".split())
_ENDS_NAME = _ELEMENTS | STOP_WORDS
_LONGEST_NAME = 5
_ANSWERING = frozenset(words("yes possible able allow need require following way step case answer information article"))
"""Words with which an answer begins and that say nothing about the matter."""
_FILLING = _ANSWERING | frozenset(words("may due ensure involve mean"))
"""Words of which sentences are made; they are not missed."""
_ASKS_FOR = re.compile(
    r"(?:^|[.!?;,:]\s+)(?:(?:and|at|but|by|for|from|in|into|of|on|so|to|under|with|bei|für|in|mit|von|zu)\s+)?"
    r"(?:what|which|who|whom|whose|when|where|why|how|was|welche[mnrs]?|wer|wen|wem|wann|wo|warum|wie|wieso)\b",
    re.IGNORECASE,
)
"""A question that "yes" does not answer."""


@dataclass(frozen=True, slots=True)
class _Statement:
    """What is compared of a statement. ``added`` is what it says beyond the question."""

    words: frozenset[str]
    added: frozenset[str]
    numbers: frozenset[str]
    names: tuple[str, ...]
    denials: frozenset[Denial]
    denied: frozenset[str]
    clauses: tuple[tuple[str, ...], ...]


class Bearing:
    """Compares statements with the passages that an answer may cite."""

    def __init__(self, citations: Sequence[Citation], question: str = "") -> None:
        """``question``: what is asked. An answer repeats words of it that no article may have."""
        self._question = frozenset(words(question))
        self._asks_for_more = _ASKS_FOR.search(question) is not None
        self._counts = frozenset(counts_in(question)) if self._asks_for_more else frozenset[str]()
        self._passages = {citation.number: EvidencePassage.of(citation) for citation in citations}
        self._weights = Weights(unit.words for passage in self._passages.values() for unit in passage.units)
        self._terms = frozenset[str]().union(*(passage.terms for passage in self._passages.values()))
        self._known = frozenset[str]().union(*(passage.words for passage in self._passages.values()))
        self._numbers = frozenset(numbers_in(question))
        written = frozenset[str]().union(*(passage.tokens for passage in self._passages.values()))
        self._tokens = written | (_ENGLISH if len(written & _ENGLISH) >= _FEW_ENGLISH else frozenset())
        self._is_comparable = self.speaks(question)
        self._is_surely_comparable = len(tokens(question)) >= _A_SENTENCE and self.speaks(question, _OWN_LANGUAGE)

    def speaks(self, said: str, share: float = _SAME_LANGUAGE) -> bool:
        """Whether a text is in the language of the passages, so that its words can be compared with theirs."""
        if not self._passages:
            return True
        written = [token for token in tokens(said) if not token.isdigit()]
        return sum(token in self._tokens for token in written) >= share * len(written)

    def compares(self, said: str) -> bool:
        """Whether a text of the answer can be judged by its words: it should be in the language of the question."""
        return self._is_surely_comparable or self.speaks(said)

    def adds(self, said: str) -> int:
        """How many meaningful words a text adds to the question."""
        return len(self._added(said))

    def adds_number(self, said: str) -> bool:
        """Whether a text has a number that the question does not have; short ones count steps and options."""
        return any(len(number) > _COUNTING for number in numbers_in(said) if number not in self._numbers)

    def sources(self, said: str, fewest: int) -> tuple[int, ...]:
        """The passage that has most of the words that a text adds to the question, and so many; or none.

        This is where the words are from, and not whether they are true: a heading or a question denies nothing.
        """
        added = self._added(said)
        shared = {number: len(added & passage.words) for number, passage in self._passages.items()}
        best = max(shared, key=lambda number: (shared[number], -number), default=0)
        return (best,) if best and shared[best] >= max(fewest, ENOUGH * len(added)) else ()

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
        best. What stands word by word in a passage is from there, and not from one that says nearly the same.
        """
        shares = {number: self.share(said, number) for number in self._passages}
        top = max(shares.values(), default=0.0)
        if top == 1.0:
            shares = {number: share for number, share in shares.items() if share == top}
        kept = tuple(n for n in written if shares.get(n, 0.0) >= max(_WRITTEN, top - CLEARLY_BETTER))
        if kept:
            return kept
        if top >= ENOUGH:
            near = [n for n in cited if shares.get(n, 0.0) >= max(ENOUGH, top - _AS_GOOD)]
            return tuple(near[:1]) or (max(shares, key=lambda n: (round(shares[n], 6), -n)),)
        both = tuple(n for n in written if n in self._passages)
        return both if len(both) > 1 and self.share(said, *both) >= ENOUGH else ()

    def share(self, said: str, *numbers: int) -> float:
        """The share of a statement that one place of a passage contains, or a place of each of several passages.

        It is 0 if a number or a name in it is not there, if the passages know another way to the same key or entry, if
        they deny what it says, or have too little of what it adds to the question: words of the question are easily
        repeated around an invented one.
        """
        passages = [self._passages[number] for number in numbers]
        if leads_elsewhere(frozenset(ways_in(said)), frozenset[Way]().union(*(passage.ways for passage in passages))):
            return 0.0
        statement = self._read(said)
        if len(passages) == 1:
            places = self._places(statement, passages[0])
            return max((self._covered(statement, passages, place) for place in places), default=0.0)
        best = [next(self._places(statement, passage), ()) for passage in passages]
        return self._covered(statement, passages, tuple(chain(*best)))

    def _read(self, said: str) -> _Statement:
        return _Statement(
            frozenset(words(said)),
            self._added(said),
            frozenset(numbers_in(said)).union(counts_in(said)) - self._counts,
            tuple(chain.from_iterable(map(_known_as, chain(_names(said), self._terms_in(said))))),
            denials_in(said),
            frozenset(denied_in(said)),
            clauses_of(said),
        )

    def _terms_in(self, said: str) -> Iterator[str]:
        """Yield the names of options that a statement writes as the passages do; others are described under them."""
        for term in self._terms:
            at = said.find(term) if term[0].isupper() else -1
            if at > 0 and not said[at - 1].isalnum() and not said[at + len(term) :][:1].isalnum():
                yield term

    def _added(self, said: str) -> frozenset[str]:
        return frozenset(words(said)) - self._question - _ANSWERING

    def _places(self, statement: _Statement, passage: EvidencePassage) -> Iterator[tuple[Evidence, ...]]:
        """Yield the units that share most with the statement, each with the one near it that adds most."""
        missing = statement.words - passage.around
        shared = [self._weigh((unit.words | unit.names) & missing) for unit in passage.units]
        for at in nlargest(_PLACES, range(len(shared)), key=lambda at: (round(shared[at], 6), -at)):
            unit = passage.units[at]
            rest = missing - unit.words - unit.names
            near = (other for other in passage.units if other is not unit and other.is_near(unit))
            second = max(near, key=lambda other: self._weigh(other.words & rest), default=None)
            yield (unit, second) if second and second.words & rest else (unit,)

    def _covered(
        self, statement: _Statement, passages: Sequence[EvidencePassage], place: tuple[Evidence, ...]
    ) -> float:
        around = frozenset[str]().union(*(passage.around for passage in passages), *(unit.names for unit in place))
        own = around.union(*(unit.words for unit in place))
        numbers = frozenset[str]().union(*(passage.numbers for passage in passages), *(unit.numbers for unit in place))
        lines = (*(passage.around_in_order for passage in passages), *(unit.in_order for unit in place))
        if not numbers.issuperset(statement.numbers):
            return 0.0
        if not all(any(name in line for line in lines) for name in statement.names):
            return 0.0
        if any(unit.row_of.isdisjoint(statement.words | self._question) for unit in place if unit.row_of):
            return 0.0
        if self._denies(statement, around, place) or self._says_of_another(statement, around, place):
            return 0.0
        if self._question and len(statement.added & own) < _ADDED * len(statement.added):
            return 0.0
        covered, missing = self._weigh(statement.words & own), statement.words - own - _FILLING
        strange = missing & self._question - self._known
        lacking = self._weigh(missing - strange) + _STRANGE * self._weigh(strange)
        return covered / (covered + lacking) if covered else 0.0

    def _denies(self, statement: _Statement, around: frozenset[str], place: tuple[Evidence, ...]) -> bool:
        """Return whether a statement and the units that say its words do not agree on whether it is so."""
        missing, saying = statement.words - around, list[Evidence]()
        for unit in sorted(place, key=lambda unit: -self._weigh(unit.words & missing)):
            saying += [unit] if unit.words & missing else []
            missing -= unit.words
        if not saying:
            return False
        if "statement" in statement.denials:
            holding = [unit for unit in saying if unit.words & statement.denied] or saying[:1]
            return not any("statement" in unit.denials for unit in holding)
        if "condition" in statement.denials:
            return not saying[0].denials
        return all("statement" in unit.denials for unit in saying) or bool(saying[0].denied & statement.words)

    def _says_of_another(self, statement: _Statement, around: frozenset[str], place: tuple[Evidence, ...]) -> bool:
        """Return whether a clause begins like one of the units, and says what another one says of something else.

        "Pending tickets wait, solved tickets close after 7 days" has all words of "Pending tickets close after 7 days".
        """
        clauses = [clause for unit in place for clause in unit.clauses]
        for said in statement.clauses if len(clauses) > 1 else ():
            about = [clause for clause in clauses if clause[0] == said[0]]
            if len(about) != 1 or said[0] in around or said[0] in _ACTIONS:
                continue
            own = set(about[0])
            for clause in clauses:
                if clause is about[0] or clause[0] in own.union(said):
                    continue
                taken = set(said).intersection(clause) - own
                has_number = any(word.isdigit() or word in COUNTS for word in taken)
                if len(taken) >= _TAKEN and (has_number or len(taken) > len(own.intersection(said).difference(clause))):
                    return True
        return False

    def _weigh(self, chosen: AbstractSet[str]) -> float:
        """Return the weight of several words: from a half for those of every unit, to 1 for those of none.

        Among few passages rarity says less than in a language: an unknown word may be the author's way of speaking.
        """
        return 0.5 * len(chosen) + 0.5 * self._weights.sum(chosen) / self._weights.of("")


def _known_as(name: str) -> Iterator[str]:
    """Yield what a passage must have of a name: its words as they follow each other, or the keys in any order."""
    for part in words(name) if "+" in name else filter(words, (name,)):
        yield in_order(part)


def _names(said: str) -> Iterator[str]:
    """Yield names that are set apart: labels of buttons and menus, code, quoted words."""
    for match in _LABEL.finditer(said):
        name = next(filter(None, match.groups()), "")
        following = said[match.end() : match.end() + 1]
        if len(tokens(name)) <= _LONGEST_NAME and not name.endswith(":") and following != ":":
            yield name
    for match in _PRESSED.finditer(said):
        yield " ".join(takewhile(lambda word: word.lower() not in _ENDS_NAME, match["name"].split()))
