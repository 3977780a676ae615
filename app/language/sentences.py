"""Splits a passage into units that can be quoted: sentences, list items, table rows, code and images, each verbatim.

markdown-it-py (CommonMark with tables) finds the blocks; :func:`sentence_spans` splits paragraphs into sentences.
Choosing the units that answer a question is the task of :mod:`app.answering.extractive.choosing`.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from typing import Literal

from babel import Locale
from markdown_it.token import Token

from kb_pipeline.steps.markdown_parsers import block_parser

SENTENCE_END = re.compile(r"(?:[.!?]++|…|[。！？]++)[\"'”’»)\]*_]*+")
_GAP = re.compile(r"(?:[^\S\n]|\n[ \t>]*+)++")
_ABBREVIATIONS = frozenset(
    "e.g i.e vs cf ca approx incl excl resp ref refs dr mr mrs ms prof st min max z.b d.h u.a bzw ggf evtl vgl".split()
)
_BEFORE_NUMBERS = frozenset("no nos fig figs vol ch sec sect eq p pp nr abb kap ver".split())
_LONGEST_DAY = 2
"""Digits of the day of a date: "3. März" is no end of a sentence."""
_MONTH = re.compile("(?:" + "|".join(Locale("de").months["format"]["wide"].values()) + r")\b")
"""German is the language that writes the day of a date with a full stop: "am 3. März"."""
_LAST_WORD = re.compile(r"(?:^|[\s(\[*_\"'“‘])([^\s(\[*_\"'“‘]*)$")
_NUMBERING = re.compile(
    r"[\s>*_#]*(?:(?:Figure|Table|Example|Listing|Chapter|Section|Appendix|Step|Abbildung|Tabelle|Schritt) )?"
    r"(?:\d+\.)*\d*[.)]?[\s*_]*|[\s>*_]*[A-Za-z][.)]"
)
_UNCUT = re.compile(
    r"`[^`\n]++`"  # code
    r"|!?\[(?:[^\[\]\\]|\\.)*+\]\((?:[^()\s]|\([^()\s]*+\))*+(?:\s\"[^\"\n]*+\")?\)"  # a link or an image
    r"|\*\*(?:[^*\n\\]|\\.)++\*\*|(?<![\w*])\*(?:[^*\s\\]|\\.)(?:[^*\n\\]|\\.)*+\*(?![\w*])"  # emphasis
)


def sentence_spans(text: str) -> Iterator[tuple[int, int]]:
    """Start and end of each sentence of a paragraph; only the white space between sentences is left out.

    These are not split: abbreviations, initials and versions ("e.g. GIMP 2.10"), file names, links, code and
    emphasised words, and menu entries that end in an ellipsis ("File > Save As... opens").
    """
    uncut = [match.span() for match in _UNCUT.finditer(text)]
    start = done = 0
    for end in SENTENCE_END.finditer(text):
        gap = _GAP.match(text, end.end())
        if not gap and end[0][0] not in "。！？":
            continue
        while done < len(uncut) and uncut[done][1] <= end.start():
            done += 1
        inside = done < len(uncut) and uncut[done][0] < end.start() and end.end() < uncut[done][1]
        following = gap.end() if gap else end.end()
        if not inside and following < len(text) and ends_sentence(text, start, end, following):
            yield start, end.end()
            start = following
    if text[start:].strip():
        yield start, len(text.rstrip())


def ends_sentence(text: str, start: int, end: re.Match[str], following: int) -> bool:
    """Whether the sentence from ``start`` on ends with this sign, if the next one begins at ``following``."""
    sign = end[0][0]
    if sign in "。！？":
        return True
    before = text[max(start, end.start() - 40) : end.start()]
    if end[0].startswith(("...", "…")):
        # an ellipsis after a capitalised word is part of the name of a menu entry
        in_label = re.split(r"[\s>→*_“\"]+", before)[-1][:1].isupper()
        return _starts_sentence(text, following) and not in_label
    if _NUMBERING.fullmatch(text, start, end.end()):
        return False
    last = _LAST_WORD.search(before)
    word = last[1] if last else before
    abbreviated = word.lower() in _ABBREVIATIONS or (len(word) == 1 and word.isupper())
    numbered = word.lower() in _BEFORE_NUMBERS and text[following].isdigit()
    is_day = len(word) <= _LONGEST_DAY and word.isdecimal() and _MONTH.match(text, following) is not None
    return not (abbreviated or numbered or is_day) and _starts_sentence(text, following)


def _starts_sentence(text: str, at: int) -> bool:
    """Return whether a sentence can begin here: not with a small letter or a closing sign."""
    for sign in text[at : at + 8]:
        if sign.isalnum():
            return not sign.islower()
        if sign in ">→,;:)-–—":
            return False
    return True


Kind = Literal["heading", "term", "sentence", "header", "row", "code", "image"]
"""A ``term`` is a paragraph in bold that names what follows; a ``header`` is the head of a table."""

LONGEST_PASSAGE = 20_000
"""Characters of a passage that are split; the rest is ignored."""

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_MARKERS = r"(?:[ \t>]|[-+*][ \t]|\d{1,9}[.)][ \t])*"
_IMAGE_BLOCK = re.compile(rf"{_MARKERS}> ?\*\*\[Image: ")
_TERM = re.compile(r"\*\*[^*\n]+\*\*[:.]?(?:\s*[;,/]?\s*\*\*[^*\n]+\*\*[:.]?)*")
_PREFIX = re.compile(_MARKERS)


_WHOLE: dict[str, Kind] = {
    "thead_open": "header",
    "tr_open": "row",
    "fence": "code",
    "code_block": "code",
}
_BLOCKS = {
    "heading_open", "paragraph_open", "bullet_list_open", "ordered_list_open", "blockquote_open", "table_open",
    "fence", "code_block", "html_block",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Unit:
    """A piece of a passage: ``passage[start:start + len(text)] == text``.

    Units of one paragraph, list or table share their ``block``; sentences of one list item also share their ``item``.
    ``label`` is the marker of a list item ("1.", "-"), at its first sentence only. ``depth`` is the nesting of its
    list, from 1. ``is_part``: these are some lines of a longer code block. ``after_image``: a picture stands directly
    before it.
    """

    kind: Kind
    text: str
    start: int
    block: int
    item: int = 0
    label: str = ""
    depth: int = 0
    is_part: bool = False
    after_image: bool = False

    @property
    def end(self) -> int:
        return self.start + len(self.text)

    @property
    def numbered(self) -> bool:
        """Whether the unit begins an item of a numbered list."""
        return self.label[:1].isdigit()


@lru_cache(maxsize=512)
def units_of(passage: str) -> tuple[Unit, ...]:
    """The units of a passage, in its order, without thematic breaks and link definitions."""
    return tuple(_BlockWalk(passage[:LONGEST_PASSAGE]).units())


@dataclass(slots=True)
class _Item:
    """An open list item; its first sentence takes the label."""

    number: int
    label: str


class _BlockWalk:
    """Walks once through the blocks of a passage."""

    def __init__(self, passage: str) -> None:
        self._passage = passage
        lines = _LINE.findall(passage)
        self._offsets = [0, *accumulate(map(len, lines))]
        self._tokens = block_parser().parse("".join(line.rstrip("\r\n") + "\n" for line in lines))
        self._block = self._items = 0
        self._open: list[_Item] = []
        self._after_image = False

    def units(self) -> Iterator[Unit]:
        at = 0
        while at < len(self._tokens):
            token = self._tokens[at]
            self._enter(token)
            is_image = token.type == "blockquote_open" and _IMAGE_BLOCK.match(self._passage, *self._span(token))
            if token.type in _WHOLE or is_image:
                yield from self._whole(token)
                at = _closing(self._tokens, at)
            elif token.type in ("inline", "html_block"):
                yield from self._text(token, within=self._tokens[at - 1].type)
            at += 1

    def _enter(self, token: Token) -> None:
        """Count blocks and items. A list with everything in it is one block."""
        if token.type == "list_item_open":
            self._items += 1
            self._open.append(_Item(self._items, f"{token.info}{token.markup}"))
        elif token.type == "list_item_close":
            self._open.pop()
        elif not self._open and token.type in _BLOCKS:
            self._block += 1

    def _whole(self, token: Token) -> Iterator[Unit]:
        """Yield a block or a row that is not split further."""
        start, end = self._span(token)
        kind = "image" if token.type == "blockquote_open" else _WHOLE[token.type]
        text = self._passage[start:end].strip("\r\n").rstrip()
        lead = len(text) - len(text.lstrip()) if kind in ("header", "row") else 0
        if text.strip():
            yield self._unit(kind, start + lead, text[lead:])

    def _text(self, token: Token, within: str) -> Iterator[Unit]:
        start, end = self._span(token)
        if within == "heading_open":
            yield self._unit("heading", start, self._passage[start:end].rstrip())
            return
        prefix = _PREFIX.match(self._passage, start, end)
        start = prefix.end() if prefix else start
        text = self._passage[start:end].rstrip()
        if _TERM.fullmatch(text) and not self._open:
            yield self._unit("term", start, text)
            return
        for first, last in sentence_spans(text):
            yield self._unit("sentence", start + first, text[first:last])

    def _unit(self, kind: Kind, start: int, text: str) -> Unit:
        after_image, self._after_image = self._after_image, kind == "image"
        if not self._open:
            return Unit(kind, text, start, self._block, after_image=after_image)
        item = self._open[-1]
        label = "" if kind == "image" else item.label
        item.label = item.label if kind == "image" else ""
        return Unit(kind, text, start, self._block, item.number, label, len(self._open), after_image=after_image)

    def _span(self, token: Token) -> tuple[int, int]:
        first, last = token.map or (0, 0)
        return self._offsets[first], self._offsets[last]


def _closing(tokens: Sequence[Token], at: int) -> int:
    """Return where the block that begins at a token ends."""
    if tokens[at].nesting == 0:
        return at
    level = tokens[at].level
    return next(i for i in range(at + 1, len(tokens)) if tokens[i].level == level and tokens[i].nesting == -1)
