"""Page tools that show themselves by their words alone: Prev / Next lines, "Edit this page",
"Was this helpful?", and the end of a hand-written page.

Only what is nothing but that: a sentence about the next page is content.
"""

import re

from lxml import etree

from kb_pipeline.steps.html.dom import HEADINGS, Element, classes, has_text, names, text_of

_NAVIGATION_WORDS = names(
    "prev previous next up home top index contents table of back to page section chapter start forward main menu the "
    "this first last parent"
)
_EDIT_LINK = re.compile(
    r"\W*(?:edit|improve|view|show|report|suggest)\b.{0,30}\b(?:page|source|github|gitlab|issue|bug|edits|error)\W*$",
    re.I,
)
_QUESTION = re.compile(
    r"\W*(?:was|is|did) this (?:page|article|information|topic|content|document|answer|helpful)\b", re.I
)
_FOOTER_TEXT = re.compile(
    r"©|\(c\)\s*\d|\bcopyright\b|all rights reserved|last (?:updated|modified|changed)|generated (?:by|on)", re.I
)
_WORD = re.compile(r"[^\W_]+")
_LONGEST = 300


def remove_page_tools(main: Element) -> None:
    """Take away the blocks that are page tools, in place."""
    for element in list(main.iter("p", "div", "center", "td", "table", "ul", "li", "a", "form")):
        if _is_page_tool(element):
            element.tag = "template"
    etree.strip_elements(main, "template", with_tail=False)
    _remove_page_end(main)


def _is_page_tool(element: Element) -> bool:
    text = text_of(element, _LONGEST)
    if not text or len(text) >= _LONGEST:
        return False
    if element.tag == "a":
        return bool(_EDIT_LINK.match(text)) and _stands_alone(element)
    return bool(_QUESTION.match(text)) or _is_plain_navigation(element, text)


def _stands_alone(link: Element) -> bool:
    parent = link.getparent()
    if parent is None or parent.tag in ("li", "td", "dd"):
        return False
    return len(text_of(parent, _LONGEST)) < 2 * len(text_of(link)) + 30


def _is_plain_navigation(element: Element, text: str) -> bool:
    """Prev / Up / Next and nothing else; one such word alone may well be content."""
    links = [_WORD.findall(text_of(link).lower()) for link in element.iter("a") if link.get("href")]
    if not 2 <= len(links) <= 8 or not all(label and set(label) <= _NAVIGATION_WORDS for label in links):
        return False
    return len(_WORD.findall(text)) == sum(map(len, links))


def _remove_page_end(main: Element) -> None:
    """Drop what follows the last rule of a page, if that is a line of links or a copyright notice."""
    rules = list(main.iter("hr"))
    if not rules or not _ends_the_page(rules[-1], main):
        return
    following = list(rules[-1].itersiblings())
    text = " ".join([rules[-1].tail or "", *(text_of(element) for element in following)])
    linked = [text_of(link) for element in following for link in element.iter("a") if link.get("href")]
    unlinked = len(_WORD.findall(text)) - len(_WORD.findall(" ".join(linked)))
    if (len(linked) > 1 and unlinked <= len(linked)) or (len(text) < _LONGEST and _FOOTER_TEXT.search(text)):
        for element in following:
            element.tag = "template"
        rules[-1].tail = None
        etree.strip_elements(main, "template", with_tail=True)


def _ends_the_page(rule: Element, main: Element) -> bool:
    """Whether the rule closes the whole page, not a section or the list of footnotes."""
    if any(element.tag in HEADINGS for element in rule.itersiblings()):
        return False
    for ancestor in rule.iterancestors():
        if ancestor is main:
            return True
        if any("footnote" in name for name in classes(ancestor)) or (ancestor.tail or "").strip():
            return False
        if any(has_text(element) for element in ancestor.itersiblings()):
            return False
    return False
