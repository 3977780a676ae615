"""Read a tree as the sequence of its words, by which two versions of an article are compared.

Each word has its position in the tree, so that results for words can be applied to the tree. Not here: comparing
(``align``).
"""

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from lxml import etree

from kb_pipeline.steps.html.dom import HEADINGS, Element, is_block
from kb_pipeline.steps.html.placeholders import PLACEHOLDER

# In scripts without spaces each character is a word, so that a misread one does not lose the whole sentence.
_NO_SPACES = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff"
_WORD = re.compile(rf"{PLACEHOLDER.pattern}|[{_NO_SPACES}]|[^\W_{_NO_SPACES}]+")
_SPANS = HEADINGS | {"a", "code", "pre", "table"}
MARK = "\ue000"
"""Prefix of the key of a word that is an image marker."""


class Spot(NamedTuple):
    """A text in the tree: that of an element, or its tail."""

    element: Element
    is_tail: bool

    @property
    def text(self) -> str:
        return (self.element.tail if self.is_tail else self.element.text) or ""

    def write(self, text: str) -> None:
        if self.is_tail:
            self.element.tail = text
        else:
            self.element.text = text

    @property
    def parent(self) -> Element:
        """The element that contains the text."""
        parent = self.element.getparent() if self.is_tail else self.element
        return self.element if parent is None else parent


class ComparedWord(NamedTuple):
    """A word: readers see no difference between words with an equal ``key``; ``line`` is the number of its line."""

    key: str
    written: str
    spot: Spot
    start: int
    end: int
    line: int

    @property
    def is_mark(self) -> bool:
        """Whether the word is an image marker."""
        return self.key.startswith(MARK)


class WordSpan(NamedTuple):
    """The words from ``first`` up to, but without, ``end``, all inside ``element``."""

    element: Element
    first: int
    end: int


@dataclass(slots=True)
class Reading:
    """A tree's words in order; ``lines`` are the runs of words in blocks, ``spans`` the elements of interest by tag."""

    words: list[ComparedWord] = field(default_factory=list)
    lines: list[WordSpan] = field(default_factory=list)
    spans: dict[str, list[WordSpan]] = field(default_factory=dict)

    @property
    def keys(self) -> list[str]:
        return [word.key for word in self.words]

    def of(self, *tags: str) -> list[WordSpan]:
        """Return the spans of all elements with one of these tags, in order."""
        return sorted((span for tag in tags for span in self.spans.get(tag, ())), key=lambda span: span[1:])

    def text(self, word: int) -> str:
        return self.words[word].written

    def line_of(self, word: int) -> WordSpan:
        return self.lines[self.words[word].line]


def read_words(tree: Element, marks: Mapping[str, str]) -> Reading:
    """Read a tree; ``marks`` maps the placeholders of image markers to what identifies them."""
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
                span = WordSpan(element, opened.pop(element), len(reading.words))
                reading.spans.setdefault(str(element.tag), []).append(span)
            if element is tree:
                break
        new_line = _add_words(reading, Spot(element, event == "end"), marks, blocks[-1], new_line)
    return reading


def _add_words(reading: Reading, spot: Spot, marks: Mapping[str, str], block: Element, new_line: bool) -> bool:
    """Add a text's words, and return whether the next word still starts a new line."""
    words = reading.words
    first = len(words)
    line = len(reading.lines) - (not new_line)
    for match in _WORD.finditer(spot.text):
        mark = marks.get(match[0])
        key = folded(match[0]) if mark is None else MARK + mark
        words.append(ComparedWord(key, match[0], spot, match.start(), match.end(), line))
    if len(words) == first:
        return new_line
    if new_line:
        reading.lines.append(WordSpan(block, first, len(words)))
    else:
        reading.lines[-1] = WordSpan(reading.lines[-1].element, reading.lines[-1].first, len(words))
    return False


def folded(word: str) -> str:
    """Return the word without differences in case, ligatures, width and composition."""
    return word.casefold() if word.isascii() else unicodedata.normalize("NFKC", word).casefold()
