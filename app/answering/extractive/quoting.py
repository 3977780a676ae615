"""Writes units of a passage as quotations: markdown that shows what the article says and does nothing else.

Also describes the pictures of passages. Choosing what to quote is the task of
:mod:`app.answering.extractive.choosing`.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from textwrap import dedent
from urllib.parse import unquote

from app.language.sentences import Unit, units_of
from app.schema.passages import Citation
from kb_pipeline.steps.markdown_parsers import row_cells

_CODE = re.compile(r"(`+)(?!`)(.+?)(?<!`)\1(?!`)", re.S)
_BREAK = re.compile(r"[ \t]*\n[ \t>]*")
_FORMATTING = re.compile(
    r"</?(?:b|i|u|s|em|strong|sub|sup|kbd|span|small|mark|code|abbr|cite|var|samp|font)(?:\s[^<>]*)?>", re.I
)
_LINE_BREAK = re.compile(r"(?:<br\s*/?>|\\$)", re.I | re.M)
_AUTOLINK = re.compile(r"<((?:https?|mailto):[^<>\s]+)>", re.I)
_TAG = re.compile(r"(?<!\\)<")
_LINK = re.compile(r"(!?)\[((?:[^\[\]\\]|\\.)*+)\]\(<?((?:[^()\s<>]|\([^()\s<>]*+\))*+)>?(?:\s\"[^\"\n]*+\")?\)")
_FOOTNOTE = re.compile(r"\s*(?:\\?\[)?(?:\d{1,3}|\*{1,3}|[a-z])(?:\\?\])?\s*")
_BRACKET = re.compile(r"(?<!\\)((?:\\\\)*+)\[")
_BLOCK_START = re.compile(r"(?=[#>+=~-]+(?:\s|$))|\d{1,9}(?=[.)](?:\s|$))")
_FENCE = re.compile(r"`{3,}|~{3,}")
_GAP = "…"
_INDENT = "    "
_APART = {"code": "code", "header": "table", "row": "table"}
"""Kinds of units that are no part of a paragraph."""
_LONGEST_GAP = 12
"""Characters between two adjacent sentences: white space and quote marks."""


def quotation(units: Sequence[Unit], reference: str) -> str:
    """Units of one passage, in its order, as one block quote that ends with the reference.

    An ellipsis marks where sentences of a paragraph, or the first items of a list, were left out.
    """
    parts: list[str] = []
    before: Unit | None = None
    for _, grouped in groupby(units, key=lambda unit: unit.block):
        block = list(grouped)
        if before and before.text.endswith(":") and _is_apart(before, block[0]):
            parts.append(_GAP)  # not the first of what is introduced
        parts += _block(block)
        before = block[-1]
    last_line = parts[-1].rpartition("\n")[2].lstrip() if parts else ""
    if not last_line or last_line.startswith(("|", "`")):
        parts.append(reference)
    else:
        parts[-1] += f" {reference}"
    return re.sub(r"^", "> ", "\n\n".join(parts), flags=re.M).replace("> \n", ">\n")


def inline(markdown: str) -> str:
    """Text of an article on one line: keeps emphasis and code, links only to the web, and shows HTML as text."""
    parts: list[str] = []
    end = 0
    for code in _CODE.finditer(markdown):
        parts += (_harmless(markdown[end : code.start()]), _BREAK.sub(" ", code[0]))
        end = code.end()
    return "".join((*parts, _harmless(markdown[end:]))).strip()


def plain(text: str) -> str:
    """A title or heading, which is not markdown, as inline markdown."""
    return re.sub(r"[\\`*_\[\]<>#|~$]", r"\\\g<0>", " ".join(text.split()))


def _harmless(text: str) -> str:
    text = _LINE_BREAK.sub(" ", _AUTOLINK.sub(r"\1", text))
    text = _FORMATTING.sub("", _BREAK.sub(" ", text))
    parts: list[str] = []
    end = 0
    for link in _LINK.finditer(text):
        parts += (_literal(text[end : link.start()]), _link(*link.groups()))
        end = link.end()
    return "".join((*parts, _literal(text[end:])))


def _literal(text: str) -> str:
    """Escape brackets and tags, so that an article cannot refer to another passage in our name."""
    return _BRACKET.sub(r"\1\\[", _TAG.sub(r"\\<", text))


def _link(image: str, label: str, target: str) -> str:
    if target.startswith("/api/images/"):
        return f"![{label.removeprefix('Image: ')}]({target})"
    if image:
        return ""
    if target.lower().startswith(("https://", "http://", "mailto:")):
        return f"[{_literal(label)}]({target})"
    return "" if _FOOTNOTE.fullmatch(label) else _literal(label)


def _block(units: Sequence[Unit]) -> Iterator[str]:
    """Yield the units of one block: a paragraph, a list with its markers, a table with its head, or code."""
    kinds = {unit.kind for unit in units}
    if any(unit.depth for unit in units):
        yield _list(units)
    elif kinds & {"header", "row"}:
        yield _table(units)
    elif kinds == {"heading"}:
        yield "\n\n".join(f"**{inline(unit.text.lstrip('> #').strip())}**" for unit in units)
    elif kinds == {"code"}:
        yield from map(_code, _runs_of_code(units))
    else:
        yield _joined(units)


def _list(units: Sequence[Unit]) -> str:
    """Return a list, or the quoted part of it, with the numbers that its items have in the article.

    Markdown counts up from a list's first number; only another delimiter begins a new list.
    """
    lines: list[str] = []
    open_items: list[Unit] = []
    for _, item in groupby(units, key=lambda unit: unit.item):
        first, *_ = sentences = list(item)
        last: Unit | None = None
        while open_items and open_items[-1].depth >= first.depth:
            last = open_items.pop()
        marker = _marker(first, last)
        lines.append(_indented(_item(marker, sentences), _INDENT * len(open_items)))
        open_items.append(replace(first, label=marker))
    return "\n".join(lines)


def _marker(item: Unit, before: Unit | None) -> str:
    """Return the marker of an item that follows the item ``before`` in the quotation."""
    if not item.numbered:
        return item.label or "-"
    number, delimiter = item.label[:-1], item.label[-1]
    if before and before.numbered:
        follows = item.depth == before.depth and int(number) == int(before.label[:-1]) + 1
        other = ")" if before.label[-1] == "." else "."
        delimiter = before.label[-1] if follows else other
    return number + delimiter


def _item(marker: str, units: Sequence[Unit]) -> str:
    """Return an item, with its paragraphs joined, its code and its tables."""
    text = marker if units[0].label else f"{marker} {_GAP}"
    for kind, grouped in groupby(units, key=lambda unit: _APART.get(unit.kind)):
        group = list(grouped)
        if kind is None:
            part = _joined(group)
        else:
            part = _table(group) if kind == "table" else "\n\n".join(map(_code, _runs_of_code(group)))
        text += f"\n\n{_indented(part, _INDENT)}" if kind or "\n" in text else f" {part}"
    return text


def _joined(units: Sequence[Unit]) -> str:
    """Join sentences with a space, or with an ellipsis where sentences were left out."""
    text = ""
    for unit, before in zip(units, (None, *units), strict=False):
        gap = f" {_GAP} " if before and _is_apart(before, unit) else " "
        text += (gap if before else "") + inline(unit.text)
    start = _BLOCK_START.match(text)  # escaped, or the first word would begin a heading, list or quote
    return f"{text[: start.end()]}\\{text[start.end() :]}" if start else text


def _is_apart(before: Unit, unit: Unit) -> bool:
    """Return whether something was left out between two units; a picture is shown by itself."""
    return unit.start - before.end > _LONGEST_GAP and not unit.after_image


def _table(units: Sequence[Unit]) -> str:
    lines = [inline(unit.text) for unit in units]
    columns = len(row_cells(lines[0]))
    ruler = "|" + "---|" * columns
    head = [lines.pop(0)] if units[0].kind == "header" else ["|" + "   |" * columns]
    return "\n".join((*head, ruler, *lines))


def _runs_of_code(units: Sequence[Unit]) -> Iterator[list[Unit]]:
    """Yield each code block, and the quoted parts of a longer one that follow each other."""
    run: list[Unit] = []
    for unit in units:
        if run and not (unit.is_part and 0 <= unit.start - run[-1].end <= _LONGEST_GAP):
            yield run
            run = []
        run.append(unit)
    if run:
        yield run


def _code(units: Sequence[Unit]) -> str:
    """Return a code block as a fence that nothing inside can close; an ellipsis marks where lines were left out."""
    text = units[0].text
    for unit, before in zip(units[1:], units, strict=False):
        text += "\n" * max(1, unit.start - before.end) + unit.text
    lines = dedent(text).split("\n")
    is_part, opens, closes = units[0].is_part, bool(_FENCE.match(lines[0])), bool(_FENCE.match(lines[-1].strip()))
    if is_part:
        body = [*([] if opens else [_GAP]), *lines[opens : len(lines) - closes], *([] if closes else [_GAP])]
    else:
        body = lines[1:-1] if opens and len(lines) > 1 else lines
    longest = max((len(run) for run in re.findall(r"`{3,}", "\n".join(body))), default=2)
    fence = "`" * (longest + 1)
    return "\n".join((fence, *body, fence))


def _indented(text: str, indent: str) -> str:
    return re.sub(r"^(?=.)", indent, text, flags=re.M)


_URL = re.compile(r"\]\((/api/images/[^()\s]+)\)")
_QUOTE_MARK = re.compile(r"^[ \t>]+", re.M)
_LISTING = re.compile(r"(?:UI elements|Navigation|Text on screen): ")
_STEP = "Shown at the step: "
_MARKUP = re.compile(r"[\\\[\]`*<>]")
_SHORTEST_ALT, _LONGEST_ALT = 4, 100
"""Characters of the beginning of a description that can be an alternative text."""


@dataclass(frozen=True, slots=True)
class PassageImage:
    """An image of a passage with its description; ``at`` is its place in the passage."""

    citation: Citation
    url: str
    description: str
    at: int

    @property
    def markdown(self) -> str:
        """The image as markdown; the beginning of its description or its name is the alternative text."""
        line = self.description.partition("\n")[0]
        first = _MARKUP.sub("", line.partition(". ")[0].removeprefix(_STEP)).strip()
        name = unquote(self.url.rpartition("/")[2]).removesuffix(".png")
        alt = name if _LISTING.match(first) or len(first) < _SHORTEST_ALT else first
        short = alt if len(alt) <= _LONGEST_ALT else alt[:_LONGEST_ALT].rpartition(" ")[0]
        return f"![{short.strip(' (,;:')}]({self.url})"


def pictures_of(citation: Citation) -> list[PassageImage]:
    """The images of a passage, in its order."""
    pictures = (_picture(citation, unit) for unit in units_of(citation.passage))
    return [picture for picture in pictures if picture]


def pictures_beside(citation: Citation, quoted: Sequence[Unit], reach: int) -> list[PassageImage]:
    """The images between the first and the last quoted unit, or else the nearest one within ``reach`` units.

    Of two equally near ones, the later one: an article first says something and then shows it.
    """
    units = units_of(citation.passage)
    starts = [unit.start for unit in units]  # a part of code is no unit, but in one
    first, last = (bisect_right(starts, unit.start) - 1 for unit in (quoted[0], quoted[-1]))
    images = [(at, picture) for at, unit in enumerate(units) if (picture := _picture(citation, unit))]
    inside = [picture for at, picture in images if first < at < last]
    near = [(at - last if at > last else first - at, at < first, at, picture) for at, picture in images]
    return inside or [picture for distance, _, _, picture in sorted(near, key=lambda n: n[:3])[:1] if distance <= reach]


def _picture(citation: Citation, unit: Unit) -> PassageImage | None:
    if unit.kind != "image":
        return None
    link, _, description = unit.text.partition("\n")
    url = _URL.search(link)
    return PassageImage(citation, url[1], _QUOTE_MARK.sub("", description), unit.start) if url else None
