"""What readers of markdown make links of without being asked: three oracles, each as liberal as what it stands for.

GitHub and Streamlit take web addresses and mail from text, where escapes and entities are read already (a port of
``mdast-util-gfm-autolink-literal``); linkify-it, in many chat programs, also domains; terminals whatever they print.
"""

import re
from collections.abc import Iterator, Sequence
from urllib.parse import unquote

from markdown_it import MarkdownIt
from markdown_it.token import Token

_PLAIN = MarkdownIt("commonmark").enable(["table", "strikethrough"])
_LINKIFYING = MarkdownIt("commonmark", {"linkify": True}).enable(["table", "strikethrough", "linkify"])

_GFM_WEB = re.compile(r"(?<![^\W_])(https?://|www(?=\.))([-.\w]+)([^ \t\r\n]*)", re.IGNORECASE)
_GFM_MAIL = re.compile(r"(?<![^\W_])([-.\w+]+)@([-\w]+(?:\.[-\w]+)+)")
_CMARK_MORE = re.compile(r"ftp://[-.\w]*\w[^ \t\r\n<]*|(?:mailto|xmpp):[-.\w+]+@[-.\w]*\w", re.IGNORECASE)
# after VTE's patterns, which GNOME's terminal uses, and those of iTerm and Windows Terminal, which know schemes alone
_TERMINAL = re.compile(r"(?:\b[a-z][a-z0-9+.-]*://|\b(?:www|ftp)\.)[\w\[][^\s<>\"'`]*", re.IGNORECASE)
_TERMINAL_MAIL = re.compile(r"[\w.+-]+@[\w-]*\w(?:\.[\w-]*\w)+")


def links(text: str) -> Iterator[str]:
    """Where any of those who render the text lead their reader."""
    yield from _of_tokens(_tokens(_PLAIN, text))
    yield from _of_tokens(_tokens(_LINKIFYING, text))
    for said in _texts(_tokens(_PLAIN, text)):
        for found in _GFM_WEB.finditer(said):
            yield found[0].rstrip("?!.,:;*_~'\")")
        yield from (f"mailto:{found[0]}" for found in _GFM_MAIL.finditer(said) if found[0][-1] not in "-_0123456789")
        yield from (found[0].rstrip("?!.,:;*_~'\")") for found in _CMARK_MORE.finditer(said))


def links_of_a_terminal(text: str) -> Iterator[str]:
    """What a terminal makes of the rendered text outside of code, where all stands as it was written."""
    for block in _PLAIN.parse(text):
        # links are told to a terminal as such, emphasis prints nothing
        printed = "".join(_split_at_links(block.children or ()))
        yield from (found[0].rstrip("?!.,:;*_~'\")") for found in _TERMINAL.finditer(printed))
        yield from (f"mailto:{found[0]}" for found in _TERMINAL_MAIL.finditer(printed))


def _split_at_links(tokens: Sequence[Token]) -> Iterator[str]:
    depth = 0
    for token in tokens:
        depth += (token.type == "link_open") - (token.type == "link_close")
        if token.type == "text" and not depth:
            yield token.content
        elif token.type not in ("em_open", "em_close", "strong_open", "strong_close", "s_open", "s_close"):
            yield "\n"


def _tokens(parser: MarkdownIt, text: str) -> Iterator[Token]:
    for block in parser.parse(text):
        yield block
        yield from block.children or ()


def _of_tokens(tokens: Iterator[Token]) -> Iterator[str]:
    for token in tokens:
        for name in ("href", "src"):
            if target := token.attrs.get(name):
                yield unquote(str(target))


def _texts(tokens: Iterator[Token]) -> Iterator[str]:
    """Text that is no link's."""
    depth = 0
    for token in tokens:
        depth += (token.type == "link_open") - (token.type == "link_close")
        if token.type == "text" and not depth:
            yield token.content
