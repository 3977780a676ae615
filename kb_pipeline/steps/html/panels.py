"""Panels that a click opens: tabs, accordions, collapsed sections. What is hidden in them is text of the article.

A panel is told by a control that readers see: one that names it by its id or class, a tab for a tab panel, a button
that stands alone beside it, or a label or link to which a style sheet reacts. Pure. Not here: where its label stands
(``panel_labels``).
"""

import re
from collections.abc import Callable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from itertools import islice

from kb_pipeline.steps.html.dom import Element, classes, is_block, is_inside, names, text_of

_ROLES = names("tab button switch menuitem")
_SAYS_SO = names("aria-controls aria-expanded aria-selected onclick")
_TARGETS = re.compile(r"data-(?:\w+-)?(?:toggle|target|collapse|tab|panel|controls?)")
_REFERENCE = re.compile(r"[.#]?[^\W\d][\w:-]*|[.#][\w:-]+")
_OPENABLE = names("display visibility content-visibility opacity size aria-hidden")
_DEEPEST = 30
"""Panels in panels; what is nested deeper is closed."""
_NOT_REFERENCES = names("id class style title alt role name type")
_LONGEST = 300
"""Characters of a label."""
_NAMES_ITS_PANEL = ("aria-controls", "data-target", "data-bs-target", "data-clipboard-target")
_LEADS_NOWHERE = re.compile(r"\s*(?:#|javascript:.*)?\s*", re.I | re.S)


class Panels:
    """The panels of a page, among the elements that are hidden as a whole or without visibility."""

    def __init__(
        self,
        page: Element,
        hidden: Mapping[Element, str],
        reacting: AbstractSet[Element],
        shows_text: Callable[[Element], bool],
    ) -> None:
        """``hidden`` has the property that hides each element, ``reacting`` those that a checked box or link may show.

        ``shows_text``: whether text that stands in an element can be read where the element is shown.
        """
        self._hidden, self._reacting, self._shows_text = hidden, reacting, shows_text
        self._opened: dict[Element, bool] = {}
        self._seen: dict[Element, bool] = {}
        self._named: dict[str, list[Element]] = {}
        self._tabs: dict[Element, Element] = {}
        self._labels: list[Element] = []
        self._depth = 0
        by_id = {name: each for each in page.iter() if (name := each.get("id"))} if hidden else {}
        self._links = {
            panel: link for strip in page.iter("ul") if by_id for link, panel in strip_of_links(strip, by_id)
        }
        for element in page.iter() if hidden else ():
            if element.tag in ("label", "a") and (element.get("for") or (element.get("href") or "").startswith("#")):
                self._labels.append(element)
            if _is_control(element):
                self._add(element)

    def _add(self, control: Element) -> None:
        for name, value in control.attrib.items():
            if name not in _NOT_REFERENCES:
                for reference in set(_REFERENCE.findall(str(value))):
                    self._named.setdefault(reference.removeprefix("#"), []).append(control)
        if control.get("role") == "tab":
            for ancestor in control.iterancestors():
                if ancestor in self._tabs:
                    break
                self._tabs[ancestor] = control

    def opens(self, panel: Element) -> bool:
        """Return whether a control that readers see opens the element."""
        if panel not in self._opened:
            self._opened[panel] = False  # what is inside of it does not open it
            self._depth += 1
            may_open = self._hidden[panel] in _OPENABLE and self._depth < _DEEPEST
            self._opened[panel] = may_open and any(map(self._is_one_seen, self._controls_of(panel)))
            self._depth -= 1
        return self._opened[panel]

    @property
    def opened(self) -> list[Element]:
        """The panels that were found to be opened by a click, outermost first."""
        return [panel for panel, is_opened in self._opened.items() if is_opened]

    def _controls_of(self, panel: Element) -> Iterator[list[Element]]:
        own = [each.get("id") or "" for each in (panel, *_alone_in(panel))]
        own += [f".{name}" for name in (panel.get("class") or "").split()]
        yield from (self._named[name] for name in own if name in self._named)
        if panel.get("role") == "tabpanel":
            yield from ([self._tabs[each]] for each in panel.iterancestors() if each in self._tabs)
        if panel in self._reacting:
            yield self._labels
        yield [self._links[panel]] if panel in self._links else []
        yield list(openers_beside(panel))
        previous = panel.getprevious()
        if previous is not None:
            yield [each for each in previous.iter() if each.get("aria-expanded") and not each.get("aria-controls")]

    def _is_one_seen(self, controls: list[Element]) -> bool:
        """Return whether readers see one of the controls; those that they do not see are never asked for again."""
        while controls:
            control = controls[-1]
            if self._is_seen(control):
                return True
            if controls and controls[-1] is control:  # asking may have led back here, where elements share a name
                controls.pop()
        return False

    def _is_seen(self, control: Element) -> bool:
        if control not in self._seen:
            around = (control, *control.iterancestors())
            is_labelled = any(map(self._is_label, control.iter()))
            self._seen[control] = is_labelled and all(self.opens(each) for each in around if each in self._hidden)
        return self._seen[control]

    def _is_label(self, part: Element) -> bool:
        return part.tag in ("img", "svg") or (bool((part.text or "").strip()) and self._shows_text(part))


