"""What stands on every page beside the text: running heads and feet, and page numbers.

A row in the upper or lower margin is one if it stands apart from the text and says the same as rows in its place on
other pages: the same words, with the page's own number or without. Where most rows of a place carry the page's own
number, the words beside it may name the section. All else is text: rows of a table or a list that goes on over pages
are alike, but their numbers do not run along with the pages, and they stand as near to the next row as that to others.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import median_low
from typing import NamedTuple

from kb_pipeline.steps.pdf.lines import Row
from kb_pipeline.steps.pdf.model import Page
from kb_pipeline.steps.pdf.outline import CAPTION
from kb_pipeline.steps.pdf.sheets import PageSheet, sheet_of

MARGIN = 0.13
"""The share of the page's height, at the top and at the bottom, where furniture stands."""
_NUMBER = re.compile(r"(?<!\d)\d{1,5}(?!\d)|\b[ivxlc]{1,8}\b")
_ROMAN = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}
_LETTERS = re.compile(r"[^\W\d_]")
_CONTINUED = re.compile(r"\(?(?:(?:table|code) )?continue[sd]? (?:on|from) (?:the )?(?:next|previous) page\)?\.*", re.I)
_PLACE = 4.0
"""Points within which furniture stands at one height: odd and even pages differ a little."""
_MOST_ROWS = 3
"""Rows at the top or bottom of a page that are compared with other pages."""
_APART = 1.25
"""How many times farther furniture stands from the text than its rows from each other."""
_SMALL = 0.9
"""Size below which a row is no row of the same table or paragraph, in sizes of the next one."""
_LONGEST_TITLE = 12
"""Words of a line that a running head may repeat."""
_LARGE = 1.5
"""Size from which on a line is a heading although it repeats, in sizes of the text: running heads have up to 1.3."""

_NUMBERED = 0.7
"""Share of the rows of a place that carry the page's own number, from which it is where numbers of pages stand."""
_MOST_OF = 0.9
"""Share of a place's rows that hold no letters: then it has numbers of pages alone."""
_SELDOM, _LONG_RUN = 0.25, 40
"""A place that fewer of the pages use has furniture only if it is used so often: by a chapter of a long manual."""
_FEW_PAGES = 6
"""With fewer pages, words repeat by chance: nearly all rows of a place must agree."""

_Place = tuple[str, int]
_Saying = tuple[str, int]
"""Words of a row with # for one of its numbers, and by how much that is more than the page's number."""


@dataclass(slots=True)
class _Entry:
    """A row in a margin, ``sayings`` are what other pages may say as well, ``own`` what may be the page's number.

    ``size_beside`` is that of the next row towards the text.
    """

    sheet: PageSheet
    row: Row
    place: _Place
    words: str
    sayings: set[_Saying]
    own: set[int | str]
    is_apart: bool
    size_beside: float

    def shows_number(self, offset: int | str) -> bool:
        """Whether it shows the page's number, which is more than its place by ``offset``, or nothing but a number."""
        return offset in self.own or not _LETTERS.search(_NUMBER.sub("", self.words))


class _Names(NamedTuple):
    """What sections are called: by the outline, and by single lines of the text."""

    titles: Collection[str]
    lines: Collection[str]

    def has(self, row: Row) -> bool:
        """Whether a piece of the row is a name, or the beginning of a title."""
        for name in filter(None, (plain(piece.text) for piece in row)):
            if name in self.titles or name in self.lines:
                return True
            if len(name) > 7 and any(title.startswith(name) for title in self.titles):
                return True
        return False


