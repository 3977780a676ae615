"""The words around the images of a page, read once for all images that share a line, a link or a figure.

Images are replaced in the order of the page, one by one; :meth:`BesideImages.put_in` is told of words that replace one.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from lxml import etree

from kb_pipeline.steps.html.dom import BLOCKS, Element, classes, has_text, names, text_of
from kb_pipeline.steps.html.placeholders import without_placeholders

_FIGURES = names("figure informalfigure imageblock fig mediaobject screenshot image wp-caption thumb thumbinner")
_CAPTIONS = names("title caption figcap figtitle caption-text wp-caption-text thumbcaption figure-title")
_CLIMB = 5
"""Elements around an image in which its figure is looked for: a link, a picture, a paragraph, a box and the figure."""
_LONGEST_CAPTION = 500
"""Characters: a paragraph; what is longer is no caption."""
_LINE = 1000
"""Characters of a line that are read: whether words stand beside an image is clear long before."""
_WORD = re.compile(r"[^\W_]+")


@dataclass(slots=True)
class _Line:
    """The words of a block: those of its beginning, the number of its own, and whether it has any but placeholders."""

    beginning: set[str]
    characters: int
    own_words: int
    has_words: bool


@dataclass(slots=True)
class _Inline:
    """Whether an inline element has text, and the images in it that text follows."""

    has_text: bool
    before_text: set[Element]


class BesideImages:
    """The words around the images of a page."""

    def __init__(self) -> None:
        self._lines: dict[Element, _Line] = {}
        self._inlines: dict[Element, _Inline] = {}
        self._captions: dict[Element, str] = {}

    def says(self, image: Element, words: list[str]) -> bool:
        """Return whether all these words, in lower case, stand at the beginning of the image's line."""
        line = self._line_of(image)
        return not words if line is None else line.beginning.issuperset(words)

    def words_on_line(self, image: Element) -> int:
        """Return how many words stand on the image's own line: in its block, but not in nested blocks."""
        line = self._line_of(image)
        return 0 if line is None else line.own_words

    def has_words_on_line(self, image: Element) -> bool:
        """Return whether any words stand in the image's block."""
        line = self._line_of(image)
        return line is not None and line.has_words

    def has_text(self, inline: Element) -> bool:
        """Return whether the inline element around an image has text."""
        return self._inline(inline).has_text

    def is_followed_by_text(self, image: Element, inline: Element) -> bool:
        """Return whether text follows the image inside of the inline element around it."""
        return image in self._inline(inline).before_text

    def put_in(self, image: Element, words: str) -> None:
        """Take note of words that are about to replace an image."""
        line = self._line_of(image)
        if line is not None and words:
            if line.characters < _LINE:
                line.beginning.update(words.lower().split())
                line.characters += len(words)
            line.own_words += len(_WORD.findall(words))
            line.has_words = True
        for ancestor in image.iterancestors() if words else ():
            if ancestor in self._inlines:
                self._inlines[ancestor].has_text = True
            if ancestor.tag in BLOCKS:
                break

    def caption_of(self, image: Element) -> str:
        """Return the nearest caption around the image, or an empty text."""
        for climbed, ancestor in enumerate(image.iterancestors()):
            if climbed == _CLIMB or ancestor.tag in ("body", "table", "li"):
                break
            if ancestor.tag == "figure" or not _FIGURES.isdisjoint(classes(ancestor)):
                if ancestor not in self._captions:
                    self._captions[ancestor] = _caption_in(ancestor)
                if self._captions[ancestor]:
                    return self._captions[ancestor]
        return ""

    def _line_of(self, image: Element) -> _Line | None:
        block = next(image.iterancestors(*BLOCKS), None)
        if block is None:
            return None
        if block not in self._lines:
            text = text_of(block, _LINE)
            self._lines[block] = _Line(
                beginning=set(text.lower().split()),
                characters=len(text),
                own_words=len(_WORD.findall(without_placeholders("".join(_own_texts(block))))),
                has_words=bool(without_placeholders("".join(map(str, block.itertext()))).strip()),
            )
        return self._lines[block]

    def _inline(self, element: Element) -> _Inline:
        if element not in self._inlines:
            before_text: set[Element] = set()
            passed: list[Element] = []
            for event, part in etree.iterwalk(element, events=("start", "end")):
                if event == "start" and part.tag in ("img", "image"):
                    passed.append(part)
                text = part.text if event == "start" else part.tail if part is not element else ""
                if (text or "").strip():
                    before_text.update(passed)
                    passed = []
            self._inlines[element] = _Inline(has_text(element), before_text)
        return self._inlines[element]


def _own_texts(block: Element) -> Iterator[str]:
    yield block.text or ""
    for child in block:
        if child.tag not in BLOCKS:
            yield from map(str, child.itertext())
        yield child.tail or ""


def _caption_in(figure: Element) -> str:
    for element in figure.iterdescendants():
        if element.tag == "figcaption" or not _CAPTIONS.isdisjoint(classes(element)):
            caption = without_placeholders(text_of(element)).strip()
            if caption:
                return caption[:_LONGEST_CAPTION]
    return ""
