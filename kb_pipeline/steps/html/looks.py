"""How an element looks, by the properties declared for it: whether readers see it, and the text that stands in it.

Colours, sizes and visibility come from the elements around it; what hides an element as a whole does not. Text is
surely hidden only by what cannot be undone from elsewhere: it is in doubt below animations, in flexible boxes, beside
moved boxes, and in the colour of what lies behind it where a picture or an unknown style sheet may. Not here:
what is declared (``style_sheets``), and what becomes of text that is not seen (``hidden``).
"""

import re
from collections import ChainMap
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple, TypeVar

from kb_pipeline.steps.html.css_values import HEIGHT, ROOT_SIZE, WIDTH, Colour, colour, contrast, length, number, over
from kb_pipeline.steps.html.dom import Element, names
from kb_pipeline.steps.html.style_sheets import Declaration

T = TypeVar("T")

_SMALLEST = 4.0
"""Pixels of a font that can be read."""
_SURELY_SMALL = 1.5
"""Pixels of a font that nobody reads."""
_LEAST_CONTRAST = 1.1
"""White has 1.09 on the lightest grey that sites use as a background (#f5f5f5), their palest text (#ddd) 1.36 on it."""
_LEAST = 0.06
"""The least opacity and scale of an element with which it is seen."""
_NOTHING = 0.011
"""A scale of which nothing is left."""
_FAR = -500.0
"""Pixels to the left or up that may lead beyond the edge of the page, where nobody can scroll to."""
_SURELY_FAR = {"left": -1500.0, "top": -5000.0}
"""Pixels that do. Beyond the right and lower edges, readers can scroll."""
_CHARACTER = 0.7
"""Width of a letter, as a part of its size."""
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
_OPPOSITE = {"left": "right", "top": "bottom"}
_FOUR_SIDES = {"margin": "margin-{}", "padding": "padding-{}", "inset": "{}"}
_TWO_SIDES = {
    **{"inset-inline": ("left", "right"), "inset-block": ("top", "bottom")},
    **{"margin-inline": ("margin-left", "margin-right"), "margin-block": ("margin-top", "margin-bottom")},
}
_AXES = {
    "width": ("left", "right", "overflow-x", "overflow-y"),
    "height": ("top", "bottom", "overflow-y", "overflow-x"),
}
_VENDOR = re.compile(r"-(?:webkit|moz|ms|o)-")
_VAR = re.compile(r"var\(\s*+(--[\w-]++)\s*+(?:,\s*+((?:[^()]++|\([^()]*+\))*+))?\)")
_FUNCTION = re.compile(r"(?<![a-z0-9-])([a-z][a-z0-9-]*+)\(((?:[^()]++|\([^()]*+\))*+)\)")
_COLOUR = re.compile(r"#[0-9a-f]{3,8}\b|(?<![a-z-])(?:[a-z-]++\([^()]*+\)|[a-z]++)")
_ON_EDGE = re.compile(r"[-+]?(?:90|270)deg|[-+]?0?\.[27]5turn")
_UNTOLD = re.compile(r"\w\(|^[-+]?[\d.]+(?:[dsl]v|cq)[a-z]+$")
"""Values that browsers may take, whatever they are: they do not hide anything, but replace what does."""
_SYSTEM = names(
    "linktext visitedtext activetext buttonface buttontext buttonborder fieldtext highlight highlighttext selecteditem "
    "selecteditemtext marktext graytext accentcolor accentcolortext"
)
_PICTURE = re.compile(r"(?:url|gradient|image|image-set)$")
_WORDS = {
    "display": names(
        "none block inline inline-block flex inline-flex grid inline-grid contents flow-root list-item table "
        "inline-table table-row table-cell table-row-group table-header-group table-footer-group table-column "
        "table-column-group table-caption ruby box inline-box -webkit-box -webkit-inline-box run-in math"
    ),
    "visibility": names("visible hidden collapse"),
    "position": names("static relative absolute fixed sticky -webkit-sticky"),
    **dict.fromkeys(("overflow-x", "overflow-y"), names("visible hidden clip scroll auto overlay")),
    "content-visibility": names("visible hidden auto"),
    "text-align": names("left right center start end justify match-parent -webkit-center -webkit-right -webkit-left"),
    "direction": names("ltr rtl"),
}
_LENGTHS = names(
    "left top right bottom margin-left margin-top margin-right margin-bottom padding-left padding-top "
    "padding-right padding-bottom text-indent width height min-width min-height max-width "
    "max-height"
)
_FREE = names(
    "filter background-image background-clip clip clip-path transform scale translate rotate animation animation-name "
    "transition text-shadow text-stroke text-stroke-width box-shadow mix-blend-mode color-scheme float writing-mode "
    "border border-top border-bottom border-left border-right "
    "backdrop-filter border-image border-image-source grid-area grid-row grid-column grid-row-start grid-column-start"
)
_PICTURES = names("img picture video canvas svg iframe object embed")
_BLOCKS = names(
    "div p section article main aside header footer nav h1 h2 h3 h4 h5 h6 ul ol li dl dt dd blockquote pre figure "
    "figcaption form address details summary hr center body"
)
_BLOCK = names("block inline-block flow-root list-item flex inline-flex grid inline-grid box inline-box")
_FLEXIBLE = names("flex inline-flex grid inline-grid box inline-box -webkit-box -webkit-inline-box")
_KEYWORDS = names("auto none min-content max-content fit-content stretch fill-available")
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
    elif name == "overflow" and 1 <= len(parts) <= 2:
        yield from _accepted(declared, "overflow-x", parts[0])
        yield from _accepted(declared, "overflow-y", parts[-1])
    elif name == "background":
        yield from _background(declared)
    elif name == "all" and value in _GLOBAL:
        yield from (Declaration(each, value, declared.is_important) for each in _ACCEPTED)
    elif name == "font":
        yield from (each for part in parts[:1] if "var(" in part for each in _accepted(declared, "font-size", part))
        size = next(
            (size for part in parts if _is_size(size := part.partition("/")[0]) and not size.isalpha()), "initial"
        )
        size = value if value in _GLOBAL else size  # any other font has a size that can be read, also by its name
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
    if name.startswith("--") or (
        name in _ACCEPTED and (value in _GLOBAL or _UNTOLD.search(value) or _ACCEPTED[name](value))
    ):
        yield Declaration(name, value, declared.is_important)


