"""How an element looks, by the properties declared for it: whether readers see it, and the text that stands in it.

Colours, sizes and visibility come from the elements around it; what hides an element as a whole does not. Not here:
what is declared (``style_sheets``), and what becomes of text that is not seen (``hidden``).
"""

import re
from collections import ChainMap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from kb_pipeline.steps.html.css_values import HEIGHT, ROOT_SIZE, WIDTH, Colour, colour, contrast, length, number, over
from kb_pipeline.steps.html.dom import Element, names
from kb_pipeline.steps.html.style_sheets import Declaration

T = TypeVar("T")

_SMALLEST = 4.0
"""Pixels of a font that can be read."""
_LEAST_CONTRAST = 1.1
"""White has 1.09 on the lightest grey that sites use as a background (#f5f5f5), their palest text (#ddd) 1.36 on it."""
_LEAST = 0.06
"""Of opacity and of the scale of an element."""
_FAR = -500.0
"""Pixels beyond the upper and left edges of the page, where nobody can scroll to."""
_VERY_FAR = 5000.0
"""Pixels beyond the other edges."""
_WHITE, _BLACK, _LINK, _MARK = (255.0,) * 3, (0.0,) * 3, (0.0, 0.0, 238.0), (255.0, 255.0, 0.0)

_LONGEST = 1000
"""Characters of a value."""
_MOST_REPLACED = 8
"""Variables in the values of variables."""
_GLOBAL = names("inherit initial unset revert revert-layer")
_WHOLE_PAGE = names("html body")
"""What hides the whole page hides nothing in particular: a script or another sheet shows it."""
_SIDES = ("top", "right", "bottom", "left")
_LOGICAL = {
    **{"inline-size": "width", "block-size": "height", "max-inline-size": "max-width", "max-block-size": "max-height"},
    **{
        "inset-inline-start": "left",
        "inset-inline-end": "right",
        "inset-block-start": "top",
        "inset-block-end": "bottom",
    },
    **{"margin-inline-start": "margin-left", "margin-block-start": "margin-top", "margin-inline-end": "margin-right"},
}
_FOUR_SIDES = {"margin": "margin-{}", "padding": "padding-{}", "inset": "{}"}
_TWO_SIDES = {
    **{"inset-inline": ("left", "right"), "inset-block": ("top", "bottom")},
    **{"margin-inline": ("margin-left", "margin-right"), "margin-block": ("margin-top", "margin-bottom")},
}
_AXES = {"width": ("left", "right"), "height": ("top", "bottom")}
_VENDOR = re.compile(r"-(?:webkit|moz|ms|o)-")
_VAR = re.compile(r"var\(\s*+(--[\w-]++)\s*+(?:,\s*+((?:[^()]++|\([^()]*+\))*+))?\)")
_FUNCTION = re.compile(r"(?<![a-z0-9-])([a-z][a-z0-9-]*+)\(((?:[^()]++|\([^()]*+\))*+)\)")
_COLOUR = re.compile(r"#[0-9a-f]{3,8}\b|(?<![a-z-])(?:[a-z-]++\([^()]*+\)|[a-z]++)")
_ON_EDGE = re.compile(r"[-+]?(?:90|270)deg|[-+]?0?\.[27]5turn")
_PICTURE = re.compile(r"(?:url|gradient|image|image-set)$")
_WORDS = {
    "display": names(
        "none block inline inline-block flex inline-flex grid inline-grid contents flow-root list-item table "
        "inline-table table-row table-cell table-row-group table-header-group table-footer-group table-column "
        "table-column-group table-caption ruby box inline-box -webkit-box -webkit-inline-box run-in math"
    ),
    "visibility": names("visible hidden collapse"),
    "position": names("static relative absolute fixed sticky -webkit-sticky"),
    **dict.fromkeys(("overflow", "overflow-x", "overflow-y"), names("visible hidden clip scroll auto overlay")),
    "content-visibility": names("visible hidden auto"),
    "mso-hide": names("all none screen"),
}
_LENGTHS = names(
    "left top right bottom margin-left margin-top margin-right margin-bottom padding-left padding-top "
    "padding-right padding-bottom text-indent width height min-width min-height max-width "
    "max-height"
)
_FREE = names("filter background-image clip clip-path transform scale translate")
_SIZES = names("xx-small x-small small medium large x-large xx-large xxx-large smaller larger math")


