"""Makes the text of a contribution harmless: whatever it holds, it stays inside the section that it is put into. Pure.

Raw HTML becomes text, front matter goes, an open block of code is closed. What would act beyond its section and cannot
be kept is refused: definitions of links, and images, whose files are not there.
"""

import posixpath
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any

from markdown_it.token import Token

from kb_pipeline.errors import ContributionError, KnowledgeBaseError
from kb_pipeline.sources.markdown import MarkdownSource
from kb_pipeline.steps.formats import endings_of
from kb_pipeline.steps.html.decode import clean
from kb_pipeline.steps.markdown_parsers import authored_parser

MOST_BYTES = 262_144
"""256 KB: a long article; what is longer is a document, and is staged as one."""
MARKDOWN = endings_of("markdown")
TEXT = (".txt", ".text")
_FRONT_MATTER = re.compile(r"\A---[ \t]*\n(?:.*?\n)??(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_PUNCTUATION = re.compile(r"([\\`*_\[\]<>|~&])")
MOST_MARKS = 10_000
"""Line ends and marks of Markdown. What parsing costs grows with them, not with the words: of 45 texts made of one mark
each, all but a table of 2,000 columns (.6 s) took less than .35 s of a core with this many. The longest of 440 real
articles has 1,941."""
_MARK = re.compile(r"[\n\\`*_\[\]<>|~&!#+=-]")
_BEGINNING = re.compile(r"\A(\d*)([#+=.)-])")
_MOST_PASSES = 10
"""Each makes something harmless that the one before uncovered; two are enough for what people write."""
_DEEPEST = 6  # HTML has six levels of headings
_CLAIMED = re.compile(r"\(contribution (?=\d{8}\b)")
_END = "xqendofthecontributionqx"


def read_content(name: str, data: bytes) -> str:
    """Return the text of a file as Markdown; a plain text file is escaped, so that it reads as it is.

    Raises:
        ContributionError: the file is of another kind, too long, not UTF-8, or empty.
    """
    ending = posixpath.splitext(name)[1].lower()
    shown = name[:80]
    if ending not in (*MARKDOWN, *TEXT):
        raise ContributionError(f"{shown!r} is neither Markdown ({', '.join(MARKDOWN)}) nor text ({', '.join(TEXT)})")
    if len(data) > MOST_BYTES:
        raise ContributionError(f"{shown!r} has {len(data):,} bytes; a contribution has at most {MOST_BYTES:,}")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as exc:
        raise ContributionError(f"{shown!r} is not UTF-8 text ({exc}); save it as UTF-8") from exc
    if "\x00" in text:
        raise ContributionError(f"{shown!r} is binary, or UTF-16; save it as UTF-8 text")
    return escaped_lines(text) if ending in TEXT else text


def harmless(article_id: str, text: str) -> str:
    """Return the Markdown of a contribution with line ends as ``\\n`` and without anything that acts beyond it.

    Raises:
        ContributionError: it is empty, or holds what cannot be kept.
    """
    if len(text.encode()) > MOST_BYTES:
        raise ContributionError(f"the content has more than {MOST_BYTES:,} bytes; hand in a shorter one")
    markdown = clean(text)
    if (marks := sum(1 for _ in _MARK.finditer(markdown))) > MOST_MARKS:
        raise ContributionError(
            f"the content has {marks:,} line ends and marks of Markdown (such as | and *); it has at most "
            f"{MOST_MARKS:,}: hand it in in parts, or shorten its tables and lists"
        )
    try:
        MarkdownSource().check(article_id, "the content", text.encode())
    except KnowledgeBaseError as exc:
        raise ContributionError(str(exc)) from exc
    markdown = without_claims(_FRONT_MATTER.sub("", markdown, count=1).strip("\n"))
    if not markdown.strip():
        raise ContributionError("the content is empty; write what should be known")
    return _closed(*_without_html(markdown))


def without_claims(text: str) -> str:
    """Return the text without what could be taken for the footnote of another contribution."""
    return _CLAIMED.sub("(contribution no. ", text)


def escaped_lines(text: str) -> str:
    """Return plain text as Markdown that reads like it, line by line."""
    lines = (escaped(line.strip()) for line in clean(text).split("\n"))
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip("\n").replace("\n", "\\\n").replace("\\\n\\\n", "\n\n")


def escaped(text: str) -> str:
    """Return a line of plain text as Markdown."""
    return _BEGINNING.sub(r"\1\\\2", _PUNCTUATION.sub(r"\\\1", text))


def heading_tokens(tokens: Sequence[Token]) -> Iterator[tuple[Token, Token]]:
    """Yield each heading with its text; nested ones too, whose ``level`` is not 0."""
    for token, following in pairwise(tokens):
        if token.type == "heading_open":
            yield token, following


def below(markdown: str, level: int, tokens: Sequence[Token]) -> str:
    """Return the Markdown, which has these tokens, with all headings below this level.

    One that would be below the sixth becomes bold text.
    """
    lines = markdown.split("\n")
    headings = list(heading_tokens(tokens))
    highest = min((int(token.tag[1]) for token, _ in headings), default=1)
    lowered = max(0, level + 1 - highest)
    for token, text in reversed(headings):
        first, end = token.map or (0, 0)
        beginning = text.content.split("\n")[0]
        place = lines[first].find(token.markup if token.markup.startswith("#") else beginning)
        prefix, words = lines[first][: max(place, 0)], " ".join(text.content.split())
        deep = int(token.tag[1]) + lowered
        # a bold line needs blank lines around it, or it would join the text beside it
        blank = prefix.rstrip() if prefix.strip() == ">" * len(prefix.strip()) else ""
        as_bold = [blank, f"{prefix}**{words}**" if words else prefix, blank]
        lines[first:end] = [f"{prefix}{'#' * deep} {words}"] if deep <= _DEEPEST else as_bold
    return "\n".join(lines)


def _without_html(markdown: str) -> tuple[str, Sequence[Token]]:
    """Escape raw HTML, and return the text with its tokens as :func:`_parsed` finds them.

    What HTML hid may hold more, so this is repeated; hostile text loses every sign in the end.

    Raises:
        ContributionError: the text, or what HTML hid in it, defines a link or shows an image.
    """
    for _ in range(_MOST_PASSES):
        tokens = _parsed(markdown)
        if not any(is_html(child) for token in tokens for child in (token, *(token.children or ()))):
            return markdown, tokens
        lines = markdown.split("\n")
        for group in _by_lines(tokens):
            first, end = group[0].map or (0, 0)
            text = "\n".join(lines[first:end])
            lines[first:end] = (text.replace("<", "&lt;") if is_html(group[0]) else _escaped(text, group)).split("\n")
        markdown = "\n".join(lines)
    markdown = markdown.replace("<", "&lt;")
    return markdown, _parsed(markdown)


def _parsed(markdown: str) -> Sequence[Token]:
    """Return the tokens of a text and, behind it, of :data:`_END`, which shows whether all its blocks are closed.

    Raises:
        ContributionError: the text defines a link or shows an image.
    """
    environment: dict[str, Any] = {}
    tokens = authored_parser().parse(f"{markdown}\n\n{_END}", environment)
    if defined := environment.get("references"):
        name = next(iter(defined)).lower()[:40]
        raise ContributionError(
            f"the content defines the link [{name}]: …, which would hold for the whole article; write [text](address)"
        )
    images = (child for token in tokens for child in token.children or () if child.type == "image")
    if image := next(images, None):
        raise ContributionError(
            f"the content shows the image {str(image.attrGet('src'))[:80]!r}, which is not handed in with it; say in "
            "words what it shows, link it: [text](address), or add it to the staging folder by hand"
        )
    return tokens


def is_html(token: Token) -> bool:
    """Return whether this is raw HTML."""
    return token.type in ("html_block", "html_inline")


def _by_lines(tokens: Iterable[Token]) -> list[list[Token]]:
    """Return the blocks of HTML, and the texts, in groups that stand on the same lines, such as cells of a row."""
    groups: dict[tuple[int, int], list[Token]] = {}
    for token in tokens:
        if token.map and token.type in ("html_block", "inline") and token.content != _END:
            groups.setdefault((token.map[0], token.map[1]), []).append(token)
    return list(groups.values())


def _escaped(text: str, tokens: Iterable[Token]) -> str:
    """Escape the signs that begin HTML in lines: those at the same places among all such signs as in the texts."""
    numbers, seen = set(), 0
    for token in tokens:
        position = 0
        for child in token.children or ():
            if child.type == "html_inline":
                position = token.content.find(child.content, position)
                if position < 0:
                    return text.replace("<", "&lt;")
                numbers.add(seen + token.content.count("<", 0, position))
                position += len(child.content)
            elif child.type == "code_inline" and child.content:
                # what looks like HTML in code comes before that which follows it
                found = token.content.find(child.content, position)
                position = found + len(child.content) if found >= 0 else position
        seen += token.content.count("<")
    parts = text.split("<")
    return parts[0] + "".join(("&lt;" if at in numbers else "<") + part for at, part in enumerate(parts[1:]))


def _closed(markdown: str, tokens: Sequence[Token]) -> str:
    """Close a block of code that the text leaves open.

    Raises:
        ContributionError: something else is open, and what follows the text would belong to it.
    """
    if _ends(tokens):
        return markdown
    if fence := next((token for token in reversed(tokens) if token.type == "fence" and token.level == 0), None):
        closed = f"{markdown}\n{fence.markup}"
        if _ends(_parsed(closed)):
            return closed
    raise ContributionError("the content ends inside a block that is not closed; close it")


def _ends(tokens: Sequence[Token]) -> bool:
    return len(tokens) > 2 and tokens[-2].content == _END and tokens[-3].level == 0
