"""Which words of one text are which words of another: the alignment everything is restored by.

Runs of words that both texts hold once are anchors (as in patience diff); between them, the fewest edits decide. What
is left between equal words is compared letter by letter, so that misread, split and joined words are found as well.
"""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from typing import NamedTuple

import numpy as np
from rapidfuzz.distance import Levenshtein

from kb_pipeline.steps.restore.aliases import LOOK_ALIKES
from kb_pipeline.steps.restore.words import MARK, Reading, Word

_ANCHOR = 3
_STRETCH = 256
"""Words between two anchors that are worth a cut."""
_MOST_PAIRS = 10**9
"""Words of one text times words of the other beyond which a gap between anchors is left alone: a second of work."""
_MOST_LETTERS = 5_000
_MATCHED = 0.6
"""The share of a word's letters that must be found for the word to be found."""
_WINDOW = 3


class Place(NamedTuple):
    """Where a word is found: from ``start`` in the text of word ``first`` to ``end`` in that of word ``last``."""

    first: int
    start: int
    last: int
    end: int


class _Match(NamedTuple):
    """The same in letters: those of word ``first`` before it, and those of word ``last`` up to its end."""

    first: int
    skipped: int
    last: int
    kept: int


@dataclass(slots=True)
class Alignment:
    """``places`` by word of the one text; ``sources`` by word of the other."""

    places: dict[int, Place] = field(default_factory=dict)
    sources: dict[int, int] = field(default_factory=dict)

    def coverage(self, first: int, end: int) -> float:
        """The share of these words of the one text that are found."""
        return sum(word in self.places for word in range(first, end)) / max(1, end - first)

    def place(self, first: int, end: int) -> Place | None:
        """Where these words of the one text are found, all in all."""
        places = [self.places[word] for word in range(first, end) if word in self.places]
        return Place(*places[0][:2], *places[-1][2:]) if places else None


def align(one: Reading, other: Reading) -> Alignment:
    """Align two readings. Words are found in their order, and only among others that are."""
    matches: dict[int, _Match] = {}
    a_keys, b_keys = one.keys, other.keys
    cuts = [(0, 0), *_anchors(a_keys, b_keys), (len(a_keys), len(b_keys))]
    for (a, b), (a_end, b_end) in pairwise(cuts):
        matches.update(_align_stretch(a_keys[a:a_end], b_keys[b:b_end], a, b))
    found = Alignment()
    for word in _in_company(matches, len(a_keys)):
        found.places[word] = _place(word, matches, other.words)
        for source in range(matches[word].first, matches[word].last + 1):
            found.sources.setdefault(source, word)
    return found


