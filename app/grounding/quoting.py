"""Units of a passage written down as quotations: markdown that shows what the article says and does nothing else.

Here: making the text of articles harmless and readable outside of them. Not here: what is quoted.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from textwrap import dedent

from app.grounding.sentences import Unit

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
_BRACKET = re.compile(r"(?<!\\)\[")
_BLOCK_START = re.compile(r"(?=[#>+=~-]+(?:\s|$))|\d{1,9}(?=[.)](?:\s|$))")
_FENCE = re.compile(r"`{3,}|~{3,}")
_GAP = "…"
_INDENT = "    "
_LONGEST_GAP = 12
"""Characters between two sentences that follow each other: white space and quote marks."""


def quotation(units: Sequence[Unit], reference: str) -> str:
    """Units of one passage, in its order, as one block quote that ends in the reference.

    What was left out between two sentences of a paragraph is shown by an ellipsis.
    """
    parts = [part for _, block in groupby(units, key=lambda unit: unit.block) for part in _block(list(block))]
    last_line = parts[-1].rpartition("\n")[2].lstrip() if parts else ""
    if not last_line or last_line.startswith(("|", "`")):
        parts.append(reference)
    else:
        parts[-1] += f" {reference}"
    return re.sub(r"^", "> ", "\n\n".join(parts), flags=re.M).replace("> \n", ">\n")


def inline(markdown: str) -> str:
    """Text of an article on one line: emphasis and code stay, links lead out only to the web, HTML shows as text."""
    parts: list[str] = []
    end = 0
    for code in _CODE.finditer(markdown):
        parts += (_harmless(markdown[end : code.start()]), _BREAK.sub(" ", code[0]))
        end = code.end()
    return "".join((*parts, _harmless(markdown[end:]))).strip()


def plain(text: str) -> str:
    """A title or a heading, which is no markdown, as inline markdown."""
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
    """Text whose brackets and tags mean nothing: an article cannot refer to another passage in our name."""
    return _BRACKET.sub(r"\\[", _TAG.sub(r"\\<", text))


def _link(image: str, label: str, target: str) -> str:
    if target.startswith("/api/images/"):
        return f"![{label.removeprefix('Image: ')}]({target})"
    if image:
        return ""
    if target.lower().startswith(("https://", "http://", "mailto:")):
        return f"[{_literal(label)}]({target})"
    return "" if _FOOTNOTE.fullmatch(label) else _literal(label)


def _block(units: Sequence[Unit]) -> Iterator[str]:
    """The units of one block: a paragraph, a list with its markers, a table with its head, code."""
    kinds = {unit.kind for unit in units}
    if kinds & {"header", "row"}:
        yield _table(units)
    elif kinds == {"code"}:
        yield from (_code(unit.text) for unit in units)
    elif any(unit.depth for unit in units):
        yield _list(units)
    else:
        yield _joined(units)


def _list(units: Sequence[Unit]) -> str:
    """A list, or the part of it that is quoted, with the numbers that its items have in the article.

    Markdown counts on from a list's first number; only another delimiter begins a new list.
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
    """An item's marker after that of the item before it in the quotation."""
    if not item.numbered:
        return item.label or "-"
    number, delimiter = item.label[:-1], item.label[-1]
    if before and before.numbered:
        follows = item.depth == before.depth and int(number) == int(before.label[:-1]) + 1
        other = ")" if before.label[-1] == "." else "."
        delimiter = before.label[-1] if follows else other
    return number + delimiter


def _item(marker: str, units: Sequence[Unit]) -> str:
    """An item with its paragraphs as one, and its code."""
    text = marker if units[0].label else f"{marker} {_GAP}"
    for is_code, grouped in groupby(units, key=lambda unit: unit.kind == "code"):
        part = list(grouped)
        said = "\n\n".join(_code(unit.text) for unit in part) if is_code else _joined(part)
        text += f"\n\n{_indented(said, _INDENT)}" if is_code or "\n" in text else f" {said}"
    return text


def _joined(units: Sequence[Unit]) -> str:
    """Sentences with one space between them, and an ellipsis where one was left out."""
    text = ""
    for unit, before in zip(units, (None, *units), strict=False):
        gap = f" {_GAP} " if before and unit.start - before.end > _LONGEST_GAP else " "
        text += (gap if before else "") + inline(unit.text)
    return _as_paragraph(text)


def _as_paragraph(text: str) -> str:
    """Text whose first word makes no heading, list or quote of it."""
    start = _BLOCK_START.match(text)
    return f"{text[: start.end()]}\\{text[start.end() :]}" if start else text


def _table(units: Sequence[Unit]) -> str:
    lines = [inline(unit.text) for unit in units]
    columns = max(1, len(re.findall(r"(?<!\\)\|", lines[0].strip().strip("|"))) + 1)
    ruler = "|" + "---|" * columns
    head = [lines.pop(0)] if units[0].kind == "header" else ["|" + "   |" * columns]
    return "\n".join((*head, ruler, *lines))


def _code(text: str) -> str:
    """A code block as a fence that nothing inside can close."""
    lines = dedent(text).split("\n")
    body = lines[1:-1] if _FENCE.match(lines[0]) and len(lines) > 1 else lines
    longest = max((len(run) for run in re.findall(r"`{3,}", "\n".join(body))), default=2)
    fence = "`" * (longest + 1)
    return "\n".join((fence, *body, fence))


def _indented(text: str, indent: str) -> str:
    return re.sub(r"^(?=.)", indent, text, flags=re.M)
