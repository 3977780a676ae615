"""Which passages an answer uses, and which of their sentences support it: word overlap, no model.

Here: judging an answer that is there. Not here: making one.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from app.grounding.references import find_references, used_numbers
from app.grounding.sentence_ends import sentence_spans
from app.grounding.sentences import Unit, units_of
from app.grounding.words import Weights, words
from app.schema import Citation

LONGEST_ANSWER = 20_000
"""Characters of an answer whose sentences are looked up; references beyond still count as used."""

_IMAGE = re.compile(r"!\[(?:[^\[\]\\]|\\.)*+\]\([^()\s]*+\)")
_CLOSING = "*_\"'”’)» "
_REST = 400
_CLAIMS = 100
_UNITS = 400
_SENTENCES_OF_A_REFERENCE = 12
_QUOTES_OF_A_SENTENCE = 2
_ENOUGH = 0.5
_ALIKE = 0.8
_ADDS = 0.2
_FEWEST = 4
_QUOTABLE = {"sentence", "row", "code", "term"}


def mark_used(answer: str, citations: Sequence[Citation]) -> tuple[Citation, ...]:
    """The citations with ``used`` and ``quotes`` as this answer makes them.

    A reference stands for the sentence it follows, and for those before that have none of their own. Sentences of the
    passage support one of the answer if one or two of them hold half of its words, by weight, or if it holds nearly
    all of theirs. The names of articles and sections prove nothing. Quotes are in the passage's order.
    """
    claims = _claims(answer[:LONGEST_ANSWER])
    used = set(used_numbers(answer))
    passages = {c.number: _Passage.of(c.passage) for c in citations if c.number in used}
    weights = Weights(unit.words for passage in passages.values() for unit in passage.units)

    def marked(citation: Citation) -> Citation:
        if citation.number not in used:
            return citation.model_copy(update={"used": False, "quotes": ()})
        said = (_without_names(claim, citation) for claim in claims.get(citation.number, ()))
        return citation.model_copy(update={"used": True, "quotes": passages[citation.number].quotes(said, weights)})

    return tuple(map(marked, citations))


def _without_names(claim: str, citation: Citation) -> str:
    """A claim without the emphasised or quoted names of article and section, which say where and not what."""
    claim = claim.replace("\\", "")
    for name in filter(str.strip, (citation.section, citation.title)):
        claim = re.sub(rf"[*_\"“‘›] ?{re.escape(name)} ?(?=[*_\"”’›])", " ", claim)
    return claim


@dataclass(frozen=True, slots=True)
class _Compared:
    """A unit with the words it is compared by."""

    unit: Unit
    words: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Passage:
    """The quotable units of a passage, and which of them a word is in."""

    units: tuple[_Compared, ...]
    holding: Mapping[str, tuple[int, ...]]

    @classmethod
    def of(cls, passage: str) -> "_Passage":
        quotable = [unit for unit in units_of(passage) if unit.kind in _QUOTABLE][:_UNITS]
        units = tuple(_Compared(unit, frozenset(words(unit.text))) for unit in quotable)
        holding: dict[str, list[int]] = {}
        for at, unit in enumerate(units):
            for word in unit.words:
                holding.setdefault(word, []).append(at)
        return cls(units, {word: tuple(found) for word, found in holding.items()})

    def quotes(self, claims: Iterable[str], weights: Weights) -> tuple[str, ...]:
        """Texts of the units that support any of the claims, in the passage's order."""
        said = dict.fromkeys(frozenset(words(claim)) for claim in claims)
        found = {at for claim in islice(said, _CLAIMS) for at in self._supporting(claim, weights)}
        return tuple(dict.fromkeys(self.units[at].unit.text for at in sorted(found)))

    def _supporting(self, claim: frozenset[str], weights: Weights) -> list[int]:
        """The unit that shares most with a claim, and the one that adds most to it; none if that is too little."""
        chosen: list[int] = []
        missing, all_of_it = set(claim), weights.sum(claim)
        for _ in range(_QUOTES_OF_A_SENTENCE):
            best, gain = self._best(missing, claim, weights)
            if best < 0 or (chosen and gain < all_of_it * _ADDS):
                break
            chosen.append(best)
            missing -= self.units[best].words
            if weights.sum(missing) <= all_of_it * (1 - _ALIKE):
                break
        covered = all_of_it - weights.sum(missing)
        if all_of_it and covered >= all_of_it * _ENOUGH:
            return chosen
        return [at for at in chosen[:1] if self._is_within(at, claim, weights)]

    def _is_within(self, at: int, claim: frozenset[str], weights: Weights) -> bool:
        """Whether the claim says nearly all that a unit says."""
        unit = self.units[at].words
        return len(unit) >= _FEWEST and weights.sum(unit & claim) >= _ALIKE * weights.sum(unit)

    def _best(self, missing: Iterable[str], claim: frozenset[str], weights: Weights) -> tuple[int, float]:
        """The unit with most of the missing words; of equals the one that says least beside the claim."""
        gains: dict[int, float] = {}
        for word in missing:
            for at in self.holding.get(word, ()):
                gains[at] = gains.get(at, 0.0) + weights.of(word)
        if not gains:
            return -1, 0.0
        best = max(gains, key=lambda at: (round(gains[at], 6), -len(self.units[at].words - claim), -at))
        return best, gains[best]


def _claims(answer: str) -> dict[int, list[str]]:
    """What the answer says with reference to each passage: sentences by number."""
    claims: dict[int, list[str]] = {}
    said: list[str] = []
    done = 0
    for start, end, number in find_references(answer):
        if answer[done:start].strip(" \t\n,;") or not done:
            said = list(_sentences(answer[done:start]))[-_SENTENCES_OF_A_REFERENCE:]
            if said and not said[-1].rstrip(_CLOSING).endswith((".", "!", "?", ":", "。")):
                said[-1] += " " + next(_sentences(answer[end : end + _REST].partition("\n")[0]), "")
        claims.setdefault(number, []).extend(said)
        done = end
    return claims


def _sentences(text: str) -> Iterator[str]:
    for line in _IMAGE.sub("", text).split("\n"):
        for start, end in sentence_spans(line):
            yield line[start:end]
