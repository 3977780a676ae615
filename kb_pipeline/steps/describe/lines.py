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
"""Letters from which a picture has text; two are an icon that looks like letters."""
_MIN_SIGNS = 8
"""Digits and letters from which it has text as well: a number, a date."""
_MIN_COVERED = 0.1
"""Share of the picture from which even two letters are its content: "OK" on a button."""
_MENU_GAP = 0.45
_MENU_MEAN_GAP = 0.55
_COLUMN_GAP = 1.3
"""Gaps between words, in line heights: .1 to .4 between words of a sentence, .5 to .9 between items of a menu bar."""

_DECORATION = r"[\s|)}©®¿•·●○◯◉◎□■☐☑☒▢▣▪▫◆◇★☆×✓✔✕✖√▲▼△▽◀▶►◄▸▾⌄˅∨↑↓↕⇅+=_~^*\\-]+"
_LEADING = re.compile(rf"^{_DECORATION}(?=[^\W\d_]|\[)|^[\s|]+")
_TRAILING = re.compile(r"(?:[\s|,•·●○□■☐×√▲▼▶▸▾⌄˅∨↑↓]|\s[vV])+$")
_MISREAD = {"QK": "OK", "0K": "OK", "oK": "OK"}
"""An underlined letter, as buttons have it for the keyboard, looks like another one."""

_IDEOGRAPHS = r"[\u2e80-\u30ff\u3400-\u9fff\uf900-\ufaff]"
_IDEOGRAPH = re.compile(_IDEOGRAPHS)
_EDGE_IDEOGRAPHS = re.compile(rf"^{_IDEOGRAPHS}{{1,2}}\s*(?=\w)|\s*{_IDEOGRAPHS}{{1,2}}$")
_MIN_IDEOGRAPHS = 3
"""Ideographs from which a line is Chinese or Japanese; icons are read as one or two."""
_MIN_IDEOGRAPH_SHARE = 0.2
"""The same as a share of a line's signs."""
_ICON_LETTERS = "vxQ"
"""What arrows, check boxes and magnifiers are taken for; no label begins with such a word."""

_ICON_GAP = 0.45
_ALIGNED_ICON_GAP = 0.3
"""Gaps between an icon and its label, in line heights; the second where the label is aligned with those of others."""

SEPARATORS = frozenset(">›»→/")
"""Separators in breadcrumbs, which are kept if they are recognised as separate lines."""


class OcrWord(NamedTuple):
    """A word and its horizontal extent in pixels."""

    text: str
    left: float
    right: float


class PixelBox(NamedTuple):
    """Edges in pixels from the top left corner."""

    left: float
    top: float
    right: float
    bottom: float


class OcrLine(NamedTuple):
    """A line of text on the image; the box is in pixels from the top left corner.

    ``ground`` is the colour (red, green, blue from 0 to 255) that it stands on, and ``frame`` the button, field or bar
    that it stands in; both are ``None`` where they are not known.
    """

    text: str
    score: float
    left: float
    top: float
    right: float
    bottom: float
    words: tuple[OcrWord, ...] = ()
    ground: tuple[int, int, int] | None = None
    frame: PixelBox | None = None

    @property
    def height(self) -> float:
        """Height in pixels, never 0."""
        return max(self.bottom - self.top, 1.0)

    @property
    def middle(self) -> float:
        return (self.top + self.bottom) / 2


def cleaned(lines: Iterable[OcrLine]) -> list[OcrLine]:
    """Split menu bars and columns into their items, then remove icons, as lines and from texts."""
    items = [item for line in lines for item in split_at_gaps(line)]
    western = _is_western(items)
    readable = [_without_icons(item, western) for item in items]
    kept = [item for item in readable if item.score >= MIN_SCORE and _is_kept(item.text)]
    starts = [(item.words[0].left, item) for item in kept if item.words]
    return [_without_aligned_icon(item, starts) for item in kept]


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


def _without_icons(item: OcrLine, western: bool) -> OcrLine:
    """Return the item without the signs and letters that icons beside its text were taken for."""
    text = _plain(item.text, western)
    if text != item.text and len(item.words) > 1 and text.startswith(item.words[1].text):
        item = _from_second_word(item, text)
    if len(item.words) > 1 and _is_icon_letter(item):
        return _from_second_word(item, text[1:].lstrip())
    return item._replace(text=text)


def _is_icon_letter(item: OcrLine) -> bool:
    """Return whether the first word is an icon: one letter, and a name far behind it ("Q  Search")."""
    icon, label = item.words[0], item.words[1]
    far = label.left - icon.right >= _ICON_GAP * item.height
    is_letter = len(icon.text) == 1 and icon.text.isalpha()
    return is_letter and label.text[:1].isupper() and (far or icon.text in _ICON_LETTERS)


def _without_aligned_icon(item: OcrLine, starts: Sequence[tuple[float, OcrLine]]) -> OcrLine:
    """Drop a first word of one or two characters if the second one is in line with the labels above and below."""
    if len(item.words) < 2 or len(item.words[0].text) > 2 or not item.text.startswith(f"{item.words[0].text} "):
        return item
    icon, label = item.words[0], item.words[1]
    tolerance = _ALIGNED_ICON_GAP * item.height
    in_line = [start for start, other in starts if other is not item and abs(start - label.left) <= tolerance]
    is_icon = len(in_line) > 1 and label.left - icon.right >= tolerance and label.text[:1].isupper()
    return _from_second_word(item, item.text[len(icon.text) :].lstrip()) if is_icon else item


def _from_second_word(item: OcrLine, text: str) -> OcrLine:
    return item._replace(text=text, left=item.words[1].left, words=item.words[1:])


def _plain(text: str, western: bool) -> str:
    text = " ".join(unicodedata.normalize("NFKC", text).split())
    if western:
        text = _EDGE_IDEOGRAPHS.sub("", text)
        text = "" if _IDEOGRAPH.fullmatch(text) else text
    text = _TRAILING.sub("", _LEADING.sub("", text))
    return _MISREAD.get(text, text)


def _is_western(lines: Sequence[OcrLine]) -> bool:
    """Return whether there are too few ideographs to be text; then they are misread icons."""
    signs = [character for line in lines for character in line.text if character.isalnum()]
    ideographs = sum(1 for character in signs if _IDEOGRAPH.match(character))
    return ideographs < max(_MIN_IDEOGRAPHS, _MIN_IDEOGRAPH_SHARE * len(signs))


def split_at_gaps(line: OcrLine) -> list[OcrLine]:
    """Split the line of a menu bar, or of several columns, into its items."""
    gaps = [(right.left - left.right) / line.height for left, right in pairwise(line.words)]
    if not gaps:
        return [line]
    is_menu = len(gaps) > 1 and min(gaps) >= _MENU_GAP and fmean(gaps) >= _MENU_MEAN_GAP
    starts = [0, *(index + 1 for index, gap in enumerate(gaps) if is_menu or gap >= _COLUMN_GAP), len(line.words)]
    return [_part(line, line.words[start:end]) for start, end in pairwise(starts)] if len(starts) > 2 else [line]


def _part(line: OcrLine, words: Sequence[OcrWord]) -> OcrLine:
    text = " ".join(word.text for word in words)
    return line._replace(text=text, left=words[0].left, right=words[-1].right, words=tuple(words))