def _background(declared: Declaration) -> Iterator[Declaration]:
    value = declared.value
    is_picture = any(_PICTURE.search(name) for name, _ in _FUNCTION.findall(value))
    yield Declaration("background-image", "url()" if is_picture else "none", declared.is_important)
    if "var(" in value:
        yield Declaration("background-color", value, declared.is_important)
        return
    plain = _FUNCTION.sub(lambda match: " " if _PICTURE.search(match[1]) else match[0], value)
    colours = (match[0] for match in _COLOUR.finditer(plain) if _is_colour(match[0]))
    yield Declaration("background-color", next(colours, "transparent"), declared.is_important)


def _is_length(value: str) -> bool:
    return _VENDOR.sub("", value, count=1) in _KEYWORDS or length(value, 1, 1) is not None


def _is_display(value: str) -> bool:
    return value == "none" or all(word in _WORDS["display"] - {"none"} or word == "flow" for word in value.split())


def _is_size(value: str) -> bool:
    return value in _SIZES or length(value, 1, 1) is not None


def _is_colour(value: str) -> bool:
    return value == "currentcolor" or _is_untold(value) or colour(value) is not None


def _is_untold(value: str) -> bool:
    return "(" in value or value in _SYSTEM


def _is_number(value: str) -> bool:
    return number(value) is not None


_ACCEPTED: dict[str, Callable[[str], bool]] = {
    **{name: words.__contains__ for name, words in _WORDS.items()},
    "display": _is_display,
    **dict.fromkeys(_LENGTHS, _is_length),
    **dict.fromkeys(_FREE, bool),
    **dict.fromkeys(("color", "text-fill-color", "background-color"), _is_colour),
    **dict.fromkeys(("opacity", "zoom"), _is_number),
    "font-size": _is_size,
}


class Hiding(NamedTuple):
    """The property that hides something, and whether it surely does; without a property, nothing hides it."""

    way: str = ""
    is_sure: bool = True


_SEEN = Hiding()
_NO_VARIABLES: ChainMap[str, str] = ChainMap()


