"""The marker ``[[IMG:<file>]]``: where an article's markdown shows an image.

Every converter writes it, one merge reads it (``merge_images``). ``<file>`` is percent-encoded, so
that no name can break a marker.
"""

import re
from collections.abc import Mapping
from typing import NamedTuple
from urllib.parse import quote, unquote

from kb_pipeline.steps.image_block import escape_line

_SCANNER = re.compile(
    r"""
    # A fenced code block, also in lists and quotes, up to its closing fence or the end
    ^ (?:[ \t>]|[-*+][ \t]|\d{1,9}[.)][ \t])*+ (?P<fence>`{3,}|~{3,}) [^`\n]* $
      (?: \n .* )*? (?: \n [ \t>]* (?P=fence) [`~]* [ \t]* $ | \Z )
    # or a code span
  | (?<!`) (?P<ticks>`+) (?!`) .*? (?<!`) (?P=ticks) (?!`)
    # or an escaped character
  | \\ .
    # or, none of these, a marker
  | \[\[IMG: (?P<file>[\w.~/%-]+) \]\]
    """,
    re.VERBOSE | re.MULTILINE | re.ASCII,
)


class Marker(NamedTuple):
    """One marker: the file it names, and the characters it takes up."""

    file: str
    start: int
    end: int


def image_marker(file: str) -> str:
    """The marker of an image file."""
    return f"[[IMG:{quote(file, errors='surrogatepass')}]]"


def find_markers(markdown: str) -> list[Marker]:
    """All markers in their order; none in code, none that is escaped."""
    if "[[IMG:" not in markdown:
        return []
    return [
        Marker(unquote(match["file"], errors="surrogatepass"), match.start(), match.end())
        for match in _SCANNER.finditer(markdown)
        if match["file"]
    ]


def replace_markers(markdown: str, texts: Mapping[str, str]) -> str:
    """Put plain text where the markers of a file stand: ``texts`` by file; other markers stay.

    The texts are escaped as lines: a marker may begin one, and within one that reads the same.
    """
    parts, start = [], 0
    for marker in find_markers(markdown):
        if marker.file in texts:
            parts += [markdown[start : marker.start], escape_line(texts[marker.file])]
            start = marker.end
    return "".join([*parts, markdown[start:]])


def escape_markers(text: str) -> str:
    """Markdown in which a literal ``[[IMG:`` is no marker and yet reads as the author wrote it."""
    return text.replace("[[IMG:", r"\[\[IMG:")