def expanded(declared: Declaration) -> Iterator[Declaration]:
    """Yield the properties that a declaration gives a value to, if browsers accept it and it can hide something."""
    name, value = _VENDOR.sub("", declared.name, count=1), declared.value
    name = _LOGICAL.get(name, name)
    parts = value.split()
    if name in _FOUR_SIDES and 1 <= len(parts) <= 4:
        for side, part in zip(_SIDES, _four_sides(parts), strict=True):
            yield from _accepted(declared, _FOUR_SIDES[name].format(side), part)
    elif name in _TWO_SIDES and 1 <= len(parts) <= 2:
        for side, part in zip(_TWO_SIDES[name], parts * 2, strict=False):
            yield from _accepted(declared, side, part)
    elif name == "overflow" and len(parts) == 2:
        yield from _accepted(declared, "overflow-x", parts[0])
        yield from _accepted(declared, "overflow-y", parts[1])
    elif name == "background":
        yield from _background(declared)
    elif name == "font":
        yield from (each for part in parts[:1] if "var(" in part for each in _accepted(declared, "font-size", part))
        size = next((size for part in parts if _is_size(size := part.partition("/")[0]) and not size.isalpha()), "")
        yield from _accepted(declared, "font-size", size)
    else:
        yield from _accepted(declared, name, value)


def _four_sides(values: list[T]) -> list[T]:
    """Return the values of the sides, of which CSS leaves out those that equal the opposite ones."""
    places = {1: (0, 0, 0, 0), 2: (0, 1, 0, 1), 3: (0, 1, 2, 1)}.get(len(values), (0, 1, 2, 3))
    return [values[place] for place in places]


def _accepted(declared: Declaration, name: str, value: str) -> Iterator[Declaration]:
    if len(value) > _LONGEST:
        return
    if name.startswith("--") or (name in _ACCEPTED and (value in _GLOBAL or "var(" in value or _ACCEPTED[name](value))):
        yield Declaration(name, value, declared.is_important)


def _background(declared: Declaration) -> Iterator[Declaration]:
    value = declared.value
    is_picture = any(_PICTURE.search(name) for name, _ in _FUNCTION.findall(value))
    yield Declaration("background-image", "url()" if is_picture else "none", declared.is_important)
    if "var(" in value:
        yield Declaration("background-color", value, declared.is_important)
        return
    plain = _FUNCTION.sub(lambda match: " " if _PICTURE.search(match[1]) else match[0], value)
    colours = (match[0] for match in _COLOUR.finditer(plain) if colour(match[0]) is not None)
    yield Declaration("background-color", next(colours, "transparent"), declared.is_important)


def _is_length(value: str) -> bool:
    return value in ("auto", "none") or length(value, 1, 1) is not None


def _is_size(value: str) -> bool:
    return value in _SIZES or length(value, 1, 1) is not None


def _is_colour(value: str) -> bool:
    return value == "currentcolor" or "(" in value or colour(value) is not None


def _is_number(value: str) -> bool:
    return number(value) is not None


_ACCEPTED: dict[str, Callable[[str], bool]] = {
    **{name: words.__contains__ for name, words in _WORDS.items()},
    **dict.fromkeys(_LENGTHS, _is_length),
    **dict.fromkeys(_FREE, bool),
    **dict.fromkeys(("color", "text-fill-color", "background-color"), _is_colour),
    **dict.fromkeys(("opacity", "zoom"), _is_number),
    "font-size": _is_size,
}


@dataclass(frozen=True, slots=True)
class Look:
    """How the text of an element looks.

    ``background`` is ``None`` where a picture may lie behind the text, ``colour`` where it cannot be told.
    ``unseen_in`` is the element that took the visibility away, ``hidden_by`` the property that hides the element as a
    whole.
    """

    colour: Colour | None = _BLACK
    opacity_of_text: float = 1.0
    background: Colour | None = _WHITE
    size: float = ROOT_SIZE
    opacity: float = 1.0
    indent: float = 0.0
    unseen_in: Element | None = None
    variables: ChainMap[str, str] = field(default_factory=ChainMap)
    hidden_by: str = ""

    @property
    def text_hidden_by(self) -> str:
        """The property that makes text unreadable that stands in the element itself; visibility is none of them."""
        if self.size < _SMALLEST:
            return "font-size"
        if self.indent <= _FAR or self.indent >= _VERY_FAR:
            return "text-indent"
        if self.opacity_of_text < _LEAST and self.background is not None:
            return "color"
        if self.colour is not None and self.background is not None:
            seen = over((*self.colour, self.opacity_of_text), self.background)
            return "color" if contrast(seen, self.background) < _LEAST_CONTRAST else ""
        return ""