class Look(NamedTuple):
    """How the text of an element looks.

    ``background`` is ``None`` where a picture may lie behind the text, ``colour`` where it cannot be told.
    ``unseen_in`` is the element that took the visibility away, ``hidden`` what hides the element as a whole.
    ``is_backed``: the background is that of the element itself. ``is_moved``: it may stand over something else.
    ``floats``: so may what is in it. ``escapes``: it may stand outside of a box that holds it.
    ``paints``: something of its own is drawn behind its text.
    ``is_drawn``: text may be seen by more than its colour. ``is_turned``: lines do not begin at the left.
    """

    colour: Colour | None = _BLACK
    opacity_of_text: float = 1.0
    background: Colour | None = _WHITE
    size: float = ROOT_SIZE
    opacity: float = 1.0
    indent: float = 0.0
    unseen_in: Element | None = None
    variables: ChainMap[str, str] = _NO_VARIABLES
    hidden: Hiding = _SEEN
    display: str = ""
    is_backed: bool = False
    is_moved: bool = False
    escapes: bool = False
    paints: bool = False
    floats: bool = False
    is_filled: bool = False
    is_drawn: bool = False
    is_scaled: bool = False
    is_turned: bool = False
    is_animated: bool = False

    def text_hidden(self, element: Element, is_clear: bool) -> Hiding:
        """Return what makes text unreadable that stands in the element itself; visibility is not looked at.

        ``is_clear``: nothing unknown can lie behind the text of the page.
        """
        if self.size < _SMALLEST:
            return Hiding("font-size", self.size < _SURELY_SMALL and not self.is_scaled and not self.is_animated)
        if self.indent <= _FAR:
            return Hiding("text-indent", not self.is_animated and _leads_away(element, self, self.indent))
        is_sure = not self.is_drawn and not self.is_animated and (self.is_backed or (is_clear and not self.is_moved))
        if self.opacity_of_text < _LEAST and self.background is not None:
            return Hiding("color", is_sure)
        if self.colour is not None and self.background is not None:
            is_lost = _is_lost_in(self.background, self.colour, self.opacity_of_text)
            return Hiding("color", is_sure) if is_lost else _SEEN
        return _SEEN

    @property
    def is_any_text_alike(self) -> bool:
        """Whether it does not matter how long a text is that looks so."""
        return self.indent > _FAR

    @property
    def inherited(self) -> "Look":
        """The look of an element inside of which nothing is declared."""
        if not (self.hidden.way or self.display or self.is_backed or self.paints or self.escapes):
            return self
        return self._replace(hidden=_SEEN, display="", is_backed=False, paints=False, escapes=False)


@lru_cache(maxsize=2048)
def _is_lost_in(background: Colour, drawn: Colour, opacity: float) -> bool:
    return contrast(over((*drawn, opacity), background), background) < _LEAST_CONTRAST


def look_of(element: Element, declared: Mapping[str, str], around: Look) -> Look:
    """Return the look of an element inside of one that looks like ``around``."""
    hints = _hints(element)
    if not declared and not hints:
        return around.inherited
    if not declared and hints == _LINK_HINTS and around.opacity >= _LEAST:  # as below: many elements are links
        look = around.inherited
        return look if look.is_filled else look._replace(colour=_LINK, opacity_of_text=1.0)
    variables = {name: value for name, value in declared.items() if name.startswith("--")}
    own = around.variables.new_child(variables) if variables else around.variables
    values = {name: _resolved(value, own) for name, value in {**hints, **declared}.items() if not name.startswith("--")}
    size = _font_size(values.get("font-size", ""), around.size)
    look = around._replace(size=size, variables=own, hidden=_SEEN, display=values.get("display", ""))
    look = _with_doubts(_with_colours(look, values), values, around.is_moved)
    match values.get("visibility"):
        case "hidden" | "collapse":
            look = look._replace(unseen_in=element)
        case "visible" | "initial":
            look = look._replace(unseen_in=None)
    is_box = _is_box(element, values, around)
    indent = length(values.get("text-indent", "").split(" ")[0], size, 0) if is_box else None
    opacity = number(values.get("opacity", "1"))
    look = look._replace(
        indent=0.0 if values.get("text-indent") == "initial" else look.indent if indent is None else indent,
        opacity=look.opacity * min(max(1.0 if opacity is None else opacity, 0.0), 1.0),
    )
    if element.tag in _WHOLE_PAGE:
        look = look._replace(opacity=1.0, unseen_in=None)
        return look._replace(colour=None, size=ROOT_SIZE, indent=0.0) if look.text_hidden(element, True).way else look
    hidden = _hidden_by(element, values, look, around, is_box)
    return look._replace(hidden=hidden._replace(is_sure=hidden.is_sure and not look.is_animated))


