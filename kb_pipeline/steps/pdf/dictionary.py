"""The English dictionary, for documents in English: whether a word at the end of a line was one before it was broken.

Asked only where the document itself does not tell. Not here: what follows from it (``inline``).
"""

from collections.abc import Collection
from functools import cached_property

_SAMPLE = 100
"""Words that tell the language of a document."""
_SHARE = 0.6
"""Share of them that the dictionary has: .88 of words about pumps and packets in English, .24 in German."""
_SHORTEST = 3
"""Letters of each half of a word; two letters are in the dictionary by chance."""


class Dictionary:
    """Knows English words, if most ``words`` of a document are English; else none."""

    def __init__(self, words: Collection[str]) -> None:
        self._words = words

    def has_parts_only(self, left: str, right: str) -> bool:
        """Whether both are words, and are none if they are written as one."""
        if len(left) < _SHORTEST or len(right) < _SHORTEST or not self._applies:
            return False
        return _is_known(left) and _is_known(right) and not _is_known(left + right)

    @cached_property
    def _applies(self) -> bool:
        words = sorted(word for word in self._words if len(word) >= _SHORTEST)
        sample = words[:: len(words) // _SAMPLE + 1]
        return bool(sample) and sum(map(_is_known, sample)) >= _SHARE * len(sample)


def _is_known(word: str) -> bool:
    from simplemma import is_known  # takes long to import, and most documents do not need it

    return is_known(word, "en")  # the small form of the dictionary takes "wellknown" for a word
