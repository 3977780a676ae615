"""Headings in the service's tree: restore their levels, and find the end of a section.

What has no other place goes to the end of its section.
"""

from bisect import bisect_right
from collections.abc import Mapping

from lxml import etree

from kb_pipeline.steps.html.dom import HEADINGS, Element, is_block, text_of
from kb_pipeline.steps.restore.align import Alignment
from kb_pipeline.steps.restore.words import Reading, WordSpan

_MIN_COVERAGE = 0.7
"""Share of a heading's words; more than of a paragraph, because headings of few words are alike."""
_LINES = HEADINGS | {"p"}


class Sections:
    """The ends of the article's sections in the tree that is restored."""

    def __init__(self, tree: Element, truth: Reading, headings: Mapping[int, Element]) -> None:
        # ``headings``: the headings found in the tree, by the number of their first word in the article
        self._tree = tree
        self._starts = [heading.first for heading in truth.of(*HEADINGS)]
        self._headings = headings
        in_tree = list(tree.iter(*HEADINGS))
        self._following = dict(zip(in_tree, [*in_tree[1:], None], strict=False))

    def add_paragraph(self, word: int, text: str) -> None:
        """Append a paragraph to the section that contains this word in the article."""
        paragraph = etree.Element("p")
        paragraph.text = text
        end = self._end(word)
        if end is None:
            self._tree.append(paragraph)
        else:
            end.addprevious(paragraph)

    def _end(self, word: int) -> Element | None:
        """Return the heading that ends the section: the article's next one, else the next after its own in the tree."""
        number = bisect_right(self._starts, word)
        later = [self._headings[start] for start in self._starts[number:] if start in self._headings]
        if number < len(self._starts) and self._starts[number] in self._headings:
            return later[0]
        if number and self._starts[number - 1] in self._headings:
            return self._following.get(self._headings[self._starts[number - 1]])
        return later[0] if later else None


def restore_headings(truth: Reading, reading: Reading, alignment: Alignment) -> dict[int, Element]:
    """Restore the level of every heading that is found, in place; turn headings that are text in the article into
    paragraphs.

    Returns the headings found, by the number of their first word in the article.
    """
    restored: dict[int, Element] = {}
    headings = truth.of(*HEADINGS)
    for heading in headings:
        line = _line_of(heading, reading, alignment)
        if line is not None:
            line.tag = heading.element.tag
            if next(heading.element.iter("strong"), None) is None:
                etree.strip_tags(line, "strong", "b")
            restored[heading.first] = line
    lines = set(restored.values())
    heading_words = {word for heading in headings for word in range(heading.first, heading.end)}
    for other in reading.of(*HEADINGS):
        if other.element not in lines and _is_plain_text(other, heading_words, alignment):
            other.element.tag = "p"
    return restored


def free_numbered_headings(truth: Reading, tree: Element) -> None:
    """Turn a list of one item that is a numbered heading of the article back into a line, in place."""
    titles = {text_of(heading.element) for heading in truth.of(*HEADINGS)}
    for numbered in list(tree.iter("ol")):
        item = numbered[0] if len(numbered) == 1 else None
        title = f"{numbered.get('start', '1')}. {text_of(numbered)}"
        if item is not None and title in titles and not any(map(is_block, item.iterdescendants())):
            numbered.tag, item.tag = "p", "span"
            item.text = title[: title.index(" ") + 1] + (item.text or "").lstrip()


def _line_of(heading: WordSpan, reading: Reading, alignment: Alignment) -> Element | None:
    """Return the line that consists of this heading, with few additional words."""
    place = alignment.place(heading.first, heading.end)
    if place is None or alignment.coverage(heading.first, heading.end) < _MIN_COVERAGE:
        return None
    line = reading.line_of(place.first)
    words, added = heading.end - heading.first, line.end - line.first - (heading.end - heading.first)
    inside = line.first <= place.first and place.last < line.end
    return line.element if inside and line.element.tag in _LINES and added <= 1 + words // 3 else None


def _is_plain_text(heading: WordSpan, heading_words: set[int], alignment: Alignment) -> bool:
    """Return whether these words are in the article, but not in a heading."""
    sources = [alignment.sources[word] for word in range(heading.first, heading.end) if word in alignment.sources]
    outside = sum(source not in heading_words for source in sources)
    return outside >= max(1.0, _MIN_COVERAGE * (heading.end - heading.first))
