"""Counts the numbered paragraphs of a Word document as Word does, and writes the numbers as it prints them.

A paragraph names an instance of a list and a level. Instances of the same definition go on counting one another, unless
one starts anew; a level begins again after a paragraph of a level above it.
"""

import re
from typing import NamedTuple

from kb_pipeline.sources.docx.styles import Element, WordStyles, child, is_on, value
from kb_pipeline.steps.html.list_numbers import in_letters

_LEVELS = 9
"""As many as Word has."""
_PLAIN = re.compile(r"[(\[]?%(\d)[.):\]]*")
_LETTERS = {"lowerLetter", "upperLetter", "lowerRoman", "upperRoman"}
"""Numbers that legal numbering writes as digits."""

_LONGEST_ROMAN, _LONGEST_LETTERS = 3999, 260
"""Numbers above these are written as digits."""


class NumberedItem(NamedTuple):
    """An item of a list: which definition counted it, at which level, and what stands before its text.

    ``number`` counts from 1, 0 is a bullet; ``label`` is empty if it is only that number.
    """

    counted_by: str
    level: int
    number: int
    label: str
    printed: str


class _Level(NamedTuple):
    start: int
    format: str
    text: str
    restart: int
    is_legal: bool
    is_picture: bool
    style: str
    indent: int | None


class _Definition(NamedTuple):
    """How a list counts: ``counted_by`` is what it shares its counts by, ``starts`` are the numbers it starts anew at.

    ``levels`` and ``starts`` are by level.
    """

    counted_by: str
    levels: dict[int, _Level]
    starts: dict[int, int]


class Numbering:
    """The lists of ``word/numbering.xml``, and how far each has counted."""

    def __init__(self, part: Element | None, styles: WordStyles) -> None:
        definitions = () if part is None else part.iter("{*}abstractNum")
        self._abstract = {value(one, "abstractNumId"): one for one in definitions}
        self._instances = {value(one, "numId"): one for one in (() if part is None else part.iter("{*}num"))}
        self._styles = styles
        self._counts: dict[str, list[int | None]] = {}
        self._begun: set[tuple[str, int]] = set()
        self._read: dict[str, _Definition] = {}

    def level_of_style(self, instance: str, style: str) -> int:
        """The level that a list has for the paragraphs of a style, 0 if it has none."""
        levels = self._definition(instance).levels
        return next((at for at, level in levels.items() if style and level.style == style), 0)

    def indent(self, instance: str, at: int) -> int | None:
        """Where a list says that the text of its paragraphs begins at a level."""
        levels = self._definition(instance).levels
        return levels[at].indent if at in levels else None

    def next(self, instance: str, at: int) -> NumberedItem | None:
        """Count one more paragraph of a list at a level; ``None`` if nothing is printed before it."""
        counted_by, levels, starts = self._definition(instance)
        level = levels.get(at)
        if level is None or (level.format in ("none", "bullet") and not level.text.strip() and not level.is_picture):
            return None
        if level.format == "bullet":
            return NumberedItem(counted_by, at, 0, "", "")
        counts = self._counts.setdefault(counted_by, [None] * _LEVELS)
        is_new = at in starts and (instance, at) not in self._begun
        self._begun.add((instance, at))
        for above in range(at):
            if counts[above] is None:
                counts[above] = starts.get(above, levels[above].start if above in levels else 1)
        last = counts[at]
        number = starts.get(at, level.start) if last is None or is_new else last + 1
        counts[at] = number
        for below in range(at + 1, _LEVELS):
            if below in levels and levels[below].restart > at:
                counts[below] = None
        printed = " ".join(_printed(level, levels, counts).split())
        is_plain = (
            level.format == "decimal" and (whole := _PLAIN.fullmatch(level.text.strip())) and whole[1] == f"{at + 1}"
        )
        return NumberedItem(counted_by, at, number, "" if is_plain else printed, printed)

    def _definition(self, instance: str) -> _Definition:
        if instance not in self._read:
            self._read[instance] = self._of_instance(instance)
        return self._read[instance]

    def _of_instance(self, instance: str) -> _Definition:
        definition = self._instances.get(instance)
        overrides = [] if definition is None else list(definition.iterfind("{*}lvlOverride"))
        starts = {
            _number(value(one, "ilvl")): _number(value(start), 1)
            for one in overrides
            if (start := child(one, "startOverride")) is not None
        }
        seen = {instance}
        abstract = None
        key = ""
        # a definition may only name a style, whose own list is another instance, and so on: the last one has the levels
        while definition is not None:
            key = value(child(definition, "abstractNumId"))
            abstract = self._abstract.get(key)
            linked = value(child(abstract, "numStyleLink"))
            instance = value(self._styles.first(linked, "pPr", "numPr", "numId")) if linked else ""
            if instance in seen:
                break
            seen.add(instance)
            definition = self._instances.get(instance) if instance else None
        read = [] if abstract is None else list(abstract.iterfind("{*}lvl"))
        read += [level for one in overrides if (level := child(one, "lvl")) is not None]
        levels = {_number(value(level, "ilvl")): _level(level) for level in read}
        return _Definition(key, {at: level for at, level in levels.items() if at < _LEVELS}, starts)


def _level(level: Element) -> _Level:
    at = _number(value(level, "ilvl"))
    restart = child(level, "lvlRestart")
    indent = child(level, "pPr", "ind")
    return _Level(
        start=_number(value(child(level, "start")), 1),
        format=value(child(level, "numFmt")) or value(next(level.iter("{*}numFmt"), None)) or "decimal",
        text=value(child(level, "lvlText")),
        restart=_number(value(restart), at) if restart is not None else at,
        is_legal=is_on(child(level, "isLgl")),
        is_picture=child(level, "lvlPicBulletId") is not None,
        style=value(child(level, "pStyle")),
        indent=indent_in(indent),
    )


def indent_in(indent: Element | None) -> int | None:
    """Where a paragraph begins by its ``w:ind``, in twentieths of a point; ``None`` if it does not say."""
    said = value(indent, "left") or value(indent, "start")
    return int(float(said)) if re.fullmatch(r"-?\d{1,6}(\.\d+)?", said) else None


def _number(text: str, otherwise: int = 0) -> int:
    return int(text) if text.isdecimal() and len(text) < 10 else otherwise


def _printed(level: _Level, levels: dict[int, _Level], counts: list[int | None]) -> str:
    def one(found: re.Match[str]) -> str:
        at = int(found[1]) - 1
        number = counts[at]
        kind = levels[at].format if at in levels else "decimal"
        return "" if number is None else _written(number, "decimal" if level.is_legal and kind in _LETTERS else kind)

    return re.sub(r"%([1-9])", one, level.text)


def _written(number: int, kind: str) -> str:
    if kind in ("lowerLetter", "upperLetter") and 0 < number <= _LONGEST_LETTERS:
        letter = chr(ord("a") + (number - 1) % 26) * ((number - 1) // 26 + 1)
        return letter if kind == "lowerLetter" else letter.upper()
    if kind in ("lowerRoman", "upperRoman") and 0 < number <= _LONGEST_ROMAN:
        return in_letters(number, "lower-roman" if kind == "lowerRoman" else "upper-roman")
    if kind == "decimalZero":
        return f"{number:02}"
    return "" if kind in ("none", "bullet") else str(number)
