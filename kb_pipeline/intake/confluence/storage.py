"""Makes HTML of Confluence's storage format, the text of a page as its author wrote it.

What Confluence renders of it may hold what other pages say, as far as the asking user may read them. This holds nothing
but the page. So a macro shows what is inside of it; one without a body shows its title, if it has one.
"""

import html
import re
from html.entities import html5
from typing import Protocol

from lxml import etree

from kb_pipeline.errors import IntakeError
from kb_pipeline.steps.html.dom import Element

_AC, _RI = "urn:ac", "urn:ri"
_ROOT = f'<div xmlns:ac="{_AC}" xmlns:ri="{_RI}" xmlns:at="{_AC}">'
_OUTSIDE = re.compile(r"<!\[CDATA\[.*?\]\]>|&([A-Za-z][A-Za-z0-9]*);", re.DOTALL)
_OF_XML = frozenset({"amp", "lt", "gt", "quot", "apos"})
_NOT_SHOWN = tuple(f"{{{_AC}}}{name}" for name in ("parameter", "placeholder", "task-id", "task-uuid", "adf-node"))


class Places(Protocol):
    """Where things are that a page names; "" if that cannot be said."""

    def page(self, title: str, space: str) -> str:
        """The address of a page; without a space it is in that of this page."""

    def file(self, name: str) -> str:
        """The address of an attachment of this page."""

    def picture(self, name: str) -> str:
        """The same, of one that the page shows."""


def html_of(storage: str, places: Places) -> str:
    """The HTML of a page.

    Raises:
        IntakeError: it cannot be read.
    """
    text = _OUTSIDE.sub(_without_names, storage)
    parser = etree.XMLParser(resolve_entities=False, no_network=True, collect_ids=False, huge_tree=True)
    try:
        root = etree.fromstring(f"{_ROOT}{text}</div>".encode("utf-8", "replace"), parser)
    except (etree.XMLSyntaxError, ValueError) as exc:
        raise IntakeError(f"its text cannot be read ({exc})") from exc
    for element in reversed([each for each in root.iter() if isinstance(each.tag, str)]):  # what is inside first
        if element.tag == "time" and not element.text:
            element.text = element.get("datetime")
        if element.tag.startswith("{") and element is not root:
            _replace(element, places)
    etree.strip_elements(root, *_NOT_SHOWN, with_tail=False)
    etree.strip_tags(root, f"{{{_AC}}}*", f"{{{_RI}}}*")
    etree.cleanup_namespaces(root)
    return str(etree.tostring(root, encoding="unicode", method="html"))


def _without_names(match: re.Match[str]) -> str:
    """Characters instead of the names that HTML has for them, which XML does not know."""
    name = match[1]
    return match[0] if name is None or name in _OF_XML else html.escape(html5.get(f"{name};", match[0]))


def _replace(element: Element, places: Places) -> None:
    name = str(element.tag).rpartition("}")[2]
    if element.tag == f"{{{_AC}}}structured-macro" or element.tag == f"{{{_AC}}}macro":
        _macro(element)
    elif element.tag == f"{{{_AC}}}image":
        _image(element, places)
    elif element.tag == f"{{{_AC}}}link":
        _link(element, places)
    elif element.tag == f"{{{_AC}}}emoticon":
        _become(element, "span", element.get(f"{{{_AC}}}emoji-fallback") or "")
    elif name in ("task-list", "task"):
        element.tag = {"task-list": "ul", "task": "li"}[name]
        element.attrib.clear()
        for status in element.findall(f"{{{_AC}}}task-status"):
            _become(status, "span", "☑ " if (status.text or "").strip() == "complete" else "☐ ")
    elif name.startswith("layout"):
        element.tag = "div"
        element.attrib.clear()
    # what else there is goes with the element around it, which looks at it, or is taken off at the end


def _macro(macro: Element) -> None:
    said = {each.get(f"{{{_AC}}}name"): _text(each) for each in macro.findall(f"{{{_AC}}}parameter")}
    name, title = macro.get(f"{{{_AC}}}name") or "", said.get("title", "")
    plain, rich = macro.find(f"{{{_AC}}}plain-text-body"), macro.find(f"{{{_AC}}}rich-text-body")
    inside = list(rich) if rich is not None else []
    text = rich.text if rich is not None else None
    if plain is None and rich is None:
        _become(macro, "span", title)
        return
    tail = macro.tail
    macro.clear()
    macro.tail = tail
    if plain is not None:
        macro.tag = "div"
        if title:
            etree.SubElement(macro, "p").text = title
        code = etree.SubElement(etree.SubElement(macro, "pre"), "code")
        code.text = _text(plain)
        if language := re.sub(r"[^\w+#-]", "", said.get("language", "")):
            code.set("class", f"language-{language}")
        return
    macro.tag = "details" if name == "expand" else "div"
    if name == "expand":
        etree.SubElement(macro, "summary").text = title or "…"
    else:
        macro.set("class", f"admonition {html.escape(name)}")
        if title:
            label = etree.SubElement(macro, "p")
            label.set("class", "admonition-title")
            label.text = title
    body = etree.SubElement(macro, "div")
    body.text = text
    body.extend(inside)


def _image(image: Element, places: Places) -> None:
    attachment, url = image.find(f"{{{_RI}}}attachment"), image.find(f"{{{_RI}}}url")
    alt = image.get(f"{{{_AC}}}alt") or image.get(f"{{{_AC}}}title") or ""
    caption = image.find(f"{{{_AC}}}caption")
    said = " ".join(_text(caption).split()) if caption is not None else ""
    address = ""
    if attachment is not None and attachment.find(f"{{{_RI}}}page") is None:  # those of others have other readers
        address = places.picture(attachment.get(f"{{{_RI}}}filename") or "")
    elif url is not None:
        address = url.get(f"{{{_RI}}}value") or ""
    _become(image, "figure" if said else "span", "")
    if address:
        shown = etree.SubElement(image, "img")
        shown.set("src", address)
        shown.set("alt", alt or said)
    if said:
        etree.SubElement(image, "figcaption").text = said


def _link(link: Element, places: Places) -> None:
    page, attachment = link.find(f"{{{_RI}}}page"), link.find(f"{{{_RI}}}attachment")
    plain, rich = link.find(f"{{{_AC}}}plain-text-link-body"), link.find(f"{{{_AC}}}link-body")
    address = text = ""
    if page is not None:
        text = page.get(f"{{{_RI}}}content-title") or ""
        address = places.page(text, page.get(f"{{{_RI}}}space-key") or "")
    elif attachment is not None:
        text = attachment.get(f"{{{_RI}}}filename") or ""
        address = places.file(text) if attachment.find(f"{{{_RI}}}page") is None else ""
    text = _text(plain) if plain is not None else text or (link.get(f"{{{_AC}}}anchor") or "")
    inside, start = (list(rich), rich.text) if rich is not None else ([], text)
    _become(link, "a" if address else "span", start or "")
    if address:
        link.set("href", address)
    link.extend(inside)


def _text(element: Element) -> str:
    return "".join(map(str, element.itertext()))


def _become(element: Element, tag: str, text: str) -> None:
    """Make another element of it, with nothing but a text."""
    tail = element.tail
    element.clear()
    element.tag, element.text, element.tail = tag, text, tail
