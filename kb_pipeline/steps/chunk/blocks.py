"""Parse markdown into a sequence of blocks.

markdown-it-py (CommonMark plus tables) finds the borders of blocks. The text of a block is always the unchanged
source, so that nothing can get lost between two blocks. Not here: which blocks belong together.
"""

import re
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal

from markdown_it.token import Token

from kb_pipeline.steps.chunk.plain import plain_title
from kb_pipeline.steps.markdown_parsers import block_parser

Kind = Literal["heading", "paragraph", "list", "quote", "image", "table", "fence", "code", "html", "rule"]

_KINDS: dict[str, Kind] = {
    "heading_open": "heading",
    "paragraph_open": "paragraph",
    "bullet_list_open": "list",
    "ordered_list_open": "list",
    "blockquote_open": "quote",
    "table_open": "table",
    "fence": "fence",
    "code_block": "code",
    "html_block": "html",
    "hr": "rule",
}
_IMAGE_BLOCK = re.compile(r" {0,3}> ?\*\*\[Image: ")


@dataclass(frozen=True, slots=True)
class MarkdownBlock:
    """A block: its source with the blank lines after it; for a heading, its ``level`` and plain ``title``."""

    kind: Kind
    text: str
    level: int = 0
    title: str = ""


def parse_blocks(markdown: str) -> list[MarkdownBlock]:
    """Return the top-level blocks in order; joined, their texts are ``markdown`` with ``\\n`` as line end.

    Lines that form no block (link reference definitions) are returned as a paragraph.
    """
    lines = _lines(markdown.replace("\r\n", "\n").replace("\r", "\n"))
    tokens = block_parser().parse("".join(lines))
    blocks: list[MarkdownBlock] = []
    done = 0
    for i, token in enumerate(tokens):
        if token.level == 0 and token.map:
            start, end = token.map
            _append_rest(blocks, "".join(lines[done:start]))
            blocks.append(_block(token, "".join(lines[start:end]), tokens[i + 1 : i + 2]))
            done = end
    _append_rest(blocks, "".join(lines[done:]))
    return blocks


def _append_rest(blocks: list[MarkdownBlock], text: str) -> None:
    if text.strip():
        blocks.append(MarkdownBlock("paragraph", text))
    elif blocks:
        blocks[-1] = replace(blocks[-1], text=blocks[-1].text + text)


def _block(token: Token, text: str, following: list[Token]) -> MarkdownBlock:
    kind = _KINDS[token.type]
    if kind == "heading":
        return MarkdownBlock(kind, text, int(token.tag[1:]), plain_title(following[0].content))
    return MarkdownBlock("image" if kind == "quote" and _IMAGE_BLOCK.match(text) else kind, text)


def list_items(text: str) -> list[str]:
    """Return the source of each item of a list block; joined, they are ``text``."""
    lines = _lines(text)
    items = [t for t in block_parser().parse(text) if t.type == "list_item_open" and t.level == 1 and t.map]
    borders = [0, *(item.map[0] for item in items[1:] if item.map), len(lines)]
    return ["".join(lines[start:end]) for start, end in pairwise(borders)]


def fence_parts(text: str) -> tuple[str, str, str]:
    """Return opening line, code and closing line of a fenced code block."""
    fence = block_parser().parse(text)[0]
    return f"{fence.markup}{fence.info}\n", fence.content, f"{fence.markup}\n"


def _lines(text: str) -> list[str]:
    return re.findall(r".*\n|.+", text)  # str.splitlines also splits at characters that are no line ends in markdown
