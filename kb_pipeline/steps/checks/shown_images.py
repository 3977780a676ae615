"""Where an article shows its served images: links to ``images/...``, and the words of the blocks they open.

Read line by line, because only the lines of an image need their markdown read, and none of them spans a block.
"""

import re
from collections.abc import Iterator
from functools import cache, lru_cache
from itertools import pairwise
from typing import NamedTuple
from urllib.parse import unquote

from markdown_it import MarkdownIt
from markdown_it.token import Token

_IMAGES = "images/"
_FENCE = re.compile(r"(?:[ \t>]|(?:[-*+]|\d{1,9}[.)])[ \t])*(`{3,}(?!.*`)|~{3,})")
_FENCE_END = re.compile(r"[ \t>]*(`{3,}|~{3,})[ \t]*$")
_QUOTE = re.compile(r"(?:[ \t]|(?:[-*+]|\d{1,9}[.)])[ \t]|>)*>[ \t]?(?=\*\*\[)")
_QUOTED = re.compile(r"[ \t>]*>[ \t]?")


class ShownImage(NamedTuple):
    """A link to a served image; ``words`` is the line below it where the link opens a quote, else None."""

    path: str
    words: str | None


def shown_images(markdown: str) -> list[ShownImage]:
    """All links to served images outside of code blocks, in order, with their words."""
    return [
        ShownImage(path, _text(_QUOTED.sub("", below, count=1)) if _QUOTE.match(line) else None)
        for line, below in _image_lines(markdown)
        for path in _paths(line)
    ]


def shown_paths(markdown: str) -> set[str]:
    """The images alone, without reading their words."""
    return {path for line, _ in _image_lines(markdown) for path in _paths(line)}


def _image_lines(markdown: str) -> Iterator[tuple[str, str]]:
    """Each line that may show an image, with the line below it."""
    if _IMAGES not in markdown:
        return
    fence = ""
    for line, below in pairwise([*markdown.split("\n"), ""]):
        if fence:
            closing = _FENCE_END.match(line)
            fence = "" if closing and closing[1].startswith(fence) else fence
        elif opening := _FENCE.match(line):
            fence = opening[1]
        elif _IMAGES in line:
            yield line, below


@lru_cache(maxsize=256)
def _paths(line: str) -> tuple[str, ...]:
    """Remembered, because an article's lines come again in its chunks."""
    targets = [str(token.attrs.get("href") or token.attrs.get("src") or "") for token in _inline(line)]
    return tuple(unquote(target) for target in targets if target.startswith(_IMAGES))


def _text(line: str) -> str:
    return "".join(token.content for token in _inline(line))


def _inline(line: str) -> list[Token]:
    return _parser().parseInline(line)[0].children or []


@cache
def _parser() -> MarkdownIt:
    return MarkdownIt("commonmark")
