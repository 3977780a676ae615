"""How words are compared: which words of a text carry meaning, in what form, and how much weight each one has.

:mod:`app.grounding.support` uses it.
"""

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable
from functools import lru_cache

from kb_pipeline.languages import stem, stop_words

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_TARGET = re.compile(r"\]\([^()\s]*+(?:\([^()\s]*+\)[^()\s]*+)*+\)")
_REFERENCE = re.compile(r"\[Ref #\d+\]")

_LANGUAGES = ("en", "de")
_ASKING = frozenset(
    "could dass done else every get gets getting like make makes might much must one please shall show try upon us use "
    "used using wann want warum well wer whether whose within would".split()
)
"""What questions are made of besides: the lists of stop words leave these out."""
STOP_WORDS = _ASKING.union(*map(stop_words, _LANGUAGES))
"""Words that say nothing about the matter (English and German)."""


@lru_cache(maxsize=65_536)
def _stem(word: str, language: str | None) -> str:
    """A word without its endings; where the language is not told, without English ones, then without German ones."""
    if language:
        return stem(word, language)
    return stem(stem(word, "en"), "de")


def readable(text: str) -> str:
    """Markdown without the parts that a reader does not see: link targets and references to passages."""
    return _REFERENCE.sub(" ", _TARGET.sub("]", text)) if "[" in text else text


def words(text: str, language: str | None = None) -> list[str]:
    """The meaningful words of a markdown text, without their endings, link targets and references.

    They are compared as those of a ``language``; texts of which that is not told are English or German.
    """
    stopped = stop_words(language) if language else STOP_WORDS
    said = (word.replace("’", "'").removesuffix("'s") for word in _WORD.findall(readable(text).lower()))
    return [_stem(word, language) for word in said if word not in stopped and not word.endswith("n't")]


class WordWeights:
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
