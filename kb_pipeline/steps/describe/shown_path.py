"""Find the way to a screen that the screen itself shows: a breadcrumb, a selected entry or tab, open menus.

Not here: the words of a path (``navigation``).
"""

from collections.abc import Iterable
from itertools import pairwise

from kb_pipeline.steps.describe.layout import Row
from kb_pipeline.steps.describe.lines import SEPARATORS, OcrLine
from kb_pipeline.steps.describe.navigation import Path, breadcrumb, valid_path

_GAP = 1.5
_INDENT = 0.6
"""In line heights: distance of the parts of a breadcrumb, and how much further left the parent of an entry begins."""

_STEP_GAP = 0.4
"""Distance of the parts of a breadcrumb without its separators, in line heights; words of one part are closer."""


def breadcrumb_in(row: Row, title: OcrLine | None) -> tuple[Path, tuple[OcrLine, ...]]:
    """Return the breadcrumb in a row and the texts that it consists of; both are empty if the row has none.

    Recognition loses thin separators or takes them for letters. Parts without them are a breadcrumb if the last one is
    the ``title`` of the page below.
    """
    for run in _runs(row):
        if path := breadcrumb(" ".join(item.text for item in run)):
            return path, run
        if title and title.top > run[0].bottom and (path := _unseparated(run, title.text)):
            return path, run
    return (), ()


def tree_path(entry: OcrLine, entries: Iterable[OcrLine]) -> Path:
    """Return the selected entry of a tree or a grouped list with the entries that it is below of, outermost first."""
    names = [entry.text]
    left = entry.left
    for above in sorted((other for other in entries if other.bottom <= entry.middle), key=lambda other: -other.top):
        if above.left <= left - _INDENT * entry.height and _may_be_parent(above.text):
            names.append(above.text)
            left = above.left
    return valid_path([name.strip(" :") for name in reversed(names)])


def _runs(row: Row) -> list[Row]:
    """Split a row where its items are as far apart as those of a menu bar."""
    borders = [index for index, (a, b) in enumerate(pairwise(row), start=1) if b.left - a.right > _GAP * a.height]
    return [row[start:end] for start, end in pairwise([0, *borders, len(row)])]


def _unseparated(run: Row, title: str) -> Path:
    words = [word for item in run for word in item.words]
    if not words or len(words) != sum(len(item.text.split()) for item in run):
        return ()
    parts: list[list[str]] = [[words[0].text]]
    for previous, word in pairwise(words):
        if word.left - previous.right >= _STEP_GAP * run[0].height:
            parts.append([])
        parts[-1].append(word.text)
    names = [" ".join(part) for part in parts if any(len(word) > 1 and word[0].isalnum() for word in part)]
    return valid_path(names) if names[-1:] == [title] else ()


def _may_be_parent(text: str) -> bool:
    return text not in SEPARATORS and not text.endswith(("...", "…", "..")) and len(text) > 1
