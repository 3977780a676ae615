"""The numbers of a list, as its page shows them: where it starts, numbers of its own (``value``), and backwards."""

import re

from lxml import etree

from kb_pipeline.steps.html.dom import Element, first_line

_NUMBER = re.compile(r"\s*([+-]?[0-9]{1,8})\s*")
_OTHER_SIGN = "\ue002"
"""Stands where the number of an item ends with a bracket; ``decode`` removes such characters from the source."""
_SIGNED = re.compile(rf"(?<=\d)\. {_OTHER_SIGN}")


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
