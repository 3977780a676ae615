"""What stands in a table cell becomes one line: blocks are told apart by ``<br>``, items by bullets."""

from lxml import etree

from kb_pipeline.steps.html.dom import BLOCKS, LISTS, Element, first_line, has_text

_BULLET = "• "
_COLUMN = " – "


def flatten_cell(cell: Element) -> None:
    """Make all content of a cell inline, in place. Nested tables give a line for each row."""
    for item in list(cell.iterdescendants("li")):
        line = first_line(item)
        line.text = _marker(item) + (line.text or "").lstrip()
    for inner in cell.iterdescendants("td", "th"):
        if inner.getprevious() is not None:
            inner.text = _COLUMN + (inner.text or "").lstrip()
    for block in list(cell.iterdescendants()):
        if block.tag in ("td", "th"):
            block.tag = "span"
        elif block.tag in BLOCKS:
            _break_around(block)
            block.tag = "span"
    etree.strip_tags(cell, "span")
    _trim_breaks(cell)


def _marker(item: Element) -> str:
    parent = item.getparent()
    if parent is None or parent.tag not in LISTS or parent.tag == "ul":
        return _BULLET
    return f"{1 + sum(1 for _ in item.itersiblings('li', preceding=True))}. "


def _break_around(block: Element) -> None:
    before = block.makeelement("br")
    after = block.makeelement("br")
    block.addprevious(before)
    block.addnext(after)


def _trim_breaks(cell: Element) -> None:
    """Leave single breaks, and only between content."""
    pending: list[Element] = []
    content = bool((cell.text or "").strip())
    for child in list(cell):
        if child.tag == "br":
            child.tail = (child.tail or "").lstrip()
            pending.append(child)
            if not content or len(pending) > 1:
                pending.pop().tag = "span"
        elif has_text(child):
            content, pending = True, []
        if (child.tail or "").strip():
            content, pending = True, []
    for unneeded in pending:
        unneeded.tag = "span"
    etree.strip_tags(cell, "span")
