"""The numbers of a list, as its page shows them: where it starts, numbers of its own (``value``), and backwards.

Also here: letters and Roman numbers, which markdown does not have, so that they become words of their items.
"""

import re

from lxml import etree

from kb_pipeline.steps.html.dom import Element, classes, first_line

_NUMBER = re.compile(r"\s*([+-]?[0-9]{1,8})\s*")
_OTHER_SIGN = "\ue002"
"""Stands where the number of an item ends with a bracket; ``decode`` removes such characters from the source."""
_SIGNED = re.compile(rf"(?<=\d)\. {_OTHER_SIGN}")


_TYPES = {"a": "lower-alpha", "A": "upper-alpha", "i": "lower-roman", "I": "upper-roman"}
_CLASSES = {
    "loweralpha": "lower-alpha",
    "upperalpha": "upper-alpha",
    "lowerroman": "lower-roman",
    "upperroman": "upper-roman",
}
"""What Sphinx and AsciiDoctor call kinds of numbers."""
_STYLE = re.compile(r"list-style(?:-type)?\s*:[^;:]*?\b(none|decimal|(?:lower|upper)-(?:alpha|latin|roman))\b", re.I)
_MOST = 3999
"""Numbers above it are written as digits."""


def spell_letters(main: Element) -> None:
    """Write the letters and Roman numbers of lists before their items, in place: texts refer to "step b"."""
    for numbered in list(main.iter("ol")):
        if kind := _kind_of(numbered):
            for item, number in zip(numbered.findall("li"), numbers_of(numbered), strict=True):
                line = first_line(item)
                line.text = f"{in_letters(number, kind)}. {(line.text or '').lstrip()}"
            numbered.tag = "ul"


def _kind_of(numbered: Element) -> str:
    """Return the kind of the letters that number a list; "" if it has none."""
    if styled := _STYLE.search(numbered.get("style") or ""):
        kind = styled[1].lower().replace("latin", "alpha")
        return kind if "-" in kind else ""
    named = (kind for name in classes(numbered) if (kind := _CLASSES.get(name)))
    return _TYPES.get(numbered.get("type") or "") or next(named, "")


def in_letters(number: int, kind: str) -> str:
    """Return a number as one of the ``kind`` is written, such as ``lower-roman``."""
    if not 0 < number <= _MOST:
        return str(number)
    letters = _roman(number) if kind.endswith("roman") else _alphabetic(number)
    return letters.upper() if kind.startswith("upper") else letters


def _alphabetic(number: int) -> str:
    """Return ``a`` to ``z``, then ``aa``, ``ab`` and so on."""
    rest, last = divmod(number - 1, 26)
    return (_alphabetic(rest) if rest else "") + chr(ord("a") + last)


def _roman(number: int) -> str:
    digits = (1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl"), (10, "x")
    written = ""
    for worth, letters in (*digits, (9, "ix"), (5, "v"), (4, "iv"), (1, "i")):
        written += letters * (number // worth)
        number %= worth
    return written


def numbers_of(numbered: Element) -> list[int]:
    """Return the numbers of the items of an ``ol`` (https://html.spec.whatwg.org/#ordinal-value)."""
    items = numbered.findall("li")
    step = 1 if numbered.get("reversed") is None else -1
    number = _number(numbered.get("start"))
    if number is None:
        number = 1 if step == 1 else len(items)
    numbers = []
    for item in items:
        own = _number(item.get("value"))
        number = number if own is None else own
        numbers.append(number)
        number += step
    return numbers


def split_lists(main: Element) -> None:
    """Split every list where its numbers do not go on by one, in place: markdown counts on from the first of them."""
    for numbered in list(main.iter("ol")):
        numbers = numbers_of(numbered)
        items = numbered.findall("li")
        if numbers and numbers[0] >= 0:
            numbered.set("start", str(numbers[0]))
        current, after = numbered, numbered
        for item, number, previous in zip(items[1:], numbers[1:], numbers, strict=False):
            if number == previous + 1 or number < 0:
                if current is not numbered:
                    current.append(item)
                continue
            current = etree.Element("ol", start=str(number))
            current.tail, after.tail = after.tail, None
            after.addnext(current)
            current.append(item)
            after = current


def sign_lists(tree: Element) -> None:
    """Mark the items of a list that follows another one directly: both would be one list if they had the same sign."""
    signed: set[Element] = set()
    for numbered in tree.iter("ol"):
        previous = numbered.getprevious()
        if (
            previous is not None
            and previous.tag == "ol"
            and not (previous.tail or "").strip()
            and previous not in signed
        ):
            signed.add(numbered)
            for item in numbered.findall("li"):
                line = first_line(item)
                line.text = _OTHER_SIGN + (line.text or "").lstrip()


def write_signs(markdown: str) -> str:
    """Write ``1)`` instead of ``1.`` where an item is marked."""
    return _SIGNED.sub(") ", markdown).replace(_OTHER_SIGN, "")


def _number(value: str | None) -> int | None:
    match = _NUMBER.fullmatch(value or "")
    return int(match[1]) if match else None
