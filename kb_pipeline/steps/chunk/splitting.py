"""What is too long for the embedder, in parts: at block borders, and inside a block only where no border helps.

A part is at most ``limit`` tokens of plain text. Cut blocks stay valid markdown: a table's parts repeat its
header, a code block's parts its fences, an image block's parts the image; nothing else is repeated or lost.
"""

import math
import re
from collections.abc import Iterable, Iterator

from kb_pipeline.steps.chunk.blocks import Block
from kb_pipeline.steps.chunk.cutting import Budget, Piece, cut_block
from kb_pipeline.steps.chunk.plain import CountTokens

_LEAD_IN = re.compile(r".{,80}[^.!?。！？\s]\s*|[\s\S]*[:：]\s*")


def split_blocks(blocks: Iterable[Block], limit: int, count: CountTokens) -> list[str]:
    """The blocks' markdown in parts of similar size.

    A heading, a term and a lead-in stay with what follows them, an image with what precedes it, as far as
    ``limit`` allows.
    """
    units = list(_units(_pieces(blocks, Budget(limit, count)), limit))
    total = sum(unit.tokens for unit in units)
    return [_joined(part) for part in _pack(units, limit, target=total / max(1, math.ceil(total / limit)))]


def _pieces(blocks: Iterable[Block], budget: Budget) -> Iterator[Piece]:
    headings = 0
    for block in blocks:
        for piece in cut_block(block, budget, lead=headings):
            yield piece
            headings = headings + piece.tokens if piece.kind == "heading" else 0


def _units(pieces: Iterable[Piece], limit: int) -> Iterator[Piece]:
    unit, last = None, None
    for piece in pieces:
        if unit and last and _belong_together(last, piece) and unit.tokens + piece.tokens <= limit:
            unit = Piece(unit.kind, unit.text + piece.text, unit.tokens + piece.tokens)
        else:
            if unit:
                yield unit
            unit = piece
        last = piece
    if unit:
        yield unit


def _belong_together(piece: Piece, following: Piece) -> bool:
    if following.kind == "image" or piece.kind == "heading":
        return True
    return piece.kind == "paragraph" and following.kind != "heading" and bool(_LEAD_IN.fullmatch(piece.text))


def _pack(units: Iterable[Piece], limit: int, target: float) -> list[list[Piece]]:
    parts: list[list[Piece]] = [[]]
    size = 0
    for unit in units:
        if parts[-1] and (size >= target or size + unit.tokens > limit):
            parts.append([])
            size = 0
        parts[-1].append(unit)
        size += unit.tokens
    return parts


def _joined(part: list[Piece]) -> str:
    text = "".join(piece.text for piece in part)
    return text if part[0].kind == "code" else _outdented(text)


def _outdented(text: str) -> str:
    """The text without the indentation of its first line: what was inside a list item whose marker is elsewhere."""
    indent = text[: len(text) - len(text.lstrip(" "))]
    inside = re.match(rf"(?:{indent}.*\n?|[ \t]*\n)+", text) if indent else None
    end = inside.end() if inside else 0
    return re.sub(rf"^{indent}", "", text[:end], flags=re.M) + text[end:]
