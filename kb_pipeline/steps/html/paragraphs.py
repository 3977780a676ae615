"""Reduce the tree to plain blocks: every run of words becomes a paragraph, and boxes without meaning are removed.

Afterwards the tree contains only headings, paragraphs, lists, quotes, tables and rules.
"""

from lxml import etree

from kb_pipeline.steps.html.dom import BLOCKS, BOXES, HEADINGS, LISTS, Element, dissolve, has_text, names, remove
from kb_pipeline.steps.pages import PAGE_TAG

_CONTAINERS = frozenset({"li", "blockquote"})
_PARTS = names("thead tbody tfoot")
_TABLE_PARENTS = {
    **dict.fromkeys(_PARTS, frozenset({"table"})),
    "tr": _PARTS | {"table"},
    **dict.fromkeys(("td", "th"), frozenset({"tr"})),
}
_NESTING = ("ul", "ol", "blockquote", "sub", "sup", "del", "s", "strike", "q", "ruby")
_DEEPEST = 40
"""Markup that nests deeper than this is damaged."""


def tidy_blocks(main: Element) -> None:
    """Reduce the tree to plain blocks, in place."""
    _dissolve_stray_cells(main)
    _free_blocks_from_inline(main)
    _limit_nesting(main)
    etree.strip_tags(main, "span")
    for box in [main, *main.iterdescendants()]:
        if box is main or box.tag in BOXES or box.tag in _CONTAINERS or box.tag == "p":
            _wrap_runs(box, box is main)
    main.tag = "body"
    etree.strip_tags(main, *(BOXES - {"body"}))
    _adopt_stray_items(main)
    _trim_breaks(main)
    _drop_empty(main)
    _tighten_items(main)


def _dissolve_stray_cells(main: Element) -> None:
    """Turn rows and cells outside of a table into boxes."""
    for part in main.iterdescendants(*_TABLE_PARENTS):
        parent = part.getparent()
        if parent is not None and parent.tag not in _TABLE_PARENTS[str(part.tag)]:
            part.tag = "div"


def _free_blocks_from_inline(main: Element) -> None:
    """Remove formatting around blocks: ``<b><p>..</p></b>``."""
    for block in list(main.iterdescendants(*BLOCKS)):
        parent = block.getparent()
        while parent is not None and parent is not main and parent.tag not in BLOCKS:
            dissolve(parent)
            parent.tag = "div"
            parent = parent.getparent()


def _limit_nesting(main: Element) -> None:
    depth = 0
    for event, element in etree.iterwalk(main, events=("start", "end"), tag=_NESTING):
        depth += 1 if event == "start" else -1
        if event == "end" and depth >= _DEEPEST:
            for item in element.iterchildren("li"):
                item.tag = "div"
            dissolve(element)


def _wrap_runs(box: Element, always: bool) -> None:
    """Wrap words between blocks in paragraphs; a box of only words becomes a paragraph."""
    has_blocks = any(child.tag in BLOCKS for child in box)
    if not has_blocks and not always and box.tag not in ("blockquote", "li"):
        box.tag = "p"
    if box.tag == "p" and has_blocks:
        box.tag = "div"
    if box.tag == "li" and not _needs_paragraphs(box):
        return
    if box.tag == "p":
        return
    run: Element | None = None
    children = list(box)
    if (box.text or "").strip():
        run = box.makeelement("p")
        run.text, box.text = box.text, None
        box.insert(0, run)
    for child in children:
        if child.tag not in BLOCKS:
            if run is None:
                run = box.makeelement("p")
                child.addprevious(run)
            run.append(child)
            continue
        run = None
        if (child.tail or "").strip():
            run = box.makeelement("p")
            run.text, child.tail = child.tail, None
            child.addnext(run)


def _needs_paragraphs(item: Element) -> bool:
    """Return whether the item contains more than words followed by lists."""
    blocks = [child for child in item if child.tag in BLOCKS]
    return any(block.tag not in LISTS or (block.tail or "").strip() for block in blocks)


def _adopt_stray_items(main: Element) -> None:
    """Turn items outside of a list into paragraphs, and move a list directly in a list into the item before it."""
    for element in list(main.iterdescendants("li", *LISTS)):
        parent = element.getparent()
        previous = element.getprevious()
        if parent is None:
            continue
        if element.tag == "li" and parent.tag not in LISTS:
            element.tag = "p" if not any(child.tag in BLOCKS for child in element) else "div"
        elif element.tag in LISTS and parent.tag in LISTS and previous is not None and previous.tag == "li":
            previous.append(element)
    etree.strip_tags(main, "div")


def _trim_breaks(main: Element) -> None:
    """Remove line breaks at the start and end of blocks."""
    for block in main.iterdescendants("p", "li", *HEADINGS):
        for first in list(block.iterchildren()):
            if first.tag != "br" or (block.text or "").strip():
                break
            block.text = first.tail
            block.remove(first)
        for last in list(block.iterchildren(reversed=True)):
            if last.tag != "br" or (last.tail or "").strip():
                break
            block.remove(last)


def _drop_empty(main: Element) -> None:
    blocks = main.iterdescendants("p", "li", "blockquote", *LISTS, *HEADINGS)
    remove(main, [block for block in blocks if not has_text(block) and next(block.iter(PAGE_TAG), None) is None])
    for rule in list(main.iterdescendants("hr")):
        following = rule.getnext()
        if rule.getprevious() is None or following is None or following.tag == "hr":
            rule.tag = "template"
    etree.strip_elements(main, "template", with_tail=False)


def _tighten_items(main: Element) -> None:
    """Write items of one paragraph, followed by lists at most, without blank lines."""
    for item in main.iterdescendants("li"):
        first = item[0] if len(item) else None
        if first is not None and first.tag == "p" and all(child.tag in LISTS for child in item if child is not first):
            first.tag = "span"
    etree.strip_tags(main, "span")
