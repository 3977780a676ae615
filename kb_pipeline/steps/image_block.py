"""What stands in an article for an image: its link, description, UI elements and navigation path.

Descriptions come from pixels and models; nothing in them may act as markdown or HTML.
"""

import re
from urllib.parse import quote

from kb_pipeline.records import Record

_SPECIAL = re.compile(
    r"""
    [*`\[\]\\]                                # emphasis, code, links, the escape itself
  | (?<![^\W_])_ | _(?![^\W_])                # emphasis; not inside a word
  | ~(?=~) | (?<=~)~                          # strikethrough
  | <(?=[A-Za-z/!?])                          # a tag or an autolink
  | &(?=\#?\w+;)                              # an entity
    """,
    re.VERBOSE,
)
# Headings, quotes, lists, rules, underlines of headings and tables: only at the start of a line.
_BLOCK_START = frozenset("#>|+=:-")
_NUMBER = re.compile(r"^(\d{1,9})([.)])(?=\s|$)")


class ImageBlock(Record):
    """What the merge writes for one image file."""

    stem: str
    description: str
    ui_elements: tuple[str, ...] = ()
    navigation_path: tuple[str, ...] = ()


def escape_inline(text: str) -> str:
    """Text on one line in which no character acts as inline markdown or HTML."""
    return _SPECIAL.sub(r"\\\g<0>", " ".join(text.split()))


def escape_line(text: str) -> str:
    """The same for a whole line, which must not become a heading, list, quote, rule or table either."""
    line = _NUMBER.sub(r"\1\\\2", escape_inline(text), count=1)
    return f"\\{line}" if line and line[0] in _BLOCK_START else line


def image_link(block: ImageBlock) -> str:
    """``[Image: <stem>](images/<stem>.png)``: all that a table cell can hold."""
    return f"[Image: {escape_inline(block.stem).replace('|', '-')}]({quote(f'images/{block.stem}.png', safe='/')})"


def block_lines(block: ImageBlock) -> list[str]:
    """The lines of the block, a quote."""
    lines = [f"**{image_link(block)}**", escape_line(block.description)]
    if block.ui_elements:
        lines.append("UI elements: " + ", ".join(map(escape_inline, block.ui_elements)))
    if block.navigation_path:
        lines.append("Navigation: " + " > ".join(map(escape_inline, block.navigation_path)))
    return [f"> {line}".rstrip() for line in lines]
