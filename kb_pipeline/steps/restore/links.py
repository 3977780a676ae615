"""Restore hyperlinks by their labels: each link of the article once, on the words of its label.

The service's own links are removed, because the correct ones among them are links of the article, too. Links whose
label is not found are listed at the end of their section.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

from kb_pipeline.steps.html.dom import dissolve, is_inside, text_of
from kb_pipeline.steps.html.markdown import link_target
from kb_pipeline.steps.html.placeholders import Placeholders, escaped, without_placeholders
from kb_pipeline.steps.restore.align import Alignment, MatchPlace
from kb_pipeline.steps.restore.edits import Edits, Point, after_signs, at_one_level, before_signs, signs_around
from kb_pipeline.steps.restore.sections import Sections
from kb_pipeline.steps.restore.words import Reading, Spot, WordSpan

K = TypeVar("K")
V = TypeVar("V")

_SIGNS = re.compile(r"[^\w\ue000]*")
_MIN_COVERAGE = 0.5
"""Share of a label's words that must be found; with less the link may stand on other words."""
_MAX_EXTRA_WORDS = 3
"""Additional words allowed among those of a label."""


class LinkRestorer:
    """Inserts the article's links into the tree of a service."""

    def __init__(self, truth: Reading, reading: Reading, alignment: Alignment, placeholders: Placeholders) -> None:
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
        self._truth_keys, self._keys = truth.keys, reading.keys
        self._in_truth, self._in_reading = (
            _grouped((key, n) for n, key in enumerate(keys)) for keys in (self._truth_keys, self._keys)
        )
        self._foreign = _grouped((key, n) for n, key in enumerate(self._keys) if n not in alignment.sources)

    def restore(self, sections: Sections, edits: Edits) -> list[tuple[int, str]]:
        """Insert all links and remove those of the service.

        Returns links without a place: the word of the article at which one begins, and its label and target.
        """
        links = self._truth.of("a")
        ends = {link: points for link in links if (points := self._ends(link, self._by_words(link)))}
        for link in links:
            if link not in ends and (points := self._ends(link, self._by_target(link) or self._by_label(link))):
                ends[link] = points
        for link in self._reading.of("a"):
            dissolve(link.element)
        for link, (start, end) in ends.items():
            self._wrap(link, start, end, edits)
        unplaced = {link: _label(link) for link in links if link not in ends}
        for link, label in unplaced.items():
            text = self._opening() + label + self._closing(_target(link), in_table=False)
            sections.add_paragraph(link.first, text)
        return [(link.first, f"{label} -> {_target(link)}") for link, label in unplaced.items()]

    def _ends(self, link: WordSpan, place: MatchPlace | None) -> tuple[Point, Point] | None:
        """Return start and end of the link in the tree, if its words are free, and mark them as taken."""
        if link.first == link.end:
            return self._by_signs(link)
        if place is None:
            return None
        words = set(range(place.first, place.last + 1))
        in_one_line = self._reading.words[place.first].line == self._reading.words[place.last].line
        if words & self._taken or words & self._code or not in_one_line:
            return None
        self._taken |= words
        return self._with_signs(link, place)

    def _by_words(self, link: WordSpan) -> MatchPlace | None:
        """Return the place where the words of the label are found."""
        place = self._alignment.place(link.first, link.end)
        coverage = self._alignment.coverage(link.first, link.end)
        if coverage < 1 and (moved := self._moved(link)):
            return moved
        if place is None or coverage < _MIN_COVERAGE:
            return None
        return place if place.last - place.first < link.end - link.first + _MAX_EXTRA_WORDS else None

    def _moved(self, link: WordSpan) -> MatchPlace | None:
        """Return the place of a label of several words that each of both texts has once, in whatever order."""
        label = _keys(self._truth, link)
        if len(label) < 2 or len(_starts(label, self._truth_keys, self._in_truth)) != 1:
            return None
        starts = _starts(label, self._keys, self._in_reading)
        return self._place(starts[0], starts[0] + len(label)) if len(starts) == 1 else None

    def _by_target(self, link: WordSpan) -> MatchPlace | None:
        """Return the place of the service's next link with the same target and label."""
        for first, end in self._written.get((_target(link), _keys(self._truth, link)), ()):
            if first not in self._taken:
                return self._place(first, end)
        return None

    def _by_label(self, link: WordSpan) -> MatchPlace | None:
        """Return the only place where the label occurs among words that the article does not have."""
        label = _keys(self._truth, link)
        starts = [start for start in _starts(label, self._keys, self._foreign) if start not in self._taken]
        return self._place(starts[0], starts[0] + len(label)) if len(starts) == 1 else None

    def _place(self, first: int, end: int) -> MatchPlace:
        return MatchPlace(first, self._reading.words[first].start, end - 1, self._reading.words[end - 1].end)

    def _by_signs(self, link: WordSpan) -> tuple[Point, Point] | None:
        """Locate a label without words: in a link of the service, or right after the word preceding it."""
        label = _label(link)
        wordless = self._wordless.get((_target(link), label))
        if wordless:
            element = wordless.pop(0)
            return Point(Spot(element, False), 0), Point(Spot(element, False), len(element.text or ""))
        preceding = self._alignment.places.get(link.first - 1)
        if preceding is None or not label:
            return None
        spot = self._reading.words[preceding.last].spot
        signs = _SIGNS.match(spot.text, preceding.end)
        start = spot.text.find(label, preceding.end, signs.end() if signs else preceding.end)
        return (Point(spot, start), Point(spot, start + len(label))) if start >= 0 else None

    def _with_signs(self, link: WordSpan, place: MatchPlace) -> tuple[Point, Point]:
        """Extend the place by the signs before and after its words that belong to the label."""
        label = "".join(map(str, link.element.itertext())).strip()
        first, last = self._truth.text(link.first), self._truth.text(link.end - 1)
        start = Point(self._reading.words[place.first].spot, place.start)
        end = Point(self._reading.words[place.last].spot, place.end)
        signs = signs_around(label, first, last)
        return before_signs(start, signs[0]), after_signs(end, signs[1])

    def _wrap(self, link: WordSpan, start: Point, end: Point, edits: Edits) -> None:
        start, end = at_one_level(start, end, {child.tag for child in link.element.iterdescendants()})
        in_table = is_inside(start.spot.parent, "table")
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


def _keys(reading: Reading, link: WordSpan) -> tuple[str, ...]:
    return tuple(word.key for word in reading.words[link.first : link.end])


def _starts(label: Sequence[str], keys: Sequence[str], places: Mapping[str, Sequence[int]]) -> list[int]:
    """Return where the label begins among the words, of these places of its first word."""
    candidates = places.get(label[0], ()) if label else ()
    return [start for start in candidates if tuple(keys[start : start + len(label)]) == label]


def _label(link: WordSpan) -> str:
    return without_placeholders(text_of(link.element)).strip()


def _target(link: WordSpan) -> str:
    return link.element.get("href") or ""


def _grouped(items: Iterable[tuple[K, V]]) -> dict[K, list[V]]:
    groups: dict[K, list[V]] = {}
    for key, value in items:
        groups.setdefault(key, []).append(value)
    return groups
