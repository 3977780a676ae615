"""Restore every image where the article shows it, as often as it does: confirm markers, reinsert lost ones.

Not here: recognising what a service made of a marker (``recognise``).
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from lxml import etree

from kb_pipeline.steps.html.dom import HEADINGS, Element, has_text
from kb_pipeline.steps.restore.align import Alignment, MatchPlace
from kb_pipeline.steps.restore.edits import Edits, Point, after, before, inline_ancestors
from kb_pipeline.steps.restore.recognise import Marks
from kb_pipeline.steps.restore.words import Reading, Spot

_NEAR = 3
"""Words on each side of a lost marker, one of which must be found for the marker to be inserted there."""
_REST_OF_SENTENCE = re.compile(r"[^\s\w\[({<\ue000]*")
_CELLS = frozenset({"td", "th"})
_OWN_LINE = HEADINGS | {"p", "pre"}
"""Blocks beside which a marker can have a paragraph of its own."""


@dataclass(frozen=True, slots=True)
class ConfirmedMarkers:
    """``matches``: word numbers in the reading by word numbers in the article. ``lost``: the article's other markers.

    ``spare``: markers of the service that stand where the article shows none of these images, with the files they may
    stand for.
    """

    matches: dict[int, int]
    lost: list[int]
    spare: Mapping[int, Sequence[str]]


def confirm_markers(
    truth: Reading, reading: Reading, alignment: Alignment, marks: Marks, edits: Edits
) -> ConfirmedMarkers:
    """Match each marker of the service to one of the article's by the words around; others become text or nothing."""
    files = {number: marks.files[truth.text(number)] for number, word in enumerate(truth.words) if word.is_mark}
    names = {number: marks.names_of(reading.text(number)) for number, word in enumerate(reading.words) if word.is_mark}
    matches = {place: alignment.places[place].first for place in files if place in alignment.places}
    used = set(matches.values())
    unmatched = {number: candidates for number, candidates in names.items() if number not in used}
    missing = {place: file for place, file in files.items() if place not in matches}
    for number, place in _by_place(alignment, unmatched, missing):
        matches[place] = number
        _write(reading, number, marks.add(files[place]), edits)
    used = set(matches.values())
    spare = {number: candidates for number, candidates in names.items() if number not in used}
    return ConfirmedMarkers(matches, [place for place in files if place not in matches], spare)


def place_by_name(
    truth: Reading,
    reading: Reading,
    confirmed: ConfirmedMarkers,
    unplaced: Sequence[int],
    texts: Mapping[int, str],
    marks: Marks,
    edits: Edits,
) -> list[int]:
    """Leave markers whose text the service moved where they are, if the words beside them are the image's.

    All other spare markers become text or nothing. Returns the word numbers of images still without a place.
    """
    left = list(unplaced)
    for number, names in confirmed.spare.items():
        around = _keys_around(reading, number)
        fitting = [n for n in left if names == (marks.files[truth.text(n)],) and around & _keys_around(truth, n)]
        if fitting:
            left.remove(fitting[0])
        written = marks.written[reading.text(number)] if marks.literal else ""
        _write(reading, number, texts[fitting[0]] if fitting else written, edits)
    return left


def _keys_around(reading: Reading, number: int) -> set[str]:
    """Return the runs of two words among the few on each side of a marker."""
    sides = (
        [word.key for word in reading.words[max(0, number - 2 * _NEAR) : number] if not word.is_mark][-_NEAR:],
        [word.key for word in reading.words[number + 1 : number + 1 + 2 * _NEAR] if not word.is_mark][:_NEAR],
    )
    return {f"{first} {second}" for side in sides for first, second in pairwise(side)}