def look_of(element: Element, declared: Mapping[str, str], around: Look) -> Look:
    """Return the look of an element inside of one that looks like ``around``."""
    hints = _hints(element)
    if not declared and not hints:
        return around if not around.hidden_by else replace(around, hidden_by="")
    variables = {name: value for name, value in declared.items() if name.startswith("--")}
    own = around.variables.new_child(variables) if variables else around.variables
    values = {name: _resolved(value, own) for name, value in {**hints, **declared}.items() if not name.startswith("--")}
    size = _font_size(values.get("font-size", ""), around.size)
    look = replace(around, size=size, variables=own, hidden_by="")
    look = _with_colours(look, values)
    match values.get("visibility"):
        case "hidden" | "collapse":
            look = replace(look, unseen_in=element)
        case "visible" | "initial":
            look = replace(look, unseen_in=None)
    indent = length(values.get("text-indent", "").split(" ")[0], size, WIDTH)
    opacity = number(values.get("opacity", "1"))
    look = replace(
        look,
        indent=0.0 if values.get("text-indent") == "initial" else look.indent if indent is None else indent,
        opacity=look.opacity * min(max(1.0 if opacity is None else opacity, 0.0), 1.0),
    )
    if element.tag in _WHOLE_PAGE:
        look = replace(look, opacity=1.0, unseen_in=None)
        return replace(look, colour=None, size=ROOT_SIZE, indent=0.0) if look.text_hidden_by else look
    return replace(look, hidden_by=_hidden_by(element, values, look))


def _hints(element: Element) -> dict[str, str]:
    """Return what browsers take from attributes and tags; sheets override it."""
    hints: dict[str, str] = {}
    if element.tag == "a" and element.get("href") is not None:
        hints["color"] = "#0000ee"
    elif element.tag == "mark":
        hints |= {"color": "black", "background-color": "yellow"}
    for attribute, name in (("color", "color"), ("text", "color"), ("bgcolor", "background-color")):
        value = (element.get(attribute) or "").strip().lower()
        if value and (attribute != "color" or element.tag == "font") and (attribute != "text" or element.tag == "body"):
            hints[name] = value if colour(value) else f"#{value}"
    if element.get("background"):
        hints["background-image"] = "url()"
    if (hidden := element.get("hidden")) is not None:
        hints["display"] = "none"
        if hidden.lower() == "until-found":
            hints |= {"display": "initial", "content-visibility": "hidden"}
    return hints


def _resolved(value: str, variables: Mapping[str, str]) -> str:
    """Put in the values of variables, which may have others in theirs."""
    for _ in range(_MOST_REPLACED):
        if "var(" not in value or len(value) > _LONGEST:
            break
        value = _VAR.sub(lambda match: variables.get(match[1], (match[2] or "").strip()), value)
    return value


def _font_size(value: str, around: float) -> float:
    if value == "initial" or value in _SIZES - {"smaller"}:
        return ROOT_SIZE
    size = length(value, around, around)
    return around * 0.83 if value == "smaller" else around if size is None else size


def _with_colours(look: Look, values: Mapping[str, str]) -> Look:
    if (picture := values.get("background-image", "none")) not in ("none", "initial", "inherit", "unset"):
        look = replace(look, background=None)
    behind = colour(values.get("background-color", ""))
    if behind is not None and (look.background is not None or behind[3] == 1):
        if picture == "none":
            look = replace(look, background=over(behind, look.background or _WHITE))
    elif "(" in values.get("background-color", ""):
        look = replace(look, background=None)
    for name in ("color", "text-fill-color"):
        value = values.get(name, "")
        if value == "initial":
            value = "black"
        drawn = colour(value)
        if drawn is not None:
            look = replace(look, colour=drawn[:3], opacity_of_text=drawn[3])
        elif "(" in value:
            look = replace(look, colour=None, opacity_of_text=1.0)
    return look


def _hidden_by(element: Element, values: Mapping[str, str], look: Look) -> str:
    """Return the property that hides the element with everything in it, or an empty text."""
    tests: tuple[tuple[str, bool], ...] = (
        ("display", values.get("display") == "none"),
        ("content-visibility", values.get("content-visibility") == "hidden"),
        ("mso-hide", values.get("mso-hide") == "all"),
        ("opacity", look.opacity < _LEAST),
        ("filter", _is_filtered_away(values.get("filter", ""))),
        ("position", values.get("position", "static") != "static" and _is_moved(values, _SIDES, look)),
        ("margin", any(_is_far(_margin(values, side, look)) for side in _SIDES)),
        ("transform", _is_transformed_away(values, look)),
        ("clip", _is_clipped(values)),
        ("size", _is_without_size(values, look)),
    )
    return next((name for name, hides in tests if hides), "")


def _is_moved(values: Mapping[str, str], properties: Iterable[str], look: Look) -> bool:
    lengths = (
        length(values[name], look.size, WIDTH if name in ("left", "right") else HEIGHT)
        for name in properties
        if name in values
    )
    return any(_is_far(far) for far in lengths)


