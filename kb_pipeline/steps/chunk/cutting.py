"""One block too long for the embedder, cut into pieces that are valid markdown themselves.

Lists are cut between items, tables between rows, code between lines, text between sentences; what is still too
long is cut inside: an item between its blocks, a sentence between words, a word at its signs
or, last of all, between any two characters.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from kb_pipeline.steps.chunk.blocks import Block, Kind, fence_parts, list_items, parse_blocks
from kb_pipeline.steps.chunk.plain import CountTokens, plain_text

_MAX_DEPTH = 8

_LINE = re.compile(r".*\n|.+")
_SENTENCE_END = re.compile(r"(?<=[.!?]\s)|(?<=[.!?][\"'”’)*]\s)|(?<=[。！？])")
_WORD_END = re.compile(r"(?<=\s)(?=\S)")
_SIGN = re.compile(r"(?<=\W)(?=\w)")
_ITEM = re.compile(r"([ ]*(?:[-+*]|\d{1,9}[.)])(?: {1,4}(?! )| |(?=\n)|$))(.*)", re.S)
_ITEM_TABS = re.compile(r"^[ \t]*(?:[-+*]|\d{1,9}[.)])?[ \t]+", re.M)
_QUOTE_MARK = re.compile(r"^ {0,3}> ?", re.M)


@dataclass(frozen=True, slots=True)
class Budget:
    """How long a piece may be, in tokens of its plain text; ``depth`` is the number of containers cut open."""

    limit: int
    count: CountTokens
    depth: int = 0

    def less(self, tokens: int) -> "Budget":
        """What is left beside something of that size; never less than half."""
        return replace(self, limit=max(self.limit - tokens, self.limit // 2, 1))

    def inside(self) -> "Budget":
        """The budget for what a container holds."""
        return replace(self, depth=self.depth + 1)

    def size(self, markdown: str) -> int:
        """Tokens of the plain text of some markdown."""
        return self.count(plain_text(markdown))


@dataclass(frozen=True, slots=True)
class Piece:
    """A block or part of one: markdown, and the size of its plain text in tokens."""

    kind: Kind
    text: str
    tokens: int


def cut_block(block: Block, budget: Budget, lead: int = 0) -> Iterator[Piece]:
    """The block as it is if it fits, else in pieces the first of which fits beside ``lead`` tokens."""
    tokens = budget.size(block.text)
    if tokens <= budget.limit:
        yield Piece(block.kind, block.text, tokens)
    else:
        cut = _CUTTERS.get(block.kind, _cut_text) if budget.depth < _MAX_DEPTH else _cut_text
        yield from cut(block, budget.less(lead))


def _cut_text(block: Block, budget: Budget) -> Iterator[Piece]:
    for text, tokens in _packed(_LINE.findall(block.text), budget):
        yield Piece(block.kind, _ended(text), tokens)


def _cut_list(block: Block, budget: Budget) -> Iterator[Piece]:
    for item in list_items(block.text):
        tokens = budget.size(item)
        if tokens <= budget.limit:
            yield Piece("list", item, tokens)
        else:
            yield from _cut_item(item, budget)


def _cut_item(item: str, budget: Budget) -> Iterator[Piece]:
    marker, body = _unwrapped(item)
    indent = " " * len(marker)
    for inner in parse_blocks(body) if marker else [Block("paragraph", item)]:
        for piece in cut_block(inner, budget.inside()):
            yield replace(piece, text=marker + re.sub(r"\n(?=.)", f"\n{indent}", piece.text))
            marker = indent


def _cut_quote(block: Block, budget: Budget) -> Iterator[Piece]:
    for inner in parse_blocks(_QUOTE_MARK.sub("", block.text)):
        for piece in cut_block(inner, budget.inside()):
            yield Piece("quote", _quoted(piece.text), piece.tokens)


def _cut_image(block: Block, budget: Budget) -> Iterator[Piece]:
    image, *description = _LINE.findall(_QUOTE_MARK.sub("", block.text))
    for text, tokens in _packed(description, budget):
        yield Piece("image", _quoted(image + text), tokens)


def _cut_table(block: Block, budget: Budget) -> Iterator[Piece]:
    header, ruler, *rows = _LINE.findall(block.text)
    header_tokens = budget.size(header)
    if header_tokens > budget.limit // 2:
        yield from _cut_text(block, budget)
        return
    for text, tokens in _packed(rows, budget.less(header_tokens)):
        yield Piece("table", _ended(header + ruler + text), header_tokens + tokens)


def _cut_fence(block: Block, budget: Budget) -> Iterator[Piece]:
    opening, code, closing = fence_parts(block.text)
    for text, tokens in _packed(_LINE.findall(code), budget):
        yield Piece("fence", _ended(opening + text.rstrip("\n") + "\n" + closing), tokens)


_CUTTERS: dict[Kind, Callable[[Block, Budget], Iterator[Piece]]] = {
    "list": _cut_list,
    "quote": _cut_quote,
    "image": _cut_image,
    "table": _cut_table,
    "fence": _cut_fence,
}


def _packed(texts: Iterable[str], budget: Budget) -> Iterator[tuple[str, int]]:
    packed, size = "", 0
    for text, tokens in _sized(texts, budget, (_SENTENCE_END, _WORD_END, _SIGN)):
        if packed and size + tokens > budget.limit:
            yield packed, size
            packed, size = "", 0
        packed, size = packed + text, size + tokens
    yield packed, size


def _sized(texts: Iterable[str], budget: Budget, finer: Sequence[re.Pattern[str]]) -> Iterator[tuple[str, int]]:
    for text in texts:
        tokens = budget.count(text)
        if tokens <= budget.limit:
            yield text, tokens
        elif finer:
            yield from _sized(filter(None, finer[0].split(text)), budget, finer[1:])
        else:
            step = max(1, len(text) * budget.limit // tokens)
            yield from ((text[at : at + step], budget.limit) for at in range(0, len(text), step))


def _unwrapped(item: str) -> tuple[str, str]:
    """An item's marker with the space after it, and its content without the indentation that the marker asks for."""
    if "\t" in item:
        item = _ITEM_TABS.sub(lambda match: match[0].expandtabs(4), item)
    match = _ITEM.match(item)
    if not match or not match[2].strip():
        return "", item
    marker = match[1] if match[1].endswith(" ") else f"{match[1]} "
    return marker, re.sub(rf"^ {{1,{len(marker)}}}", "", match[2], flags=re.M)


def _quoted(text: str) -> str:
    return _ended(re.sub(r"^", "> ", text.strip("\n"), flags=re.M))


def _ended(text: str) -> str:
    return text.strip("\n") + "\n\n"
