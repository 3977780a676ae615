"""Finds the text of a Word document that no reader sees, by what its styles and runs say, and takes it out.

Hidden text, text in the colour of its ground, smaller than a point, in hidden rows, and in drawings that are hidden or
beside the page. The ground of a text may be a picture or a table's style: where it is not certain, the text is seen.
"""

import re
from collections.abc import Mapping
from functools import cache

from kb_pipeline.sources.docx.styles import OFF, Element, WordStyles, child, is_on, value
from kb_pipeline.sources.office import name_of, number_of

_CONTENT = {"t", "tab", "cr", "sym", "noBreakHyphen", "softHyphen", "ruby", "drawing", "pict", "object"}
_CONTENT |= {"footnoteReference", "endnoteReference", "AlternateContent"}
_SAME = 8
"""Levels of 255 by which a colour differs from its ground and nobody sees it."""
_LEAST_SIZE = 1.0
"""Points below which nobody reads a letter."""
_WHITE = "ffffff"
_HEX = re.compile(r"[0-9a-f]{6}")
_HIGHLIGHTS = {
    **{"black": "000000", "white": _WHITE, "red": "ff0000", "green": "00ff00", "blue": "0000ff", "yellow": "ffff00"},
    **{"cyan": "00ffff", "magenta": "ff00ff", "darkRed": "800000", "darkGreen": "008000", "darkBlue": "000080"},
    **{"darkYellow": "808000", "darkCyan": "008080", "darkMagenta": "800080"},
    **{"darkGray": "808080", "lightGray": "c0c0c0"},
}
"""The colours of ST_HighlightColor."""
_SHAPES = ("{*}shape", "{*}rect", "{*}roundrect", "{*}oval", "{*}group")
_DRAWINGS = ("{*}anchor", "{*}inline", *_SHAPES)
_POINT = 12_700
"""Units of a drawing (EMU) in a point."""
_LENGTH = re.compile(r"(-?[\d.]+)(pt|in|cm|mm|px)?$")
_UNITS = {"pt": 1.0, "in": 72.0, "cm": 28.35, "mm": 2.835, "px": 0.75, "": 1.0}  # in points, as VML writes lengths


def leave_out_unseen(tree: Element, styles: WordStyles, *, is_on_white: bool) -> int:
    """Take what no reader sees out of a part of a document, in place; return the number of words.

    ``is_on_white`` says that nothing lies behind the text of the pages.
    """
    page = _page_size(tree)
    words = 0
    away = (drawing for drawing in tree.iter(*_DRAWINGS) if _is_away(drawing, page))
    for whole in dict.fromkeys(next(one.iterancestors("{*}AlternateContent"), one) for one in away):
        words += max(map(_words_in, whole), default=0)  # the alternatives have the same words
        _remove(whole)
    for row in [row for row in tree.iter("{*}tr") if is_on(child(child(row, "trPr"), "hidden"))]:
        words += _words_in(row)
        _clear(row)
    look = _Look(styles, is_on_white)
    for run in [run for run in tree.iter("{*}r") if not _is_space(run) and not look.is_seen(run)]:
        words += _words_in(run)
        _clear(run)
    return words


def has_pictures_behind(tree: Element, *, anywhere: bool = False) -> bool:
    """Whether a drawing lies behind the text of this part, or is there at all, ``anywhere``, as in a header."""
    if any(anywhere or value(anchor, "behindDoc") in ("1", "true") for anchor in tree.iter("{*}anchor")):
        return True
    shapes = (value(shape, "style").replace(" ", "").lower() for shape in tree.iter(*_SHAPES))
    return any("position:absolute" in style and (anywhere or "z-index:-" in style) for style in shapes)


class _Look:
    """How runs look, by the defaults, the styles and what they say themselves."""

    def __init__(self, styles: WordStyles, is_on_white: bool) -> None:
        self._styles, self._is_on_white = styles, is_on_white
        self._defaults = _named(styles.run_defaults)
        self._of_style = cache(self._of_style_and_its_bases)

    def is_seen(self, run: Element) -> bool:
        """Whether a reader sees the text of the run."""
        own = {name: one for properties in run.iterfind("{*}rPr") for name, one in _named(properties).items()}
        paragraph = next(run.iterancestors("{*}p"), None)
        properties = child(paragraph, "pPr")
        style = self._styles.of_paragraph(paragraph)
        of_paragraph, of_run = self._of_style(style), self._of_style(value(own.get("rStyle"), "val"))
        look = {**self._defaults, **of_paragraph, **of_run, **own}
        if self._is_hidden(own, of_paragraph, of_run) or _points(look) < _LEAST_SIZE:
            return False
        fill = look.get("textFill")
        if fill is not None and (child(fill, "noFill") is not None or _is_clear(fill)):
            return look.get("textOutline") is not None
        colour = _colour(value(look.get("color"), "val")) if fill is None else _colour(_deepest(fill, "srgbClr"))
        return not colour or not _is_same(colour, self._ground(look, run, properties, style))

    def _is_hidden(self, own: Mapping[str, Element], *styles: Mapping[str, Element]) -> bool:
        """Whether text is hidden: in two styles of a run it is switched on and off again."""
        if "vanish" in own:
            return is_on(own["vanish"])
        switched = sum(is_on(style.get("vanish")) for style in styles)
        return switched % 2 == 1 if switched else is_on(self._defaults.get("vanish"))

    def _ground(self, look: Mapping[str, Element], run: Element, properties: Element | None, style: str) -> str:
        """The colour behind the text of a run, "" if it is not certain."""
        if (highlight := value(look.get("highlight"), "val")) and highlight not in OFF:
            return _HIGHLIGHTS.get(highlight, "")
        shadings = [look.get("shd"), child(properties, "shd"), self._of_style(style).get("p:shd")]
        for around in run.iterancestors("{*}tc", "{*}tbl", "{*}txbxContent"):
            if name_of(around) == "txbxContent":
                return next(filter(None, map(_fill, shadings)), "")
            shadings.append(child(child(around, f"{name_of(around)}Pr"), "shd"))
            if name_of(around) == "tbl" and self._is_shaded(value(child(child(around, "tblPr"), "tblStyle"), "val")):
                return next(filter(None, map(_fill, shadings)), "")
        return next(filter(None, map(_fill, shadings)), _WHITE if self._is_on_white else "")

    def _is_shaded(self, table_style: str) -> bool:
        return any(next(style.iter("{*}shd"), None) is not None for style in self._styles.chain(table_style))

    def _of_style_and_its_bases(self, style: str) -> dict[str, Element]:
        """What a style says of runs, and of the shading of its paragraphs."""
        properties: dict[str, Element] = {}
        for one in reversed(self._styles.chain(style)):
            properties |= _named(child(one, "rPr"))
            if (shading := child(child(one, "pPr"), "shd")) is not None:
                properties["p:shd"] = shading
        return properties