def furniture(sheets: Sequence[PageSheet], titles: Collection[str], body_size: float) -> dict[int, list[Row]]:
    """The rows that are furniture, by the page's number. ``titles`` are the outline's, by :func:`plain`."""
    margins = [margin for sheet in sheets for margin in _margins(sheet)]
    in_margins = {id(entry.row) for margin in margins for entry in margin}
    rows = (row for sheet in sheets for row in sheet.rows if len(row) == 1 and id(row) not in in_margins)
    headings = {plain(row[0].text) for row in rows if len(row[0].words) <= _LONGEST_TITLE}
    places: dict[_Place, list[_Entry]] = defaultdict(list)
    for margin in margins:
        for entry in margin:
            places[entry.place].append(entry)
    running = {
        id(entry.row)
        for place, entries in places.items()
        for entry in _running(_near(places, place), len(sheets), _Names(titles, headings), body_size)
        if entry.place == place
    }
    apart = {place for place in places if _stands_apart(_near(places, place))}
    found: dict[int, list[Row]] = defaultdict(list)
    for margin in margins:
        count = next((n for n, entry in enumerate(margin) if id(entry.row) not in running), len(margin))
        while count and margin[count - 1].place not in apart:
            count -= 1
        for entry in margin[:count]:
            found[entry.sheet.number].append(entry.row)
    return found


def without_furniture(pages: Sequence[Page]) -> list[Page]:
    """Pages that only have what stands beside their text, without rows of furniture and turned lines that repeat."""
    sheets = [sheet_of(page) for page in pages]
    rows = furniture(sheets, (), float("inf"))  # the text, beside which headings are large, is not on these pages
    times = Counter(text for sheet in sheets for text in {line.text for line in sheet.turned})
    kept = []
    for page, sheet in zip(pages, sheets, strict=True):
        lines = [piece for row in rows.get(page.number, ()) for piece in row]
        lines += [line for line in sheet.turned if times[line.text] > 1]
        gone = {(word.text, word.box) for line in lines for word in line.words}
        kept.append(replace(page, words=tuple(word for word in page.words if (word.text, word.box) not in gone)))
    return kept


def continuations(sheet: PageSheet) -> list[Row]:
    """The lines at the edges of the text that only say that it goes on over the page."""
    edges = [*sheet.rows[:1], *sheet.rows[-1:]]
    return [row for row in edges if _CONTINUED.fullmatch(" ".join(piece.text for piece in row).strip())]


def plain(text: str) -> str:
    """Letters and digits in lower case, without the number of a chapter before them."""
    text = re.sub(
        r"^\W*(?:(?i:chapter|appendix|section|part)\s+)?(?:[\dA-Z]{1,3}\.)*[\dA-Z]{0,3}[.:)]?\s+(?=\S)", "", text
    )
    return re.sub(r"[\W_]+", "", text).lower()


def _margins(sheet: PageSheet) -> Iterator[list[_Entry]]:
    """The rows in the upper and in the lower margin, each from the edge inwards."""
    top = [row for row in sheet.rows if row[0].baseline < MARGIN * sheet.height]
    bottom = [row for row in sheet.rows[len(top) :] if row[0].baseline > (1 - MARGIN) * sheet.height]
    yield [_entry(sheet, row, "top", sheet.rows[at:]) for at, row in enumerate(top[:_MOST_ROWS])]
    upwards = sheet.rows[::-1]
    yield [_entry(sheet, row, "bottom", upwards[at:]) for at, row in enumerate(bottom[::-1][:_MOST_ROWS])]


def _entry(sheet: PageSheet, row: Row, edge: str, inwards: Sequence[Row]) -> _Entry:
    """``inwards`` are the rows of the page from this one on."""
    baseline = row[0].baseline
    distance = baseline if edge == "top" else sheet.height - baseline
    words = " ".join(piece.text for piece in row).strip().casefold()
    sayings = {(words, 0)}
    for number in _NUMBER.finditer(words):
        sayings.add((f"{words[: number.start()]}#{words[number.end() :]}", _value(number[0]) - sheet.number))
    ends = [end.casefold() for piece in (row[0], row[-1]) for end in (piece.words[0].text, piece.words[-1].text)]
    own: set[int | str] = {_value(number) - sheet.number for end in ends for number in _NUMBER.findall(end)}
    if sheet.label and any(end.strip("-–—()[]. ") == sheet.label.casefold() for end in ends):
        own.add("label")
    steps = [abs(one[0].baseline - other[0].baseline) for one, other in pairwise(inwards[:5])]
    size_beside = max((piece.size for piece in inwards[1]), default=0.0) if len(inwards) > 1 else 0.0
    is_small = max(piece.size for piece in row) < _SMALL * size_beside
    is_apart = is_small or len(steps) < 2 or steps[0] > _APART * median_low(steps[1:])
    return _Entry(sheet, row, (edge, round(distance / _PLACE)), words, sayings, own, is_apart, size_beside)


