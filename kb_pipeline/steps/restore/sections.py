"""The sections of the restored tree, by the headings of the article: where to put what has no place of its own."""

from bisect import bisect_right
from collections.abc import Mapping

from lxml import etree

from kb_pipeline.steps.html.dom import HEADINGS, Element
from kb_pipeline.steps.restore.words import Reading


class Sections:
    """Where the article's sections end in the tree that is restored."""

    def __init__(self, tree: Element, truth: Reading, found: Mapping[int, Element]) -> None:
        """Take the headings that were found, by the number of their first word in the article."""
        self._tree = tree
        self._starts = [heading.first for heading in truth.of(*HEADINGS)]
        self._found = found
        headings = list(tree.iter(*HEADINGS))
        self._following = dict(zip(headings, [*headings[1:], None], strict=False))

    def add_paragraph(self, word: int, text: str) -> None:
        """Put a paragraph at the end of the section in which the article has this word."""
        paragraph = etree.Element("p")
        paragraph.text = text
        end = self._end(word)
        if end is None:
            self._tree.append(paragraph)
        else:
            end.addprevious(paragraph)

    def _end(self, word: int) -> Element | None:
        """The heading before which the section ends: the article's next one, else whatever follows its own."""
        number = bisect_right(self._starts, word)
        later = [self._found[start] for start in self._starts[number:] if start in self._found]
        if number < len(self._starts) and self._starts[number] in self._found:
            return later[0]
        if number and self._starts[number - 1] in self._found:
            return self._following.get(self._found[self._starts[number - 1]])
        return later[0] if later else None
