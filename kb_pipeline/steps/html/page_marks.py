"""Pages that begin in a document: their elements are put where markdown can show them, and replaced by marks.

The elements stay in the tree, empty, while all other steps run, so that no step takes them for text. Here, too: the
line of a code block at which a page begins.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import NamedTuple

from lxml import etree

from kb_pipeline.steps.html.dom import LISTS, Element, has_text, is_block, is_inside, replace_with_text
from kb_pipeline.steps.html.placeholders import Placeholders
from kb_pipeline.steps.pages import PAGE_TAG, page_mark

_LINE = "data-line"
_SIGN = "\uf8ff"
"""Stands in code where a page begins; ``decode`` removes such characters from the source."""
_CODE = ("pre", "listing", "xmp")
_INLINE_CODE = ("code", "tt", "samp", "kbd")
_TABLE_PARTS = frozenset({"table", "thead", "tbody", "tfoot", "tr"})
_NO_LINE = frozenset({"pre", "table", "hr"})


def keep_pages(body: Element, pages: Collection[int]) -> None:
    """Keep the elements of these pages, and put them where markdown can show them, in place; dissolve all others.

    That is before a block that the page begins with, and inside of what goes on over the page. Between two items or
    rows they would end the list or table: there they stand at the end of the item, and in the cell that follows.
    """
    for mark in list(body.iter(PAGE_TAG)):
        number = mark.get("data-number") or ""
        if not (number.isascii() and number.isdigit() and len(number) < 8 and int(number) in pages):
            mark.tag = "span"
            mark.attrib.clear()
            continue
        mark.attrib.pop(_LINE, "")
        if is_inside(mark, *_CODE):
            continue
        _put_into_row(mark)
        _put_outside_code(mark)
        _put_before_block(mark)
        _put_into_item(mark)
        while (
            (previous := mark.getprevious()) is not None and previous.tag == "br" and not (previous.tail or "").strip()
        ):
            _move(mark, previous.addprevious)


class PagedCode(NamedTuple):
    """The text of a code block, and the line at which each page begins that is marked in it, counted from 1.

    A page that begins behind the last line has the number after it.
    """

    code: str
    lines: tuple[int, ...]


def sign_pages(block: Element) -> list[Element]:
    """Put a sign into the text of a code block wherever a page begins, and return the marks."""
    marks = list(block.iter(PAGE_TAG))
    for mark in marks:
        mark.text = _SIGN
    return [_mark(mark) for mark in marks]


def read_signs(code: str) -> PagedCode:
    """Return the code without signs and without blank lines around it, and the lines of the signs."""
    lines = [
        number
        + (bool(before.strip(_SIGN + " \t")) and not line.replace(_SIGN, "")[len(before.replace(_SIGN, "")) :].strip())
        for number, line in enumerate(code.split("\n"))
        for before in _before_signs(line)
    ]
    rows = code.replace(_SIGN, "").split("\n")
    non_blank = [number for number, row in enumerate(rows) if row.strip()] or [0]
    first, last = non_blank[0], non_blank[-1]
    return PagedCode("\n".join(rows[first : last + 1]).strip("\n"), tuple(min(n, last + 1) - first + 1 for n in lines))


def _before_signs(line: str) -> Iterator[str]:
    yield from (line[:position] for position, character in enumerate(line) if character == _SIGN)


def put_around_code(block: Element, marks: Sequence[Element], paged: PagedCode) -> None:
    """Put the marks of a code block before it, each with its line; behind it those of pages that begin there."""
    height = paged.code.count("\n") + 1 if paged.code else 0
    behind = block
    for mark, line in zip(marks, paged.lines, strict=True):
        if line > max(1, height):
            mark.tail, behind.tail = behind.tail, None
            behind.addnext(mark)
            behind = mark
        else:
            if line > 1:
                mark.set(_LINE, str(line))
            block.addprevious(mark)


def splits_word(mark: Element) -> bool:
    """Return whether a page begins inside of a word."""
    before, after = _text_before(mark)[-1:], (mark.tail or "")[:1]
    return bool(before.strip() and after.strip())


def mark_pages(main: Element, placeholders: Placeholders) -> None:
    """Replace the elements by the placeholders of their marks, in place. It is the last step before markdown."""
    for mark in list(main.iter(PAGE_TAG)):
        number, line = int(mark.get("data-number") or 0), int(mark.get(_LINE) or 0)
        text = page_mark(number, mark.get("data-label") or "", line)
        place = placeholders.add(text.replace("|", "\\|") if is_inside(mark, "table") else text)
        before, after = _text_before(mark), mark.tail or ""
        is_spaced = before[-1:].isspace() or after[:1].isspace() or _is_at_end(mark, before, after)
        replace_with_text(mark, f" {place} " if is_spaced else place)
    etree.strip_tags(main, "span")


def _mark(mark: Element) -> Element:
    copy = etree.Element(PAGE_TAG)
    copy.attrib.update(mark.attrib)
    return copy


def _put_into_row(mark: Element) -> None:
    """Move a mark between rows or cells into the next cell, or behind the table if there is none."""
    parent = mark.getparent()
    if parent is None or parent.tag not in _TABLE_PARTS:
        return
    table = parent if parent.tag == "table" else next(mark.iterancestors("table"), parent)
    cell = next((part for part in _following(mark, table) if part.tag in ("td", "th")), None)
    if cell is None:
        _move(mark, lambda moved: _add_after(table, moved))
    else:
        _detach(mark)
        mark.tail, cell.text = cell.text, None
        cell.insert(0, mark)


def _following(mark: Element, table: Element) -> Iterator[Element]:
    for element in (mark, *mark.iterancestors()):
        if element is table:
            return
        for sibling in element.itersiblings():
            yield from sibling.iter("td", "th")


def _put_outside_code(mark: Element) -> None:
    if outermost := list(mark.iterancestors(*_INLINE_CODE)):
        _move(mark, lambda moved: _add_after(outermost[-1], moved))


def _put_before_block(mark: Element) -> None:
    """Move a mark before all blocks that begin with it; in a table it stays in its cell, unless the table begins."""
    while (parent := mark.getparent()) is not None and parent.tag not in ("body", "html"):
        if parent.tag in ("td", "th"):
            table = next(mark.iterancestors("table"), None)
            if table is None or any(_has_content_before(part) for part in _up_to(mark, table)):
                return
            _move(mark, table.addprevious)
        elif _has_content_before(mark):
            return
        else:
            _move(mark, parent.addprevious)


def _up_to(mark: Element, table: Element) -> Iterator[Element]:
    yield mark
    for ancestor in mark.iterancestors():
        if ancestor is table:
            return
        yield ancestor


def _has_content_before(element: Element) -> bool:
    parent = element.getparent()
    if parent is not None and (parent.text or "").strip():
        return True
    return any(
        (sibling.tail or "").strip() or has_text(sibling) or next(sibling.iter("img"), None) is not None
        for sibling in element.itersiblings(preceding=True)
    )


def _put_into_item(mark: Element) -> None:
    """Move a mark between items or lists, or between the blocks of an item, to the end of the line before it."""
    parent, previous, following = mark.getparent(), mark.getprevious(), mark.getnext()
    if parent is None or previous is None or (mark.tail or "").strip():
        return
    is_between_lists = previous.tag in LISTS and following is not None and following.tag in LISTS
    is_in_item = parent.tag == "li" and is_block(previous) and (following is None or is_block(following))
    is_between = parent.tag in LISTS or is_between_lists or is_in_item
    if is_between and not (previous.tail or "").strip() and (line := _last_line(previous)) is not None:
        _move(mark, line.append)


def _last_line(element: Element) -> Element | None:
    """Return the block whose line is the last one in the element; ``None`` if that is code or a table."""
    while element.tag not in _NO_LINE:
        last = next((child for child in reversed(element) if (child.tail or "").strip() or has_text(child)), None)
        if last is None or (last.tail or "").strip() or not is_block(last):
            return element
        element = last
    return None


def _move(mark: Element, put: Callable[[Element], object]) -> None:
    _detach(mark)
    put(mark)


def _detach(mark: Element) -> None:
    """Take a mark out of the tree; the text after it stays."""
    parent, previous = mark.getparent(), mark.getprevious()
    if parent is None:
        return
    if previous is not None:
        previous.tail = (previous.tail or "") + (mark.tail or "")
    else:
        parent.text = (parent.text or "") + (mark.tail or "")
    mark.tail = None
    parent.remove(mark)


def _add_after(element: Element, mark: Element) -> None:
    mark.tail, element.tail = element.tail, None
    element.addnext(mark)


def _is_at_end(mark: Element, before: str, after: str) -> bool:
    """Return whether the mark is the first or the last on its line."""
    previous, following = mark.getprevious(), mark.getnext()
    return (not before and (previous is None or is_block(previous))) or (
        not after and (following is None or is_block(following))
    )


def _text_before(mark: Element) -> str:
    previous, parent = mark.getprevious(), mark.getparent()
    if previous is not None:
        return previous.tail or ""
    return (parent.text or "") if parent is not None else ""
