"""Hyperlinks, put back by their labels: each link of the article once, where its label stands.

No link of the service's own survives: what is right in it is one of the article's. Links whose label is lost are
listed at the end of their section.
"""

import re
from collections.abc import Iterable
from typing import TypeVar

from kb_pipeline.steps.html.dom import dissolve, text_of
from kb_pipeline.steps.html.markdown import link_target
from kb_pipeline.steps.html.placeholders import Placeholders, escaped, without_placeholders
from kb_pipeline.steps.restore.align import Alignment, Place
from kb_pipeline.steps.restore.edits import Edits, Point, after_signs, at_one_level, before_signs, signs_around
from kb_pipeline.steps.restore.sections import Sections
from kb_pipeline.steps.restore.words import Reading, Span, Spot

K = TypeVar("K")
V = TypeVar("V")

_SIGNS = re.compile(r"[^\w\ue000]*")
_FOUND = 0.5
_LABEL_NOISE = 3
"""Words more than the article's label has, among which it may be found."""


class Links:
    """Puts the article's links into the tree of a service."""

    def __init__(self, truth: Reading, reading: Reading, alignment: Alignment, placeholders: Placeholders) -> None:
        """Take both readings; nothing is changed yet."""
        self._truth, self._reading, self._alignment = truth, reading, alignment
        self._placeholders = placeholders
        self._taken: set[int] = set()
        self._code = {n for span in reading.of("pre") for n in range(span.first, span.end)}
        self._written = _grouped(
            ((_target(link), _keys(reading, link)), link[1:]) for link in reading.of("a") if link.end > link.first
        )
        self._wordless = _grouped(
            ((_target(link), _label(link)), link.element)
            for link in reading.of("a")
            if link.end == link.first and not len(link.element)
        )
        self._keys = reading.keys
        self._foreign = _grouped((key, n) for n, key in enumerate(self._keys) if n not in alignment.sources)

    def put_back(self, sections: Sections, edits: Edits) -> list[str]:
        """Put all links back and take the service's away; return the labels of those without a place."""
        links = self._truth.of("a")
        ends = {link: found for link in links if (found := self._ends(link, self._by_words(link)))}
        for link in links:
            if link not in ends and (found := self._ends(link, self._by_target(link) or self._by_label(link))):
                ends[link] = found
        for link in self._reading.of("a"):
            dissolve(link.element)
        for link, (start, end) in ends.items():
            self._wrap(link, start, end, edits)
        unplaced = {link: _label(link) for link in links if link not in ends}
        for link, label in unplaced.items():
            text = self._opening() + label + self._closing(_target(link), in_table=False)
            sections.add_paragraph(link.first, text)
        return list(unplaced.values())

    def _ends(self, link: Span, place: Place | None) -> tuple[Point, Point] | None:
        """Where the link begins and ends in the tree, if nothing is there; its words are taken from then on."""
        if link.first == link.end:
            return self._by_signs(link)
        if place is None:
            return None
        words = set(range(place.first, place.last + 1))
        if words & self._taken or words & self._code or not self._in_one_line(place):
            return None
        self._taken |= words
        return self._with_signs(link, place)

    def _in_one_line(self, place: Place) -> bool:
        return self._reading.words[place.first].line == self._reading.words[place.last].line

    def _by_words(self, link: Span) -> Place | None:
        """Where the label's own words are found."""
        place = self._alignment.place(link.first, link.end)
        if place is None or self._alignment.coverage(link.first, link.end) < _FOUND:
            return None
        return place if place.last - place.first < link.end - link.first + _LABEL_NOISE else None

    def _by_target(self, link: Span) -> Place | None:
        """The next link of the service's with the same target and label."""
        for first, end in self._written.get((_target(link), _keys(self._truth, link)), ()):
            if first not in self._taken:
                return self._place(first, end)
        return None

    def _by_label(self, link: Span) -> Place | None:
        """The one place where the label stands among the words that the article has nowhere."""
        label = _keys(self._truth, link)
        starts = [
            start
            for start in self._foreign.get(label[0] if label else "", ())
            if start not in self._taken and tuple(self._keys[start : start + len(label)]) == label
        ]
        return self._place(starts[0], starts[0] + len(label)) if len(starts) == 1 else None

    def _place(self, first: int, end: int) -> Place:
        return Place(first, self._reading.words[first].start, end - 1, self._reading.words[end - 1].end)

    def _by_signs(self, link: Span) -> tuple[Point, Point] | None:
        """Where a label without words stands: in a link of the service's, or right after the word before it."""
        label = _label(link)
        wordless = self._wordless.get((_target(link), label))
        if wordless:
            element = wordless.pop(0)
            return Point(Spot(element, False), 0), Point(Spot(element, False), len(element.text or ""))
        before = self._alignment.places.get(link.first - 1)
        if before is None or not label:
            return None
        spot = self._reading.words[before.last].spot
        rest = _SIGNS.match(spot.text, before.end)
        at = spot.text.find(label, before.end, rest.end() if rest else before.end)
        return (Point(spot, at), Point(spot, at + len(label))) if at >= 0 else None

    def _with_signs(self, link: Span, place: Place) -> tuple[Point, Point]:
        """The place with the signs before and after its words that belong to the label, too."""
        label = "".join(map(str, link.element.itertext())).strip()
        first, last = self._truth.text(link.first), self._truth.text(link.end - 1)
        start = Point(self._reading.words[place.first].spot, place.start)
        end = Point(self._reading.words[place.last].spot, place.end)
        signs = signs_around(label, first, last)
        return before_signs(start, signs[0]), after_signs(end, signs[1])

    def _wrap(self, link: Span, start: Point, end: Point, edits: Edits) -> None:
        start, end = at_one_level(start, end, {child.tag for child in link.element.iterdescendants()})
        in_table = next(start.spot.parent.iterancestors("table"), None) is not None
        if start.spot.text[: start.offset].endswith("!"):
            edits.replace(start.spot, start.offset - 1, start.offset, escaped("!") + self._opening())
        else:
            edits.insert(start, self._opening())
        edits.insert(end, self._closing(_target(link), in_table))

    def _opening(self) -> str:
        return self._placeholders.add("[")

    def _closing(self, target: str, in_table: bool) -> str:
        written = link_target(target)
        cell_safe = written.replace("|", "\\|") if in_table else written
        return self._placeholders.add(f"]({cell_safe})")


def _keys(reading: Reading, link: Span) -> tuple[str, ...]:
    return tuple(word.key for word in reading.words[link.first : link.end])


def _label(link: Span) -> str:
    return without_placeholders(text_of(link.element)).strip()


def _target(link: Span) -> str:
    return link.element.get("href") or ""


def _grouped(items: Iterable[tuple[K, V]]) -> dict[K, list[V]]:
    groups: dict[K, list[V]] = {}
    for key, value in items:
        groups.setdefault(key, []).append(value)
    return groups
