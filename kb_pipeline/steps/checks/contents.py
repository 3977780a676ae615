"""Read what an article's markdown contains, with markdown-it-py and independent of the code that wrote it.

Not here: judging the contents.
"""

import re
from collections.abc import Iterator, MutableMapping
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple
from urllib.parse import unquote

from markdown_it.token import Token

from kb_pipeline.steps.markdown_parsers import checking_block_parser, line_parser
from kb_pipeline.steps.markers import Marker, find_markers

_IMAGES = "images/"
_MARKUP = re.compile(r"[\\`\[<&]")
_NOTATION = frozenset({"<sub>", "</sub>", "<sup>", "</sup>"})
_NOTATION_IN_CELLS = frozenset({*_NOTATION, "<br>"})
"""HTML for what markdown cannot express."""
_VISIBLE = frozenset({"text", "text_special", "code_inline"})
_FENCE = re.compile(r"(?:[ \t>]|(?:[-*+]|\d{1,9}[.)])[ \t])*(`{3,}(?!.*`)|~{3,})")
_FENCE_END = re.compile(r"[ \t>]*(`{3,}|~{3,})[ \t]*$")
_QUOTE = re.compile(r"(?:[ \t]|(?:[-*+]|\d{1,9}[.)])[ \t]|>)*>[ \t]?(?=\*\*\[)")
_QUOTED = re.compile(r"[ \t>]*>[ \t]?")


class PlacedPiece(NamedTuple):
    """A piece of the article, and the title of its section."""

    text: str
    section: str


@dataclass(slots=True)
class Contents:
    """The contents of a markdown text, in order.

    ``tables`` and ``code_blocks`` contain the titles of their sections. ``prose`` is the text of each paragraph,
    heading and cell without code; escaped characters keep the backslash and entities their name, to distinguish them
    from markup. ``html`` excludes HTML for what markdown cannot express. ``letters`` counts the letters and digits that
    readers see, in text and code, and those of image markers.
    """

    headings: list[str] = field(default_factory=list)
    link_targets: list[str] = field(default_factory=list)
    tables: list[str] = field(default_factory=list)
    code_blocks: list[str] = field(default_factory=list)
    html: list[PlacedPiece] = field(default_factory=list)
    prose: list[PlacedPiece] = field(default_factory=list)
    letters: int = 0


class ShownImage(NamedTuple):
    """A link to a served image; ``words`` is the line below if the link opens a quote, else None."""

    path: str
    words: str | None


@lru_cache(maxsize=2)
def contents_of(markdown: str) -> Contents:
    """Read an article, cached for all its checks; callers must not change the result."""
    references: dict[str, Any] = {}
    tokens = checking_block_parser().parse(markdown, references)
    reader = _Reader(references)
    for token in tokens:
        reader.add(token)
    return reader.contents


def letters_in(text: str) -> int:
    """Return the number of letters and digits."""
    return sum(map(str.isalnum, text))


@lru_cache(maxsize=2)
def markers_of(markdown: str) -> tuple[Marker, ...]:
    """Return all image markers in order, cached for all checks of the article."""
    return tuple(find_markers(markdown))


def same_target(target: str) -> str:
    """Return a link's target as it is written in :class:`Contents`."""
    return checking_block_parser().normalizeLink(target)


def shown_images(markdown: str) -> list[ShownImage]:
    """Return all links to served images outside of code blocks, in order, with their words."""
    return [
        ShownImage(path, _text(_QUOTED.sub("", below, count=1)) if _QUOTE.match(line) else None)
        for line, below in _image_lines(markdown)
        for path in _paths(line)
    ]


def shown_paths(markdown: str) -> set[str]:
    """Return the paths of the shown images, without reading their words."""
    return {path for line, _ in _image_lines(markdown) for path in _paths(line)}


class _Reader:
    """Collects the contents of a text from its tokens, keeping track of the current section."""

    def __init__(self, references: MutableMapping[str, Any]) -> None:
        self.contents = Contents()
        self._references = references
        self._section = ""
        self._in_heading = False
        self._in_table = False

    def add(self, token: Token) -> None:
        match token.type:
            case "inline":
                self._add_inline(token)
            case "heading_open" | "heading_close":
                self._in_heading = token.nesting == 1
            case "table_open":
                self._in_table = True
                self.contents.tables.append(self._section)
            case "table_close":
                self._in_table = False
            case "fence" | "code_block":
                self.contents.code_blocks.append(self._section)
                self.contents.letters += letters_in(token.content)
            case "html_block":
                self.contents.html.append(PlacedPiece(token.content, self._section))

    def _add_inline(self, token: Token) -> None:
        children = [Token("text", "", 0, content=token.content)]
        if _MARKUP.search(token.content):
            children = []
            parser = checking_block_parser()
            parser.inline.parse(token.content, parser, self._references, children)
        if self._in_heading:
            text = "".join("\n" if child.type.endswith("break") else child.content for child in children)
            self._section = " ".join(text.split())
            self.contents.headings.append(self._section)
        notation = _NOTATION_IN_CELLS if self._in_table else _NOTATION
        for child in children:
            if child.type == "html_inline" and child.content not in notation:
                self.contents.html.append(PlacedPiece(child.content, self._section))
            elif child.type == "link_open":
                self.contents.link_targets.append(str(child.attrs["href"]))
            elif child.type in _VISIBLE:
                self.contents.letters += letters_in(child.content)
        self.contents.prose.append(PlacedPiece("".join(map(_prose, children)), self._section))


def _prose(child: Token) -> str:
    match child.type:
        case "text":
            return child.content
        case "text_special":
            return child.markup
        case "softbreak" | "hardbreak":
            return "\n"
        case "code_inline":
            return " "
        case _:
            return ""


def _image_lines(markdown: str) -> Iterator[tuple[str, str]]:
    """Return each line that may show an image, with the line below it."""
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
    # cached, because the lines of an article recur in its chunks
    targets = [str(token.attrs.get("href") or token.attrs.get("src") or "") for token in _inline(line)]
    return tuple(unquote(target) for target in targets if target.startswith(_IMAGES))


def _text(line: str) -> str:
    return "".join(token.content for token in _inline(line))


def _inline(line: str) -> list[Token]:
    return line_parser().parseInline(line)[0].children or []
