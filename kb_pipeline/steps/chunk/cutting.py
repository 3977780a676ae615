"""Cut sections that are too long into parts of similar size, each valid markdown, and chunks into passages.

Lists are cut between items, tables between rows, code between lines, text between sentences. If a piece is still too
long, an item is cut between its blocks, a sentence between words, a word at its punctuation or, last of all, between
any two characters.
"""

import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from kb_pipeline.records import Chunk
from kb_pipeline.steps.chunk.blocks import Kind, MarkdownBlock, fence_parts, list_items, parse_blocks
from kb_pipeline.steps.chunk.plain import CountTokens, context_line, embedding_text, plain_text

_MAX_DEPTH = 8
"""Levels of lists in lists; what is deeper is cut as text, and no list of a person is."""

_LINE = re.compile(r".*\n|.+")
_SENTENCE_END = re.compile(r"(?<=[.!?]\s)|(?<=[.!?][\"'”’)*]\s)|(?<=[。！？])")
_WORD_END = re.compile(r"(?<=\s)(?=\S)")
_SIGN = re.compile(r"(?<=\W)(?=\w)")
_ITEM = re.compile(r"([ ]*(?:[-+*]|\d{1,9}[.)])(?: {1,4}(?! )| |(?=\n)|$))(.*)", re.S)
_ITEM_TABS = re.compile(r"^[ \t]*(?:[-+*]|\d{1,9}[.)])?[ \t]+", re.M)
_INTRODUCTION = re.compile(r".{,80}[^.!?。！？\s]\s*|[\s\S]*[:：]\s*")
_QUOTE_MARK = re.compile(r"^ {0,3}> ?", re.M)


