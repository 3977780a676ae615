"""Plain text, in the habits of people who write it: underlined headings, lists, indented code, quotes, wrapped lines.

markdown-it-py reads these few signs and no others, so that stars, brackets and ``#`` stay what they are. What stands in
columns is kept as it stands.
"""

import re
from collections.abc import Iterator, Sequence
from html import escape
from importlib.metadata import version
from itertools import groupby
from typing import ClassVar

from markdown_it.token import Token

from kb_pipeline.sources.base import Source, SourceDocument
from kb_pipeline.sources.plain_bytes import text_in
from kb_pipeline.steps.markdown_parsers import text_parser

_COLUMNS = re.compile(r"\S(?:(?<![.!?:;,]) {2}| {3,}|\t)\s*\S")
_BOX = re.compile(r"\s*[|+┌├└│╔╠╚║]")
_UNDERLINE = re.compile(r"\s{0,3}(?:=+|-+)\s*")
_SHORTEST_UNDERLINE = 3
"""Two dashes begin the signature of a mail."""
_FULL = 0.9
"""Share of lines that are no longer than where a text is wrapped; some hold an address that nobody can break."""
_NARROWEST = 50
"""Characters; shorter lines were not wrapped but broken by their author."""


class TextSource(Source):
    """Reads plain text."""

    version: ClassVar[str] = f"text-1+markdown-it-py-{version('markdown-it-py')}"

    def read(self, article_id: str, name: str, data: bytes) -> SourceDocument:
        text = text_in(f"{article_id}: {name}", data)
        return SourceDocument(f"<html><body>{text_html(text)}</body></html>")


def text_html(text: str) -> str:
    """Return plain text as HTML."""
    lines = [line.expandtabs(4).rstrip() for line in text.replace("\f", "\n\n").split("\n")]
    blocks = [list(block) for is_text, block in groupby(lines, bool) if is_text]
    width = _width([line for block in blocks if not _is_in_columns(block) for line in block])
    parts = []
    for in_columns, group in groupby(blocks, _is_in_columns):
        if in_columns:
            parts += [f"<pre>{escape(chr(10).join(block))}</pre>" for block in group]
        else:
            parts.append(_prose("\n\n".join("\n".join(_lines_of(block)) for block in group), width))
    return "\n".join(parts)


def _is_in_columns(block: Sequence[str]) -> bool:
    """Whether the lines of a block stand below each other, as a table, a drawing or what a program printed."""
    aligned = sum(bool(_COLUMNS.search(line.lstrip()) or _BOX.match(line)) for line in block)
    return aligned > 1 and aligned * 2 > len(block)


def _lines_of(block: Sequence[str]) -> Iterator[str]:
    """Yield the lines, with what only looks like an underline in a paragraph of its own."""
    for number, line in enumerate(block):
        is_line = number > 0 and _UNDERLINE.fullmatch(line)
        if is_line and (len(line.strip()) < _SHORTEST_UNDERLINE or number > 1):
            yield ""
        yield line


def _width(lines: Sequence[str]) -> int:
    """Return the number of characters at which the text is wrapped."""
    lengths = sorted(map(len, lines))
    return max(_NARROWEST, lengths[int(len(lengths) * _FULL)]) if lengths else _NARROWEST


def _prose(text: str, width: int) -> str:
    parser = text_parser()
    tokens = parser.parse(text)
    for token in tokens:
        if token.type == "inline":
            token.children = _with_breaks(token.content.split("\n"), width)
    return str(parser.renderer.render(tokens, parser.options, {}))


def _with_breaks(lines: Sequence[str], width: int) -> list[Token]:
    """Join wrapped lines. A line that had room for the next word was broken by its author."""
    tokens: list[Token] = []
    for number, line in enumerate(lines):
        if number:
            has_room = len(lines[number - 1]) + 1 + len(line.split(" ", 1)[0]) <= width
            tokens.append(Token("hardbreak" if has_room else "softbreak", "br", 0))
        tokens.append(Token("text", "", 0, content=line.strip()))
    return tokens
