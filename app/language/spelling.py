"""Corrects words of a question that neither the articles nor a dictionary has, but that are near to words of them."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import chain, islice

from app.language.words import STOP_WORDS, readable, words
from kb_pipeline.languages import ENGLISH, NAMES, language_of, stop_words

_WORD = re.compile(r"(?<!\w)[^\W\d_]{4,}(?!\w)")
"""Shorter words have too many neighbours, and words with digits are names."""
_NEAR = 0.75
"""Similarity of two words: 0.75 is one slip in four letters ("crpo"), two swapped letters included."""
_ENOUGH = 300
"""Known words that tell their language."""
_COMPOUNDING = frozenset({"de", "nl"})
_SHORTEST = 4
"""Letters of each part of a compound; with shorter ones nearly any misspelling is a compound."""
_LINKS = ("", "s", "n", "en", "es")
"""What German and Dutch put between the parts of a compound: ``Sicherung-s-plan``."""


def word_counts(texts: Iterable[str]) -> Counter[str]:
    """How often these texts contain each word."""
    return Counter(word for text in texts for word in _WORD.findall(readable(text).lower()))


def unknown_words(question: str, known: Mapping[str, int]) -> list[str]:
    """The words of a question that are neither known nor stop words, as they stand there."""
    asked = dict.fromkeys(_WORD.findall(question))
    return [word for word in asked if word.lower() not in known and word.lower() not in STOP_WORDS]


def nearest(word: str, known: Mapping[str, int]) -> str | None:
    """The known word that is most like a misspelt one; ``None`` if none is near, or if a dictionary has the word.

    Stop words are known in any case, whether or not the articles happen to have them. Among equally near words it is
    one with the same letters, then the most frequent. People hardly ever miss the first letter. Another form of a known
    word ("reader" of "read") is not misspelt.
    """
    misspelt = word.lower()
    letters = sorted(misspelt)
    matcher = SequenceMatcher(b=misspelt, autojunk=False)
    best: tuple[float, bool, int, str] = (0.0, False, 0, "")
    languages = dict.fromkeys((_language_of(known), ENGLISH))
    little = ((word, 0) for language in languages for word in stop_words(language))
    for candidate, count in chain(little, known.items()):
        if candidate[0] != misspelt[0] or abs(len(candidate) - len(misspelt)) > len(misspelt) // 3:
            continue
        matcher.set_seq1(candidate)
        near = matcher.real_quick_ratio() >= _NEAR and matcher.quick_ratio() >= _NEAR
        if near and (ratio := matcher.ratio()) >= _NEAR and words(candidate) != words(misspelt):
            best = max(best, (ratio, sorted(candidate) == letters, count, candidate))
    is_right = best[3] and any(is_word(word, language) for language in languages)
    return None if is_right else best[3] or None


def corrected(question: str, corrections: Mapping[str, str]) -> str:
    """The question with each misspelt word replaced; capitals at the beginning stay."""

    def correct(found: re.Match[str]) -> str:
        correction = corrections.get(found[0], found[0])
        return correction.capitalize() if found[0][0].isupper() else correction

    return _WORD.sub(correct, question)


@lru_cache(maxsize=4_096)
def is_word(word: str, language: str) -> bool:
    """Whether a dictionary has this form of a word, or the parts of a compound; false in a language without one.

    The first word of a language takes a second, and its dictionary then up to 16 MB.
    """
    if language not in NAMES:
        return False
    return _is_listed(word, language) or (language in _COMPOUNDING and _is_compound(word, language))


def _is_listed(word: str, language: str) -> bool:
    from simplemma import is_known

    return is_known(word, language, low_memory=True) or is_known(word.lower(), language, low_memory=True)


def _is_compound(word: str, language: str) -> bool:
    cuts = range(_SHORTEST, len(word) - _SHORTEST + 1)
    return any(_is_listed(word[cut:], language) and _is_head(word[:cut], language) for cut in cuts)


def _is_head(head: str, language: str) -> bool:
    heads = (head.removesuffix(link) for link in _LINKS if head.endswith(link))
    return any(len(each) >= _SHORTEST and _is_listed(each, language) for each in heads)


def _language_of(known: Mapping[str, int]) -> str:
    return language_of(" ".join(islice(known, _ENOUGH))) or ENGLISH