_HINTING = names("color text bgcolor align dir background hidden")
_HINTING_TAGS = names("a mark center dialog")
_LINK_HINTS = {"color": "#0000ee"}


def _hints(element: Element) -> dict[str, str]:
    """Return what browsers take from attributes and tags; sheets override it."""
    hints: dict[str, str] = {}
    if element.tag not in _HINTING_TAGS and _HINTING.isdisjoint(element.keys()):
        return hints
    if element.tag == "a" and element.get("href") is not None:
        hints |= _LINK_HINTS
    elif element.tag == "mark":
        hints |= {"color": "black", "background-color": "yellow"}
    for attribute, name in (("color", "color"), ("text", "color"), ("bgcolor", "background-color")):
        value = (element.get(attribute) or "").strip().lower()
        if value and (attribute != "color" or element.tag == "font") and (attribute != "text" or element.tag == "body"):
            hints[name] = value if colour(value) else f"#{value}"
    if element.tag == "center" or (element.get("align") or "").lower() in ("center", "right"):
        hints["text-align"] = "center"
    if element.get("dir"):
        hints["direction"] = (element.get("dir") or "").lower()
    if element.tag == "dialog" and element.get("open") is None:
        hints["display"] = "none"
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
    look = look._replace(is_backed=False, paints=False)
    is_filled = look.is_filled or "text-fill-color" in values
    value = values.get("text-fill-color" if is_filled else "color", "")
    drawn = colour("black" if value == "initial" and not is_filled else value)
    look = look._replace(is_filled=is_filled)
    if drawn is not None:
        look = look._replace(colour=drawn[:3], opacity_of_text=drawn[3])
    elif _is_untold(value) or (value and is_filled):
        look = look._replace(colour=None, opacity_of_text=1.0)
    is_picture = values.get("background-image", "none") not in (*_GLOBAL, "none") or any(
        "(" in values.get(name, "") for name in ("border-image", "border-image-source")
    )
    given = values.get("background-color", "")
    behind = (*look.colour, 1.0) if given == "currentcolor" and look.colour else colour(given)
    if is_picture or "inset" in values.get("box-shadow", "") or (behind is None and _is_untold(given)):
        return look._replace(background=None, paints=True)
    if "dark" in values.get("color-scheme", ""):
        look = look._replace(colour=None, background=None)
    if behind is not None and behind[3] > 0:
        if look.background is not None or behind[3] == 1:
            look = look._replace(background=over(behind, look.background or _WHITE))
        return look._replace(is_backed=behind[3] == 1, paints=True)
    return look._replace(paints=any(values.get(name, "none") not in ("none", "0") for name in _AROUND))


def _with_doubts(look: Look, values: Mapping[str, str], is_moved: bool) -> Look:
    """Note by what the text may be seen all the same."""
    moves = _moves(values)
    is_overflowing = any(length(values.get(name, ""), 1, 1) is not None for name in ("height", "max-height"))
    align, direction = values.get("text-align", ""), values.get("direction", "")
    return look._replace(
        is_moved=(is_moved and not look.is_backed) or moves or is_overflowing,
        escapes=moves,
        floats=look.floats or moves or is_overflowing,
        is_drawn=look.is_drawn
        or any(values.get(name, "none") not in (*_GLOBAL, "none", "0", "normal", "border-box") for name in _DRAWING),
        is_scaled=look.is_scaled or any(name in values for name in ("transform", "scale", "zoom")),
        is_turned=(look.is_turned and align not in ("left", "start"))
        or (align not in ("", "left", "start", "justify"))
        or direction == "rtl"
        or values.get("writing-mode", "horizontal-tb") != "horizontal-tb",
        is_animated=look.is_animated or _is_animated(values),
    )


