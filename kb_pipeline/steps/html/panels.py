"""Panels that a click opens: tabs, accordions, collapsed sections. What is hidden in them is text of the article.

A panel is told by a control that readers see: one that names it by its id or class, a tab for a tab panel, a button
right before it that says that it expands something, or a label or link to which a style sheet reacts. Pure.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from collections.abc import Set as AbstractSet

from kb_pipeline.steps.html.dom import Element, names

_ROLES = names("tab button switch menuitem")
_SAYS_SO = names("aria-controls aria-expanded aria-selected onclick")
_TARGETS = re.compile(r"data-(?:\w+-)?(?:toggle|target|collapse|tab|panel|controls?)")
_REFERENCE = re.compile(r"[.#]?[^\W\d][\w:-]*|[.#][\w:-]+")
_OPENABLE = names("display visibility content-visibility opacity size aria-hidden")
_DEEPEST = 30
"""Panels in panels; what is nested deeper is closed."""
_NOT_REFERENCES = names("id class style title alt role name type")


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

    def _controls_of(self, panel: Element) -> Iterator[list[Element]]:
        own = [panel.get("id") or "", *(f".{name}" for name in (panel.get("class") or "").split())]
        yield from (self._named[name] for name in own if name in self._named)
        if panel.get("role") == "tabpanel":
            yield from ([self._tabs[each]] for each in panel.iterancestors() if each in self._tabs)
        if panel in self._reacting:
            yield self._labels
        previous = panel.getprevious()
        if previous is not None:
            yield [each for each in previous.iter() if each.get("aria-expanded") and not each.get("aria-controls")]

    def _is_one_seen(self, controls: list[Element]) -> bool:
        """Return whether readers see one of the controls; those that they do not see are never asked for again."""
        while controls and not self._is_seen(controls[-1]):
            controls.pop()
        return bool(controls)

    def _is_seen(self, control: Element) -> bool:
        if control not in self._seen:
            around = (control, *control.iterancestors())
            is_labelled = any(map(self._is_label, control.iter()))
            self._seen[control] = is_labelled and all(self.opens(each) for each in around if each in self._hidden)
        return self._seen[control]

    def _is_label(self, part: Element) -> bool:
        return part.tag in ("img", "svg") or (bool((part.text or "").strip()) and self._shows_text(part))


def _is_control(element: Element) -> bool:
    if element.get("role") in _ROLES or element.tag in ("button", "summary"):
        return True
    return any(name in _SAYS_SO or _TARGETS.fullmatch(str(name)) for name in element.attrib)
