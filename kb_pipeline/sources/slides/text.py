"""The text of a slide's shape as HTML: paragraphs, lists by level, code by its font, emphasis and links.

Whether a paragraph has a bullet is often said far away: in the shape, the placeholder of the layout that it fills, the
placeholder of the master, or the master's styles. They are asked in this order.
"""

import re
from collections.abc import Iterator, Sequence
from html import escape
from typing import Any, NamedTuple

from kb_pipeline.sources.office import name_of
from kb_pipeline.sources.office_math import as_latex, is_structured
from kb_pipeline.sources.sign_fonts import as_signs

A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
FIXED_PITCH = re.compile(
    r"courier|consolas|\bmono|mono\b|monospace|menlo|monaco|lucida console|\bcode\b|source code|typewriter|inconsolata",
    re.IGNORECASE,
)
"""Names of fonts in which code is set."""
_SCHEME = re.compile(r"\s*([A-Za-z][A-Za-z0-9+.-]*):")
_SET_OFF = 1200
"""Hundredths of a point of space above a line."""
_LISTS = {"buAutoNum": "ol", "buChar": "ul", "buBlip": "ul", "buNone": ""}

_LETTERS = {"alphaLc": ' type="a"', "alphaUc": ' type="A"', "romanLc": ' type="i"', "romanUc": ' type="I"'}
"""Attributes of lists by how the schemes of their numbers begin."""

Element = Any
"""An element of lxml."""


class Paragraph(NamedTuple):
    """``kind`` is ``ul``, ``ol``, ``code``, ``heading`` or ""; ``html`` is what is inside of it.

    The number of an item is counted from ``start``, among those printed by the same ``scheme``: in digits, letters.
    """

    kind: str
    level: int
    html: str
    scheme: str = ""
    start: int = 1


def paragraphs_of(body: Element, styles: Sequence[Element], links: dict[str, str]) -> list[Paragraph]:
    """Read the paragraphs of a text body that hold text.

    ``styles`` are lists of styles (``a:lstStyle`` and the like), the nearest first; ``links`` are the web addresses by
    the id of their relationship.
    """
    return [read for paragraph in body.iterfind(f"{A}p") if (read := _paragraph(paragraph, styles, links)).html]


def as_html(paragraphs: Sequence[Paragraph], heading: int = 0) -> str:
    """Write paragraphs as blocks; lists are nested by their levels, lines of code beside each other are one block.

    ``heading`` is the level of headings among them; with 0, they are plain paragraphs.
    """
    blocks: list[tuple[str, list[Paragraph]]] = []
    for paragraph in paragraphs:
        is_inside = bool(blocks) and blocks[-1][0] == "list" and paragraph.level > 0 and paragraph.kind != "heading"
        block = "list" if paragraph.kind in ("ul", "ol") or is_inside else paragraph.kind
        if not blocks or blocks[-1][0] != block:
            blocks.append((block, []))
        blocks[-1][1].append(paragraph)
    return "".join(_block(kind, members, heading) for kind, members in blocks)


def _block(kind: str, members: Sequence[Paragraph], heading: int) -> str:
    if kind == "list":
        return _nested(members)
    if kind == "code":
        return "<pre>" + "\n".join(line.html for line in members).replace("<br>", "\n") + "</pre>"
    if kind == "heading" and heading:
        return "".join(f"<h{heading}>{re.sub('</?strong>', '', line.html)}</h{heading}>" for line in members)
    return "".join(f"<p>{paragraph.html}</p>" for paragraph in members)


def _nested(items: Sequence[Paragraph]) -> str:
    """Write list items; deeper ones, and paragraphs between them, stand inside of the item before them."""
    html, at = "", 0
    while at < len(items):
        kind, level = items[at].kind, items[at].level
        if kind not in ("ul", "ol"):
            beside = at + 1
            while beside < len(items) and items[beside].kind == kind:
                beside += 1
            html += _block(kind, items[at:beside], 0)
            at = beside
            continue
        first = items[at]
        start = f' start="{first.start}"' if first.start != 1 else ""
        html += f"<{kind}{_LETTERS.get(first.scheme[:7], '')}{start}>"
        while at < len(items) and _goes_on(first, items[at]):
            below = at + 1
            while below < len(items) and items[below].level > level:
                below += 1
            html += f"<li>{items[at].html}{_nested(items[at + 1 : below])}</li>"
            at = below
        html += f"</{kind}>"
    return html


def _goes_on(first: Paragraph, item: Paragraph) -> bool:
    """Whether an item stands in the same list as the first one; PowerPoint counts each level and scheme by itself."""
    if first.kind != item.kind or item.level > first.level:
        return False
    return item.kind == "ul" or (item[3:] == first[3:] and item.level == first.level)


def plain(body: Element) -> str:
    """Return the text of a text body on one line."""
    return " ".join(filter(None, map(_in_one_line, body.iterfind(f"{A}p"))))


def _in_one_line(paragraph: Element) -> str:
    return " ".join("".join(_texts(paragraph)).split())