def _is_animated(values: Mapping[str, str]) -> bool:
    """Return whether an element changes its look by itself, or once a reader scrolls to the gap that it leaves."""

    def has(*properties: str) -> bool:
        return any(values.get(name, "none") not in (*_GLOBAL, "none") for name in properties)

    opacity = number(values.get("opacity", "1"))
    is_faded = opacity is not None and opacity < _LEAST and has("transition", "transform", "translate")
    waits = values.get("visibility") == "hidden" and "animation-name" in values  # of WOW.js
    is_gap = (is_faded or waits) and values.get("position") not in ("absolute", "fixed")
    return is_gap or has("animation", "animation-name")


_DRAWING = (
    "text-shadow",
    "text-stroke",
    "text-stroke-width",
    "mix-blend-mode",
    "filter",
    "backdrop-filter",
    "background-clip",
)
_AROUND = ("box-shadow", "border", "border-top", "border-bottom", "border-left", "border-right")
_CUTTING = names("hidden clip scroll auto overlay")
_PUSHING = ("margin-left", "margin-top", "padding-left", "padding-top", "text-indent")
_MOVING = names("transform translate grid-area grid-row grid-column grid-row-start grid-column-start")


def _moves(values: Mapping[str, str]) -> bool:
    """Return whether an element may stand where others do."""
    position = values.get("position", "static")
    if position in ("absolute", "fixed") or any(values.get(name, "none") != "none" for name in _MOVING):
        return True
    if position != "static" and any(values.get(side, "auto") != "auto" for side in _SIDES):
        return True
    if any((length(values.get(name, ""), ROOT_SIZE, 0) or 0.0) >= -_FAR for name in _PUSHING):
        return True
    return any(values.get(f"margin-{side}", "").startswith("-") for side in _SIDES)


def is_picture(element: Element) -> bool:
    """Return whether browsers show something other than text in the element."""
    return element.tag in _PICTURES


def _is_box(element: Element, values: Mapping[str, str], around: Look) -> bool:
    """Return whether the element is a box, to which sizes and transforms apply; lines of text and cells are none."""
    if values.get("position") in ("absolute", "fixed") or values.get("float", "none") != "none":
        return True
    if around.display in _FLEXIBLE:
        return True
    display = _VENDOR.sub("", values.get("display", ""), count=1)
    return display in _BLOCK if display and display not in _GLOBAL else element.tag in _BLOCKS


def _hidden_by(element: Element, values: Mapping[str, str], look: Look, around: Look, is_box: bool) -> Hiding:
    """Return what hides the element with everything in it."""
    if values.get("display") == "none":
        return Hiding("display")
    if is_box and values.get("content-visibility") == "hidden":
        return Hiding("content-visibility")
    if look.opacity < _LEAST:
        return Hiding("opacity")
    if _is_filtered_away(values.get("filter", "")):
        return Hiding("filter")
    if _is_clipped(values):
        return Hiding("clip")
    if is_box and _is_without_size(values, look):
        return Hiding("size", around.display not in _FLEXIBLE)
    if is_box and (scale := _least_scale(values)) < _LEAST:
        return Hiding("transform", scale <= _NOTHING)
    moves = dict(_moved(values, look, is_box))
    for way, moved in moves.items():
        for side, far in moved.items():
            if far <= _FAR:
                together = moves["margin"][side] + moves["transform"][side]
                is_fixed = way == "position" and values.get("position") == "fixed"
                limit = _SURELY_FAR["left" if is_fixed else side]
                is_away = side == "top" or (_leads_away(element, look, far) if way == "margin" else not look.is_turned)
                return Hiding(way, max(far, together) <= limit and is_away and not around.is_moved)
    return _SEEN


def _leads_away(element: Element, look: Look, far: float) -> bool:
    """Return whether the text of an element, moved so far to the left, ends before the page begins."""
    text = "".join(str(each) for each in element.itertext())
    is_one_line = next(element.iter("br"), None) is None
    ends = far + len(text) * look.size * _CHARACTER
    return is_one_line and ends < 0 and far <= _SURELY_FAR["left"] and not look.is_turned


