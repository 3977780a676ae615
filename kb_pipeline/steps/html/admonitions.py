"""Turn notes, tips and warnings of all tools into block quotes that start with their kind: ``> **Note:** ...``."""

from lxml import etree

from kb_pipeline.steps.html.dom import (
    HEADINGS,
    Element,
    classes,
    dissolve,
    first_line,
    has_text,
    is_block,
    names,
    replace_with_text,
    text_of,
)

ADMONITION_WORDS = names(
    "note notes tip hint important warning caution danger error attention seealso notice remember restriction hazard "
    "fastpath trouble info admonition callout"
)
_CLASSES = ADMONITION_WORDS - {"notes", "error", "info", "callout"} | names(
    "admonitionblock markdown-alert alert theme-admonition notebox warningbox tipbox custom-block"
)
_TITLE_CLASSES = names(
    "title admonition-title admonition_header notetitle admonition-heading markdown-alert-title alert-heading "
    "custom-block-title icon"
)
_TITLE_TAGS = HEADINGS | {"th", "dt", "summary"}
_TAGS = names("div aside section p table dl blockquote details fieldset")


def quote_admonitions(main: Element) -> None:
    """Turn every admonition into a block quote that starts with its title in bold, in place."""
    for element in [element for element in main.iter() if _is_admonition(element)]:
        _make_quote(element)


def in_admonition(element: Element) -> bool:
    """Return whether the element is inside an admonition."""
    return any(map(_is_admonition, element.iterancestors()))


def _is_admonition(element: Element) -> bool:
    return element.tag in _TAGS and element.get("class") is not None and not _CLASSES.isdisjoint(classes(element))


def _make_quote(element: Element) -> None:
    kind = next((name for name in classes(element) if name in ADMONITION_WORDS - {"admonition"}), "")
    title = _title(element)
    _dissolve_frame(element)
    element.attrib.clear()
    element.tag = "blockquote"
    if title is None:
        if not text_of(element).lower().startswith(kind):
            label = etree.Element("strong")
            label.text = f"{kind.capitalize()}:"
            _insert_label(element, label)
    elif title.tag not in HEADINGS:
        label = etree.Element("strong")
        if next(title.iter("a"), None) is not None and not any(map(is_block, title.iterdescendants())):
            label.text = title.text
            label.extend(list(title))
            label[-1].tail = f"{(label[-1].tail or '').rstrip(' :')}:"
        else:
            label.text = f"{text_of(title).rstrip(' :') or kind.capitalize()}:"
        replace_with_text(title, "")
        _insert_label(element, label)


def _title(element: Element) -> Element | None:
    """Return the element that holds the admonition's title, if there is one before the text."""
    for part in element.iterdescendants():
        is_title = any(name in _TITLE_CLASSES or name.endswith("title") for name in classes(part))
        if is_title or part.tag in _TITLE_TAGS:
            return part
        if part.tag == "p" and has_text(part):
            # A paragraph may consist of a bold word such as "Note".
            text, strong = text_of(part), next(iter(part), None)
            is_bold = strong is not None and strong.tag in ("strong", "b") and text_of(strong) == text
            return strong if is_bold and text.lower().rstrip(" :!") in ADMONITION_WORDS else None
    return None


def _dissolve_frame(element: Element) -> None:
    """Remove the table or list that only draws the box; keep tables inside the text."""
    children = [child for child in element if child.tag not in HEADINGS]
    frame = element if element.tag in ("table", "dl") else children[0] if len(children) == 1 else None
    if frame is None or frame.tag not in ("table", "dl"):
        return
    for part in list(frame.iterdescendants("tbody", "tr", "td", "th", "dt", "dd", "thead")):
        if next(part.iterancestors("table", "dl")) is frame:
            part.tag = "div"
    dissolve(frame)


def _insert_label(element: Element, label: Element) -> None:
    """Insert the label at the start of the first line."""
    line = first_line(element)
    label.tail, line.text = " " + (line.text or ""), None
    line.insert(0, label)
