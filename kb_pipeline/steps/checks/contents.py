"""What an article's markdown holds: read anew with markdown-it-py, knowing nothing of who wrote it.

Here: reading. Not here: judging what was read.
"""

import re
from collections.abc import MutableMapping
from dataclasses import dataclass, field
from functools import cache, lru_cache
from typing import Any, NamedTuple

from markdown_it import MarkdownIt
from markdown_it.token import Token

from kb_pipeline.steps.markers import Marker, find_markers

_MARKUP = re.compile(r"[\\`\[<&]")
_NOTATION = frozenset({"<sub>", "</sub>", "<sup>", "</sup>"})
_NOTATION_IN_CELLS = frozenset({*_NOTATION, "<br>"})
"""What markdown has no notation of its own for."""


class Placed(NamedTuple):
    """A piece of the article, and the title of the section it stands in."""

    text: str
    section: str


@dataclass(slots=True)
class Contents:
    """What the markdown shows, in its order.

    ``tables`` and ``code_blocks`` are the sections they stand in. ``prose`` is the text of each paragraph, heading and
    cell without its code; an escaped character keeps its backslash and an entity its name, so that what the author
    wrote is told apart from markup. ``html`` leaves out what markdown has no notation of its own for.
    """

    headings: list[str] = field(default_factory=list)
    link_targets: list[str] = field(default_factory=list)
    tables: list[str] = field(default_factory=list)
    code_blocks: list[str] = field(default_factory=list)
    html: list[Placed] = field(default_factory=list)
    prose: list[Placed] = field(default_factory=list)


@lru_cache(maxsize=2)
def contents_of(markdown: str) -> Contents:
    """Read an article, once for all its checks. Nobody changes what is returned."""
    references: dict[str, Any] = {}
    tokens = _parser().parse(markdown, references)
    reading = _Reading(references)
    for token in tokens:
        reading.add(token)
    return reading.contents


@lru_cache(maxsize=2)
def markers_of(markdown: str) -> tuple[Marker, ...]:
    """All image markers in their order, looked for once for all checks of the article."""
    return tuple(find_markers(markdown))


def same_target(target: str) -> str:
    """A link's target in the spelling in which :class:`Contents` gives it."""
    return _parser().normalizeLink(target)


class _Parser(MarkdownIt):
    def validateLink(self, url: str) -> bool:
        """Every link counts; which of them are safe to follow is no question of completeness."""
        return True


@cache
def _parser() -> _Parser:
    # By itself it reads no deeper than 20 tokens, which is a list ten deep.
    parser = _Parser("commonmark", {"maxNesting": 1000})
    parser.enable("table")
    # What is inside the lines is read by _Reading, where there is anything to read.
    parser.core.ruler.enableOnly(["normalize", "block"])
    return parser


class _Reading:
    """Goes through the tokens and knows where it is."""

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
            case "html_block":
                self.contents.html.append(Placed(token.content, self._section))

    def _add_inline(self, token: Token) -> None:
        children = self._children(token.content)
        if self._in_heading:
            self._section = " ".join("".join(map(_visible, children)).split())
            self.contents.headings.append(self._section)
        notation = _NOTATION_IN_CELLS if self._in_table else _NOTATION
        for child in children:
            if child.type == "html_inline" and child.content not in notation:
                self.contents.html.append(Placed(child.content, self._section))
            elif child.type == "link_open":
                self.contents.link_targets.append(str(child.attrs["href"]))
        self.contents.prose.append(Placed("".join(map(_prose, children)), self._section))

    def _children(self, text: str) -> list[Token]:
        if not _MARKUP.search(text):
            return [Token("text", "", 0, content=text)]
        children: list[Token] = []
        _parser().inline.parse(text, _parser(), self._references, children)
        return children


def _visible(child: Token) -> str:
    return "\n" if child.type.endswith("break") else child.content


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
