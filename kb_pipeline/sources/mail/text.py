"""The text of a mail in blocks, plain or rich, and which of them only frame what it says.

A greeting, a closing and a signature answer nothing. They follow from where they stand, from the names of people, and
from what else its sender writes; no words of any language are known.
"""

import re
from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass
from html import escape

from lxml import etree

from kb_pipeline.sources.plain_text import text_html
from kb_pipeline.steps.html.dom import BLOCKS, Element, parse, text_of, wrap_content

_WORDS = re.compile(r"\w+")
_QUOTED = re.compile(r"^(?:>\s?)+")
_GREETING = 6
"""Words of a line that speaks to somebody."""
_CLOSING = 5
"""Words of a line that closes."""
_BESIDE_A_NAME = 2
"""Other words in a line that is a name: "Many thanks, Ann"."""
_SIGNED = 8
"""Words of a line of a signature: a name, a role, an address."""
_SIGNATURE = re.compile(r"\s*--\s*(?:\n|$)")
"""What programs put above a signature (RFC 3676)."""
_SENTENCE_END = re.compile(r"[.?!…。！？؟][\"'”’»)]*$")
_PAUSE = (",", "，", "、", "،")

Lines = frozenset[tuple[str, ...]]
"""Lines as their words."""


@dataclass(frozen=True)
class MailBlock:
    """A piece of text, and whether it is marked as a quotation."""

    text: str
    is_marked: bool

    @property
    def lines(self) -> list[str]:
        """Its lines that are not blank."""
        return [line.strip() for line in self.text.splitlines() if line.strip()]


def words_of(text: str) -> list[str]:
    """The words of a text, as they are compared."""
    return _WORDS.findall(text.casefold())


def names_in(sender: str) -> Set[str]:
    """The words in the name of who wrote, and before the ``@`` of the address."""
    return set(words_of(sender.partition("@")[0]))


def framing(blocks: Sequence[MailBlock], own: Set[str], others: Set[str], usual: Lines) -> list[bool]:
    """Which blocks of a message are its greeting, its closing or its signature; none if nothing else would be left.

    ``own`` are the words in the name of who wrote, ``others`` those in the names of whom it may speak to, and ``usual``
    the lines that the same person writes in most messages.
    """
    frame = [_is_usual(block, usual) or bool(_SIGNATURE.match(block.text)) for block in blocks]
    below = next((at for at, block in enumerate(blocks) if block.text.strip() == "--"), len(blocks))
    frame[below:] = [out or not block.is_marked for block, out in zip(blocks[below:], frame[below:], strict=True)]
    written = [at for at, block in enumerate(blocks) if words_of(block.text) and not block.is_marked]
    if written and _greets(blocks[written[0]], others):
        frame[written[0]] = True
    told = [at for at in written if not frame[at]]
    for place, at in enumerate(told):
        if place and _is_signed(blocks[at], own):
            before = told[place - 1]
            is_closing = place > 1 and _is_short(blocks[before], _CLOSING)
            for each in [*([before] if is_closing else []), at, *told[place + 1 :]]:
                frame[each] |= each <= at or _is_short(blocks[each], _SIGNED)
            break
    is_left = any(not out and words_of(block.text) for block, out in zip(blocks, frame, strict=True))
    return frame if is_left else [False] * len(blocks)


def _is_usual(block: MailBlock, usual: Lines) -> bool:
    said = [words for line in block.lines if (words := tuple(words_of(line)))]
    return bool(said) and usual.issuperset(said)


def _greets(block: MailBlock, others: Set[str]) -> bool:
    words, text = words_of(block.text), block.text.strip()
    if len(words) > _GREETING:
        return False
    return text.endswith(_PAUSE) or (not text.endswith((".", "?")) and not others.isdisjoint(words))


