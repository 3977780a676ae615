"""Values of CSS properties: lengths in pixels, numbers, and colours on a page of 1280 by 800 pixels.

``None`` is a value that browsers ignore, or that cannot be told here. Not here: which element has which value.
"""

import ast
import operator
import re
from collections.abc import Callable
from functools import lru_cache
from typing import TypeAlias

from PIL import ImageColor

Colour: TypeAlias = tuple[float, float, float]
"""Red, green and blue, from 0 to 255."""

WIDTH, HEIGHT = 1280.0, 800.0
"""Pixels of a usual window; pages of manuals are made for larger and smaller ones, too."""
ROOT_SIZE = 16.0
"""Pixels of a letter if no style says otherwise, in all browsers."""
_ABSOLUTE = {
    **{"": 1.0, "px": 1.0, "pt": 4 / 3, "pc": 16.0, "in": 96.0, "cm": 96 / 2.54, "mm": 96 / 25.4, "q": 96 / 101.6},
    **{"rem": ROOT_SIZE, "vw": WIDTH / 100, "vh": HEIGHT / 100, "vmin": HEIGHT / 100, "vmax": WIDTH / 100},
}
_RELATIVE = {"em": 1.0, "ex": 0.5, "ch": 0.5, "lh": 1.2, "ic": 1.0, "cap": 0.7}
_AMOUNT = re.compile(r"(?<![\w.])([-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?)(%|[a-z]+)?")
_EXPRESSION = re.compile(r"(?:[\d.e\s()+*/,-]|calc|min|max|clamp)+")
_LONGEST = 200
"""Characters of a value; formulas of real style sheets are shorter, and hostile ones take no time."""
_OPERATORS: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


ESCAPE = re.compile(r"\\(?:([0-9a-fA-F]{1,6})\s?|(.))", re.S)
"""A character of a name or value, written by its number or after a backslash."""


def unescaped(text: str) -> str:
    """Return names and values as the page has them."""

    def character(match: re.Match[str]) -> str:
        code = int(match[1], 16) if match[1] else 0
        return match[2] or (chr(code) if 0 < code < 0xD800 else "\ufffd")

    return ESCAPE.sub(character, text) if "\\" in text else text


@lru_cache(maxsize=2048)
def length(value: str, em: float, whole: float) -> float | None:
    """Return a length in pixels; ``em`` is the size of the font, ``whole`` what a percentage is of."""

    def in_pixels(match: re.Match[str]) -> str:
        unit = match[2] or ""
        factor = whole / 100 if unit == "%" else _RELATIVE[unit] * em if unit in _RELATIVE else _ABSOLUTE.get(unit)
        return "?" if factor is None else f"{float(match[1]) * factor:+f}"

    if len(value) > _LONGEST:
        return None
    expression = _AMOUNT.sub(in_pixels, value)
    return _calculated(expression) if _EXPRESSION.fullmatch(expression) else None


def number(value: str) -> float | None:
    """Return a number; a percentage is a part of one."""
    return length(value, 1, 1)


@lru_cache(maxsize=2048)
def colour(value: str) -> tuple[float, float, float, float] | None:
    """Return red, green, blue and opacity (from 0 to 1)."""
    if value == "transparent":
        return 0, 0, 0, 0
    name, _, arguments = value.partition("(")
    if arguments:
        return _from_function(name, [(float(match[1]), match[2]) for match in _AMOUNT.finditer(arguments)])
    try:
        red, green, blue, *opacity = ImageColor.getrgb(_SYSTEM.get(value, value))
    except ValueError:
        return None
    return red, green, blue, opacity[0] / 255 if opacity else 1.0


_SYSTEM = {"canvas": "white", "field": "white", "window": "white", "canvastext": "black", "windowtext": "black"}
_LIGHTNESS = frozenset({"lab", "lch", "oklab", "oklch"})
_ONE = frozenset({"oklab", "oklch"})


def _from_function(name: str, given: list[tuple[float, str | None]]) -> tuple[float, float, float, float] | None:
    if len(given) < 3:
        return None
    parts = [value for value, _ in given]
    opacity = (parts[3] / (100 if given[3][1] else 1)) if len(given) > 3 else 1.0
    if name in ("rgb", "rgba"):
        red, green, blue = (value * 2.55 if unit else value for value, unit in given[:3])
        return red, green, blue, opacity
    if name in ("hsl", "hsla"):
        red, green, blue, *_ = ImageColor.getrgb(f"hsl({parts[0] % 360},{min(parts[1], 100)}%,{min(parts[2], 100)}%)")
        return red, green, blue, opacity
    if name == "hwb" and parts[1] + parts[2] >= 100:
        grey = 255 * parts[1] / (parts[1] + parts[2])
        return grey, grey, grey, opacity
    lightness = parts[0] / (1 if name in _ONE and not given[0][1] else 100)
    if name in _LIGHTNESS and not 0 < lightness < 1:
        return (255, 255, 255, opacity) if lightness >= 1 else (0, 0, 0, opacity)
    if name == "color":
        red, green, blue = (255 * value / (100 if unit else 1) for value, unit in given[:3])
        return red, green, blue, opacity
    return None


def over(upper: tuple[float, float, float, float], lower: Colour) -> Colour:
    """Return the colour that is seen where one lies over another one."""
    red, green, blue = (
        upper[3] * above + (1 - upper[3]) * below for above, below in zip(upper[:3], lower, strict=True)
    )
    return red, green, blue


def contrast(one: Colour, other: Colour) -> float:
    """Return the contrast of two colours, from 1 to 21 (https://www.w3.org/TR/WCAG22/#dfn-contrast-ratio)."""
    lighter, darker = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(colour: Colour) -> float:
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
        for part in (min(max(value / 255, 0), 1) for value in colour)
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _calculated(expression: str) -> float | None:
    try:
        return _value(ast.parse(expression.strip(), mode="eval").body)
    except (SyntaxError, ValueError, ZeroDivisionError, OverflowError, RecursionError, TypeError):
        return None


def _value(node: ast.expr) -> float:
    match node:
        case ast.Constant(value=int() | float() as value):
            return float(value)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_value(operand)
        case ast.UnaryOp(op=ast.UAdd(), operand=operand):
            return _value(operand)
        case ast.BinOp(left=left, op=op, right=right):
            return _OPERATORS[type(op)](_value(left), _value(right))
        case ast.Call(func=ast.Name(id="calc"), args=[argument]):
            return _value(argument)
        case ast.Call(func=ast.Name(id="clamp"), args=[low, ideal, high]):
            return max(_value(low), min(_value(ideal), _value(high)))
        case ast.Call(func=ast.Name(id="min" | "max" as name), args=arguments) if arguments:
            return (min if name == "min" else max)(map(_value, arguments))
        case _:
            raise ValueError