def _moved(values: Mapping[str, str], look: Look, is_box: bool) -> Iterator[tuple[str, dict[str, float]]]:
    """Yield by what an element is moved, and how many pixels to the right and down; percentages are of the unknown."""

    def pixels(name: str, whole: float = 0) -> float | None:
        return length(values.get(name, ""), look.size, whole)

    places: dict[str, float] = {}
    if values.get("position") in ("relative", "absolute", "fixed"):
        for side, opposite in _OPPOSITE.items():
            other = pixels(opposite)
            given = values.get(side, "auto")
            places[side] = (pixels(side) or 0.0) if given != "auto" else -other if other is not None else 0.0
        yield "position", places
    margins = {}
    for side in _OPPOSITE:
        # percentages of margins and padding are of a width
        margin, padding = pixels(f"margin-{side}") or 0.0, max(pixels(f"padding-{side}", WIDTH) or 0.0, 0.0)
        place = pixels(side, WIDTH if side == "left" else HEIGHT) or places[side] if places else 0.0
        margins[side] = margin + padding + place if side == "left" or is_box else 0.0
    yield "margin", margins
    yield "transform", _translated(values, look) if is_box else dict.fromkeys(_OPPOSITE, 0.0)


def _translated(values: Mapping[str, str], look: Look) -> dict[str, float]:
    moved = {"left": 0.0, "top": 0.0}
    functions = [*_FUNCTION.findall(values.get("transform", ""))]
    functions.append(("translate", ",".join(values.get("translate", "").split())))
    for name, argument in functions:
        parts = [length(part, look.size, 0) or 0.0 for part in argument.replace(" ", "").split(",")]
        if name in ("translate", "translate3d", "translatex"):
            moved["left"] += parts[0]
        if name == "translatey":
            moved["top"] += parts[0]
        if name in ("translate", "translate3d"):
            moved["top"] += parts[1] if len(parts) > 1 else 0.0
        if name == "matrix" and len(parts) == 6:
            moved["left"] += parts[4]
            moved["top"] += parts[5]
    return moved


def _is_filtered_away(value: str) -> bool:
    for name, argument in _FUNCTION.findall(value):
        amount = number(argument) if name == "opacity" else None
        if amount is not None and amount < _LEAST:
            return True
    return False


def _least_scale(values: Mapping[str, str]) -> float:
    """Return the least of the scales that an element is drawn in."""
    functions = _FUNCTION.findall(values.get("transform", ""))
    is_single = sum(name in ("rotatex", "rotatey", "matrix") or "scale" in name for name, _ in functions) <= 1
    zoom = number(values.get("zoom", "")) or 1.0  # zero is none
    functions += [("scale", ",".join(values.get("scale", "").split())), ("scale", str(zoom))]
    scales = [1.0]
    for name, argument in functions:
        numbers = [value for part in argument.replace(" ", "").split(",") if (value := number(part)) is not None]
        if name in ("scale", "scalex", "scaley", "scale3d"):
            scales += map(abs, numbers[:2])
        if name == "matrix" and len(numbers) == 6:
            a, b, c, d, *_ = numbers
            scales.append(abs(a * d - b * c) ** 0.5)
        if name in ("rotatex", "rotatey") and _ON_EDGE.fullmatch(argument):
            scales.append(0.0)
    return min(scales) if is_single else max(min(scales), _LEAST / 2)


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
    for axis, (first, last, own, other) in _AXES.items():
        # what is cut off in one direction can be scrolled to in the other one, and is cut off there as well
        is_cut = values.get(own, "visible") in _CUTTING or values.get(other, "visible") in _CUTTING - {"clip"}
        if is_cut and _is_without(values, axis, (first, last), look):
            return True
    return False


def _is_without(values: Mapping[str, str], axis: str, sides: tuple[str, str], look: Look) -> bool:
    """Return whether an element has no width or height, and no padding in which half of a line can stand."""

    def pixels(name: str) -> float | None:
        return length(values.get(name, ""), look.size, WIDTH)

    room = sum(max(pixels(f"padding-{side}") or 0.0, 0.0) for side in sides)
    sizes = [size for name in (axis, f"max-{axis}") if (size := pixels(name)) is not None]
    least = values.get(f"min-{axis}", "auto")
    is_free = least not in ("auto", "none") and pixels(f"min-{axis}") is None
    is_none = bool(sizes) and not is_free and max(min(sizes), pixels(f"min-{axis}") or 0.0) <= 1
    return is_none and room < look.size / 2
