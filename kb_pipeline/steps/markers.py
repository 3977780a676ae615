"""The image marker ``[[IMG:<file>]]``: the place of an image in an article's markdown.

Every converter writes markers; ``merge_images`` replaces them. ``<file>`` is percent-encoded, so that no file name can
break a marker. Also here: how the image block that replaces a marker is written, and escaping of plain text.
"""

import re
from collections.abc import Mapping
from typing import NamedTuple
from urllib.parse import quote, unquote

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
# Start a heading, quote, list, rule, heading underline or table, but only at the start of a line.
_BLOCK_START = frozenset("#>|+=:-")
_NUMBER = re.compile(r"^(\d{1,9})([.)])(?=\s|$)")


class ImageBlock(Record):
    """The content of the block that replaces an image's marker."""

    stem: str
    description: str
    ui_elements: tuple[str, ...] = ()
    navigation_path: tuple[str, ...] = ()


def escape_inline(text: str) -> str:
    """Return the text on one line, escaped so that no character acts as inline markdown or HTML."""
    return _SPECIAL.sub(r"\\\g<0>", " ".join(text.split()))


def escape_line(text: str) -> str:
    """Like :func:`escape_inline`, for a whole line: it cannot start a heading, list, quote, rule or table either."""
    line = _NUMBER.sub(r"\1\\\2", escape_inline(text), count=1)
    return f"\\{line}" if line and line[0] in _BLOCK_START else line


def image_link(block: ImageBlock) -> str:
    """Return ``[Image: <stem>](images/<stem>.png)``, the most that fits into a table cell."""
    return f"[Image: {escape_inline(block.stem).replace('|', '-')}]({quote(f'images/{block.stem}.png', safe='/')})"


def block_lines(block: ImageBlock) -> list[str]:
    """Return the lines of the image block, a block quote."""
    lines = [f"**{image_link(block)}**", escape_line(block.description)]
    if block.ui_elements:
        lines.append("UI elements: " + ", ".join(map(escape_inline, block.ui_elements)))
    if block.navigation_path:
        lines.append("Navigation: " + " > ".join(map(escape_inline, block.navigation_path)))
    return [f"> {line}".rstrip() for line in lines]


NOT_MARKERS = r"""
    # A fenced code block, also in lists and quotes, up to its closing fence or the end of the text,
    ^ (?:[ \t>]|[-*+][ \t]|\d{1,9}[.)][ \t])*+ (?P<fence>`{3,}|~{3,}) [^`\n]* $
      (?: \n .* )*? (?: \n [ \t>]* (?P=fence) [`~]* [ \t]* $ | \Z )
    # a code span,
  | (?<!`) (?P<ticks>`+) (?!`) .*? (?<!`) (?P=ticks) (?!`)
    # an escaped character
  | \\ .
"""
"""A pattern (verbose, multi-line, ASCII) of what hides a marker: code, and escaped characters."""
_SCANNER = re.compile(rf"{NOT_MARKERS} | \[\[IMG: (?P<file>[\w.~/%-]+) \]\]", re.VERBOSE | re.MULTILINE | re.ASCII)


class Marker(NamedTuple):
    """A marker: the file it names and its position in the text."""

    file: str
    start: int
    end: int


def image_marker(file: str) -> str:
    """Return the marker of an image file."""
    return f"[[IMG:{quote(file, errors='surrogatepass')}]]"


def find_markers(markdown: str) -> list[Marker]:
    """Return all markers in order, except those in code and escaped ones."""
    if "[[IMG:" not in markdown:
        return []
    return [
        Marker(unquote(match["file"], errors="surrogatepass"), match.start(), match.end())
        for match in _SCANNER.finditer(markdown)
        if match["file"]
    ]


def replace_markers(markdown: str, texts: Mapping[str, str]) -> str:
    """Replace markers by plain text; ``texts`` maps files to texts, and markers of other files stay.

    The texts are escaped as whole lines, because a marker may start a line.
    """
    parts, start = [], 0
    for marker in find_markers(markdown):
        if marker.file in texts:
            parts += [markdown[start : marker.start], escape_line(texts[marker.file])]
            start = marker.end
    return "".join([*parts, markdown[start:]])