def _named(properties: Element | None) -> dict[str, Element]:
    return {} if properties is None else {name_of(one): one for one in properties if isinstance(one.tag, str)}


def _points(look: Mapping[str, Element]) -> float:
    """The height or the width of a letter, whichever is smaller; a font's size is 10 points unless it is said."""
    size, width = (value(look.get(name), "val").rstrip("%") for name in ("sz", "w"))
    points = int(size) / 2 if size.isdecimal() else 10.0
    return points * min(int(width), 100) / 100 if width.isdecimal() and int(width) else points


def _is_clear(fill: Element) -> bool:
    """Whether all of a fill shines through: Word counts what does, not what does not."""
    return value(next(fill.iter("{*}alpha"), None), "val") in ("100000", "100%")


def _colour(written: str) -> str:
    return written.lower() if _HEX.fullmatch(written.lower()) else ""


def _deepest(element: Element, name: str) -> str:
    return value(next(element.iter(f"{{*}}{name}"), None), "val")


def _fill(shading: Element | None) -> str:
    """The colour of a shading; "" for none, and a space for a pattern, whose colours mix, or a colour of the theme."""
    kind = value(shading, "val")
    if kind == "solid":
        return _colour(value(shading, "color")) or " "
    fill = _colour(value(shading, "fill"))
    return fill if kind in ("clear", "nil", "") and (fill or not value(shading, "themeFill")) else " "


def _is_same(colour: str, ground: str) -> bool:
    pairs = (slice(place, place + 2) for place in (0, 2, 4))
    return bool(ground.strip()) and all(abs(int(colour[at], 16) - int(ground[at], 16)) < _SAME for at in pairs)


def _page_size(tree: Element) -> tuple[float, float]:
    """The largest width and height of a page, in points; those of the largest usual paper if none is said."""
    sizes = [(value(size, "w"), value(size, "h")) for size in tree.iter("{*}pgSz")]
    pages = [(int(w) / 20, int(h) / 20) for w, h in sizes if w.isdecimal() and h.isdecimal()]
    return (max(w for w, _ in pages), max(h for _, h in pages)) if pages else (1191.0, 1191.0)


def _is_away(drawing: Element, page: tuple[float, float]) -> bool:
    """Whether a drawing is hidden, or wholly beside the page, wherever on it its place is counted from."""
    if name_of(drawing) in ("anchor", "inline"):
        is_hidden = any(value(one, "hidden") in ("1", "true") for one in (drawing, child(drawing, "docPr")))
        return is_hidden or any(
            _is_beside(child(drawing, name), value(child(drawing, "extent"), size), side)
            for name, size, side in (("positionH", "cx", page[0]), ("positionV", "cy", page[1]))
        )
    style = dict(part.strip().lower().split(":", 1) for part in value(drawing, "style").split(";") if ":" in part)
    if style.get("visibility") == "hidden" or style.get("display") == "none":
        return True
    if style.get("position") != "absolute" or name_of(drawing.getparent()) == "group":
        return False
    return any(
        (offset := _length(style.get(name))) is not None
        and (offset >= side or offset + (_length(style.get(size)) or 0) <= -side)
        for name, size, side in (("margin-left", "width", page[0]), ("margin-top", "height", page[1]))
    )


def _is_beside(position: Element | None, size: str, side: float) -> bool:
    """Whether what is placed like this lies before the beginning or after the end of a side of the page, in points."""
    offset = child(position, "posOffset")
    if offset is None:
        return False
    begin = number_of(offset.text) / _POINT
    before = 0.0 if value(position, "relativeFrom") == "page" else -side
    return begin >= side or begin + number_of(size) / _POINT <= before


def _length(written: str | None) -> float | None:
    match = _LENGTH.match((written or "").strip())
    return float(match[1]) * _UNITS[match[2] or ""] if match else None


def _is_space(run: Element) -> bool:
    """Whether the run only sets words apart, in whatever colour."""
    return (
        run.find("{*}t") is not None
        and not _words_in(run)
        and len(run) == len(run.findall("{*}t")) + len(run.findall("{*}rPr"))
    )


def _words_in(element: Element) -> int:
    return len(" ".join(text.text or "" for text in element.iter("{*}t")).split())


def _clear(element: Element) -> None:
    """Take the content out of an element; where pages begin stays known."""
    for part in [one for one in element.iter() if isinstance(one.tag, str) and name_of(one) in _CONTENT]:
        if part is not element:
            _remove(part)


def _remove(element: Element) -> None:
    if (parent := element.getparent()) is not None:
        parent.remove(element)
