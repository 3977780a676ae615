"""References where they stand in a stream: how far one reaches, and what it refers to."""

import re
from collections.abc import Collection

from app.grounding import patterns
from app.grounding.found import WAIT, Wait
from app.grounding.pointers import read_label
from app.grounding.references import Reference, read_lenticular, read_round, read_square

_WORD = re.compile(r"\w")

Numbers = Collection[int]
Placed = tuple[int, Reference]
"""Where a reference ends, and the reference."""


def read_reference(text: str, at: int, numbers: Numbers, *, final: bool) -> Placed | Wait | None:
    """The reference at a place where one may begin; ``numbers`` are those of the passages."""
    match text[at]:
        case "[":
            return _square(text, at, numbers, final=final)
        case "(":
            opening, whole = patterns.OPEN_ROUND, patterns.ROUND.match(text, at)
            reference = read_round(whole[1], numbers) if whole else None
        case "【":
            opening, whole = patterns.OPEN_LENTICULAR, patterns.LENTICULAR.match(text, at)
            reference = read_lenticular(whole[1]) if whole else None
        case _:
            opening, whole = patterns.OPEN_BARE, patterns.BARE_REFERENCE.match(text, at)
            reference = Reference((int(whole[1]),)) if whole else None
            if whole and whole.end() == len(text) and not final:
                return WAIT
    if whole is None:
        may_end = not final and len(text) < at + patterns.LONGEST_REFERENCE
        return WAIT if may_end and opening.match(text, at) else None
    return (whole.end(), reference) if reference else None


def _square(text: str, at: int, numbers: Numbers, *, final: bool) -> Placed | Wait | None:
    label = read_label(text, at, final=final)
    if label is None or label is WAIT:
        return label
    following = text[label.end : label.end + 1]
    if not following and not final:
        return WAIT
    inner = label.inner
    if inner.startswith("[") and inner.endswith("]"):
        inner = re.sub(r"[\[\]]", " ", inner)
    reference = read_square(inner, numbers)
    if reference is None or (not reference.explicit and _WORD.match(following)):
        return None
    return label.end, reference