class LostMarkers:
    """Inserts lost markers into a tree."""

    def __init__(self, truth: Reading, reading: Reading, alignment: Alignment, matches: Mapping[int, int]) -> None:
        self._truth, self._reading = truth, reading
        words = reading.words
        marks = {word: MatchPlace(n, words[n].start, n, words[n].end) for word, n in matches.items()}
        self._places: dict[int, MatchPlace] = {**alignment.places, **marks}
        self._sources = {**alignment.sources, **{number: place for place, number in matches.items()}}
        self._headings = {word for span in truth.of(*HEADINGS) for word in range(span.first, span.end)}
        self._paragraphs: list[tuple[Element, bool, Element]] = []

    def restore(self, lost: Mapping[int, str], edits: Edits) -> list[int]:
        """Insert each marker, its placeholder given by its word number in the article; return those without a place."""
        unplaced = [word for word, text in lost.items() if not self._put(word, text, edits)]
        for line, follows, paragraph in reversed(self._paragraphs):
            if follows:
                line.addnext(paragraph)
        for line, follows, paragraph in self._paragraphs:
            if not follows:
                line.addprevious(paragraph)
        return unplaced

    def _put(self, word: int, text: str, edits: Edits) -> bool:
        own_line = all(self._truth.words[n].is_mark for n in range(*self._truth.line_of(word)[1:]))
        cell = self._empty_cell(word) if own_line else None
        if cell is not None:
            edits.insert(Point(Spot(cell, False), len(cell.text or "")), f" {text} ")
            return True
        preceding, following = self._beside(word, -1), self._beside(word, 1)
        if preceding is not None and (own_line or following is None or self._same_line(word, preceding)):
            self._put_after(self._places[preceding], word, text, own_line, edits)
        elif following is not None and (own_line or preceding is None or self._same_line(word, following)):
            self._put_before(self._places[following], text, own_line, edits)
        elif preceding is not None:
            self._put_after(self._places[preceding], word, text, own_line, edits)
        else:
            return self._put_into_gap(word, text, own_line, edits)
        return True

    def _put_into_gap(self, word: int, text: str, own_line: bool, edits: Edits) -> bool:
        """Insert a marker whose own text is lost between the nearest words of its section, if nothing else is there."""
        preceding, following = self._border(word, -1), self._border(word, 1)
        if preceding is None or following is None:
            return False
        start, end = self._places[preceding], self._places[following]
        if end.first != start.last + 1:
            return False
        self._put_after(start, word, text, own_line, edits)
        return True

    def _border(self, word: int, step: int) -> int | None:
        """Return the nearest word on that side that has a place, unless a heading without one lies between."""
        others = range(word + step, len(self._truth.words) if step > 0 else -1, step)
        border = next((n for n in others if n in self._places or n in self._headings), None)
        return border if border in self._places else None

    def _empty_cell(self, word: int) -> Element | None:
        """Return the empty cell for the marker, located by its distance from another cell of the same row."""
        own = self._truth.line_of(word).element
        row = own.getparent()
        if own.tag not in _CELLS or row is None:
            return None
        for step in (-1, 1):
            other = word + step
            while 0 <= other < len(self._truth.words) and self._truth.line_of(other).element.getparent() is row:
                if other in self._places:
                    distance = row.index(own) - row.index(self._truth.line_of(other).element)
                    return _cell_beside(self._reading.line_of(self._places[other].first).element, distance)
                other += step
        return None

    def _same_line(self, one: int, other: int) -> bool:
        return self._truth.words[one].line == self._truth.words[other].line

    def _beside(self, word: int, step: int) -> int | None:
        """Return the nearest word with a place in the tree, among the few words beside the marker in its section."""
        words_checked = 0
        other = word + step
        while 0 <= other < len(self._truth.words) and words_checked < _NEAR:
            if other in self._headings and (step > 0 or other not in self._places):
                return None
            if other in self._places:
                return other
            words_checked += not self._truth.words[other].is_mark
            other += step
        return None

    def _put_after(self, place: MatchPlace, word: int, text: str, own_line: bool, edits: Edits) -> None:
        line = self._reading.line_of(place.last)
        continues = any(self._sources.get(later, -1) > word for later in range(place.last + 1, line.end))
        if own_line and not continues and line.element.tag in _OWN_LINE:
            self._paragraphs.append((line.element, True, _paragraph(text)))
            return
        point = Point(self._reading.words[place.last].spot, place.end)
        outermost = _outermost(point.spot)
        if outermost is not None:
            point = after(outermost)
        rest = _REST_OF_SENTENCE.match(point.spot.text, point.offset)
        edits.insert(point._replace(offset=rest.end()) if rest else point, f" {text} ")

    def _put_before(self, place: MatchPlace, text: str, own_line: bool, edits: Edits) -> None:
        line = self._reading.line_of(place.first)
        if own_line and place.first == line.first and line.element.tag in _OWN_LINE:
            self._paragraphs.append((line.element, False, _paragraph(text)))
            return
        spot = self._reading.words[place.first].spot
        outermost = _outermost(spot)
        edits.insert(Point(spot, place.start) if outermost is None else before(outermost), f" {text} ")


def _by_place(
    alignment: Alignment, unmatched: Mapping[int, Sequence[str]], missing: Mapping[int, str]
) -> Iterator[tuple[int, int]]:
    """Match markers to the only missing one with such a name between the words around them."""
    aligned, places = sorted(alignment.sources), sorted(missing)
    for number, names in unmatched.items():
        index = bisect_left(aligned, number)
        low = alignment.sources[aligned[index - 1]] if index else -1
        high = alignment.sources[aligned[index]] if index < len(aligned) else places[-1] + 1 if places else 0
        between = places[bisect_right(places, low) : bisect_left(places, high)]
        matching = [place for place in between if missing[place] in names]
        if len(matching) == 1:
            places.remove(matching[0])
            yield number, matching[0]


def _write(reading: Reading, number: int, text: str, edits: Edits) -> None:
    word = reading.words[number]
    edits.replace(word.spot, word.start, word.end, text)


def _cell_beside(cell: Element, distance: int) -> Element | None:
    """Return the cell that many columns away, if it exists and is empty."""
    row = cell.getparent()
    column = row.index(cell) + distance if cell.tag in _CELLS and row is not None else -1
    other = row[column] if row is not None and 0 <= column < len(row) else None
    return None if other is None or has_text(other) else other


def _paragraph(text: str) -> Element:
    paragraph = etree.Element("p")
    paragraph.text = text
    return paragraph


def _outermost(spot: Spot) -> Element | None:
    return next(reversed(list(inline_ancestors(spot))), None)
