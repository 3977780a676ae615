"""Align the words of two texts; everything is restored by this alignment.

Runs of words that occur once in both texts are anchors (as in patience diff); between them, the fewest edits decide.
Words left between equal words are compared letter by letter, so that misread, split and joined words are found, too.
"""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from typing import NamedTuple

import numpy as np
from rapidfuzz.distance import Levenshtein

from kb_pipeline.steps.restore.recognise import LOOK_ALIKES
from kb_pipeline.steps.restore.words import MARK, ComparedWord, Reading

_ANCHOR = 3
"""Words of a run that is an anchor: single words and pairs are repeated by chance."""
_STRETCH = 256
"""Words between two anchors from which cutting the texts there is worthwhile."""
_MOST_PAIRS = 10**9
"""Product of the numbers of words above which a gap between anchors is not aligned: about a second of work."""
_MOST_LETTERS = 5_000
"""Letters of a piece that is compared sign by sign, for words that a service wrote otherwise: bounds the time."""
_MATCHED = 0.6
"""The share of a word's letters that must match for the word to match."""
_WINDOW = 3
"""Words on each side that must agree with a match."""


class MatchPlace(NamedTuple):
    """The position of a match: from ``start`` in the text of word ``first`` to ``end`` in the text of word ``last``."""

    first: int
    start: int
    last: int
    end: int


class _Match(NamedTuple):
    """A match in letters: it skips ``skipped`` letters of word ``first`` and ends after ``kept`` of word ``last``."""

    first: int
    skipped: int
    last: int
    kept: int


@dataclass(slots=True)
class Alignment:
    """``places`` by word of the first text; ``sources``, words of the first text, by word of the other."""

    places: dict[int, MatchPlace] = field(default_factory=dict)
    sources: dict[int, int] = field(default_factory=dict)

    def coverage(self, first: int, end: int) -> float:
        """Return the share of these words of the first text that have a match."""
        return sum(word in self.places for word in range(first, end)) / max(1, end - first)

    def place(self, first: int, end: int) -> MatchPlace | None:
        """Return the position that all matches of these words of the first text span."""
        places = [self.places[word] for word in range(first, end) if word in self.places]
        return MatchPlace(*places[0][:2], *places[-1][2:]) if places else None


def align(one: Reading, other: Reading) -> Alignment:
    """Align two readings. Matches keep the order of the words, and isolated ones are dropped."""
    matches: dict[int, _Match] = {}
    a_keys, b_keys = one.keys, other.keys
    cuts = [(0, 0), *_anchors(a_keys, b_keys), (len(a_keys), len(b_keys))]
    for (a, b), (a_end, b_end) in pairwise(cuts):
        matches.update(_align_stretch(a_keys[a:a_end], b_keys[b:b_end], a, b))
    alignment = Alignment()
    for word in _without_isolated(matches, len(a_keys)):
        alignment.places[word] = _place(word, matches, other.words)
        for target in range(matches[word].first, matches[word].last + 1):
            alignment.sources.setdefault(target, word)
    return alignment


def _anchors(a: Sequence[str], b: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Cut both texts at runs of words that occur once in each; use as many runs in order as possible."""
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
    """Return the longest subsequence that also rises in its second number (patience sorting)."""
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
    """Match misread, split and joined words by their letters; markers are not words and never match."""
    a, b = [_letters(word) for word in a], [_letters(word) for word in b]
    a_ends, b_ends = list(accumulate(map(len, a))), list(accumulate(map(len, b)))
    lengths = [sum(map(len, words)) for words in (a, b)]
    if min(lengths) == 0 or max(lengths) > _MOST_LETTERS:
        return
    places, equal = _letter_places("".join(a), "".join(b))
    words = [number for number, word in enumerate(b) for _ in word]
    for number, (start, end) in enumerate(pairwise([0, *a_ends])):
        matched = [place for place in places[start:end] if place is not None]
        if (
            matched
            and sum(equal[start:end]) >= _MATCHED * (end - start)
            and matched[-1] - matched[0] < 2 * (end - start) + 2
        ):
            first, last = words[matched[0]], words[matched[-1]]
            skipped = matched[0] - (b_ends[first] - len(b[first]))
            yield number, _Match(first, skipped, last, matched[-1] + 1 - (b_ends[last] - len(b[last])))


def _letters(word: str) -> str:
    """Return the word with letters that OCR confuses made equal; a marker has no letters."""
    return "" if word.startswith(MARK) else word.translate(LOOK_ALIKES)


def _letter_places(a: str, b: str) -> tuple[list[int | None], list[bool]]:
    """Return the position of each letter in the other text, and whether it is the same letter there."""
    places: list[int | None] = [None] * len(a)
    equal = [False] * len(a)
    for code in Levenshtein.opcodes(a, b):
        if code.tag in ("equal", "replace"):
            for letter in range(code.src_end - code.src_start):
                places[code.src_start + letter] = code.dest_start + letter
                equal[code.src_start + letter] = code.tag == "equal"
    return places, equal


def _without_isolated(matches: dict[int, _Match], words: int) -> list[int]:
    """Return the words at least half of whose neighbours match at about the same distance; others match by chance."""
    shifts = np.full(words + 2 * _WINDOW, np.inf)
    numbers = np.fromiter(matches, dtype=np.int64, count=len(matches))
    shifts[numbers + _WINDOW] = np.fromiter((match.first for match in matches.values()), dtype=float) - numbers
    agreeing, neighbours = np.zeros(words), np.zeros(words)
    for step in range(-_WINDOW, _WINDOW + 1):
        if step:
            neighbour_shifts = shifts[_WINDOW + step : _WINDOW + step + words]
            with np.errstate(invalid="ignore"):
                agreeing += np.abs(neighbour_shifts - shifts[_WINDOW : _WINDOW + words]) <= _WINDOW
            neighbours[max(0, -step) : words - max(0, step)] += 1
    return [int(word) for word in np.sort(numbers) if agreeing[word] * 2 >= neighbours[word]]


def _place(word: int, matches: dict[int, _Match], others: Sequence[ComparedWord]) -> MatchPlace:
    """Return the position of a match: whole words, unless a neighbouring word matches part of the same word."""
    match = matches[word]
    first, last = others[match.first], others[match.last]
    start, end = first.start, last.end
    before, after = (_neighbour(word, step, matches) for step in (-1, 1))
    if before is not None and before.last == match.first:
        start = min(first.end, first.start + match.skipped)
    if after is not None and after.first == match.last:
        end = min(last.end, last.start + match.kept)
    return MatchPlace(match.first, start, match.last, end)


def _neighbour(word: int, step: int, matches: dict[int, _Match]) -> _Match | None:
    """Return the match of the nearest word on that side that has one."""
    return next(
        (matches[near] for near in range(word + step, word + step * (_WINDOW + 1), step) if near in matches), None
    )