def _alone_in(panel: Element) -> Iterator[Element]:
    """Yield what fills a panel: boxes that grow when it is opened stand around the one that its control names."""
    while len(panel) == 1 and not (panel.text or "").strip() and not (panel[0].tail or "").strip():
        panel = panel[0]
        yield panel


def _is_control(element: Element) -> bool:
    if element.get("role") in _ROLES or element.tag in ("button", "summary"):
        return True
    return any(name in _SAYS_SO or _TARGETS.fullmatch(str(name)) for name in element.attrib)


def openers_beside(panel: Element) -> Iterator[Element]:
    """Yield what stands right before a panel, or right after it, to open it, and names nothing else that it opens.

    A button before it may be one by what a script knows; one after it must show that it does something.
    """
    before, after = panel.getprevious(), panel.getnext()
    if after is None and not is_block(panel) and (around := panel.getparent()) is not None:
        after = around.getnext()
    for place, is_after in ((before, False), (after, True)):
        if place is None or (place.tail or "").strip() or is_inside(panel, "form"):
            continue
        text = text_of(place, _LONGEST)
        for each in place.iter():
            if _may_open(each, is_after) and text_of(each, _LONGEST) == text:
                yield each


def strip_of_links(strip: Element, by_id: Mapping[str, Element]) -> Iterator[tuple[Element, Element]]:
    """Yield the links of a list that lead to the very elements that follow it, as scripts make tabs of them."""
    links = [item[0] if len(item) == 1 and item[0].tag == "a" else None for item in strip]
    following = list(islice(strip.itersiblings(), len(links)))
    panels = [by_id.get((link.get("href") or "#")[1:]) if link is not None else None for link in links]
    if len(panels) < 2 or panels != following:
        return
    pairs = [(link, panel) for link, panel in zip(links, panels, strict=True) if link is not None and panel is not None]
    if not any(begins_with(panel, text_of(link)) for link, panel in pairs):  # or they are the contents of a page
        yield from pairs


def begins_with(panel: Element, label: str) -> bool:
    """Return whether the first words in a panel, up to the next markup, are its label."""
    return next((" ".join(text.split()) for text in map(str, panel.itertext()) if text.strip()), "") == label


def _may_open(control: Element, is_after: bool) -> bool:
    if any(control.get(name) for name in _NAMES_ITS_PANEL):
        return False
    if "expand-control" in classes(control):  # of Confluence
        return True
    is_button = control.get("role") == "button" or (
        control.tag == "button" and control.get("type") not in ("submit", "reset")
    )
    acts = any(control.get(name) is not None for name in ("onclick", "aria-expanded")) or (
        control.tag == "a" and _LEADS_NOWHERE.fullmatch(control.get("href") or "") is not None
    )
    return acts or (is_button and not is_after)
