"""The text of a message as HTML, without what it only repeats of the messages before it in its thread.

Which text is a quotation follows from comparing, which needs no words of any language and no habits of mail programs.
What a message quotes that is in no other one stays.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from html import escape

from lxml import etree

from kb_pipeline.steps.html.dom import BLOCKS, Element, parse, text_of

_WORDS = re.compile(r"\w+")
_RUN = 4
"""Words that are compared at once."""
_REPEATED = 0.8
"""Share of its runs of words that a repeated block has in common with earlier messages; quoting changes some words."""
_SENTENCE = 8
"""Words. A shorter block may be said twice, and is taken for a quotation only if it is marked as one or beside one."""
_INTRODUCTION = 40
"""Words that may say who wrote what is quoted below."""
_QUOTED = re.compile(r"^(?:>\s?)+")
_SPACED = re.compile(r"^(?: {2,}|\t)|\S {3,}\S", re.MULTILINE)
_RULED = 6
"""Words that may stand in a line that separates."""
_RULE = re.compile(r"^\W*[-_=*]{3,}")
_FIELD = re.compile(r"^\W*[^\W\d_][\w -]{0,20}[:\uff1a]\W*\s\S")


@dataclass(frozen=True)
class MailBlock:
    """A piece of text, and whether it is marked as a quotation."""

    text: str
    is_marked: bool


class Said:
    """What the messages of a thread said so far."""

    def __init__(self) -> None:
        self._runs: set[tuple[str, ...]] = set()
        self._whole = " "
        self.people: set[str] = set()
        """The words in the names of those who wrote."""

    def add(self, blocks: Iterable[MailBlock], sender: str) -> None:
        """Remember what a message says, and who wrote it."""
        self.people.update(_words(sender.partition("@")[0]))
        for block in blocks:
            words = _words(block.text)
            self._runs.update(_runs(words))
            self._whole += " ".join(words) + " "

    def has(self, text: str) -> bool:
        """Whether this was said before."""
        words = _words(text)
        if len(words) < _RUN:
            return f" {' '.join(words)} " in self._whole
        runs = _runs(words)
        return sum(run in self._runs for run in runs) >= _REPEATED * len(runs)


def repeated(blocks: Sequence[MailBlock], said: Said) -> list[bool]:
    """Which blocks of a message only repeat earlier ones, or lead to what does."""
    was_said = [bool(_words(block.text)) and said.has(block.text) for block in blocks]
    repeats = [
        is_known and (block.is_marked or len(_words(block.text)) >= _SENTENCE)
        for block, is_known in zip(blocks, was_said, strict=True)
    ]
    for number in range(1, len(blocks)):  # what is short, below what is long
        repeats[number] |= repeats[number - 1] and _goes_on(blocks, was_said, number)
    for number in range(len(blocks) - 1, 0, -1):
        if repeats[number] and not repeats[number - 1]:
            start = number  # and above it, if it is said there whose text follows
            while start and _goes_on(blocks, was_said, start - 1, below=True):
                start -= 1
            count = _introduction(blocks[:start], said.people)
            if count:
                repeats[start - count : number] = [True] * (number - start + count)
    return repeats


def _goes_on(blocks: Sequence[MailBlock], known: Sequence[bool], number: int, *, below: bool = False) -> bool:
    beside = blocks[number + 1 if below else number - 1]
    is_same = blocks[number].is_marked == beside.is_marked
    return is_same and (known[number] or not _words(blocks[number].text))


def _introduction(before: Sequence[MailBlock], people: Set[str]) -> int:
    """How many of these blocks, from the last one back, only say whose text follows: a head, a rule, or a sentence."""
    head: list[str] = []
    count = 0
    for block in reversed(before):
        lines = [line for line in block.text.splitlines() if line.strip()]
        if not all(_FIELD.match(line) or _is_rule(line) for line in lines):
            break
        head += lines
        count += 1
    fields = [line for line in head if not _is_rule(line)]
    if len(fields) > 1 and people & set(_words("\n".join(fields))):
        return count
    if head and not fields:
        return count
    last = before[-1].text.rstrip() if before else ""
    words = _words(last)
    has_date_and_name = any(map(str.isdecimal, last)) and people & set(words)
    return int(last.endswith((":", "\uff1a")) and len(words) <= _INTRODUCTION and bool(has_date_and_name))


def _is_rule(line: str) -> bool:
    return bool(_RULE.match(line)) and len(_words(line)) <= _RULED


def _words(text: str) -> list[str]:
    return _WORDS.findall(text.casefold())


def _runs(words: list[str]) -> list[tuple[str, ...]]:
    return [tuple(words[at : at + _RUN]) for at in range(len(words) - _RUN + 1)]


class PlainBody:
    """A message in plain text: its paragraphs."""

    def __init__(self, text: str) -> None:
        self.blocks = list(_paragraphs(text))

    def html(self, without: Sequence[bool]) -> str:
        """The paragraphs that are not left out."""
        return "\n".join(
            _as_html(block) for block, is_out in zip(self.blocks, without, strict=True) if not is_out and block.text
        )


def _paragraphs(text: str) -> Iterator[MailBlock]:
    lines: list[str] = []
    marked = False
    for line in [*text.replace("\r\n", "\n").split("\n"), ""]:
        mark = _QUOTED.match(line)
        bare = line[mark.end() :] if mark else line
        if lines and (bool(mark) != marked or not bare.strip()):
            yield MailBlock("\n".join(lines), marked)
            lines = []
        marked = bool(mark)
        if bare.strip():
            lines.append(bare.rstrip())


def _as_html(block: MailBlock) -> str:
    text = escape(block.text, quote=False)
    inner = f"<pre>{text}</pre>" if _SPACED.search(block.text) else "<p>" + text.replace("\n", "<br>\n") + "</p>"
    return f"<blockquote>{inner}</blockquote>" if block.is_marked else inner


class RichBody:
    """A message in HTML: its innermost blocks, and its lines where it has only these."""

    def __init__(self, html: str, content_of: Callable[[str], str]) -> None:
        """``content_of`` names the content of a picture by its address, so that one is known again."""
        page = parse(html)
        self.body = next(page.iter("body"), page) if page is not None else etree.Element("body")
        for element in list(self.body.iter("script", "style", "base", "meta", "link", "title")):
            _take_out(element)
        for element in self.body.iter("font", "span"):  # around many lines they say nothing
            if any(inner.tag == "br" or inner.tag in BLOCKS for inner in element):
                element.tag = "div"
        for element in [self.body, *self.body.iter(*BLOCKS)]:
            if element.tag != "pre":
                _divide(element)
        self._elements = [
            element
            for element in self.body.iter(*BLOCKS)
            if element is not self.body and not any(inner is not element for inner in element.iter(*BLOCKS))
        ]
        self.blocks = [
            MailBlock(
                " ".join([text_of(element), *(content_of(each.get("src") or "") for each in element.iter("img"))]),
                element.tag == "blockquote" or any(True for _ in element.iterancestors("blockquote")),
            )
            for element in self._elements
        ]

    def html(self, without: Sequence[bool]) -> str:
        """The body with the blocks that are not left out."""
        for element, is_out in zip(self._elements, without, strict=True):
            if is_out:
                _take_out(element)
        inner = "".join(etree.tostring(child, method="html", encoding="unicode") for child in self.body)
        return f"<div>{inner}</div>"


def _divide(element: Element) -> None:
    """Make a block of each line that stands beside blocks or between line breaks, so that each can be left out."""
    children = list(element)
    if not any(child.tag in BLOCKS or child.tag == "br" for child in children):
        return
    if element.tag == "p":
        element.tag = "div"  # a paragraph holds no blocks
    line: Element | None = None
    text, element.text = element.text, None
    for child in children:
        element.remove(child)

    def current() -> Element:
        nonlocal line
        if line is None:
            line = etree.SubElement(element, "div")
        return line

    def say(words: str | None) -> None:
        if words and (words.strip() or line is not None):
            if len(current()):
                current()[-1].tail = (current()[-1].tail or "") + words
            else:
                current().text = (current().text or "") + words

    say(text)
    for child in children:
        tail, child.tail = child.tail, None
        if child.tag in BLOCKS:
            element.append(child)
            line = None
        elif child.tag == "br":
            line = None
        else:
            current().append(child)
        say(tail)


def _take_out(element: Element) -> None:
    """Remove an element, and keep what stands behind it."""
    parent = element.getparent()
    if parent is None:
        return
    before = element.getprevious()
    if element.tail and before is not None:
        before.tail = (before.tail or "") + element.tail
    elif element.tail:
        parent.text = (parent.text or "") + element.tail
    parent.remove(element)
