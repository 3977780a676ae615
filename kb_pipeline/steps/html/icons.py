"""Icons that a style sheet or a drawing shows: in a cell or a sentence their name is what readers see.

Their name is the title of a drawing, or what ``aria-label`` or ``title`` says of an element without text.
Not here: pictures in files (``images``).
"""

from kb_pipeline.steps.html.dom import BLOCKS, HEADINGS, Element, has_text, names, says_something, text_of

_ICONS = ("svg", "i", "span", "b", "em", "abbr", "td", "th")
_CELLS = frozenset({"td", "th"})
_PLACES = names("td th p li dt dd caption")
_LONGEST = 2000
"""Characters of a line in which a name is looked for."""
_NO_TEXT = ("button", "nav", "pre", "select", "option", "head", "label", *HEADINGS)
_HOLDING = ("img", "input", "select", "textarea", "button", "video", "object", "iframe", "a")


def name_icons(page: Element) -> None:
    """Put the names of icons into the text that says nothing without them, in place."""
    words: dict[Element, str] = {}
    for icon in list(page.iter(*_ICONS)):
        name = _name_of(icon)
        if name and _is_missing(icon, name, words):
            icon.attrib.pop("aria-hidden", "")
            for child in list(icon):
                icon.remove(child)
            icon.tag = icon.tag if icon.tag in _CELLS else "span"
            icon.text = name


def _name_of(icon: Element) -> str:
    if icon.tag == "svg":
        title = next((text_of(child) for child in icon.iter("title")), "")
    elif has_text(icon) or next(icon.iter(*_HOLDING, "svg"), None) is not None:
        return ""
    else:
        title = ""
    is_silent = icon.get("aria-hidden") == "true"
    name = title or ("" if is_silent else icon.get("aria-label") or "") or icon.get("title") or ""
    return " ".join(name.split()) if says_something(name) else ""


def _is_missing(icon: Element, name: str, words: dict[Element, str]) -> bool:
    """Return whether the cell or sentence around an icon does not say its name by other words."""
    if icon.tag in _CELLS:
        return True
    line = next((each for each in icon.iterancestors() if each.tag in (*BLOCKS, *_NO_TEXT)), None)
    if line is None or line.tag not in _PLACES:
        return False
    if line not in words:
        words[line] = text_of(line, _LONGEST).lower()
    own = text_of(icon).lower() if icon.tag == "svg" else ""
    beside = words[line].replace(own, "", 1).strip() if own else words[line]
    if line.tag in _CELLS and not beside:
        return True
    is_linked = any(each.tag == "a" for each in icon.iterancestors())
    return not is_linked and icon.get("aria-hidden") != "true" and name.lower() not in beside
