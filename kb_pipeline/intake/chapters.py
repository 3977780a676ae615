"""Cuts a page at its headings, for manuals in one huge page: each chapter becomes a page of its own."""

import re
from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass
from functools import cached_property

from lxml import etree

from kb_pipeline.steps.html.dom import Element, has_text, is_inside, parse, text_of

_UNNAMED = re.compile(r"[\W_]+")
LEVELS = {"h1": ("h1",), "h2": ("h1", "h2"), "h3": ("h1", "h2", "h3")}
"""At which headings a page is cut."""


@dataclass(frozen=True)
class Chapter:
    """A part of a page: how links lead to it ("": to the page), its heading, and the numbers of its elements."""

    anchor: str
    title: str
    start: int
    end: int


class ChapteredPage:
    """A page and its chapters. The first one is what stands before the first heading to cut at."""

    def __init__(self, html: str, level: str) -> None:
        page = parse(html)
        self._page = page if page is not None else etree.Element("html")
        self._body = next(self._page.iter("body"), self._page)
        self._elements = [element for element in self._body.iter() if isinstance(element.tag, str)]
        self._number = {element: number for number, element in enumerate(self._elements)}
        self.chapters = self._cut(LEVELS[level])

    def _cut(self, tags: tuple[str, ...]) -> list[Chapter]:
        cuts: dict[int, tuple[str, str]] = {}
        anchors = {""}
        for heading in self._body.iter(*tags):
            if not has_text(heading) or is_inside(heading, "nav", "header", "footer"):
                continue
            first = self._first_of(heading)
            anchor = _anchor(first, heading) or _UNNAMED.sub("-", text_of(heading).casefold())
            if self._number[first] and anchor not in anchors:
                anchors.add(anchor)
                cuts[self._number[first]] = anchor, text_of(heading)
        if cuts and not self._has_content_before(min(cuts)):
            del cuts[min(cuts)]  # this chapter is what a link to the page means
        starts, end = [0, *cuts], len(self._elements)
        told = [("", ""), *cuts.values()]
        return [
            Chapter(anchor, title, start, following)
            for (anchor, title), start, following in zip(told, starts, [*starts[1:], end], strict=True)
        ]

    def _has_content_before(self, number: int) -> bool:
        before = self._elements[:number]
        around = set(self._elements[number].iterancestors())
        return any(
            (element.text or "").strip()
            or element.tag == "img"
            or (element not in around and (element.tail or "").strip())
            for element in before
        )

    def _first_of(self, heading: Element) -> Element:
        """The outermost element that begins with this heading, or the empty anchor before it."""
        element = heading
        while True:
            before, parent = element.getprevious(), element.getparent()
            if before is not None and before.tag == "a" and not has_text(before) and not (before.tail or "").strip():
                element = before
            elif before is None and parent is not None and parent is not self._body and not (parent.text or "").strip():
                element = parent
            else:
                return element

    @cached_property
    def places(self) -> Mapping[str, str]:
        """The chapter of each place that a link can lead to, by their anchors."""
        return {
            name: chapter.anchor
            for chapter in self.chapters
            for element in self._elements[chapter.start : chapter.end]
            for name in (element.get("id"), element.get("name") if element.tag == "a" else None)
            if name
        }

    def html(self, anchor: str) -> str:
        """The page with only this chapter; its title comes first."""
        chapter = next(each for each in self.chapters if each.anchor == anchor)
        page = etree.Element("html", _attributes(self._page))
        head = next(self._page.iter("head"), None)
        page.append(etree.Element("head") if head is None else deepcopy(head))
        title = next(page.iter("title"), None)
        if chapter.title:
            if title is None:
                title = etree.SubElement(page[0], "title")
            title.text = " - ".join(filter(None, (chapter.title, text_of(title))))
        page.append(self._copied(chapter))
        return f"<!doctype html>\n{etree.tostring(page, method='html', encoding='unicode')}"

    def _copied(self, chapter: Chapter) -> Element:
        """The body with the elements of the chapter, and those around them."""
        copies: dict[Element, Element] = {}
        body = etree.Element("body", _attributes(self._body))
        copies[self._body] = body
        for element in self._wanted(chapter):
            parent = element.getparent()
            if element is not self._body and parent is not None:
                copies[element] = etree.SubElement(copies[parent], element.tag, _attributes(element))
            if chapter.start <= self._number[element] < chapter.end:
                copies[element].text = element.text
        for element, copy in copies.items():
            last = element
            while len(last):
                last = last[-1]
            # what stands behind an element belongs to the chapter in which the element ends
            if element is not self._body and chapter.start <= self._number.get(last, -1) < chapter.end:
                copy.tail = element.tail
        return body

    def _wanted(self, chapter: Chapter) -> Iterator[Element]:
        inside = self._elements[chapter.start : chapter.end]
        around = set(inside[0].iterancestors()) if inside else set()
        yield from (element for element in self._elements[: chapter.start] if element in around)
        yield from inside


def _attributes(element: Element) -> dict[str, str]:
    return {str(name): str(value) for name, value in element.attrib.items()}


def _anchor(first: Element, heading: Element) -> str:
    """How links lead to the chapter: the name of the heading, of the box around it, or of the anchor beside it."""
    around = [heading, *heading.iterancestors()]
    around = around[: around.index(first) + 1] if first in around else around[:1]
    for element in (*around, first, *heading.iter("a")):
        if name := element.get("id") or (element.get("name") if element.tag == "a" else ""):
            return name
    return ""
