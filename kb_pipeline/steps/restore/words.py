"""A tree as the sequence of its words: what two versions of an article are compared by.

Each word knows where in the tree it stands, so that what is found out about words can be done to the tree.
Not here: comparing (``align``).
"""

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from lxml import etree

from kb_pipeline.steps.html.dom import HEADINGS, Element, is_block
from kb_pipeline.steps.html.placeholders import PLACEHOLDER

# A character of a script without spaces is a word of its own: one that was misread then costs no sentence.
_NO_SPACES = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff"
_WORD = re.compile(rf"{PLACEHOLDER.pattern}|[{_NO_SPACES}]|[^\W_{_NO_SPACES}]+")
_SPANS = HEADINGS | {"a", "code", "pre", "table"}
MARK = "\ue000"
"""How the key of a word begins that is an image marker."""


class Spot(NamedTuple):
    """A text of the tree: an element's own, or the one after it."""

    element: Element
    is_tail: bool

    @property
    def text(self) -> str:
        """The text as it is now."""
        return (self.element.tail if self.is_tail else self.element.text) or ""

    def write(self, text: str) -> None:
        """Put another text in its place."""
        if self.is_tail:
            self.element.tail = text
        else:
            self.element.text = text

    @property
    def parent(self) -> Element:
        """The element the text stands in."""
        parent = self.element.getparent() if self.is_tail else self.element
        return self.element if parent is None else parent


class Word(NamedTuple):
    """A word: ``key`` is equal where two are the same to a reader; ``line`` is the number of its line."""

    key: str
    written: str
    spot: Spot
    start: int
    end: int
    line: int

    @property
    def is_mark(self) -> bool:
        """Whether it is an image marker."""
        return self.key.startswith(MARK)


class Span(NamedTuple):
    """Words from ``first`` to before ``end``, all inside ``element``."""

    element: Element
    first: int
    end: int


@dataclass(slots=True)
class Reading:
    """A tree's words in order. ``lines`` are the blocks' runs of words, ``spans`` the elements of interest by tag."""

    words: list[Word] = field(default_factory=list)
    lines: list[Span] = field(default_factory=list)
    spans: dict[str, list[Span]] = field(default_factory=dict)

    @property
    def keys(self) -> list[str]:
        """What the words are compared by."""
        return [word.key for word in self.words]

    def of(self, *tags: str) -> list[Span]:
        """The spans of all elements with such a tag, in order."""
        return sorted((span for tag in tags for span in self.spans.get(tag, ())), key=lambda span: span[1:])

    def text(self, word: int) -> str:
        """A word as it is written."""
        return self.words[word].written

    def line_of(self, word: int) -> Span:
        """The line in which a word stands."""
        return self.lines[self.words[word].line]


def read_words(tree: Element, marks: Mapping[str, str]) -> Reading:
    """Read a tree; ``marks`` maps the placeholders of image markers to what tells them apart."""
    reading = Reading()
    opened: dict[Element, int] = {}
    blocks = [tree]
    new_line = True
    for event, element in etree.iterwalk(tree, events=("start", "end")):
        if event == "start":
            if is_block(element):
                blocks.append(element)
                new_line = True
            if element.tag in _SPANS:
                opened[element] = len(reading.words)
        else:
            if is_block(element):
                blocks.pop()
                new_line = True
            if element.tag in _SPANS:
                span = Span(element, opened.pop(element), len(reading.words))
                reading.spans.setdefault(str(element.tag), []).append(span)
            if element is tree:
                break
        new_line = _add_words(reading, Spot(element, event == "end"), marks, blocks[-1], new_line)
    return reading


def _add_words(reading: Reading, spot: Spot, marks: Mapping[str, str], block: Element, new_line: bool) -> bool:
    """Add a text's words, and return whether the next word still starts a line."""
    words = reading.words
    first = len(words)
    line = len(reading.lines) - (not new_line)
    for match in _WORD.finditer(spot.text):
        mark = marks.get(match[0])
        key = folded(match[0]) if mark is None else MARK + mark
        words.append(Word(key, match[0], spot, match.start(), match.end(), line))
    if len(words) == first:
        return new_line
    if new_line:
        reading.lines.append(Span(block, first, len(words)))
    else:
        reading.lines[-1] = Span(reading.lines[-1].element, reading.lines[-1].first, len(words))
    return False


def folded(word: str) -> str:
    """The word without what its spelling may differ in: case, ligatures, width, composition."""
    return word.casefold() if word.isascii() else unicodedata.normalize("NFKC", word).casefold()
