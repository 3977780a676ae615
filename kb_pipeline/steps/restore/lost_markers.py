"""A place for a marker that the service lost: right after the words that precede it in the article.

Where those are lost, too, it goes before the words that follow it, else to the end of its section.
"""

import re
from collections.abc import Mapping

from lxml import etree

from kb_pipeline.steps.html.dom import HEADINGS, Element, has_text
from kb_pipeline.steps.restore.align import Alignment, Place
from kb_pipeline.steps.restore.edits import Edits, Point, after, before, inline_ancestors
from kb_pipeline.steps.restore.sections import Sections
from kb_pipeline.steps.restore.words import Reading, Spot

_NEAR = 3
"""Words beside a marker, of which one must be found for the marker to be put there."""
_REST_OF_SENTENCE = re.compile(r"[^\s\w\[({<\ue000]*")
_CELLS = frozenset({"td", "th"})
_OWN_LINE = HEADINGS | {"p", "pre"}
"""Blocks that a paragraph can follow."""


class LostMarkers:
    """Puts markers back into a tree."""

    def __init__(self, truth: Reading, reading: Reading, alignment: Alignment, found: Mapping[int, int]) -> None:
        """Take both readings and the markers that are found."""
        self._truth, self._reading = truth, reading
        words = reading.words
        marks = {word: Place(n, words[n].start, n, words[n].end) for word, n in found.items()}
        self._found: dict[int, Place] = {**alignment.places, **marks}
        self._sources = {**alignment.sources, **{number: place for place, number in found.items()}}
        self._headings = {word for span in truth.of(*HEADINGS) for word in range(span.first, span.end)}
        self._paragraphs: list[tuple[Element, bool, Element]] = []

    def put_back(self, lost: Mapping[int, str], sections: Sections, edits: Edits) -> list[int]:
        """Put each marker back: its placeholder, by its number in the article. Return those without a place."""
        unplaced = [word for word, text in lost.items() if not self._put(word, text, edits)]
        for line, follows, paragraph in reversed(self._paragraphs):
            if follows:
                line.addnext(paragraph)
        for line, follows, paragraph in self._paragraphs:
            if not follows:
                line.addprevious(paragraph)
        for word in unplaced:
            sections.add_paragraph(word, lost[word])
        return unplaced

    def _put(self, word: int, text: str, edits: Edits) -> bool:
        own_line = all(self._truth.words[n].is_mark for n in range(*self._truth.line_of(word)[1:]))
        cell = self._empty_cell(word) if own_line else None
        if cell is not None:
            edits.insert(Point(Spot(cell, False), len(cell.text or "")), f" {text} ")
            return True
        preceding, following = self._beside(word, -1), self._beside(word, 1)
        if preceding is not None and (own_line or following is None or self._same_line(word, preceding)):
            self._put_after(self._found[preceding], word, text, own_line, edits)
        elif following is not None and (own_line or preceding is None or self._same_line(word, following)):
            self._put_before(self._found[following], text, own_line, edits)
        elif preceding is not None:
            self._put_after(self._found[preceding], word, text, own_line, edits)
        else:
            return False
        return True

    def _empty_cell(self, word: int) -> Element | None:
        """The cell of the tree that is the marker's: in the row of another cell of its row, as far from that."""
        own = self._truth.line_of(word).element
        row = own.getparent()
        if own.tag not in _CELLS or row is None:
            return None
        for step in (-1, 1):
            other = word + step
            while 0 <= other < len(self._truth.words) and self._truth.line_of(other).element.getparent() is row:
                if other in self._found:
                    distance = row.index(own) - row.index(self._truth.line_of(other).element)
                    return _cell_beside(self._reading.line_of(self._found[other].first).element, distance)
                other += step
        return None

    def _same_line(self, one: int, other: int) -> bool:
        return self._truth.words[one].line == self._truth.words[other].line

    def _beside(self, word: int, step: int) -> int | None:
        """The nearest word that is found, of those few beside the marker in its section."""
        looked_at = 0
        other = word + step
        while 0 <= other < len(self._truth.words) and looked_at < _NEAR:
            if other in self._headings and (step > 0 or other not in self._found):
                return None
            if other in self._found:
                return other
            looked_at += not self._truth.words[other].is_mark
            other += step
        return None

    def _put_after(self, place: Place, word: int, text: str, own_line: bool, edits: Edits) -> None:
        line = self._reading.line_of(place.last)
        goes_on = any(self._sources.get(later, -1) > word for later in range(place.last + 1, line.end))
        if own_line and not goes_on and line.element.tag in _OWN_LINE:
            self._paragraphs.append((line.element, True, _paragraph(text)))
            return
        point = _outside(Point(self._reading.words[place.last].spot, place.end))
        rest = _REST_OF_SENTENCE.match(point.spot.text, point.offset)
        edits.insert(point._replace(offset=rest.end()) if rest else point, f" {text} ")

    def _put_before(self, place: Place, text: str, own_line: bool, edits: Edits) -> None:
        line = self._reading.line_of(place.first)
        if own_line and place.first == line.first and line.element.tag in _OWN_LINE:
            self._paragraphs.append((line.element, False, _paragraph(text)))
            return
        spot = self._reading.words[place.first].spot
        outermost = _outermost(spot)
        edits.insert(Point(spot, place.start) if outermost is None else before(outermost), f" {text} ")


def _cell_beside(cell: Element, distance: int) -> Element | None:
    """The cell that many columns away, if it is there and holds nothing."""
    row = cell.getparent()
    column = row.index(cell) + distance if cell.tag in _CELLS and row is not None else -1
    there = row[column] if row is not None and 0 <= column < len(row) else None
    return None if there is None or has_text(there) else there


def _paragraph(text: str) -> Element:
    paragraph = etree.Element("p")
    paragraph.text = text
    return paragraph


def _outermost(spot: Spot) -> Element | None:
    return next(reversed(list(inline_ancestors(spot))), None)


def _outside(point: Point) -> Point:
    """The point itself, or the one after the formatting it stands in."""
    outermost = _outermost(point.spot)
    return point if outermost is None else after(outermost)
