"""The prose of converted markdown: its sentences, each with its page, its section and its place there; and headings.

Markers of images and pages are no text. Not here: which sentences matter.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from kb_pipeline.records import PageBreak, Quoted
from kb_pipeline.steps.chunk.blocks import MarkdownBlock, list_items, parse_blocks
from kb_pipeline.steps.chunk.plain import plain_text, plain_title
from kb_pipeline.steps.pages import PagedText, split_marks, without_marks

Standing = Literal["paragraph", "aside", "label"]
"""A sentence of a paragraph; of a list item or a quote; or a line that ends without a mark."""

_IMAGE = re.compile(r"(?<!\\)\[\[IMG:[^\]\s]*\]\]")
_TURN = re.compile("\ue000(\\d+)\ue001")
_HEADING = re.compile(
    r"^ {0,3}(?P<fence>`{3,}|~{3,})[^\n]*\n(?s:.*?)(?:^ {0,3}(?P=fence)[`~]*[ \t]*$|\Z)"  # code
    r"|^ {0,3}(?P<level>#{1,6})[ \t]+(?P<title>.*)$",
    re.M,
)
_LONGEST_READ = 1_000_000
"""Characters in which sentences are looked for: the beginning of a very long manual says what it is about."""

_END = re.compile(r"[.!?…]+[\"'“”’»)\]]*(?=\s+[\"'“‘„«(\[¿¡]*[^\W_a-zß-öø-ÿ])|[。！？]+[」』”）]*")
_NO_END = re.compile(
    r"(?:^|[\s(\[„“\"'])(?:[^\W\d_]|\d{1,3}|[^\W\d_]\.\s?[^\W\d_]|e\.g|i\.e|etc|vs|cf|al|approx|no|nr|fig|figs|sec|"
    r"ch|chap|vol|ed|eds|pp|st|dr|mr|mrs|ms|prof|inc|ltd|co|corp|jr|sr|dept|est|bzw|ca|usw|vgl|evtl|ggf|inkl|"
    r"abb|tab|kap|bspw|sog|u\.a|z\.b|d\.h|o\.ä|bd|hrsg|art|abs|jan|feb|mar|apr|jun|jul|aug|sep|sept|oct|okt|nov|dec|"
    r"dez|p\.ej|pág|av|n°)\.$",
    re.IGNORECASE,
)
_ITEM = re.compile(r"^\s*(?:[-+*]|\d{1,9}[.)])\s+|\n\s*\n", re.M)
_WORD = re.compile(r"[^\W_]")
_FINISHED = re.compile(r"[.!?…。！？][\"'”’»)\]」』）]*$")


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence on one line. ``section`` is the heading above it, ``place`` its number there, ``at`` in the document.

    ``depth`` is the level of that heading, 0 if there is none.
    """

    text: str
    page: int | None
    section: str
    depth: int
    place: int
    at: int
    standing: Standing


def readable_text(markdown: str) -> str:
    """Return all text of converted markdown on one line, as :func:`sentences` quotes it."""
    blocks = parse_blocks(_IMAGE.sub(" ", without_marks(markdown)))
    pieces = (piece for block in blocks for piece in [text for _, text in _texts(block)] or [block.text])
    # piece by piece: backticks of one block must not pair with those of another
    return " ".join(plain_title(plain_text(piece)) for piece in pieces)


def sentences(markdown: str) -> list[Sentence]:
    """Return the sentences of paragraphs, list items and quotes in order; tables and code have none."""
    found: list[Sentence] = []
    paged = split_marks(_beginning(markdown))
    section, depth, place = "", 0, 0
    end = 0
    for block in parse_blocks(paged.text):
        start, end = end, end + len(block.text)
        if block.kind == "heading":
            section, depth, place = block.title, block.level, 0
        page = _page_at(paged, start)
        turns = [turn for turn in paged.breaks if start < turn.offset < end]
        for standing, text in _texts(replace(block, text=_with_turns(block.text, start, turns))):
            for quoted in _split(text, page):
                is_label = standing == "paragraph" and not _FINISHED.search(quoted.text)
                kind: Standing = "label" if is_label else standing
                found.append(Sentence(quoted.text, quoted.page, section, depth, place, len(found), kind))
                place += 1
            page = _last_page(text, page)
    return found


def first_headings(markdown: str, most: int = 200) -> tuple[Quoted, ...]:
    """Return the headings of the first level below the title, with their pages; at most ``most``."""
    headings = list(_headings(markdown))
    levels = [level for level, _ in headings]
    top = min(levels, default=0)
    if levels.count(top) == 1 and levels[0] == top:  # the title of the document itself
        top = min(levels[1:], default=0)
        headings = headings[1:]
    return tuple(heading for level, heading in headings if level == top)[:most]


def headings(markdown: str) -> tuple[str, ...]:
    """Return the text of all headings in which sentences are looked for as well."""
    return tuple(heading.text for _, heading in _headings(_beginning(markdown)))


def _beginning(markdown: str) -> str:
    if len(markdown) <= _LONGEST_READ:
        return markdown
    return markdown[:_LONGEST_READ].rpartition("\n\n")[0]


def _headings(markdown: str) -> Iterator[tuple[int, Quoted]]:
    paged = split_marks(markdown)
    for match in _HEADING.finditer(paged.text):
        if title := plain_title(_IMAGE.sub("", match["title"] or "").rstrip("# \t")):
            yield len(match["level"]), Quoted(text=title, page=_page_at(paged, match.start()))


def _page_at(paged: PagedText, offset: int) -> int | None:
    position = bisect_right(paged.breaks, offset, key=lambda turn: turn.offset)
    return paged.breaks[position - 1].page if position else None


def _with_turns(text: str, start: int, turns: Sequence[PageBreak]) -> str:
    """Put a sign where a page begins inside of a block."""
    parts, last = [], 0
    for turn in turns:
        parts += [text[last : turn.offset - start], f"\ue000{turn.page}\ue001"]
        last = turn.offset - start
    return "".join([*parts, text[last:]])


def _texts(block: MarkdownBlock) -> Iterator[tuple[Standing, str]]:
    match block.kind:
        case "paragraph":
            yield "paragraph", block.text
        case "list":
            for item in list_items(block.text):
                yield from (("aside", line) for line in _ITEM.split(item) if line.strip())
        case "quote":
            yield from (("aside", line) for line in _ITEM.split(re.sub(r"^ {0,3}> ?", "", block.text, flags=re.M)))


def _split(markdown: str, page: int | None) -> Iterator[Quoted]:
    """Split a block into sentences; each has the page on which it begins."""
    text = plain_title(plain_text(_IMAGE.sub(" ", markdown)))
    turns: list[tuple[int, int]] = []
    plain = ""
    last = 0
    for turn in _TURN.finditer(text):
        plain += text[last : turn.start()]
        turns.append((len(plain), int(turn[1])))
        last = turn.end()
    plain += text[last:]
    for start, end in _borders(plain):
        begun = [number for offset, number in turns if offset <= start]
        sentence = " ".join(plain[start:end].split())
        if _WORD.search(sentence):
            yield Quoted(text=sentence, page=begun[-1] if begun else page)


def _borders(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    for match in _END.finditer(text):
        if match[0][0] == "." and _NO_END.search(text[max(0, match.start() - 12) : match.start() + 1]):
            continue
        yield start, match.end()
        start = match.end()
    yield start, len(text)


def _last_page(text: str, page: int | None) -> int | None:
    turns = _TURN.findall(text)
    return int(turns[-1]) if turns else page
