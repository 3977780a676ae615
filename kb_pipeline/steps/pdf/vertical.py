"""Finds Chinese and Japanese text that is set from top to bottom, in columns from right to left."""

import re
from collections.abc import Sequence
from itertools import pairwise

from kb_pipeline.steps.pdf.model import Page, Word

_LETTERS = re.compile(r"[\u2e80-\u9fff\uac00-\ud7ff\uf900-\ufaff\uff00-\uffef]")
_FEWEST = 8
"""Letters that stand below each other; fewer are the head of a narrow column, or a label."""


def vertical_letters(page: Page) -> int:
    """Return how many letters of a page stand below each other; 0 if they are too few to be text."""
    if not _LETTERS.search(page.text):
        return 0
    shown = [word for word in page.words if not word.style.hidden]
    down = sum(count for word, count in zip(shown, map(_letters, shown), strict=True) if _goes_down(word, count))
    down += _single_letters_below_each_other(shown)
    return down if down >= _FEWEST else 0


def is_vertical(page: Page) -> bool:
    """Whether most letters of a page stand below each other, so that it is to be read as if it were turned."""
    down = vertical_letters(page)
    return down > 0 and 2 * down > sum(len(word.text) for word in page.words if not word.style.hidden)


def _goes_down(word: Word, letters: int) -> bool:
    return letters > 1 and word.style.rotation == 0 and word.box.height > 1.5 * word.box.width


def _single_letters_below_each_other(words: Sequence[Word]) -> int:
    """Some programs place each letter by itself."""
    below = 0
    for before, word in pairwise(words):
        if len(before.text) == len(word.text) == 1 and word.style.rotation == 0 and _letters(before) and _letters(word):
            (x1, y1), (x2, y2) = before.box.middle, word.box.middle
            size = word.style.size
            below += abs(x2 - x1) < 0.3 * size and 0.7 * size < y2 - y1 < 2 * size
    return below


def _letters(word: Word) -> int:
    return len(_LETTERS.findall(word.text))
