"""The set-ups of markdown-it-py, one for each purpose: who wrote the text, and what is wanted of it.

All but that for plain text read CommonMark with tables. They differ in three things: whether raw HTML is HTML or text,
which links count, and how deep lists and quotes may be nested. A parser keeps nothing between two texts, so each is
made once and shared. Here too: the cells of a table's row. Not here: what is done with the tokens.
"""

import re
from functools import cache

from markdown_it import MarkdownIt

_DEEPEST_OF_SERVICE = 100
"""markdown-it's own 20 are used up by lists nested ten deep. Not measured."""
_DEEPEST_SERVED = 1000
"""So deep that no part of an article goes unseen by its checks, as with markdown-it's own 20."""

_CELL_BORDER = re.compile(r"(?<!\\)\|")


def row_cells(line: str) -> list[str]:
    """Return the source of each cell of a table's row; bars inside of cells stay escaped."""
    inner = line.strip().removeprefix("|")
    inner = inner if inner.endswith(r"\|") else inner.removesuffix("|")
    return [cell.strip() for cell in _CELL_BORDER.split(inner)]


@cache
def authored_parser() -> MarkdownIt:
    """For what authors write, in files and contributions: raw HTML is HTML, strikethrough as on GitHub."""
    return MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])


def safe_parser() -> MarkdownIt:
    """For text of strangers that becomes HTML: raw HTML is text. Each call makes a new one, to be given more rules."""
    return MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])


@cache
def block_parser() -> MarkdownIt:
    """For where blocks begin and end; what is inside lines is not read."""
    return _only_blocks(MarkdownIt("commonmark").enable("table"))


@cache
def line_parser() -> MarkdownIt:
    """For single lines of our own markdown (``parseInline``): words, links and images."""
    return MarkdownIt("commonmark")


@cache
def text_parser() -> MarkdownIt:
    """For plain text: lists, quotes, indented code and underlined headings; inside a line, no sign means anything."""
    return MarkdownIt("zero").enable(["blockquote", "code", "lheading", "list", "newline"])


@cache
def checking_parser() -> MarkdownIt:
    """For judging an article: no link and no level is passed over, least of all one that is unsafe."""
    return _AnyLink("commonmark", {"maxNesting": _DEEPEST_SERVED}).enable("table")


@cache
def checking_block_parser() -> MarkdownIt:
    """The same without reading lines, for those who read only lines that hold markup."""
    return _only_blocks(_AnyLink("commonmark", {"maxNesting": _DEEPEST_SERVED}).enable("table"))


@cache
def service_parser() -> MarkdownIt:
    """For what a service returns, markdown mixed with HTML; its links are compared as they are written."""
    options = {"html": True, "maxNesting": _DEEPEST_OF_SERVICE}
    return _LinkAsWritten("commonmark", options).enable(["table", "strikethrough"])


class _AnyLink(MarkdownIt):
    def validateLink(self, url: str) -> bool:
        return True


class _LinkAsWritten(_AnyLink):
    def normalizeLink(self, url: str) -> str:
        return url


def _only_blocks(parser: MarkdownIt) -> MarkdownIt:
    parser.core.ruler.enableOnly(["normalize", "block"])
    return parser
