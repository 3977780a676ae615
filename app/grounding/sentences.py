"""A passage as units that can be quoted: sentences, list items, table rows, code, images, each exactly as it stands.

Block borders come from markdown-it-py (CommonMark plus tables), sentence ends from :mod:`app.grounding.sentence_ends`.
Not here: which unit answers a question.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import accumulate
from typing import Literal

from markdown_it import MarkdownIt
from markdown_it.token import Token

from app.grounding.sentence_ends import sentence_spans

Kind = Literal["heading", "term", "sentence", "header", "row", "code", "image"]
"""A ``term`` is a paragraph in bold that names what follows; a ``header`` is the head of a table."""

LONGEST_PASSAGE = 20_000
"""Characters of a passage that are looked at."""

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_IMAGE_BLOCK = re.compile(r"[ \t]*> ?\*\*\[Image: ")
_TERM = re.compile(r"\*\*[^*\n]+\*\*[:.]?(?:\s*[;,/]?\s*\*\*[^*\n]+\*\*[:.]?)*")
_PREFIX = re.compile(r"(?:[ \t>]|[-+*][ \t]|\d{1,9}[.)][ \t])*")


@dataclass(frozen=True, slots=True)
class Unit:
    """A piece of a passage: ``passage[start:start + len(text)] == text``.

    Units of one paragraph, list or table share their ``block``; sentences of one list item their ``item`` as well.
    ``label`` is the marker of an item ("1.", "-") at its first sentence; ``depth`` how deep its list is nested, from 1.
    """

    kind: Kind
    text: str
    start: int
    block: int
    item: int = 0
    label: str = ""
    depth: int = 0

    @property
    def end(self) -> int:
        """Where it ends in the passage."""
        return self.start + len(self.text)

    @property
    def numbered(self) -> bool:
        """Whether it begins a step of a numbered list."""
        return self.label[:1].isdigit()


@lru_cache(maxsize=512)
def units_of(passage: str) -> tuple[Unit, ...]:
    """The units of a passage in its order. Thematic breaks and link definitions are none."""
    return tuple(_Reader(passage[:LONGEST_PASSAGE]).units())


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark").enable("table")
    parser.core.ruler.enableOnly(["normalize", "block"])
    return parser


@dataclass(slots=True)
class _Item:
    """A list item that is being read; its label goes to the first sentence."""

    number: int
    label: str


class _Reader:
    """One walk through the blocks of a passage."""

    def __init__(self, passage: str) -> None:
        self._passage = passage
        lines = _LINE.findall(passage)
        self._offsets = [0, *accumulate(map(len, lines))]
        self._tokens = _parser().parse("".join(line.rstrip("\r\n") + "\n" for line in lines))
        self._block = self._items = 0
        self._open: list[_Item] = []

    def units(self) -> Iterator[Unit]:
        at = 0
        while at < len(self._tokens):
            token = self._tokens[at]
            self._enter(token)
            if token.type in _WHOLE or (token.type == "blockquote_open" and self._is_image(token)):
                yield from self._whole(token)
                at = _closing(self._tokens, at)
            elif token.type in ("inline", "html_block"):
                yield from self._text(token, within=self._tokens[at - 1].type)
            at += 1

    def _enter(self, token: Token) -> None:
        """Count blocks and items: a list is one block with everything in it."""
        if token.type == "list_item_open":
            self._items += 1
            self._open.append(_Item(self._items, f"{token.info}{token.markup}"))
        elif token.type == "list_item_close":
            self._open.pop()
        elif not self._open and token.type in _BLOCKS:
            self._block += 1

    def _is_image(self, token: Token) -> bool:
        start, end = self._span(token)
        return bool(_IMAGE_BLOCK.match(self._passage, start, end))

    def _whole(self, token: Token) -> Iterator[Unit]:
        """A block, or a row, that is not taken apart."""
        start, end = self._span(token)
        kind = "image" if token.type == "blockquote_open" else _WHOLE[token.type]
        text = self._passage[start:end].strip("\r\n").rstrip()
        lead = len(text) - len(text.lstrip()) if kind in ("header", "row") else 0
        if text.strip():
            yield self._unit(kind, start + lead, text[lead:])

    def _text(self, token: Token, within: str) -> Iterator[Unit]:
        start, end = self._span(token)
        if within == "heading_open":
            yield self._unit("heading", start, self._passage[start:end].rstrip())
            return
        prefix = _PREFIX.match(self._passage, start, end)
        start = prefix.end() if prefix else start
        text = self._passage[start:end].rstrip()
        if _TERM.fullmatch(text) and not self._open:
            yield self._unit("term", start, text)
            return
        for first, last in sentence_spans(text):
            yield self._unit("sentence", start + first, text[first:last])

    def _unit(self, kind: Kind, start: int, text: str) -> Unit:
        if not self._open:
            return Unit(kind, text, start, self._block)
        item = self._open[-1]
        label, item.label = item.label, ""
        return Unit(kind, text, start, self._block, item.number, label, len(self._open))

    def _span(self, token: Token) -> tuple[int, int]:
        first, last = token.map or (0, 0)
        return self._offsets[first], self._offsets[last]


_WHOLE: dict[str, Kind] = {
    "thead_open": "header",
    "tr_open": "row",
    "fence": "code",
    "code_block": "code",
}
_BLOCKS = {
    "heading_open", "paragraph_open", "bullet_list_open", "ordered_list_open", "blockquote_open", "table_open",
    "fence", "code_block", "html_block",
}  # fmt: skip


def _closing(tokens: Sequence[Token], at: int) -> int:
    """Where the block that begins at a token ends."""
    if tokens[at].nesting == 0:
        return at
    level = tokens[at].level
    return next(i for i in range(at + 1, len(tokens)) if tokens[i].level == level and tokens[i].nesting == -1)
