"""Whether a word is in the dictionary of a language, so that nobody calls it misspelt."""

from functools import lru_cache

from kb_pipeline.languages import NAMES

_COMPOUNDING = frozenset({"de", "nl"})
_SHORTEST = 4
"""Letters of each part of a compound; with shorter ones nearly any misspelling is a compound."""
_LINKS = ("", "s", "n", "en", "es")
"""What German and Dutch put between the parts of a compound: ``Sicherung-s-plan``."""


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
