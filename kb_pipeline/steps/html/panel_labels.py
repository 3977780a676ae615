"""The label of a panel that a click opens stands above what it opens, as readers find the one by the other.

Which label opens which panel is told by what tabs and buttons name (``aria-controls``, ``data-target``, ``#id``), by
what a panel says that it is labelled by, and else by their order. A heading or term that stands right before its panel
stays as it is. Not here: which hidden panels are text (``panels``).
"""

import re
from bisect import bisect
from collections.abc import Collection, Iterator, Mapping
from itertools import groupby, islice

from lxml import etree

from kb_pipeline.steps.html.dom import (
    HEADINGS,
    LISTS,
    Element,
    finder,
    has_text,
    is_block,
    is_inside,
    replace_with_text,
    text_of,
)
from kb_pipeline.steps.html.panels import begins_with, openers_beside, strip_of_links

_NAMING = ("aria-controls", "data-bs-target", "data-target", "href", "data-tab", "data-panel", "onclick")
_NAME = re.compile(r"[^\W\d][\w:.-]*")
_TOGGLES = ("data-bs-toggle", "data-toggle")
_MAY_LABEL = finder(
    "descendant-or-self::*[self::button or self::label or @role='tab' or @role='button' or @data-bs-toggle"
    " or @data-toggle or @aria-expanded or @onclick]"
)
_NAMED = finder("descendant-or-self::*[string(@id)]")
_LABELLED = finder("descendant-or-self::*[@aria-labelledby]")
_TABS = finder("descendant-or-self::*[@role='tab' or @role='tabpanel']")
_TITLES = HEADINGS | {"dt", "summary", "legend", "caption"}
_NO_PANELS = frozenset({"input", "select", "textarea", "dialog", "svg", "body", "html", "main", *HEADINGS})
_NOT_INSIDE = LISTS | frozenset({"p", "pre", "table", "tr", "dl", "blockquote", "form"})
"""Elements before which a label stands; in all others it is the first line."""
_PANEL_TAGS = frozenset({"div", "section", "article"})


def label_panels(page: Element, opened: Collection[Element] = ()) -> None:
    """Put the label of each panel above it, in place; ``opened`` are the panels that are hidden until a click."""
    controls = _MAY_LABEL(page)
    by_id = {each.get("id", ""): each for each in _NAMED(page)}
    labels: dict[Element, Element] = {}
    used: set[Element] = set()
    for control, panel in _pairs(page, controls, by_id, opened):
        if control not in used and panel not in labels and has_text(control):
            labels[panel] = control
            used.add(control)
    for panel, control in labels.items():
        _put_above(panel, control)


def _pairs(
    page: Element, controls: list[Element], by_id: Mapping[str, Element], opened: Collection[Element]
) -> Iterator[tuple[Element, Element]]:
    """Yield labels with their panels, the surest first."""
    for panel in _LABELLED(page):
        if (named := by_id.get((panel.get("aria-labelledby") or "").strip())) is not None and _is_tab(named):
            yield named, panel
    for control in controls:
        named_panels = [each for each in _named_by(control, by_id) if _may_be_panel(each, control)]
        is_opener = _is_tab(control) or any(each in opened for each in named_panels)
        if len(named_panels) == 1 and (is_opener or control.get("aria-expanded")):
            yield control, named_panels[0]
    for strip in page.iter("ul"):
        yield from strip_of_links(strip, by_id)
    boxes = [each for each in controls if each.tag == "label" and _is_of_box(each, by_id)]
    for row, labels in groupby(boxes, key=lambda label: label.getparent()):
        yield from _row_of_boxes(row, list(labels))
    yield from _by_order(page)
    for panel in opened:
        yield from ((control, panel) for control in openers_beside(panel) if panel.tag not in _NO_PANELS)


def _is_tab(control: Element) -> bool:
    return control.get("role") == "tab" or any(control.get(name) in ("tab", "pill") for name in _TOGGLES)


def _named_by(control: Element, by_id: Mapping[str, Element]) -> list[Element]:
    """Return the elements that the first of the control's attributes names that names any."""
    for attribute in _NAMING:
        names = _NAME.findall(control.get(attribute) or "")
        if found := list(dict.fromkeys(by_id[name] for name in names if name in by_id)):
            return found
    return []


def _may_be_panel(panel: Element, control: Element) -> bool:
    return panel.tag not in _NO_PANELS and panel not in control.iterancestors() and control not in panel.iterancestors()


def _is_of_box(label: Element, by_id: Mapping[str, Element]) -> bool:
    box = by_id.get(label.get("for") or "")
    return box is not None and box.get("type") in ("radio", "checkbox")


def _row_of_boxes(row: Element | None, labels: list[Element]) -> Iterator[tuple[Element, Element]]:
    """Yield labels of boxes and radio buttons with what they show.

    That is the element after each of them, or those that follow all of them, or stand in the one that does.
    """
    waiting: list[Element] = []
    kinds = [(kind, list(group)) for kind, group in groupby(row if row is not None else (), key=_kind_in_row)]
    for kind, parts in kinds:
        if kind == "panels" and waiting and not (waiting[-1].tail or "").strip():
            yield from _in_order(waiting, parts)
        waiting = [each for each in parts if each in labels] if kind == "boxes" else []
    content = row.getnext() if row is not None else None
    if content is not None and len(kinds) == 1 < len(labels):
        yield from _in_order(labels, [content])


def _in_order(labels: list[Element], parts: list[Element]) -> Iterator[tuple[Element, Element]]:
    if len(labels) > 1 and len(parts) != len(labels):
        parts = list(parts[0])
    if len(labels) in (1, len(parts)):
        yield from zip(labels, parts, strict=False)


def _kind_in_row(element: Element) -> str:
    if element.tag in ("label", "input"):
        return "boxes"
    return "panels" if element.tag in _PANEL_TAGS else ""


def _by_order(page: Element) -> Iterator[tuple[Element, Element]]:
    """Yield the tabs of each list of tabs with the panels that follow it and are not in each other, in their order."""
    strips: dict[Element, list[Element]] = {}
    places: dict[Element, int] = {}
    panels: list[Element] = []
    for place, element in enumerate(_TABS(page)):
        if element.get("role") == "tabpanel":
            panels.append(element)
            places[element] = place
        else:
            around = (each for each in element.iterancestors() if each.get("role") == "tablist")
            strip = next(around, element.getparent())
            if strip is not None:
                strips.setdefault(strip, []).append(element)
                places[strip] = place
    for strip, tabs in strips.items():
        labels: list[Element] = []
        for panel in islice(panels, bisect(panels, places[strip], key=places.__getitem__), None):
            if len(labels) == len(tabs):
                break
            if not labels or labels[-1] not in panel.iterancestors():
                labels.append(panel)
        if len(labels) == len(tabs):
            yield from zip(tabs, labels, strict=True)


def _put_above(panel: Element, control: Element) -> None:
    label = text_of(control)
    if control.tag in _TITLES or is_inside(control, *_TITLES):
        control.tag = "span" if control.tag == "button" else control.tag
        return
    replace_with_text(control, "")
    if begins_with(panel, label):
        return
    line = etree.Element("p")
    etree.SubElement(line, "strong").text = label
    if panel.tag in _NOT_INSIDE:
        panel.addprevious(line)
    elif is_block(panel):
        line.tail, panel.text = panel.text, None
        panel.insert(0, line)