def _value(number: str) -> int:
    """The value of an Arabic or a Roman number."""
    if number.isdigit():
        return int(number)
    values = [_ROMAN[letter] for letter in number]
    return sum(-one if one < after else one for one, after in zip(values, [*values[1:], 0], strict=True))


def _near(places: dict[_Place, list[_Entry]], place: _Place) -> list[_Entry]:
    """What stands in a place and right beside it: a row may lie on the border of two."""
    edge, distance = place
    return [entry for near in (-1, 0, 1) for entry in places.get((edge, distance + near), ())]


def _stands_apart(entries: Sequence[_Entry]) -> bool:
    return sum(entry.is_apart for entry in entries) >= 0.5 * len(entries)


def _running(entries: Sequence[_Entry], pages: int, names: _Names, body_size: float) -> list[_Entry]:
    """Those of the entries of a place that are furniture, if it is a place of furniture."""
    if pages < 2 or len(entries) < 2 or _counts_alike(entries, pages):
        return []
    said = {(saying, entry.sheet.number) for entry in entries for saying in entry.sayings}
    times = Counter(saying for saying, _ in said)
    offsets = Counter(number for entry in entries for number in entry.own)
    offset, numbered = offsets.most_common(1)[0] if offsets else (0, 0)
    is_numbered = numbered >= _NUMBERED * len(entries)
    repeated = [entry for entry in entries if max(times[saying] for saying in entry.sayings) > 1]
    ids = set(map(id, repeated))
    found = [
        entry
        for entry in entries
        if (id(entry) in ids or (is_numbered and entry.shows_number(offset)) or names.has(entry.row))
        and not _is_large(entry, body_size)
    ]
    most = max(times.values())
    share = len(found) / len(entries)
    only_numbers = sum(not _LETTERS.search(_NUMBER.sub("", entry.words)) for entry in found)
    if only_numbers >= _MOST_OF * len(entries) and len(entries) >= 3:
        return found
    # the fewer pages there are, or use this place, the more of its rows must be alike
    if len(entries) < _SELDOM * pages:
        return found if len(entries) >= _LONG_RUN and share >= 0.95 and most >= 0.3 * len(entries) else []
    if pages < _FEW_PAGES:
        return found if share >= 0.99 and (most >= 0.6 * pages or numbered >= 0.9 * len(entries)) else []
    return found if share >= 0.7 and (len(repeated) >= 0.4 * len(entries) or is_numbered) else []


def _is_large(entry: _Entry, body_size: float) -> bool:
    return entry.place[0] == "top" and (
        max(piece.size for piece in entry.row) > _LARGE * max(body_size, entry.size_beside)
    )


def _counts_alike(entries: Sequence[_Entry], pages: int) -> bool:
    """Whether rows say the same words, each with another number: chapters, records or plates that begin a page each.

    Their numbers run along with the pages. Running heads name sections besides, or tell how many pages there are.
    """
    times = Counter(entry.words for entry in entries)
    counted = [
        entry
        for entry in entries
        if len(entry.row) == 1 and times[entry.words] == 1 and str(pages) not in _NUMBER.findall(entry.words)
    ]
    alike = Counter(_NUMBER.sub("#", entry.words) for entry in counted)
    words, count = alike.most_common(1)[0] if alike else ("", 0)
    if count < max(2, 0.6 * len(entries)) or not _LETTERS.search(words) or words.startswith("#"):
        return False
    return entries[0].place[0] == "top" or all(CAPTION.match(entry.words) for entry in counted)
