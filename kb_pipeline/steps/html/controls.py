"""Controls that are part of the text: buttons in a sentence, values of fields and bars, and ticks, as readers see them.

``Click <button>Save</button>.`` is a sentence; a button that stands alone is a tool of the page, as is everything in a
form that sends something. Not here: buttons that are labels of panels (``panel_labels``), image buttons (``page``).
"""

from collections.abc import Iterator

from lxml import etree

from kb_pipeline.steps.html.dom import (
    BLOCKS,
    HEADINGS,
    Element,
    classes,
    finder,
    first_line,
    has_text,
    is_inside,
    names,
    replace_with_text,
    says_something,
    text_of,
)

_TICKS = {True: "☑", False: "☐"}
_DOTS = {True: "◉", False: "○"}
_MARKS = frozenset({*_TICKS.values(), *_DOTS.values()})
_CONTROLS = ("button", "input", "select", "textarea", "progress", "meter")
_UNSEEN_FIELDS = names("hidden file image color range password")
_BUTTONS = {"submit": "Submit", "reset": "Reset", "button": ""}
"""What browsers write on buttons for which the page names nothing."""
_TYPED = names("text number email url tel date time datetime-local month week")
"""Fields that show the value that a page gives them."""
_PLACES = names("p li td th dt dd caption figcaption legend label summary")
"""Elements in which a control beside words is part of what they say."""
_CELLS = names("td th dt dd")
"""Elements that a control may fill alone."""
_BOXED = names("div section article")
_MAY_BE_TICKED = finder(
    "descendant-or-self::*[self::li or @aria-checked or @data-checked"
    " or contains(translate(@class, 'CHEKBOX', 'chekbox'), 'checkbox')]"
)


def show_controls(page: Element) -> None:
    """Replace the controls that are part of the text by what readers see in their place, in place."""
    for element in _MAY_BE_TICKED(page):
        if (tick := _tick_of(element)) is not None:
            _put_before(element, tick)
    controls = list(page.iter(*_CONTROLS))
    if not controls:
        return
    labels = {name: label for label in page.iter("label") if (name := label.get("for"))}
    lines = _Lines(page)
    for control in controls:
        label = labels.get(control.get("id") or "")
        text = _text_of(control, label)
        if not text or not _is_in_text(control, label is not None, lines):
            continue
        following = control.getnext()
        is_joined = not control.tail and following is not None and following.tag in (*_CONTROLS, "label")
        previous = control.getprevious()
        is_glued = previous is not None and not previous.tail and has_text(previous)
        replace_with_text(control, f" {text}" if is_glued else text)
        if is_joined or text in _MARKS:
            control.tail = f" {control.tail or ''}"


def _tick_of(element: Element) -> str | None:
    """Return the tick that an element other than a field shows, as scripts and tools for notes write it."""
    state = element.get("aria-checked") or element.get("data-checked")
    kinds = classes(element) if element.tag in ("div", "li", "span") else []
    if element.get("role") == "radio" and state:
        return _DOTS[state == "true"]
    if state in ("true", "false") and element.tag != "input":
        return _TICKS[state == "true"]
    if element.tag == "li" and element.get("data-list") in ("checked", "unchecked"):  # Quill
        return _TICKS[element.get("data-list") == "checked"]
    if "checkbox" in kinds and {"checkbox-on", "checkbox-off"} & set(kinds):  # Notion
        return _TICKS["checkbox-on" in kinds]
    parent = element.getparent()
    of_list = classes(parent) if element.tag == "li" and parent is not None else []
    if "inline-task-list" in of_list:  # Confluence
        return _TICKS["checked" in kinds]
    icon = next(element.iter("i"), None) if "checklist" in of_list else None
    if icon is not None and not has_text(icon):  # AsciiDoctor
        return _TICKS[any("check" in name for name in classes(icon))]
    return None


def _put_before(element: Element, tick: str) -> None:
    if element.tag == "button" or not has_text(element):
        replace_with_text(element, tick)
        element.tail = f" {element.tail or ''}"
        return
    line = first_line(element)
    line.text = f"{tick} {(line.text or '').lstrip()}"


