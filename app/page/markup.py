"""Markdown of answers and articles as HTML that is safe to show: pure functions, text in, HTML out.

Everything in it is hostile: articles, questions, what models write. So raw HTML stays text, links lead to the web or
to articles only, images come from the service only. Streamlit's own markdown is not used, because it reads more into
a text than is written there: ``$...$`` as formulas, ``:name:`` as emoji, ``:red[...]`` as colours.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from html import escape
from itertools import groupby
from urllib.parse import unquote

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

from app.grounding.citations import IMAGE_ROUTE
from app.page.figures import as_figures, image_html
from app.page.marking import MARK_END, MARK_START, marked_source, without_marks

_REFERENCE = re.compile(r"(?<!\\)\[Ref #(\d{1,4})\]")
_REF = "\U00010102"  # like the marks: punctuation to markdown, so that emphasis beside it stays what it is
_REF_NUMBER = re.compile(f"{_REF}(\\d+){_REF}")
_WEB = re.compile(r"(?:https?|mailto):", re.IGNORECASE)
_PIECES = re.compile(f"({MARK_START}|{MARK_END}|{_REF}\\d+{_REF})")
_KEPT_TAGS = re.compile(r"<(br ?/?|/?su[bp])>", re.IGNORECASE)

Chip = Callable[[int], str]
"""The HTML of a reference by its number."""


def plain_chip(number: int) -> str:
    """A reference that leads nowhere yet."""
    return f'<span class="kb-ref">{number}</span>'


def answer_blocks(markdown: str, chip: Chip = plain_chip) -> list[str]:
    """The HTML of an answer, one string for each paragraph, list, table: what is complete does not change any more."""
    source = _REFERENCE.sub(rf"{_REF}\1{_REF}", without_marks(markdown.replace(_REF, "")))
    tokens = _PARSER.parse(source)
    _make_safe(tokens, chip, {})
    return [_PARSER.renderer.render(block, _PARSER.options, {}) for block in _blocks(tokens)]


def passage_html(markdown: str, quotes: Sequence[str] = (), links: Mapping[str, str] | None = None) -> str:
    """The HTML of an article or a passage of it; ``quotes`` are marked, ``links`` are ids of articles by target."""
    tokens = _PARSER.parse(marked_source(markdown.replace(_REF, ""), quotes))
    as_figures(tokens)
    _make_safe(tokens, plain_chip, links or {})
    return str(_PARSER.renderer.render(tokens, _PARSER.options, {}))


def without_title(markdown: str, title: str) -> str:
    """The markdown without a heading at its top that only says the title again."""
    first, _, rest = markdown.lstrip().partition("\n")
    return rest if first.startswith("#") and first.lstrip("#").strip() == title else markdown


def _kept_tag(state: StateInline, silent: bool) -> bool:
    """Line breaks in table cells, and raised and lowered text: what markdown has no words for."""
    match = _KEPT_TAGS.match(state.src, state.pos)
    if match is None:
        return False
    if not silent:
        state.push("html_inline", "", 0).content = match[0].lower()
    state.pos = match.end()
    return True


def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    parser.disable("reference")  # a definition would turn references to passages into links
    parser.inline.ruler.before("autolink", "kept_tag", _kept_tag)
    return parser


_PARSER = _parser()


def _blocks(tokens: list[Token]) -> Iterator[list[Token]]:
    ends = 0

    def block(token: Token) -> int:
        nonlocal ends
        current = ends
        ends += token.level == 0 and token.nesting <= 0
        return current

    for _, group in groupby(tokens, block):
        yield list(group)


def _make_safe(tokens: list[Token], chip: Chip, links: Mapping[str, str]) -> None:
    """Put our own HTML where text, images and links stand."""
    marking = False
    for token in tokens:
        if token.type in ("fence", "code_block"):
            content, marking = _pieces(token.content, marking, _written)
            token.type, token.content = "html_block", f"<pre><code>{content}</code></pre>\n"
        elif token.children is not None:
            token.children, marking = _inline(token.children, marking, chip, links)


def _inline(children: list[Token], marking: bool, chip: Chip, links: Mapping[str, str]) -> tuple[list[Token], bool]:
    safe: list[Token] = []
    closing: list[str] = []
    for token in children:
        match token.type:
            case "text":
                content, marking = _pieces(token.content, marking, chip)
                safe.append(_html(content))
            case "code_inline":
                content, marking = _pieces(token.content, marking, _written)
                safe.append(_html(f"<code>{content}</code>"))
            case "image":
                safe.append(_html(_image(token)))
            case "link_open":
                opening = _link(str(token.attrGet("href") or ""), links)
                closing.append("</a>" if opening else "")
                safe.append(_html(opening))
            case "link_close":
                safe.append(_html(closing.pop()))
            case _:
                safe.append(token)
    return safe, marking


def _pieces(text: str, marking: bool, chip: Chip) -> tuple[str, bool]:
    """Text as HTML, with its marks and references; whether a mark goes on after it."""
    out: list[str] = []
    for piece in _PIECES.split(text):
        if piece in (MARK_START, MARK_END):
            marking = piece == MARK_START
        elif reference := _REF_NUMBER.fullmatch(piece):
            out.append(chip(int(reference[1])))
        elif piece:
            out.append(f"<mark>{escape(piece)}</mark>" if marking else escape(piece))
    return "".join(out), marking


def _written(number: int) -> str:
    return f"[Ref #{number}]"


def _image(token: Token) -> str:
    url, alt = str(token.attrGet("src") or ""), without_marks(_REF_NUMBER.sub("", token.content))
    return image_html(url, alt) if url.startswith(IMAGE_ROUTE) else escape(alt)


def _link(target: str, links: Mapping[str, str]) -> str:
    """The opening of a link; nothing where it leads nowhere that a reader may go."""
    target = without_marks(_REF_NUMBER.sub("", target))
    if article := links.get(target) or links.get(unquote(target)):
        return f'<a href="?article={escape(article)}" data-kb="article:{escape(article)}">'
    if _WEB.match(target) or target.startswith(IMAGE_ROUTE):
        return f'<a href="{escape(target)}" target="_blank" rel="noopener noreferrer">'
    return ""


def _html(content: str) -> Token:
    return Token("html_inline", "", 0, content=content)
