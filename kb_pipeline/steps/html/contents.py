"""What stands inside each element of a page, read once: elements nested thousands deep share all that is in them."""

from functools import cached_property
from itertools import accumulate
from typing import NamedTuple

from lxml import etree

from kb_pipeline.steps.html.dom import HEADINGS, Element


class _Place(NamedTuple):
    """How many texts, links, main headings, headings and images the page has before a place."""

    texts: int = 0
    links: int = 0
    titles: int = 0
    headings: int = 0
    images: int = 0


class PageContents:
    """The texts, links, headings and images in the elements of a tree, as it was when it was first asked for them.

    The tags of elements may be changed meanwhile, as long as nothing is removed.
    """

    def __init__(self, tree: Element) -> None:
        self._tree = tree
        self._texts: list[str] = []
        self._links: list[Element] = []
        self._headings: list[Element] = []

    def has_title(self, element: Element) -> bool:
        """Whether a main heading is in it."""
        begin, end = self._places[element]
        return end.titles > begin.titles

    def has_heading(self, element: Element) -> bool:
        """Whether a heading is in it."""
        begin, end = self._places[element]
        return end.headings > begin.headings

    def is_between_headings(self, element: Element) -> bool:
        """Whether headings stand before it and after it."""
        begin, end = self._places[element]
        return begin.headings > 0 and end.headings < len(self._headings)

    def has_image(self, element: Element) -> bool:
        """Whether an ``img`` is in it."""
        begin, end = self._places[element]
        return end.images > begin.images

    def links(self, element: Element) -> list[Element]:
        """The links in it, itself included."""
        begin, end = self._places[element]
        return self._links[begin.links : end.links]

    def text(self, element: Element, longest: int) -> str:
        """What :func:`text_of` says of it."""
        begin, end = self._places[element]
        parts: list[str] = []
        for text in self._texts[begin.texts : min(end.texts, begin.texts + longest)]:
            parts.append(" ".join(text.split()))
            longest -= len(parts[-1])
            if longest <= 0:
                break
        return " ".join(filter(None, parts))

    def characters(self, element: Element) -> int:
        """The length of its text with single spaces."""
        begin, end = self._places[element]
        letters, words, goes_on = self._counted
        if begin.texts == end.texts:
            return 0
        count = words[end.texts] - words[begin.texts] + goes_on[begin.texts]
        return letters[end.texts] - letters[begin.texts] + max(count - 1, 0)

    def linked_characters(self, element: Element) -> int:
        """The lengths of the texts of its links together."""
        begin, end = self._places[element]
        return self._of_links[end.links] - self._of_links[begin.links]

    def heading_characters(self, element: Element) -> int:
        """The lengths of the texts of its headings together."""
        begin, end = self._places[element]
        return self._of_headings[end.headings] - self._of_headings[begin.headings]

    @cached_property
    def _places(self) -> dict[Element, tuple[_Place, _Place]]:
        begins: dict[Element, _Place] = {}
        places: dict[Element, tuple[_Place, _Place]] = {}
        titles = headings = images = 0
        for event, element in etree.iterwalk(self._tree, events=("start", "end")):
            if event == "start":
                begins[element] = _Place(len(self._texts), len(self._links), titles, headings, images)
                titles += element.tag == "h1"
                if element.tag in HEADINGS:
                    headings += 1
                    self._headings.append(element)
                images += element.tag == "img"
                if element.tag == "a" and element.get("href"):
                    self._links.append(element)
                if element.text is not None:
                    self._texts.append(element.text)
                continue
            places[element] = begins.pop(element), _Place(len(self._texts), len(self._links), titles, headings, images)
            if element.tail is not None and element is not self._tree:
                self._texts.append(element.tail)
        return places

    @cached_property
    def _counted(self) -> tuple[list[int], list[int], list[bool]]:
        """The letters and words before each text, and whether it goes on with the word of the text before."""
        letters, words, goes_on, in_word = [0], [0], [], False
        for text in self._texts:
            own = text.split()
            joined = in_word and bool(text) and not text[0].isspace()
            goes_on.append(joined)
            letters.append(letters[-1] + sum(map(len, own)))
            words.append(words[-1] + len(own) - joined)
            in_word = not text[-1].isspace() if text else in_word
        return letters, words, goes_on

    @cached_property
    def _of_links(self) -> list[int]:
        return [0, *accumulate(self.characters(link) for link in self._links)]

    @cached_property
    def _of_headings(self) -> list[int]:
        return [0, *accumulate(self.characters(heading) for heading in self._headings)]