def _margin(values: Mapping[str, str], side: str, look: Look) -> float:
    """Return how far a margin moves the text: padding takes it back, and so does a place in the middle of the page."""
    whole = HEIGHT if side in ("top", "bottom") else WIDTH
    margin, padding, place = (
        length(values.get(name, ""), look.size, whole) or 0.0 for name in (f"margin-{side}", f"padding-{side}", side)
    )
    is_placed = values.get("position", "static") != "static"
    return margin + max(padding, 0.0) + (place if is_placed else 0.0)


def _is_far(pixels: float | None) -> bool:
    return pixels is not None and (pixels <= _FAR or pixels >= _VERY_FAR)


def _is_filtered_away(value: str) -> bool:
    for name, argument in _FUNCTION.findall(value):
        amount = number(argument) if name == "opacity" else None
        if amount is not None and amount < _LEAST:
            return True
    return False


def _is_transformed_away(values: Mapping[str, str], look: Look) -> bool:
    functions = _FUNCTION.findall(values.get("transform", ""))
    functions += [("scale", ",".join(values.get("scale", "").split())), ("scale", values.get("zoom", ""))]
    functions.append(("translate", ",".join(values.get("translate", "").split())))
    for name, argument in functions:
        parts = argument.replace(" ", "").split(",")
        if name.startswith("translate") and any(_is_far(length(part, look.size, 0)) for part in parts):
            return True
        numbers = [value for part in parts if (value := number(part)) is not None]
        if name.startswith("scale") and numbers and min(map(abs, numbers)) < _LEAST:
            return True
        if name == "matrix" and len(numbers) == 6:
            a, b, c, d, *moved = numbers
            if abs(a * d - b * c) < _LEAST * _LEAST or any(map(_is_far, moved)):
                return True
        if name in ("rotatex", "rotatey") and _ON_EDGE.fullmatch(argument):
            return True
    return False


def _is_clipped(values: Mapping[str, str]) -> bool:
    if values.get("position") in ("absolute", "fixed"):
        for name, argument in _FUNCTION.findall(values.get("clip", "")):
            edges = [length(part, ROOT_SIZE, 0) for part in argument.replace(",", " ").split()]
            if name == "rect" and _is_closed(edges):
                return True
    return any(_cuts_all(name, argument) for name, argument in _FUNCTION.findall(values.get("clip-path", "")))


def _cuts_all(name: str, argument: str) -> bool:
    """Return whether a shape has no area; the whole of an element counts as 1000 pixels."""
    shape = re.split(r"\b(?:round|at|nonzero|evenodd)\b", argument)[0 if name != "polygon" else -1]
    numbers = [length(part, ROOT_SIZE, 1000) or 0.0 for part in shape.replace(",", " ").split()]
    if not numbers:
        return False
    if name == "inset":
        top, right, bottom, left = _four_sides(numbers[:4])
        return top + bottom >= 1000 or left + right >= 1000
    if name == "polygon":
        return _is_line(numbers[::2]) or _is_line(numbers[1::2])
    if name == "rect":
        return _is_closed(numbers)
    return (name in ("circle", "ellipse") and min(numbers) <= 1) or (name == "xywh" and min(numbers[2:] or [0]) <= 1)


def _is_closed(edges: Sequence[float | None]) -> bool:
    """Return whether a rectangle (its upper, right, lower and left edge) is at most a pixel wide or high."""
    pairs = [(edges[0], edges[2]), (edges[3], edges[1])] if len(edges) == 4 else []
    return any(near is not None and far is not None and far - near <= 1 for near, far in pairs)


def _is_line(places: list[float]) -> bool:
    return max(places, default=0) - min(places, default=0) <= 1


def _is_without_size(values: Mapping[str, str], look: Look) -> bool:
    if all(values.get(name, "visible") == "visible" for name in ("overflow", "overflow-x", "overflow-y")):
        return False
    return any(_is_without(values, axis, sides, look) for axis, sides in _AXES.items())


def _is_without(values: Mapping[str, str], axis: str, sides: tuple[str, str], look: Look) -> bool:
    """Return whether an element has no width or height, and no padding in which half of a line can stand."""

    def pixels(name: str) -> float | None:
        return length(values.get(name, ""), look.size, WIDTH)

    room = sum(max(pixels(f"padding-{side}") or 0.0, 0.0) for side in sides)
    sizes = [size for name in (axis, f"max-{axis}") if (size := pixels(name)) is not None]
    is_none = bool(sizes) and max(min(sizes), pixels(f"min-{axis}") or 0.0) <= 1
    return is_none and room < look.size / 2
