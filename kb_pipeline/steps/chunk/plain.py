"""Plain text of a chunk's markdown, for the embedder and full-text search, and the images a text shows.

Markup without meaning is removed: link targets, image names, table rulers, quote marks. This works by patterns instead
of a parser for speed, as it runs over every text; a rare mistake is harmless, because readers see the markdown.
"""

import re
from collections.abc import Callable
from urllib.parse import unquote

from markdown_it.token import Token

from kb_pipeline.records import Chunk
from kb_pipeline.steps.markdown_parsers import line_parser

CountTokens = Callable[[str], int]
"""Returns the length of a text in tokens of the embedder."""

FENCE_LINE = re.compile(r"^[ \t>]*(?:```|~~~).*$", re.M)
"""A line that opens or closes a code fence; splitting by it gives prose, code, prose, code, ..."""

# No link starts at an escaped bracket, and all loops are possessive, so that the time is linear in the text.
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
"""Characters of each heading before a chunk's text, so that long ones leave room in the model's window."""


def embedding_text(chunk: Chunk) -> str:
    """Return the text that is embedded and searched: title and headings, then the content as plain text."""
    body = plain_text(chunk.content)
    first, _, rest = body.partition("\n")
    own_heading = " ".join(first.split()) == chunk.section_header
    return f"{context_line(chunk.title, chunk.heading_path)}\n{rest.lstrip() if own_heading else body}".strip()


def context_line(title: str, heading_path: tuple[str, ...]) -> str:
    """Return title and enclosing headings on one line, each cut to a length that leaves room for the content."""
    title = " ".join(title.split())
    names = heading_path if heading_path[:1] == (title,) else (title, *heading_path)
    return " > ".join(name if len(name) <= _TITLE_LIMIT else name[:_TITLE_LIMIT].rsplit(" ", 1)[0] for name in names)


def plain_text(markdown: str) -> str:
    """Return the markdown without markup; code is unchanged."""
    segments = FENCE_LINE.split(markdown)
    for index in range(0, len(segments), 2):
        for pattern, replacement in _PROSE:
            segments[index] = pattern.sub(replacement, segments[index])
    return _BLANK_LINES.sub("\n", "\n".join(segments)).strip()


_IMAGES = "images/"
_MARKUP = re.compile(r"[\\`*_\[\]<>&!\n]")
_VISIBLE = {"text", "text_special", "code_inline"}
_BREAKS = {"softbreak", "hardbreak"}


def plain_title(markdown: str) -> str:
    """Return a heading's text as readers see it, on one line, without links to served images."""
    if not _MARKUP.search(markdown):
        return " ".join(markdown.split())
    words: list[str] = []
    in_image = False
    for token in line_parser().parseInline(markdown)[0].children or ():
        if token.type in {"link_open", "link_close"}:
            in_image = _target(token).startswith(_IMAGES)
        elif not in_image:
            words.append(token.content if token.type in _VISIBLE else " " if token.type in _BREAKS else "")
    return " ".join("".join(words).split())


def image_paths(markdown: str) -> tuple[str, ...]:
    """Return the paths (``images/<stem>.png``) of the served images that a text links to or shows, unique and in order.

    Only lines that may contain one are parsed: parsing every chunk as a whole would double the time of chunking.
    """
    if _IMAGES not in markdown:
        return ()
    lines = (line for prose in FENCE_LINE.split(markdown)[::2] for line in prose.split("\n") if _IMAGES in line)
    inline = (child for line in lines for child in line_parser().parseInline(line)[0].children or ())
    return tuple(dict.fromkeys(unquote(path) for path in map(_target, inline) if path.startswith(_IMAGES)))


def _target(token: Token) -> str:
    return str(token.attrs.get("href") or token.attrs.get("src") or "")
