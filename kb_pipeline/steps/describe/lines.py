"""Lines of recognised text, and their cleaning.

Here: single lines. Not here: how lines are arranged (``layout``), what they mean (``elements``).
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from itertools import pairwise
from statistics import fmean
from typing import NamedTuple

MIN_SCORE = 0.6
"""Recognition confidence (0-1) below which a text is probably an icon."""

_MIN_LETTERS = 3
_MIN_SIGNS = 8
_MIN_COVERED = 0.1
_MENU_GAP = 0.45
_MENU_MEAN_GAP = 0.55
_COLUMN_GAP = 1.3
"""Gaps between words, in line heights: .1 to .4 between words of a sentence, .5 to .9 between items of a menu bar."""

_DECORATION = r"[\s|)}©®¿•·●○◯◉◎□■☐☑☒▢▣▪▫◆◇★☆×✓✔✕✖√▲▼△▽◀▶►◄▸▾⌄˅∨↑↓↕⇅+=_~^*\\-]+"
_LEADING = re.compile(rf"^{_DECORATION}(?=[^\W\d_]|\[)|^[\s|]+")
_TRAILING = re.compile(r"(?:[\s|,•·●○□■☐×√▲▼▶▸▾⌄˅∨↑↓]|\s[vV])+$")
_IDEOGRAPHS = r"[\u2e80-\u30ff\u3400-\u9fff\uf900-\ufaff]"
_IDEOGRAPH = re.compile(_IDEOGRAPHS)
_EDGE_IDEOGRAPHS = re.compile(rf"^{_IDEOGRAPHS}{{1,2}}\s*(?=\w)|\s*{_IDEOGRAPHS}{{1,2}}$")
_MIN_IDEOGRAPHS = 3
_MIN_IDEOGRAPH_SHARE = 0.2
SEPARATORS = frozenset(">›»→/")
"""Separators in breadcrumbs, which are kept if they are recognised as separate lines."""


class OcrWord(NamedTuple):
    """A word and its horizontal extent in pixels."""

    text: str
    left: float
    right: float


class OcrLine(NamedTuple):
    """A line of text on the image; the box is in pixels from the top left corner."""

    text: str
    score: float
    left: float
    top: float
    right: float
    bottom: float
    words: tuple[OcrWord, ...] = ()

    @property
    def height(self) -> float:
        """Height in pixels, never 0."""
        return max(self.bottom - self.top, 1.0)

    @property
    def middle(self) -> float:
        return (self.top + self.bottom) / 2


def cleaned(lines: Iterable[OcrLine]) -> list[OcrLine]:
    """Split menu bars and columns into their items, then remove icons, as lines and from texts."""
    items = [item for line in lines for item in _split_at_gaps(line)]
    western = _is_western(items)
    readable = (item._replace(text=_plain(item.text, western)) for item in items)
    return [item for item in readable if item.score >= MIN_SCORE and _is_kept(item.text)]


def has_text(lines: Sequence[OcrLine], width: int, height: int) -> bool:
    """Return whether there is text on the image (a button is enough), and not only patterns that look like letters."""
    signs = [character for line in lines for character in line.text if character.isalnum()]
    letters = sum(1 for character in signs if character.isalpha())
    covered = sum((line.right - line.left) * line.height for line in lines) / (width * height)
    return letters >= _MIN_LETTERS or len(signs) >= _MIN_SIGNS or (letters >= 2 and covered >= _MIN_COVERED)


def _is_kept(text: str) -> bool:
    """Return whether the text is words, numbers or ideographs, and not a single letter that an icon was taken for."""
    signs = [character for character in text if character.isalnum()]
    return (
        len(signs) > 1
        or text in SEPARATORS
        or any(character.isdigit() or _IDEOGRAPH.match(character) for character in signs)
    )


def _plain(text: str, western: bool) -> str:
    text = " ".join(unicodedata.normalize("NFKC", text).split())
    if western:
        text = _EDGE_IDEOGRAPHS.sub("", text)
        text = "" if _IDEOGRAPH.fullmatch(text) else text
    return _TRAILING.sub("", _LEADING.sub("", text))


def _is_western(lines: Sequence[OcrLine]) -> bool:
    """Return whether there are too few ideographs to be text; then they are misread icons."""
    signs = [character for line in lines for character in line.text if character.isalnum()]
    ideographs = sum(1 for character in signs if _IDEOGRAPH.match(character))
    return ideographs < max(_MIN_IDEOGRAPHS, _MIN_IDEOGRAPH_SHARE * len(signs))


def _split_at_gaps(line: OcrLine) -> list[OcrLine]:
    gaps = [(right.left - left.right) / line.height for left, right in pairwise(line.words)]
    if not gaps:
        return [line]
    is_menu = len(gaps) > 1 and min(gaps) >= _MENU_GAP and fmean(gaps) >= _MENU_MEAN_GAP
    starts = [0, *(index + 1 for index, gap in enumerate(gaps) if is_menu or gap >= _COLUMN_GAP), len(line.words)]
    return [_part(line, line.words[start:end]) for start, end in pairwise(starts)] if len(starts) > 2 else [line]


def _part(line: OcrLine, words: Sequence[OcrWord]) -> OcrLine:
    text = " ".join(word.text for word in words)
    return line._replace(text=text, left=words[0].left, right=words[-1].right, words=tuple(words))
