"""Icons that a style sheet or a drawing shows: in a cell or a sentence their name is what readers see.

Their name is the title of a drawing, or what ``aria-label``, ``title`` or a tooltip says of an element without text. In
a cell that says nothing else it may be the name by which a font of icons knows it: ``check`` and ``times`` are told
apart. Not here: pictures in files (``images``).
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from kb_pipeline.steps.html.dom import (
    BLOCKS,
    HEADINGS,
    Element,
    classes,
    finder,
    has_text,
    names,
    replace_with_text,
    says_something,
    text_of,
)

_ICONS = ("svg", "i", "span", "b", "em", "abbr", "td", "th", "a", "div")
_CELLS = frozenset({"td", "th"})
_PLACES = names("td th p li dt dd caption")
_LONGEST = 2000
"""Characters of a line in which a name is looked for."""
_NO_TEXT = ("button", "nav", "pre", "select", "option", "head", "label", *HEADINGS)
_HOLDING = ("img", "input", "select", "textarea", "button", "video", "object", "iframe", "a")
_NAMED = finder("descendant-or-self::*[string(@id)]")
_TOOLTIP = re.compile(r"data-(?:[a-z]+-)*(?:title|tooltip|tip)")
_GLYPHS = names("svg i span")
_FEWEST, _STATES = 2, 2
"""Items of a list, and signs before them, that say which of two things holds."""
_SHORTEST = 3
"""Letters of an icon's name; what is shorter is its size."""
_PARTS = 50
"""Elements of a cell that an icon may fill: a drawing has some dozens, a page that wants to take long has thousands."""


def name_icons(page: Element) -> None:
    """Put the names of icons into the text that says nothing without them, in place."""
    words: dict[Element, str] = {}
    by_id = {each.get("id") or "": each for each in _NAMED(page)}
    for listed in page.iter("ul"):
        _name_signs(listed.findall("li"))
    for icon in list(page.iter(*_ICONS)):
        if icon.tag == "div" and icon.get("role") != "img":
            continue
        name = _name_of(icon, by_id)
        if (name and _is_missing(icon, name, words)) or (name := _glyph_alone(icon)):
            icon.attrib.pop("aria-hidden", "")
            for child in list(icon):
                icon.remove(child)
            icon.tag = icon.tag if icon.tag in (*_CELLS, "a", "div") else "span"
            icon.text = name


def _name_of(icon: Element, by_id: Mapping[str, Element]) -> str:
    if icon.tag == "svg":
        title = next((text_of(child) for name in ("title", "desc") for child in icon.iter(name)), "")
    elif has_text(icon) or next(icon.iter(*_HOLDING, "svg"), icon) is not icon:
        return ""
    else:
        title = ""
    spoken = "" if icon.get("aria-hidden") == "true" else icon.get("aria-label") or _label_of(icon, by_id)
    tooltips = (str(value) for name, value in icon.attrib.items() if _TOOLTIP.fullmatch(str(name)))
    name = title or spoken or icon.get("title") or next(filter(None, tooltips), "")
    return " ".join(name.split()) if says_something(name) else ""


def _label_of(icon: Element, by_id: Mapping[str, Element]) -> str:
    labels = (by_id.get(name) for name in (icon.get("aria-labelledby") or "").split())
    return " ".join(text_of(label) for label in labels if label is not None)


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
    is_linked = icon.tag == "a" or any(each.tag == "a" for each in icon.iterancestors())
    return not is_linked and icon.get("aria-hidden") != "true" and name.lower() not in beside


def cell_to_fill(icon: Element) -> Element | None:
    """Return the cell around an icon, if it has so few elements that one of them may be all that it shows."""
    cell = next(icon.iterancestors(*_CELLS), None)
    return cell if cell is not None and len(list(islice(cell.iter(), _PARTS + 1))) <= _PARTS else None


def _glyph_alone(icon: Element) -> str:
    """Return the name of an icon in its font if nothing else is in its cell; "" if there is more, or no name."""
    cell = cell_to_fill(icon) if icon.tag in _GLYPHS else None
    if cell is None or has_text(cell):
        return ""
    if next(cell.iter(*_HOLDING), None) is not None or any(each.get("aria-checked") for each in cell.iter()):
        return ""
    return _glyph_of(icon)


def _name_signs(items: Sequence[Element]) -> None:
    """Put the names of the signs with which items begin into them, in place, if there are two: "yes" and "no".

    One for all items is a bullet, and more are decoration.
    """
    signs = {item: sign for item in items if (sign := _sign_before(item)) is not None}
    names_of_signs = {item: _glyph_of(sign) for item, sign in signs.items()}
    if len(items) > _FEWEST and len(signs) == len(items) and len(set(names_of_signs.values()) - {""}) == _STATES:
        for item, sign in signs.items():
            replace_with_text(sign, f"{names_of_signs[item]} ")


def _sign_before(item: Element) -> Element | None:
    """Return the icon of a font before all words of an item."""
    while not (item.text or "").strip() and len(item):
        item = item[0]
        if not has_text(item):
            return next((each for each in item.iter(*_GLYPHS) if _glyph_of(each)), None)
    return None


def _glyph_of(icon: Element) -> str:
    """Return what a font or a drawing calls an icon."""
    name = icon.get("data-icon") or next(_names_in_font(icon), "") if not len(icon) or icon.tag == "svg" else ""
    return " ".join(filter(str.isalpha, name.split("-")))


def _names_in_font(icon: Element) -> Iterator[str]:
    """Yield what classes say of an icon besides its font: ``check`` of ``fa fa-check`` and of ``fa-solid fa-check``."""
    own = classes(icon)
    for use in icon.iter("use"):
        yield (use.get("href") or use.get("xlink:href") or "").partition("#")[2]
    for font in dict.fromkeys(name.partition("-")[0] for name in own if "-" in name):
        of_font = [name.partition("-")[2] for name in own if name.startswith(f"{font}-")]
        is_named = any(name.startswith(font) and len(name) <= len(font) + 1 for name in own)  # "fa", "fas"
        is_alone = len(own) == 1 and icon.tag == "i"  # "ri-check-line"
        glyphs = of_font if is_named or is_alone else of_font[1:]
        yield from sorted(glyphs, key=lambda glyph: len(glyph) < _SHORTEST)[:1]
    if "icon" in own:  # of Semantic UI: "check icon"
        yield "-".join(name for name in own if name != "icon")
