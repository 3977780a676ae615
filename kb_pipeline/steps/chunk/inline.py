"""What is inside the lines: a heading's plain title, the served images a text refers to.

Here: everything that needs markdown's inline syntax parsed. Not here: block borders (blocks.py).
"""

import re
from functools import cache
from urllib.parse import unquote

from markdown_it import MarkdownIt
from markdown_it.token import Token

from kb_pipeline.steps.chunk.plain import FENCE_LINE

_IMAGES = "images/"
_MARKUP = re.compile(r"[\\`*_\[\]<>&!\n]")
_VISIBLE = {"text", "text_special", "code_inline"}
_BREAKS = {"softbreak", "hardbreak"}


@cache
def _parser() -> MarkdownIt:
    return MarkdownIt("commonmark").enable("table")


def plain_title(markdown: str) -> str:
    """A heading's text as the reader sees it, on one line, without links to served images."""
    if not _MARKUP.search(markdown):
        return " ".join(markdown.split())
    words: list[str] = []
    in_image = False
    for token in _parser().parseInline(markdown)[0].children or ():
        if token.type in {"link_open", "link_close"}:
            in_image = _target(token).startswith(_IMAGES)
        elif not in_image:
            words.append(token.content if token.type in _VISIBLE else " " if token.type in _BREAKS else "")
    return " ".join("".join(words).split())


def image_paths(markdown: str) -> tuple[str, ...]:
    """Paths (``images/<stem>.png``) of the served images a text links to or shows, each once, in order.

    Only lines that may hold one are parsed: parsing every chunk whole would double the time of chunking.
    """
    if _IMAGES not in markdown:
        return ()
    lines = (line for prose in FENCE_LINE.split(markdown)[::2] for line in prose.split("\n") if _IMAGES in line)
    inline = (child for line in lines for child in _parser().parseInline(line)[0].children or ())
    return tuple(dict.fromkeys(unquote(path) for path in map(_target, inline) if path.startswith(_IMAGES)))


def _target(token: Token) -> str:
    return str(token.attrs.get("href") or token.attrs.get("src") or "")