def _text_of(control: Element, label: Element | None) -> str:
    """Return what readers see in the place of a control; "" if that is nothing."""
    kind = (control.get("type") or "").lower()
    if control.tag == "select":
        return ", ".join(_chosen(control))
    if control.tag == "button":
        return text_of(control) or control.get("aria-label") or control.get("title") or ""
    if control.tag in ("progress", "meter"):
        return text_of(control) or _filled(control)
    if control.tag == "textarea":
        return text_of(control) or control.get("placeholder") or ""
    if kind in ("checkbox", "radio"):
        if label is not None and (not has_text(label) or _shows_what_follows(label)):
            return ""  # a switch of the page's looks
        return (_TICKS if kind == "checkbox" else _DOTS)[control.get("checked") is not None]
    if kind in _UNSEEN_FIELDS:
        return ""
    if kind in _BUTTONS:
        return control.get("value", _BUTTONS[kind])
    return control.get("value") or control.get("placeholder") or ""


def _filled(bar: Element) -> str:
    """Return how far a bar is filled, in percent."""
    try:
        value, most = float(bar.get("value") or ""), float(bar.get("max") or 1)
    except ValueError:
        return ""
    return f"{value / most:.0%}" if 0 <= value <= most and most else ""


def _chosen(select: Element) -> Iterator[str]:
    """Yield what a list shows: the chosen options, or the first one; all of a list that is open."""
    options = [option for option in select.iter("option") if has_text(option) or option.get("label")]
    chosen = [option for option in options if option.get("selected") is not None]
    is_open = select.get("multiple") is not None or (select.get("size") or "1") not in ("", "0", "1")
    for option in chosen or (options if is_open else options[:1]):
        yield text_of(option) or option.get("label") or ""


def _shows_what_follows(label: Element) -> bool:
    following, parent = label.getnext(), label.getparent()
    is_alone = parent is not None and parent.tag in _BOXED
    return is_alone and following is not None and following.tag in _BOXED and not (label.tail or "").strip()


class _Lines:
    """Where words stand on the lines of a page, outside of controls: read once for all controls of a line."""

    def __init__(self, page: Element) -> None:
        self._places: dict[Element, int] = {}
        self._words: dict[Element, tuple[int, int]] = {}
        lines = [page]
        depth = 0
        for place, (event, element) in enumerate(etree.iterwalk(page, events=("start", "end"))):
            is_line = element.tag in BLOCKS or element.tag == "label"
            is_control = element.tag in _CONTROLS
            if event == "start":
                depth += is_control
                if is_control:
                    self._places[element] = place
                if is_line:
                    lines.append(element)
            else:
                depth -= is_control
                if is_line:
                    lines.pop()
            text = element.text if event == "start" else element.tail
            if not depth and says_something(text or ""):
                first, _ = self._words.get(lines[-1], (place, place))
                self._words[lines[-1]] = first, place

    def beside(self, control: Element, line: Element) -> tuple[bool, bool]:
        """Return whether words stand before and after a control."""
        place = self._places[control]
        first, last = self._words.get(line, (place, place))
        return first < place, last > place


def _is_in_text(control: Element, is_labelled: bool, lines: _Lines) -> bool:
    if is_inside(control, "pre", "nav", "button", "select") or _is_in_form(control):
        return False
    around = (each for each in control.iterancestors() if each.tag in BLOCKS or each.tag == "label")
    line = next((each for each in around if each.tag != "label" or has_text(each)), None)
    if line is None or line.tag in _CELLS:
        return line is not None
    before, after = lines.beside(control, line)
    if line.tag in HEADINGS:
        return after or not before  # what follows the words of a heading is a tool: "Copy link"
    if is_labelled or (before and after) or ((before or after) and (line.tag in _PLACES or _states(control))):
        return True
    return _touches_words(control, line)


def _states(control: Element) -> bool:
    """Return whether a control says something of the words beside it, as a tick or a value does, and no tool."""
    kind = (control.get("type") or "text").lower()
    return control.tag == "input" and (kind == "checkbox" or (kind in _TYPED and bool(control.get("value"))))


def _is_in_form(control: Element) -> bool:
    return any(map(_sends, control.iterancestors("form")))


def _sends(form: Element) -> bool:
    """Return whether a form sends what is typed into it, and is not the frame of a whole page."""
    is_sent = form.get("action") is not None or form.get("role") == "search"
    return is_sent and next(form.iter(*HEADINGS), None) is None


def _touches_words(control: Element, line: Element) -> bool:
    """Return whether words stand right beside a control, without markup between them."""
    for element in (control, *control.iterancestors()):
        parent, previous = element.getparent(), element.getprevious()
        if parent is None or element is line:
            return False
        before = previous.tail if previous is not None else parent.text
        if says_something(f"{before or ''}{element.tail or ''}"):
            return True
        if previous is not None or element.getnext() is not None:
            return False
    return False
