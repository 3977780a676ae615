"""The DOM that all modules of this package work on: parsing, and the operations lxml lacks.

Here: what applies to any HTML. Not here: anything about one kind of content or one documentation tool.
"""

import re
from collections.abc import Callable, Iterable
from itertools import islice
from typing import TypeAlias, cast

from lxml import etree

Element: TypeAlias = etree._Element


def names(text: str) -> frozenset[str]:
    """Return a set of tag or class names from a space-separated text."""
    return frozenset(text.split())


HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
LISTS = frozenset({"ul", "ol"})
BOXES = names(
    "address article aside body center details dd div dl dt fieldset figcaption figure footer form header hgroup "
    "html legend main nav section summary caption"
)
"""Blocks without a meaning of their own."""
_OF_HEAD = names("base basefont bgsound link meta noframes noscript script style template title")
BLOCKS = BOXES | HEADINGS | LISTS | names("blockquote hr li p pre table tbody td tfoot th thead tr")

_NO_LINE = frozenset({"pre", "table", "ul", "ol", "hr"})
"""Blocks that cannot contain the first words of the block around them."""

_LETTER_OR_DIGIT = re.compile(r"[^\W_]")
_SELF_CLOSED = re.compile(r"<(script|style|title|textarea|iframe|noframes|noembed|xmp)\b([^<>]*)/>", re.I)
_PAGE_END = re.compile(r"</(?:body|html)\s*>", re.I)
"""Browsers treat what follows the end of the page as part of it."""
_NESTING_TAGS = re.compile(
    r"</?(?!(?:p|h[1-6]|a|img|br|hr|pre|body|html|head|title|meta|link|script|style)\b)\w[^<>]*>"
)


def parse(html: str) -> Element | None:
    """Parse a page as browsers do, however broken; return None if there is nothing to parse.

    libxml2 drops the rest of a page from elements nested deeper than its limit (2,048), so such a page is parsed again
    without the tags that nest.
    """
    html = _PAGE_END.sub("", _SELF_CLOSED.sub(r"<\1\2></\1>", html))
    root, too_deep = _parse(html)
    if too_deep:
        root, _ = _parse(_NESTING_TAGS.sub("<p>", html))
    if root is not None:
        _end_head(root)
    return root


def _end_head(root: Element) -> None:
    """Begin the body where a page that leaves out its tag does: libxml2 keeps what it does not know in the head."""
    head = root.find("head")
    first = None if head is None else next((each for each in head if each.tag not in _OF_HEAD), None)
    if head is None or first is None:
        return
    body = root.find("body")
    if body is None:
        body = etree.SubElement(root, "body")
    begun = list(head)[head.index(first) :]
    begun[-1].tail = (begun[-1].tail or "") + (body.text or "")
    body.text = None
    body[:0] = begun


def _parse(html: str) -> tuple[Element | None, bool]:
    parser = etree.HTMLParser(encoding="utf-8", huge_tree=True, remove_comments=True, remove_pis=True)
    try:
        root = etree.fromstring(html.encode("utf-8", "replace"), parser)
    except etree.XMLSyntaxError:
        return None, False
    return root, any(entry.message.startswith("Excessive depth") for entry in parser.error_log)


def classes(element: Element) -> list[str]:
    """Return the class names of an element in lower case."""
    return (element.get("class") or "").lower().split()


def finder(path: str) -> Callable[[Element], list[Element]]:
    """Return what finds the elements at an XPath, in a tenth of the time of looking at each of a page."""
    return cast(Callable[[Element], list[Element]], etree.XPath(path))


def text_of(element: Element, longest: int | None = None) -> str:
    """Return the element's text with single spaces, cut after about ``longest`` characters."""
    if longest is None:
        return " ".join("".join(map(str, element.itertext())).split())
    parts: list[str] = []
    for part in islice(element.itertext(), longest):  # there may be many empty parts
        parts.append(" ".join(str(part).split()))
        longest -= len(parts[-1])
        if longest <= 0:
            break
    return " ".join(filter(None, parts))


def says_something(text: str) -> bool:
    """Return whether there is a letter or a digit in it."""
    return _LETTER_OR_DIGIT.search(text) is not None


def has_text(element: Element) -> bool:
    """Return whether the element contains any text other than white space."""
    return any(part.strip() for part in element.itertext())


def is_block(element: Element) -> bool:
    """Return whether the element is a block, which starts on a new line."""
    return element.tag in BLOCKS


def is_inside(element: Element, *tags: str) -> bool:
    """Return whether the element has an ancestor with one of these tags."""
    return next(element.iterancestors(*tags), None) is not None


def dissolve(element: Element) -> None:
    """Turn the element into a ``div`` or ``span``, without attributes; spans are stripped before rendering."""
    element.tag = "div" if element.tag in BLOCKS else "span"
    element.attrib.clear()


def replace_with_text(element: Element, text: str, tag: str = "span") -> None:
    """Replace the element by a ``tag`` with plain text; the text after it stays."""
    tail = element.tail
    element.clear()
    element.tag, element.text, element.tail = tag, text, tail


def remove(tree: Element, elements: Iterable[Element]) -> None:
    """Remove the elements from the tree; the text after them stays."""
    for element in elements:
        element.tag = "template"
    etree.strip_elements(tree, "template", with_tail=False)


def wrap_content(element: Element, tag: str) -> Element:
    """Move all content of the element into a new child, and return the child."""
    wrapper = etree.Element(tag)
    wrapper.text, element.text = element.text, None
    wrapper.extend(list(element))
    element.append(wrapper)
    return wrapper


def first_line(element: Element) -> Element:
    """Return the innermost block with the element's first words; remove empty elements before them."""
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