def _texts(paragraph: Element) -> Iterator[str]:
    for part in paragraph.iter(f"{A}t", f"{A}br", f"{M}t"):
        yield " " if part.tag == f"{A}br" else _text_of(part.getparent(), part.text or "")


def _text_of(run: Element, text: str) -> str:
    """A text of a run with the signs that its fonts make of letters."""
    fonts = [run.find(f"{A}rPr/{A}{name}") for name in ("latin", "sym")]
    return as_signs(text, *("" if font is None else font.get("typeface", "") for font in fonts))


def _paragraph(paragraph: Element, styles: Sequence[Element], links: dict[str, str]) -> Paragraph:
    properties = paragraph.find(f"{A}pPr")
    level = _level(properties)
    runs = [child for child in paragraph if child.tag in (f"{A}r", f"{A}fld")]
    written = [run for run in runs if (run.findtext(f"{A}t") or "").strip()]
    if written and all(map(_is_code, written)):
        lines = "".join(
            "<br>" if child.tag == f"{A}br" else escape(child.findtext(f"{A}t") or "") for child in paragraph
        )
        return Paragraph("code", level, lines.replace("\v", "<br>").rstrip())
    html = "".join(_inline(child, links) for child in paragraph)
    html = re.sub(r"</(strong|em|code)><\1>", "", html).strip()
    bullet = _bullet_of(properties, level, styles)
    kind = "" if bullet is None else _LISTS[name_of(bullet)]
    if not kind and _is_set_off(properties) and all(map(_is_bold, written)) and "<br>" not in html:
        kind = "heading"
    html = html if html.replace("<br>", "").strip() else ""
    if kind != "ol" or bullet is None:
        return Paragraph(kind, level, html)
    start = bullet.get("startAt", "1")
    return Paragraph(kind, level, html, bullet.get("type", ""), int(start) if start.isdecimal() else 1)


def _is_set_off(properties: Element | None) -> bool:
    """Whether the paragraph itself asks for space above, which only headings among the text of a slide do."""
    points = None if properties is None else properties.find(f"{A}spcBef/{A}spcPts")
    return points is not None and points.get("val", "0").isdecimal() and int(points.get("val", "0")) >= _SET_OFF


def _level(properties: Element | None) -> int:
    level = "0" if properties is None else properties.get("lvl", "0")
    return min(int(level), 8) if level.isdecimal() else 0


def _bullet_of(properties: Element | None, level: int, styles: Sequence[Element]) -> Element | None:
    """What is said of the bullet of a paragraph, at the nearest place."""
    candidates = [properties, *(style.find(f"{A}lvl{level + 1}pPr") for style in styles)]
    children = (child for candidate in candidates if candidate is not None for child in candidate)
    return next((child for child in children if name_of(child) in _LISTS), None)


def _is_code(run: Element) -> bool:
    font = run.find(f"{A}rPr/{A}latin")
    return font is not None and bool(FIXED_PITCH.search(font.get("typeface", "")))


def _inline(child: Element, links: dict[str, str]) -> str:
    if child.tag == f"{A}br":
        return "<br>"
    if child.tag not in (f"{A}r", f"{A}fld"):
        return "".join(map(_equation, child.iter(f"{M}oMath")))
    text = _text_of(child, child.findtext(f"{A}t") or "")
    html = escape(text).replace("\v", "<br>")
    if not text.strip():
        return html
    properties = child.find(f"{A}rPr")
    if properties is None:
        return html
    before, after = text[: len(text) - len(text.lstrip())], text[len(text.rstrip()) :]
    html = html.strip()
    for tag in _marks(child, properties):
        html = f"<{tag}>{html}</{tag}>"
    link = properties.find(f"{A}hlinkClick")
    address = "" if link is None else links.get(link.get(f"{R}id", ""), "")
    if address:
        html = f'<a href="{escape(address)}">{html}</a>'
    return f"{escape(before)}{html}{escape(after)}"


def _equation(equation: Element) -> str:
    latex = escape(as_latex(equation))
    return f"<code>${latex}$</code>" if is_structured(equation) else latex


def _marks(run: Element, properties: Element) -> Iterator[str]:
    """Return the elements around the run's text, the innermost first."""
    if _is_code(run):
        yield "code"
    if (baseline := properties.get("baseline", "0")) not in ("0", "0%"):
        yield "sub" if baseline.startswith("-") else "sup"
    if properties.get("i") in ("1", "true"):
        yield "em"
    if _is_bold(run):
        yield "strong"


def _is_bold(run: Element) -> bool:
    properties = run.find(f"{A}rPr")
    return properties is not None and properties.get("b") in ("1", "true")


def is_link(target: str) -> bool:
    """Return whether the target of a relationship is an address that a reader may open; a relative one is, too."""
    scheme = _SCHEME.match(target)
    return bool(target) and (not scheme or scheme[1].lower() in ("http", "https", "mailto", "ftp"))
