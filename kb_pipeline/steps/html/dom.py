"""The DOM every module of this package works on: parsing, and the few moves lxml lacks.

Here: what is true of any HTML. Not here: anything about one kind of content or one dialect.
"""

import re
from typing import TypeAlias

from lxml import etree

Element: TypeAlias = etree._Element


def names(text: str) -> frozenset[str]:
    """A set of tag or class names, written as words."""
    return frozenset(text.split())


HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
LISTS = frozenset({"ul", "ol"})
BOXES = names(
    "address article aside body center details dd div dl dt fieldset figcaption figure footer form header hgroup "
    "html legend main nav section summary caption"
)
"""Blocks that mean no more than their content does."""
BLOCKS = BOXES | HEADINGS | LISTS | names("blockquote hr li p pre table tbody td tfoot th thead tr")

_NO_LINE = frozenset({"pre", "table", "ul", "ol", "hr"})
"""Blocks in which no words of the block around them can stand."""

_SELF_CLOSED = re.compile(r"<(script|style|title|textarea|iframe|noframes|noembed|xmp)\b([^<>]*)/>", re.I)
_PAGE_END = re.compile(r"</(?:body|html)\s*>", re.I)
"""What follows the end of the page belongs to it, to every browser."""
_NESTING_TAGS = re.compile(
    r"</?(?!(?:p|h[1-6]|a|img|br|hr|pre|body|html|head|title|meta|link|script|style)\b)\w[^<>]*>"
)


def parse(html: str) -> Element | None:
    """Parse a page as browsers would, whatever its faults; None where there is nothing to parse.

    Elements nested deeper than libxml2 allows (2,048) would take the rest of the page with them,
    so such a page is read again without the tags that nest.
    """
    html = _PAGE_END.sub("", _SELF_CLOSED.sub(r"<\1\2></\1>", html))
    root, too_deep = _parse(html)
    if too_deep:
        root, _ = _parse(_NESTING_TAGS.sub("<p>", html))
    return root


def _parse(html: str) -> tuple[Element | None, bool]:
    parser = etree.HTMLParser(encoding="utf-8", huge_tree=True, remove_comments=True, remove_pis=True)
    try:
        root = etree.fromstring(html.encode("utf-8", "replace"), parser)
    except etree.XMLSyntaxError:
        return None, False
    return root, any(entry.message.startswith("Excessive depth") for entry in parser.error_log)


def classes(element: Element) -> list[str]:
    """The class names of an element, in lower case."""
    return (element.get("class") or "").lower().split()


def text_of(element: Element, longest: int | None = None) -> str:
    """The element's text with runs of white space as one space; no more than about ``longest`` characters."""
    if longest is None:
        return " ".join("".join(map(str, element.itertext())).split())
    parts: list[str] = []
    for part in element.itertext():
        parts.append(" ".join(str(part).split()))
        longest -= len(parts[-1])
        if longest <= 0:
            break
    return " ".join(filter(None, parts))


def has_text(element: Element) -> bool:
    """Whether the element holds any text that is not white space."""
    return any(part.strip() for part in element.itertext())


def is_block(element: Element) -> bool:
    """Whether the element starts a line of its own."""
    return element.tag in BLOCKS


def dissolve(element: Element) -> None:
    """Take the element's meaning and keep its content (spans are stripped before rendering)."""
    element.tag = "div" if element.tag in BLOCKS else "span"
    element.attrib.clear()


def replace_with_text(element: Element, text: str) -> None:
    """Put plain text in the element's place; the text after it stays."""
    tail = element.tail
    element.clear()
    element.tag, element.text, element.tail = "span", text, tail


def wrap_content(element: Element, tag: str) -> Element:
    """Move all content of the element into a new child and return that."""
    wrapper = etree.Element(tag)
    wrapper.text, element.text = element.text, None
    wrapper.extend(list(element))
    element.append(wrapper)
    return wrapper


def first_line(element: Element) -> Element:
    """The innermost block in which the element's words begin; what is empty before them is removed."""
    while not (element.text or "").strip() and len(element):
        child = element[0]
        if not has_text(child):
            element.text = child.tail
            element.remove(child)
        elif is_block(child) and child.tag not in _NO_LINE:
            element = child
        else:
            break
    return element
