"""Converts the markdown of answers and articles to safe HTML. Pure functions.

All input is untrusted: articles, questions, and the output of models. So raw HTML stays text, links lead only to the
web or to articles, and images come only from the service. Streamlit's own markdown is not used, because it interprets
more than markdown: ``$...$`` as formulas, ``:name:`` as emoji, ``:red[...]`` as colours.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from html import escape
from itertools import groupby
from urllib.parse import unquote, urlencode

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

from app.grounding.citations import IMAGE_ROUTE
from app.grounding.references import MARKS
from app.page.templates import render
from app.schema.passages import CitedImage
from kb_pipeline.records import PageBreak
from kb_pipeline.steps.markdown_parsers import safe_parser


def image_html(url: str, alt: str) -> str:
    """An image that opens in full size when it is clicked."""
    return render("source", "image", url, alt)


def images_not_in(html: str, images: Iterable[CitedImage]) -> list[CitedImage]:
    """The images that this HTML does not show."""
    return [image for image in images if escape(image.url) not in html]


def as_figures(tokens: list[Token]) -> None:
    """Turn the blocks of images into figures with a description that opens below."""
    for at, token in enumerate(tokens):
        if token.type == "blockquote_open" and (inline := _image_block(tokens, at)):
            _to_figure(tokens, at, inline)


def _image_block(tokens: list[Token], at: int) -> Token | None:
    """The first paragraph of a quotation, if it begins like the block of an image."""
    inline = tokens[at + 2] if len(tokens) > at + 2 and tokens[at + 1].type == "paragraph_open" else None
    if inline is None or inline.children is None:
        return None
    first = [child for child in inline.children[:4] if child.type != "text" or child.content][:3]
    if [child.type for child in first] != ["strong_open", "link_open", "text"]:
        return None
    is_image = first[2].content.startswith("Image: ") and str(first[1].attrGet("href")).startswith(IMAGE_ROUTE)
    return inline if is_image else None


def _to_figure(tokens: list[Token], at: int, inline: Token) -> None:
    children = inline.children or []
    link = next(child for child in children if child.type == "link_open")
    name = next(child.content for child in children if child.content).removeprefix("Image: ")
    end = next(i for i, child in enumerate(children) if child.type == "strong_close")
    description = children[end + 1 :]
    while description and description[0].type in ("softbreak", "hardbreak"):
        del description[0]
    inline.children = [Token("hardbreak", "br", 0) if child.type == "softbreak" else child for child in description]
    opening = f'<figure class="kb-figure">{image_html(str(link.attrGet("href")), name)}'
    _replace(tokens[at], f"{opening}<details><summary>What this image shows</summary>\n")
    level = tokens[at].level
    closing = next(token for token in tokens[at + 1 :] if token.type == "blockquote_close" and token.level == level)
    _replace(closing, "</details></figure>\n")


def _replace(token: Token, html: str) -> None:
    token.type, token.tag, token.content = "html_block", "", html


MARK_START, MARK_END = "\U00010100", "\U00010101"
_BLOCK_MARKUP = re.compile(r"(?:[ \t\n>|]|#{1,6} |[-*+] |\d{1,9}[.)] |`{3,}[^\n]*\n)*")
_AFTER_TEXT = " \t\n|`"


def without_marks(text: str) -> str:
    """The text without the characters that mark quotes."""
    return text.replace(MARK_START, "").replace(MARK_END, "")


def marked_source(markdown: str, quotes: Sequence[str], breaks: Sequence[PageBreak] = (), part: str = "page") -> str:
    """The markdown with the first occurrence of every quote marked; quotes that do not occur are ignored.

    Where a page begins, its sign is put before the first word, behind the markup of the block.
    """
    markdown = markdown if breaks else without_marks(markdown)
    signs = [(_first_word(markdown, each.offset), 1, _page_sign(each, part)) for each in breaks]
    for start, end in _joined(_spans(markdown, quotes)):
        signs += [(start, 2, MARK_START), (end, 0, MARK_END)]
    out: list[str] = []
    at = 0
    for place, _, sign in sorted(signs, key=lambda each: each[:2]):
        out += [markdown[at:place], sign]
        at = place
    return "".join([*out, markdown[at:]])


def _first_word(markdown: str, at: int) -> int:
    markup = _BLOCK_MARKUP.match(markdown, at)
    return markup.end() if markup else at


def _page_sign(page: PageBreak, part: str) -> str:
    """Return a sign that markdown takes for punctuation, whatever is printed on the page."""
    label = f"{part.capitalize()} {page.label.strip() or page.page}".strip()
    return f"{_PAGE}{page.page} {label.encode().hex()}{_PAGE}"


def _spans(markdown: str, quotes: Iterable[str]) -> Iterator[tuple[int, int]]:
    """The spans of the quotes, without the markup that begins a list item, a heading or a table row."""
    for quote in quotes:
        at = markdown.find(quote) if quote.strip() else -1
        if at < 0:
            continue
        markup = _BLOCK_MARKUP.match(markdown, at, at + len(quote))
        start = markup.end() if markup else at
        end = start + len(markdown[start : at + len(quote)].rstrip(_AFTER_TEXT))
        if start < end:
            yield start, end


def _joined(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    joined: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined


_REFERENCE = re.compile(r"(?<!\\)\[Ref #(\d{1,4})\]")
_REF = "\U00010102"  # markdown treats it as punctuation, like the marks, so emphasis next to it still works
_REF_NUMBER = re.compile(f"{_REF}(\\d+){_REF}")
_PAGE = "\U00010103"
_PAGE_SIGN = re.compile(f"{_PAGE}(\\d+) ([0-9a-f]*){_PAGE}")
_WEB = re.compile(r"(?:https?|mailto):", re.IGNORECASE)
_OURS = re.compile(f"[{MARK_START}{MARK_END}{_REF}{_PAGE}]")
_PIECES = re.compile(f"({MARK_START}|{MARK_END}|{_REF}\\d+{_REF}|{_PAGE}\\d+ [0-9a-f]*{_PAGE})")
_KEPT_TAGS = re.compile(r"<(br ?/?|/?su[bp])>", re.IGNORECASE)

_MARK = re.compile("|".join(re.escape(f"<em>{mark.strip('*')}</em>") for mark in MARKS))

Chip = Callable[[int], str]
"""A function from the number of a reference to its HTML."""
Words = Callable[[str], str]
"""A function from text to HTML that shows it, outside of links."""


def plain_chip(number: int) -> str:
    """A reference without a link."""
    return f'<span class="kb-ref">{number}</span>'


def answer_blocks(
    markdown: str, chip: Chip = plain_chip, words: Words = escape, *, has_links: bool = True
) -> list[str]:
    """The HTML of an answer, one string for each block. While an answer grows, only its last block changes.

    Without ``has_links``, of a link only its words are shown.
    """
    source = _REFERENCE.sub(rf"{_REF}\1{_REF}", without_marks(markdown.replace(_REF, "")))
    tokens = _PARSER.parse(source)
    _make_safe(tokens, chip, {} if has_links else None, words)
    blocks = (_PARSER.renderer.render(block, _PARSER.options, {}) for block in _blocks(tokens))
    return [_MARK.sub(lambda mark: f'<span class="kb-unsupported">{mark[0][5:-6]}</span>', block) for block in blocks]


def passage_html(
    markdown: str,
    quotes: Sequence[str] = (),
    links: Mapping[str, str] | None = None,
    breaks: Sequence[PageBreak] = (),
    part: str = "page",
) -> str:
    """The HTML of an article or a passage; ``quotes`` are marked, ``links`` are article ids by link target.

    ``breaks`` are the pages that begin in it; each gets a label, that begins with what a page is called, its ``part``.
    """
    # characters of ours in an author's text would be taken for signs; removing them must not move the page breaks
    clean = _OURS.sub("\ufffd" if breaks else "", markdown)
    tokens = _PARSER.parse(marked_source(clean, quotes, breaks, part))
    as_figures(tokens)
    _make_safe(tokens, plain_chip, links or {})
    return str(_PARSER.renderer.render(tokens, _PARSER.options, {}))


def without_title(markdown: str, title: str) -> str:
    """The markdown without a first heading that repeats the title."""
    first, _, rest = markdown.lstrip().partition("\n")
    return rest if first.startswith("#") and first.lstrip("#").strip() == title else markdown


def breaks_behind(breaks: Sequence[PageBreak], markdown: str, rest: str) -> tuple[PageBreak, ...]:
    """The page breaks of markdown in ``rest``, which is its end; what begins before it begins with it."""
    skipped = len(markdown) - len(rest)
    return tuple(each.model_copy(update={"offset": max(0, each.offset - skipped)}) for each in breaks)


def _kept_tag(state: StateInline, silent: bool) -> bool:
    """Keep ``br``, ``sup`` and ``sub``, for which markdown has no syntax."""
    match = _KEPT_TAGS.match(state.src, state.pos)
    if match is None:
        return False
    if not silent:
        state.push("html_inline", "", 0).content = match[0].lower()
    state.pos = match.end()
    return True


def _parser() -> MarkdownIt:
    parser = safe_parser()
    parser.disable("reference")  # a link definition could turn references to passages into links
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


def _make_safe(tokens: list[Token], chip: Chip, links: Mapping[str, str] | None, words: Words = escape) -> None:
    """Replace text, images and links with safe HTML; without ``links``, none leads anywhere."""
    marking = False
    for token in tokens:
        if token.type in ("fence", "code_block"):
            content, marking = _pieces(token.content, marking, _plain_reference)
            token.type, token.content = "html_block", f"<pre><code>{content}</code></pre>\n"
        elif token.children is not None:
            token.children, marking = _inline(token.children, marking, chip, links, words)


def _inline(
    children: list[Token], marking: bool, chip: Chip, links: Mapping[str, str] | None, words: Words
) -> tuple[list[Token], bool]:
    safe: list[Token] = []
    closing: list[str] = []
    for token in children:
        match token.type:
            case "text":
                content, marking = _pieces(token.content, marking, chip, escape if closing else words)
                safe.append(_html(content))
            case "code_inline":
                content, marking = _pieces(token.content, marking, _plain_reference, escape if closing else words)
                safe.append(_html(f"<code>{content}</code>"))
            case "image":
                safe.append(_html(_image(token)))
            case "link_open":
                opening = "" if links is None else _link(str(token.attrGet("href") or ""), links)
                closing.append("</a>" if opening else "")
                safe.append(_html(opening))
            case "link_close":
                safe.append(_html(closing.pop()))
            case _:
                safe.append(token)
    return safe, marking


def _pieces(text: str, marking: bool, chip: Chip, words: Words = escape) -> tuple[str, bool]:
    """The text as HTML with its marks and references, and whether a mark continues after it."""
    out: list[str] = []
    for piece in _PIECES.split(text):
        if piece in (MARK_START, MARK_END):
            marking = piece == MARK_START
        elif reference := _REF_NUMBER.fullmatch(piece):
            out.append(chip(int(reference[1])))
        elif page := _PAGE_SIGN.fullmatch(piece):
            label = escape(bytes.fromhex(page[2]).decode(errors="replace"))
            out.append(f'<span class="kb-page" data-page="{page[1]}">{label}</span>')
        elif piece:
            out.append(f"<mark>{words(piece)}</mark>" if marking else words(piece))
    return "".join(out), marking


def _plain_reference(number: int) -> str:
    return f"[Ref #{number}]"


def _image(token: Token) -> str:
    url, alt = str(token.attrGet("src") or ""), without_marks(_without_signs(token.content))
    return image_html(url, alt) if url.startswith(IMAGE_ROUTE) else escape(alt)


def _link(target: str, links: Mapping[str, str]) -> str:
    """The opening tag of a link; empty if the target is neither an article nor a safe address."""
    target = without_marks(_without_signs(target))
    if article := links.get(target) or links.get(unquote(target)):
        return f'<a href="knowledge-base?{urlencode({"article": article})}" data-kb="open">'
    if _WEB.match(target) or target.startswith(IMAGE_ROUTE):
        return f'<a href="{escape(target)}" target="_blank" rel="noopener noreferrer">'
    return ""


def _without_signs(text: str) -> str:
    return _PAGE_SIGN.sub("", _REF_NUMBER.sub("", text))


def _html(content: str) -> Token:
    return Token("html_inline", "", 0, content=content)
