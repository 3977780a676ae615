"""Numbers that are written as words, as text2num reads them: "two", "dritten", "twenty-first"."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from text_to_num import find_numbers

_SPOKEN = ("en", "de")
_ENDINGS = ("st", "nd", "rd", "th", ".")


@dataclass(frozen=True, slots=True)
class _Word:
    """A word as text2num reads it."""

    word: str

    def text(self) -> str:
        return self.word

    def nt_separated(self, previous: object) -> bool:
        return False

    def not_a_number_part(self) -> bool:
        return False


def numbers_in(words: Sequence[str], language: str) -> Iterator[Any]:
    """The numbers among lower-case words of a language, each with ``start``, ``end``, ``value`` and ``is_ordinal``."""
    yield from find_numbers([_Word(word) for word in words], language, threshold=1.0)


def number_of(word: str) -> int | None:
    """The number that a word or digits count: "two" and "2", but not "second"; ``None`` if they count nothing."""
    return int(word) if word.isdecimal() else _read(word.casefold(), False)


def place_of(word: str) -> int | None:
    """The place that a word names in an order: "second", "2nd" and "zweiten"; ``None`` if it names none."""
    bare = next((word.removesuffix(ending) for ending in _ENDINGS if word.endswith(ending)), word)
    return int(bare) if bare.isdecimal() and bare != word else _read(word.casefold(), True)


@lru_cache(maxsize=4_096)
def _read(word: str, is_ordinal: bool) -> int | None:
    numbers = (each for language in _SPOKEN for each in find_numbers([_Word(word)], language, threshold=0.0))
    return next((int(each.value) for each in numbers if each.is_ordinal == is_ordinal), None)
