"""Finds a quoted sentence in the text of a page. Pure.

The page has line breaks, hyphens at the ends of lines and ligatures, the quote is markdown. So only letters and digits
are compared.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

_IMAGE = re.compile(r"!\[(?:[^\[\]\\]|\\.)*+\]\([^()\s]*+\)")
_LINK = re.compile(r"\[((?:[^\[\]\\]|\\.)*+)\]\((?:[^()\s]|\([^()\s]*+\))*+\)")
_TAG = re.compile(r"</?(?:br|sub|sup) ?/?>", re.IGNORECASE)
_WORD = re.compile(r"[^\W_]+")

_CONTEXT = 80
"""Letters beside a quote that decide between several places with the same words."""
_FEWEST_WORDS, _FEWEST_LETTERS = 3, 10
"""A shorter run of words is too common to be taken for a part of the quote."""
_ENOUGH = 0.5
"""Share of a quote's letters that must be found together on the page; with less, what is marked may be something
else."""
_LONGEST = 400
"""Words of a quote that are looked for."""
_FAR_RUNS, _FAR_CONTEXTS = 3, 10
"""Lengths of a run, and of its context, from which a place is too far from the rest of the quote to belong to it."""
_FIRST_WITHOUT_SPACES = "\u2e80"
"""Scripts from here on write words without spaces between them."""

Span = tuple[int, int]
"""Indices of characters of the page, the end exclusive."""


@dataclass(frozen=True)
class Quote:
    """A piece of a passage that stands on one page, with the text before and after it; all of it is markdown."""

    text: str
    before: str = ""
    after: str = ""


class SearchablePage:
    """The text of a page, to look for quotes in it."""

    def __init__(self, characters: str) -> None:
        self._characters = characters
        letters: list[str] = []
        self._places: list[int] = []
        for place, character in enumerate(characters):
            folded = _folded(character)
            letters.append(folded)
            self._places += [place] * len(folded)
        self._letters = "".join(letters)

    def find(self, quote: Quote) -> tuple[Span, ...]:
        """Where the quote stands: as a whole, or else its longest runs of words, in the order of the page.

        Empty if less than half of it is there.
        """
        words = list(_words(_plain(quote.text)))[:_LONGEST]
        whole = "".join(words)
        if not whole:
            return ()
        before = letters_of(_plain(quote.before))[-_CONTEXT:]
        after = letters_of(_plain(quote.after))[:_CONTEXT]
        place = max(
            self._occurrences(whole),
            key=lambda at: (self._agreement(at, at + len(whole), before, after), -at),
            default=None,
        )
        if place is not None:
            return (self._span(place, place + len(whole)),)
        runs = self._runs(words, None)
        if sum(end - start for start, end in runs) < _ENOUGH * len(whole):
            return ()
        return tuple(self._span(start, end) for start, end in sorted(runs))

    def _runs(self, words: Sequence[str], near: Span | None) -> list[Span]:
        """Return the places of the longest run of words, and of the longest ones before and after it."""
        best = self._longest_run(words, near)
        if best is None:
            return []
        first, last, start = best
        span = start, start + len("".join(words[first:last]))
        return [*self._runs(words[:first], span), span, *self._runs(words[last:], span)]

    def _longest_run(self, words: Sequence[str], near: Span | None) -> tuple[int, int, int] | None:
        """Return the first and the last word of the longest run, the end exclusive, and the place of its letters."""
        best: tuple[int, int, int] | None = None
        for first in range(len(words)):
            last = first + (best[1] - best[0] + 1 if best else _FEWEST_WORDS)  # only a longer run is of interest
            while last <= len(words):
                run = "".join(words[first:last])
                place = self._nearest(run, near) if len(run) >= _FEWEST_LETTERS else None
                if place is not None:
                    best = first, last, place
                elif len(run) >= _FEWEST_LETTERS:
                    break  # what is not there is not there with one more word
                last += 1
        return best

    def _nearest(self, run: str, near: Span | None) -> int | None:
        """Return the occurrence that is nearest to what was found of the quote, and not far away from it."""
        if near is None:
            return next(self._occurrences(run), None)
        far = _FAR_RUNS * len(run) + _FAR_CONTEXTS * _CONTEXT
        places = [(max(near[0] - at, at - near[1]), at) for at in self._occurrences(run)]
        apart = [place for place in places if place[0] <= far and not _overlap((place[1], place[1] + len(run)), near)]
        return min(apart)[1] if apart else None

    def _occurrences(self, letters: str) -> Iterator[int]:
        """Yield the places of the letters that begin and end with a word of the page."""
        at = self._letters.find(letters)
        while at >= 0:
            if self._is_border(at) and self._is_border(at + len(letters)):
                yield at
            at = self._letters.find(letters, at + 1)

    def _is_border(self, at: int) -> bool:
        """Return whether this place between letters does not lie within a word."""
        if at in (0, len(self._places)):
            return True
        before, after = self._places[at - 1], self._places[at]
        if before == after:
            return False
        without_spaces = max(self._characters[before], self._characters[after]) >= _FIRST_WITHOUT_SPACES
        return without_spaces or after > before + 1

    def _agreement(self, start: int, end: int, before: str, after: str) -> int:
        """Return how many letters around an occurrence are those around the quote."""
        left = self._letters[max(0, start - len(before)) : start]
        right = self._letters[end : end + len(after)]
        return _common(reversed(left), reversed(before)) + _common(right, after)

    def _span(self, start: int, end: int) -> Span:
        return self._places[start], self._places[end - 1] + 1


def letters_of(text: str) -> str:
    """The letters and digits of a text, without case, accents and ligatures."""
    return "".join(map(_folded, text))


@lru_cache(maxsize=4096)
def _folded(character: str) -> str:
    """Return what is compared of a character: several letters of a ligature, nothing of a sign."""
    parts = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", character).casefold())
    return "".join(part for part in parts if unicodedata.category(part)[0] in "LN")


def _words(text: str) -> Iterator[str]:
    return filter(None, (letters_of(word[0]) for word in _WORD.finditer(text)))


def _plain(markdown: str) -> str:
    """Return what a reader sees of markdown; signs that are left do not matter, because only letters are compared."""
    return _TAG.sub(" ", _LINK.sub(r"\1", _IMAGE.sub(" ", markdown)))


def _common(some: Iterable[str], others: Iterable[str]) -> int:
    count = 0
    for one, other in zip(some, others, strict=False):
        if one != other:
            break
        count += 1
    return count


def _overlap(one: Span, other: Span) -> bool:
    return one[0] < other[1] and other[0] < one[1]
