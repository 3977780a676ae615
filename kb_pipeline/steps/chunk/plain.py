"""What the embedder and full-text search get to see of a chunk's markdown.

Here: stripping what carries no meaning (link targets, image names, table rulers, quote marks). It is line and
pattern based on purpose: it runs over every text, and a rare slip costs nothing, because readers see the markdown.
"""

import re
from collections.abc import Callable

from kb_pipeline.records import Chunk

CountTokens = Callable[[str], int]
"""Length of a text in the embedder's tokens."""

FENCE_LINE = re.compile(r"^[ \t>]*(?:```|~~~).*$", re.M)
"""The line that opens or closes a code fence: splitting by it gives prose, code, prose, code, ..."""

# No link begins at an escaped bracket, and no loop gives back what it took: the time stays linear in any text.
_IMAGE_LINK = r"\[Image: (?:[^\[\]\\\n]|\\.)*+\]\(<?images/(?:[^()\n]|\([^()\n]*+\))*+\)"
_LINK = r"\[((?:[^\[\]\\]|\\.)*+)\]\((?:<[^<>\n]*+>|(?:[^()\s]|\([^()\s]*+\))*+)(?:\s\"[^\"\n]*+\")?\)"
_PROSE: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern, re.M), replacement)
    for pattern, replacement in (
        (r"[ \t]{2,}", " "),
        (rf"^[ >]*\*\*{_IMAGE_LINK}\*\* ?$", ""),
        (rf"(\\.)|!?{_IMAGE_LINK}", r"\1"),
        (rf"(\\.)|!?{_LINK}", r"\1\2"),
        (r"^[ >]*\|? ?:?-+:? ?(?:\| ?:?-*:? ?)*+$", ""),
        (r"^ ?(?:> ?)+", ""),
        (r"^ ?#{1,6} ", ""),
        (r"^ ?\| ?| ?\| ?$", ""),
        (r"<br ?/?>", " "),
        (r"\*\*", ""),
        (r"\\([!-/:-@\[-`{-~])", r"\1"),
    )
)
_BLANK_LINES = re.compile(r"\n\s*\n")
_TITLE_LIMIT = 80


def embedding_text(chunk: Chunk) -> str:
    """The text that is embedded and searched: where the chunk stands, then its content in plain words."""
    body = plain_text(chunk.content)
    first, _, rest = body.partition("\n")
    own_heading = " ".join(first.split()) == chunk.section_header
    return f"{context_line(chunk.title, chunk.heading_path)}\n{rest.lstrip() if own_heading else body}".strip()


def context_line(title: str, heading_path: tuple[str, ...]) -> str:
    """Title and enclosing headings on one line, each cut to a length that leaves room for the content."""
    title = " ".join(title.split())
    names = heading_path if heading_path[:1] == (title,) else (title, *heading_path)
    return " > ".join(name if len(name) <= _TITLE_LIMIT else name[:_TITLE_LIMIT].rsplit(" ", 1)[0] for name in names)


def plain_text(markdown: str) -> str:
    """Markdown without markup noise; code stays as it is."""
    segments = FENCE_LINE.split(markdown)
    segments[::2] = map(_plain_prose, segments[::2])
    return _BLANK_LINES.sub("\n", "\n".join(segments)).strip()


def _plain_prose(text: str) -> str:
    for pattern, replacement in _PROSE:
        text = pattern.sub(replacement, text)
    return text
