"""The pages of a Word document, as far as it says where they begin.

A word processor lays the pages out anew each time; what Word saw last is in the file as ``w:lastRenderedPageBreak``.
Breaks that the author set are added to these. Without any of Word's there are only pages if the author's breaks make
as many as the file says that it has: other page numbers would be wrong.
"""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from kb_pipeline.records import PageInfo
from kb_pipeline.sources.base import page_element
from kb_pipeline.sources.office import name_of

Element = Any
"""An element of lxml."""

_TWIPS = 20.0
"""Units of a page's size in a point."""
_RENDERED, _SET = "rendered", "set"
_CONTENT = {"t", "drawing", "pict", "object", "tab", "sym", "footnoteReference", "oMath"}
_SHAPES = {"txbxContent", "del", "moveFrom"}
"""What stands on no page by itself: text boxes hang from a paragraph, and tracked deletions are gone."""
_OPENING = r"(?:<(?:p|h[1-6]|pre|blockquote|strong|em|a)(?: [^<>]*)?>)+"


class _Event(NamedTuple):
    kind: str
    element: Element
    words: int = 0


class MarkedPages(NamedTuple):
    """The pages of a document, whose tree has the text ``mark(number)`` where each page but the first begins."""

    pages: tuple[PageInfo, ...]
    token: str

    def mark(self, number: int) -> str:
        """The text in the place of a page's beginning."""
        return f"\ue000{self.token}:{number}\ue001"

    def in_html(self, html: str) -> str:
        """Replace the marks in the HTML of the document by elements, before the blocks that they begin."""
        if not self.pages:
            return html
        pattern = rf"({_OPENING})?\ue000{re.escape(self.token)}:(\d+)\ue001"
        marked = re.sub(pattern, lambda found: page_element(int(found[2])) + (found[1] or ""), html)
        return page_element(1) + marked


def mark_pages(tree: Element, token: str, said: int) -> MarkedPages:
    """Mark in the tree of ``word/document.xml`` where pages begin, and return the pages; none if it does not say.

    ``said`` is the number of pages that the file's properties name, 0 if they name none.
    """
    for row in tree.iter("{*}tr"):
        _keep_breaks_of_one_cell(row)
    events = list(_merged(_events(tree)))
    breaks = [event for event in events if event.kind != "content"]
    if not breaks or (said != len(breaks) + 1 and all(event.kind == _SET for event in breaks)):
        return MarkedPages((), token)
    words = [0]
    marked = MarkedPages((), token)
    for event in events:
        if event.kind == "content":
            words[-1] += event.words
        else:
            words.append(0)
            _insert(event.element, marked.mark(len(words)))
    width, height = _size(tree)
    return marked._replace(
        pages=tuple(
            PageInfo(number=at, width=width, height=height, words=count, read_by="text" if count else "nothing")
            for at, count in enumerate(words, 1)
        )
    )


def _keep_breaks_of_one_cell(row: Element) -> None:
    """In a row that goes on over a page, each cell has the break; it counts once."""
    cells = [list(cell.iter("{*}lastRenderedPageBreak")) for cell in row.iterchildren("{*}tc")]
    kept = max(range(len(cells)), key=lambda at: len(cells[at]), default=0)
    for at, breaks in enumerate(cells):
        for one in breaks if at != kept else ():
            one.getparent().remove(one)


def _events(element: Element) -> Iterator[_Event]:
    """Content and breaks in the order of the document."""
    for child in element:
        if not isinstance(child.tag, str) or name_of(child) in _SHAPES:
            continue
        name = name_of(child)
        if name == "lastRenderedPageBreak":
            yield _Event(_RENDERED, child)
        elif _is_set_break(name, child):
            yield _Event(_SET, child)
        elif name in _CONTENT:
            yield _Event("content", child, len((child.text or "").split()) if name == "t" else 0)
        else:
            yield from _events(child)


def _is_set_break(name: str, element: Element) -> bool:
    if name == "pageBreakBefore":
        return _value(element, "val") not in ("0", "false", "off")
    return name == "br" and _value(element, "type") == "page"


def _merged(events: Iterator[_Event]) -> Iterator[_Event]:
    """Count a break that the author set and the one that Word saw there as one: nothing stands between them."""
    last = ""
    for event in events:
        if event.kind == "content":
            yield event
            last = ""
        elif last and last != event.kind:
            last = ""
        else:
            yield event
            last = event.kind


def _insert(element: Element, mark: str) -> None:
    """Put the mark as text in the place of a break, or at the beginning of the paragraph that it stands for."""
    run_tag = element.tag.rpartition("}")[0] + "}r"
    text_tag = element.tag.rpartition("}")[0] + "}t"
    text = element.makeelement(text_tag, {})
    text.text = mark
    parent = element.getparent()
    if name_of(element) != "pageBreakBefore":
        text.tail = element.tail
        parent.replace(element, text)
        return
    run = element.makeelement(run_tag, {})
    run.append(text)
    parent.addnext(run)  # after the paragraph's properties


def _value(element: Element, name: str) -> str:
    return next((str(value) for key, value in element.attrib.items() if key.rpartition("}")[2] == name), "")


def _size(tree: Element) -> tuple[float, float]:
    """The size of the last section's pages in points, 0 if it is not said."""
    sizes = [(_value(size, "w"), _value(size, "h")) for size in tree.iter("{*}pgSz")]
    width, height = sizes[-1] if sizes else ("", "")
    return (int(width) / _TWIPS, int(height) / _TWIPS) if width.isdecimal() and height.isdecimal() else (0.0, 0.0)
