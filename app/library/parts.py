"""Cuts the text of a long document into parts of whole pages, so that one of thousands of pages opens at once. Pure."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from kb_pipeline.records import PageBreak

PAGES_OF_A_PART = 40
"""A hundred kilobytes of text or so, which a browser lays out at once."""
_FENCE = re.compile(r"^[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*(`{3,}|~{3,})", re.MULTILINE)
_BLOCK = re.compile(r"\n\n(?=[^\s])")


@dataclass(frozen=True)
class DocumentPart:
    """Consecutive pages of a document; ``breaks`` are offsets in ``text``."""

    text: str
    breaks: tuple[PageBreak, ...]
    first_page: int
    last_page: int


def part_of(text: str, breaks: Sequence[PageBreak], page: int) -> DocumentPart:
    """The part of a document with this page; all of it if it is not longer than a part.

    A part begins with a whole block, so its first lines may stand on the page before.
    """
    count = breaks[-1].page
    first = (min(max(page, 1), count) - 1) // PAGES_OF_A_PART * PAGES_OF_A_PART + 1
    last = min(first + PAGES_OF_A_PART - 1, count)
    start, end = _cut(text, breaks, first), _cut(text, breaks, last + 1)
    within = (each for each in breaks if first <= each.page <= last)
    moved = (each.model_copy(update={"offset": max(0, each.offset - start)}) for each in within)
    return DocumentPart(text[start:end], tuple(each for each in moved if each.offset <= end - start), first, last)


def _cut(text: str, breaks: Sequence[PageBreak], page: int) -> int:
    """Return where the block begins in which a page begins: never within a list, a table or code."""
    at = next((each.offset for each in breaks if each.page >= page), len(text)) if page > 1 else 0
    if at in (0, len(text)):
        return at
    fence = ""
    for match in _FENCE.finditer(text, 0, at):
        if not fence:
            fence, opened = match[1], match.start()
        elif match[1].startswith(fence):
            fence = ""
    if fence:
        at = opened
    starts = [0, *(match.end() for match in _BLOCK.finditer(text, max(0, at - 20_000), at + 1))]
    return max(start for start in starts if start <= at)