def _anchors(a: Sequence[str], b: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Where both texts may be cut: at runs of words that each holds once, as many in order as there can be."""
    in_b = _single_runs(b)
    shared = [(place, in_b[run]) for run, place in _single_runs(a).items() if run in in_b]
    last = (0, 0)
    for anchor in _longest_rise(shared):
        if max(anchor[0] - last[0], anchor[1] - last[1]) >= _STRETCH:
            last = anchor
            yield anchor


def _single_runs(keys: Sequence[str]) -> dict[tuple[str, ...], int]:
    places: dict[tuple[str, ...], int] = {}
    for place, run in enumerate(zip(*(keys[shift:] for shift in range(_ANCHOR)), strict=False)):
        places[run] = -1 if run in places else place
    return {run: place for run, place in places.items() if place >= 0}


def _longest_rise(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The longest subsequence that rises in its second number, too (patience sorting)."""
    tops: list[int] = []
    piles: list[int] = []
    before: list[int] = []
    for number, (_, value) in enumerate(pairs):
        pile = bisect_left(tops, value)
        before.append(piles[pile - 1] if pile else -1)
        tops[pile : pile + 1] = [value]
        piles[pile : pile + 1] = [number]
    rise: list[tuple[int, int]] = []
    number = piles[-1] if piles else -1
    while number >= 0:
        rise.append(pairs[number])
        number = before[number]
    return rise[::-1]


def _align_stretch(a: Sequence[str], b: Sequence[str], a_start: int, b_start: int) -> Iterator[tuple[int, _Match]]:
    if len(a) * len(b) > _MOST_PAIRS:
        return
    a_end = b_end = 0
    equal = (code for code in Levenshtein.opcodes(a, b) if code.tag == "equal")
    borders = [(code.src_start, code.src_end, code.dest_start, code.dest_end) for code in equal]
    for a_from, a_to, b_from, b_to in [*borders, (len(a), len(a), len(b), len(b))]:
        for word, match in _align_letters(a[a_end:a_from], b[b_end:b_from]):
            shift = b_start + b_end
            yield a_start + a_end + word, match._replace(first=match.first + shift, last=match.last + shift)
        for word in range(a_to - a_from):
            place = b_start + b_from + word
            yield a_start + a_from + word, _Match(place, 0, place, len(a[a_from + word]))
        a_end, b_end = a_to, b_to


def _align_letters(a: Sequence[str], b: Sequence[str]) -> Iterator[tuple[int, _Match]]:
    """Find misread, split and joined words; markers, which are no words, are not among them."""
    a, b = [_letters(word) for word in a], [_letters(word) for word in b]
    a_ends, b_ends = list(accumulate(map(len, a))), list(accumulate(map(len, b)))
    lengths = [sum(map(len, words)) for words in (a, b)]
    if min(lengths) == 0 or max(lengths) > _MOST_LETTERS:
        return
    places, equal = _letter_places("".join(a), "".join(b))
    words = [number for number, word in enumerate(b) for _ in word]
    for number, (start, end) in enumerate(pairwise([0, *a_ends])):
        at = [place for place in places[start:end] if place is not None]
        if at and sum(equal[start:end]) >= _MATCHED * (end - start) and at[-1] - at[0] < 2 * (end - start) + 2:
            first, last = words[at[0]], words[at[-1]]
            skipped = at[0] - (b_ends[first] - len(b[first]))
            yield number, _Match(first, skipped, last, at[-1] + 1 - (b_ends[last] - len(b[last])))


def _letters(word: str) -> str:
    """The word's letters, those alike that recognition confuses; a marker has none."""
    return "" if word.startswith(MARK) else word.translate(LOOK_ALIKES)


def _letter_places(a: str, b: str) -> tuple[list[int | None], list[bool]]:
    """For each letter where it is found, misread or not, and whether it is the same."""
    places: list[int | None] = [None] * len(a)
    equal = [False] * len(a)
    for code in Levenshtein.opcodes(a, b):
        if code.tag in ("equal", "replace"):
            for letter in range(code.src_end - code.src_start):
                places[code.src_start + letter] = code.dest_start + letter
                equal[code.src_start + letter] = code.tag == "equal"
    return places, equal


def _in_company(matches: dict[int, _Match], words: int) -> list[int]:
    """The matches at least half of whose neighbours are found at about the same distance: no chance finds."""
    shifts = np.full(words + 2 * _WINDOW, np.inf)
    numbers = np.fromiter(matches, dtype=np.int64, count=len(matches))
    shifts[numbers + _WINDOW] = np.fromiter((match.first for match in matches.values()), dtype=float) - numbers
    beside, neighbours = np.zeros(words), np.zeros(words)
    for step in range(-_WINDOW, _WINDOW + 1):
        if step:
            there = shifts[_WINDOW + step : _WINDOW + step + words]
            with np.errstate(invalid="ignore"):
                beside += np.abs(there - shifts[_WINDOW : _WINDOW + words]) <= _WINDOW
            neighbours[max(0, -step) : words - max(0, step)] += 1
    return [int(word) for word in np.sort(numbers) if beside[word] * 2 >= neighbours[word]]


def _place(word: int, matches: dict[int, _Match], others: Sequence[Word]) -> Place:
    """A whole word, unless the word beside it is found in the same."""
    match = matches[word]
    first, last = others[match.first], others[match.last]
    start, end = first.start, last.end
    before, after = (_beside(word, step, matches) for step in (-1, 1))
    if before is not None and before.last == match.first:
        start = min(first.end, first.start + match.skipped)
    if after is not None and after.first == match.last:
        end = min(last.end, last.start + match.kept)
    return Place(match.first, start, match.last, end)


def _beside(word: int, step: int, matches: dict[int, _Match]) -> _Match | None:
    """The match of the nearest word on that side that has one."""
    return next(
        (matches[near] for near in range(word + step, word + step * (_WINDOW + 1), step) if near in matches), None
    )