def _is_signed(block: MailBlock, names: Set[str]) -> bool:
    """Whether a line of it is little more than the name of who wrote, and no line before it is a sentence."""
    for line in block.lines:
        words = words_of(line)
        if words and words[-1] in names and sum(word not in names for word in words) <= _BESIDE_A_NAME:
            return not _SENTENCE_END.search(line)
        if len(words) > _CLOSING or _SENTENCE_END.search(line):
            return False
    return False


def _is_short(block: MailBlock, most: int) -> bool:
    return all(len(words_of(line)) <= most and not _SENTENCE_END.search(line) for line in block.lines)


class PlainBody:
    """A message in plain text: its paragraphs, and lines that only greet or close by themselves."""

    def __init__(self, text: str) -> None:
        self.blocks = list(_paragraphs(text))

    def html(self, without: Sequence[bool]) -> str:
        """The paragraphs that are not left out."""
        kept = (block for block, is_out in zip(self.blocks, without, strict=True) if not is_out)
        return text_html("\n\n".join(_written(block) for block in kept))


def _paragraphs(text: str) -> Iterator[MailBlock]:
    lines: list[str] = []
    is_first, marked = True, False
    for line in [*text.replace("\r\n", "\n").split("\n"), ""]:
        mark = _QUOTED.match(line)
        bare = line[mark.end() :] if mark else line
        if lines and (bool(mark) != marked or not bare.strip() or _SIGNATURE.match(bare)):
            for part in [lines] if marked else _parted(lines, may_greet=is_first):
                yield MailBlock("\n".join(part), marked)
            is_first, lines = is_first and marked, []
        marked = bool(mark)
        if bare.strip():
            lines.append(bare.rstrip())


def _parted(lines: list[str], *, may_greet: bool) -> Iterator[list[str]]:
    """A paragraph without the line above it that greets, and without those below it that are no sentences."""
    begin = int(may_greet and len(lines) > 1 and lines[0].endswith(_PAUSE) and len(words_of(lines[0])) <= _GREETING)
    end = len(lines)
    while end > begin and len(words_of(lines[end - 1])) <= _CLOSING and not _SENTENCE_END.search(lines[end - 1]):
        end -= 1
    is_ended = end > begin and _SENTENCE_END.search(lines[end - 1])
    for part in (lines[:begin], lines[begin:end], lines[end:]) if is_ended else (lines[:begin], lines[begin:]):
        if part:
            yield part


def _written(block: MailBlock) -> str:
    return "\n".join(f"> {line}" for line in block.text.split("\n")) if block.is_marked else block.text


class RichBody:
    """A message in HTML: its innermost blocks, and its lines where it has only these."""

    def __init__(self, html: str, content_of: Callable[[str], str] = lambda address: "") -> None:
        """``content_of`` names the content of a picture by its address, so that one is known again."""
        page = parse(html)
        self.body = next(page.iter("body"), page) if page is not None else etree.Element("body")
        sheets = page.iter("style") if page is not None else ()
        self._sheets = "".join(f"<style>{(each.text or '').replace('</', '')}</style>" for each in sheets)
        for element in list(self.body.iter("script", "style", "base", "meta", "link", "title")):
            _take_out(element)
        for element in self.body.iter("font", "span"):  # around many lines they say nothing
            if any(inner.tag == "br" or inner.tag in BLOCKS for inner in element):
                element.tag = "div"
        if not any(element is not self.body for element in self.body.iter("br", *BLOCKS)):
            wrap_content(self.body, "div")
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
        """The body with the blocks that are not left out, and with what says how it looks: white words on black."""
        for element, is_out in zip(self._elements, without, strict=True):
            if is_out:
                _take_out(element)
        inner = "".join(etree.tostring(child, method="html", encoding="unicode") for child in self.body)
        given = {name: self.body.get(name) or "" for name in ("style", "bgcolor", "class")}
        if colour := self.body.get("text"):
            given["style"] = f"color:{colour};{given['style']}"
        looks = "".join(f' {name}="{escape(value)}"' for name, value in given.items() if value)
        return f"<div{looks}>{self._sheets}{inner}</div>"


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