@dataclass(frozen=True, slots=True)
class Budget:
    """The maximum length of a piece in tokens of its plain text; ``depth`` is the number of containers cut open."""

    limit: int
    count: CountTokens
    depth: int = 0

    def less(self, tokens: int) -> "Budget":
        """Return the budget that is left beside something of this size, at least half."""
        return replace(self, limit=max(self.limit - tokens, self.limit // 2, 1))

    def inside(self) -> "Budget":
        """Return the budget for the content of a container."""
        return replace(self, depth=self.depth + 1)

    def size(self, markdown: str) -> int:
        """Return the tokens in the plain text of some markdown."""
        return self.count(plain_text(markdown))


@dataclass(frozen=True, slots=True)
class Piece:
    """A block or a part of one: its markdown, and the tokens in its plain text."""

    kind: Kind
    text: str
    tokens: int


def split_blocks(blocks: Iterable[MarkdownBlock], limit: int, count: CountTokens) -> list[str]:
    """Return the markdown of the blocks in parts of similar size.

    As far as ``limit`` allows, headings, terms and introductory lines stay with what follows them, and images with what
    precedes them.
    """
    units = list(_join_inseparable(_cut_blocks(blocks, Budget(limit, count)), limit))
    total = sum(unit.tokens for unit in units)
    return [_join(part) for part in _pack(units, limit, target=total / max(1, math.ceil(total / limit)))]


def cut_block(block: MarkdownBlock, budget: Budget, lead: int = 0) -> Iterator[Piece]:
    """Return the block unchanged if it fits, else in pieces, the first of which fits beside ``lead`` tokens."""
    tokens = budget.size(block.text)
    if tokens <= budget.limit:
        yield Piece(block.kind, block.text, tokens)
    else:
        cut = _CUTTERS.get(block.kind, _cut_text) if budget.depth < _MAX_DEPTH else _cut_text
        yield from cut(block, budget.less(lead))


def _cut_text(block: MarkdownBlock, budget: Budget) -> Iterator[Piece]:
    for text, tokens in _pack_texts(_LINE.findall(block.text), budget):
        yield Piece(block.kind, _end_block(text), tokens)


def _cut_list(block: MarkdownBlock, budget: Budget) -> Iterator[Piece]:
    for item in list_items(block.text):
        tokens = budget.size(item)
        if tokens <= budget.limit:
            yield Piece("list", item, tokens)
        else:
            yield from _cut_item(item, budget)


def _cut_item(item: str, budget: Budget) -> Iterator[Piece]:
    marker, body = _unwrap_item(item)
    indent = " " * len(marker)
    for inner in parse_blocks(body) if marker else [MarkdownBlock("paragraph", item)]:
        for piece in cut_block(inner, budget.inside()):
            yield replace(piece, text=marker + re.sub(r"\n(?=.)", f"\n{indent}", piece.text))
            marker = indent


def _cut_quote(block: MarkdownBlock, budget: Budget) -> Iterator[Piece]:
    for inner in parse_blocks(_QUOTE_MARK.sub("", block.text)):
        for piece in cut_block(inner, budget.inside()):
            yield Piece("quote", _quote(piece.text), piece.tokens)


def _cut_image(block: MarkdownBlock, budget: Budget) -> Iterator[Piece]:
    image, *description = _LINE.findall(_QUOTE_MARK.sub("", block.text))
    for text, tokens in _pack_texts(description, budget):
        yield Piece("image", _quote(image + text), tokens)


def _cut_table(block: MarkdownBlock, budget: Budget) -> Iterator[Piece]:
    header, ruler, *rows = _LINE.findall(block.text)
    header_tokens = budget.size(header)
    if header_tokens > budget.limit // 2:
        yield from _cut_text(block, budget)
        return
    for text, tokens in _pack_texts(rows, budget.less(header_tokens)):
        yield Piece("table", _end_block(header + ruler + text), header_tokens + tokens)


def _cut_fence(block: MarkdownBlock, budget: Budget) -> Iterator[Piece]:
    opening, code, closing = fence_parts(block.text)
    for text, tokens in _pack_texts(_LINE.findall(code), budget):
        yield Piece("fence", _end_block(opening + text.rstrip("\n") + "\n" + closing), tokens)


_CUTTERS: dict[Kind, Callable[[MarkdownBlock, Budget], Iterator[Piece]]] = {
    "list": _cut_list,
    "quote": _cut_quote,
    "image": _cut_image,
    "table": _cut_table,
    "fence": _cut_fence,
}


def _pack_texts(texts: Iterable[str], budget: Budget) -> Iterator[tuple[str, int]]:
    """Pack as many of the texts as fit into each piece, with its tokens; split those that are too long."""
    packed, size = "", 0
    for text, tokens in _split_texts(texts, budget, (_SENTENCE_END, _WORD_END, _SIGN)):
        if packed and size + tokens > budget.limit:
            yield packed, size
            packed, size = "", 0
        packed, size = packed + text, size + tokens
    yield packed, size


def _split_texts(
    texts: Iterable[str], budget: Budget, separators: Sequence[re.Pattern[str]]
) -> Iterator[tuple[str, int]]:
    """Split texts that are too long at the first of the ``separators`` that makes them short enough."""
    for text in texts:
        tokens = budget.count(text)
        if tokens <= budget.limit:
            yield text, tokens
        elif separators:
            yield from _split_texts(filter(None, separators[0].split(text)), budget, separators[1:])
        else:
            step = max(1, len(text) * budget.limit // tokens)
            yield from ((text[start : start + step], budget.limit) for start in range(0, len(text), step))


def _unwrap_item(item: str) -> tuple[str, str]:
    """Return an item's marker with the space after it, and its content without the indentation for the marker."""
    if "\t" in item:
        item = _ITEM_TABS.sub(lambda match: match[0].expandtabs(4), item)
    match = _ITEM.match(item)
    if not match or not match[2].strip():
        return "", item
    marker = match[1] if match[1].endswith(" ") else f"{match[1]} "
    return marker, re.sub(rf"^ {{1,{len(marker)}}}", "", match[2], flags=re.M)


def _quote(text: str) -> str:
    return _end_block(re.sub(r"^", "> ", text.strip("\n"), flags=re.M))


def _end_block(text: str) -> str:
    return text.strip("\n") + "\n\n"


def _cut_blocks(blocks: Iterable[MarkdownBlock], budget: Budget) -> Iterator[Piece]:
    """Cut blocks that are too long, leaving room for the headings before them."""
    headings = 0
    for block in blocks:
        for piece in cut_block(block, budget, lead=headings):
            yield piece
            headings = headings + piece.tokens if piece.kind == "heading" else 0


def _join_inseparable(pieces: Iterable[Piece], limit: int) -> Iterator[Piece]:
    """Join pieces that must stay together, as far as the limit allows."""
    unit, last = None, None
    for piece in pieces:
        if unit and last and _are_inseparable(last, piece) and unit.tokens + piece.tokens <= limit:
            unit = Piece(unit.kind, unit.text + piece.text, unit.tokens + piece.tokens)
        else:
            if unit:
                yield unit
            unit = piece
        last = piece
    if unit:
        yield unit


def _are_inseparable(piece: Piece, following: Piece) -> bool:
    if following.kind == "image" or piece.kind == "heading":
        return True
    return piece.kind == "paragraph" and following.kind != "heading" and bool(_INTRODUCTION.fullmatch(piece.text))


def _pack(units: Iterable[Piece], limit: int, target: float) -> list[list[Piece]]:
    """Group units into parts of about ``target`` tokens, at most ``limit``."""
    parts: list[list[Piece]] = [[]]
    size = 0
    for unit in units:
        if parts[-1] and (size >= target or size + unit.tokens > limit):
            parts.append([])
            size = 0
        parts[-1].append(unit)
        size += unit.tokens
    return parts


def _join(part: list[Piece]) -> str:
    text = "".join(piece.text for piece in part)
    return text if part[0].kind == "code" else _dedent(text)


def _dedent(text: str) -> str:
    """Remove the indentation of the first line: the text comes from a list item whose marker is in another part."""
    indent = text[: len(text) - len(text.lstrip(" "))]
    indented = re.match(rf"(?:{indent}.*\n?|[ \t]*\n)+", text) if indent else None
    end = indented.end() if indented else 0
    return re.sub(rf"^{indent}", "", text[:end], flags=re.M) + text[end:]


def passages_of(chunk: Chunk, *, count_tokens: CountTokens, max_tokens: int) -> list[str]:
    """Return the texts to embed for a chunk, in order: its :func:`embedding_text` if it fits, else parts of it.

    What readers find and cite is the chunk; its passages only decide how well it matches a question.
    Each part begins with the context line. It has at most ``max_tokens``, unless it is a single word or the headings
    leave too little room.
    """
    text = embedding_text(chunk)
    if count_tokens(text) <= max_tokens:
        return [text]
    context = context_line(chunk.title, chunk.heading_path)
    blocks = parse_blocks(chunk.content)
    if blocks and blocks[0].kind == "heading" and blocks[0].title == chunk.section_header:
        blocks = blocks[1:]  # as the context line says it
    room = max(max_tokens - count_tokens(context), max_tokens // 2, 1)
    parts = [plain_text(part) for part in split_blocks(blocks, room, count_tokens)] if blocks else []
    return [f"{context}\n{part}" for part in parts if part] or [text]
