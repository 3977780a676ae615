"""Which pages begin where in the chunks of a section.

A section that is a chunk as it is keeps its offsets. Parts of a cut section are found again by their words: they repeat
the header of a table or the fence of code, so that no offsets follow from the cut.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from kb_pipeline.records import PageBreak

_WORD = re.compile(r"\w+")
_LONGEST_WHOLE_WORD = 100
"""Longer words may be cut in two."""


class _Own(NamedTuple):
    """A word of a part that is one of the section, not a repeated one: where it is in the section, and in the part."""

    source: int
    part: int


def breaks_of_parts(
    section: str, parts: Sequence[str], breaks: Sequence[PageBreak], current: PageBreak
) -> list[tuple[PageBreak, ...]]:
    """Return the page breaks of each part of a section; the first has offset 0.

    ``breaks`` are those of the section, with their offsets in it; ``current`` is the page on which it begins. A break
    behind the last word of a part belongs to the next one.
    """
    if not breaks:
        return [(_at(current, 0),)] * len(parts)
    if len(parts) == 1 and (indent := section.find(parts[0])) >= 0:
        return [_with_first([_at(one, max(0, one.offset - indent)) for one in breaks], len(parts[0]), current)]
    found: list[tuple[PageBreak, ...]] = []
    for part, own in zip(parts, _own_words(section, parts), strict=True):
        if own:
            begun = bisect_right([one.offset for one in breaks], own[0].source)
            current = breaks[begun - 1] if begun else current
            inside = _located(section, part, own, breaks[begun:])
            found.append(_with_first(inside, len(part), current))
            current = found[-1][-1]
        else:
            found.append((_at(current, 0),))
    return found


def _located(section: str, part: str, own: Sequence[_Own], breaks: Sequence[PageBreak]) -> list[PageBreak]:
    located: list[PageBreak] = []
    starts = [word.source for word in own]
    for one in breaks:
        index = bisect_left(starts, one.offset)
        before = own[index - 1]
        word = _WORD.match(part, before.part)
        if word and one.offset < before.source + len(word[0]):  # inside of a word
            located.append(_at(one, before.part + one.offset - before.source))
        elif index < len(own):
            located.append(_at(one, _back(section, part, own[index], one.offset)))
    return located


def _back(section: str, part: str, word: _Own, offset: int) -> int:
    """Return where the signs before the word begin, such as those of a heading or a cell, down to ``offset``."""
    source, position = word.source, word.part
    while source > offset and position > 0 and section[source - 1] == part[position - 1]:
        source, position = source - 1, position - 1
    return position


def _own_words(section: str, parts: Sequence[str]) -> list[list[_Own]]:
    """Return the own words of each part.

    They are sought from the end, because what is repeated precedes what is not: the last words that fit are its own.
    """
    words: Iterator[re.Match[str]] = reversed(list(_WORD.finditer(section)))
    expected = next(words, None)
    rest = expected[0] if expected else ""
    places: list[list[_Own]] = []
    for part in reversed(parts):
        own: list[_Own] = []
        for match in reversed(list(_WORD.finditer(part))):
            is_rest = len(rest) > _LONGEST_WHOLE_WORD and rest.endswith(match[0])
            if expected is None or not (match[0] == rest or is_rest):
                continue
            own.append(_Own(expected.start() + len(rest) - len(match[0]), match.start()))
            rest = rest[: -len(match[0])]
            if not rest:
                expected = next(words, None)
                rest = expected[0] if expected else ""
        places.append(own[::-1])
    return places[::-1]


def _with_first(breaks: Sequence[PageBreak], length: int, current: PageBreak) -> tuple[PageBreak, ...]:
    """Return the breaks that begin before ``length``, one for each offset, and before them the page at offset 0."""
    by_offset = {0: _at(current, 0)} | {one.offset: one for one in breaks if one.offset < length}
    return tuple(by_offset.values())


def _at(page_break: PageBreak, offset: int) -> PageBreak:
    return page_break.model_copy(update={"offset": offset})
