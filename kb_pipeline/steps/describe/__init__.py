"""Describe an image by the text recognised on it and its layout, so that it can be searched and read.

Not here: recognising text (``analyzers``).
"""

from collections.abc import Iterable, Sequence
from itertools import pairwise

from kb_pipeline.records import ImageDescription
from kb_pipeline.steps.describe.context import CONTEXT_VERSION, in_context
from kb_pipeline.steps.describe.elements import element_names
from kb_pipeline.steps.describe.layout import Row, rows_in_reading_order
from kb_pipeline.steps.describe.lines import SEPARATORS, OcrLine, OcrWord, cleaned, has_text
from kb_pipeline.steps.describe.navigation import breadcrumb

__all__ = ["CONTEXT_VERSION", "LAYOUT_VERSION", "OcrLine", "OcrWord", "describe_lines", "in_context"]

LAYOUT_VERSION = "ocr-layout-1"
"""Change it whenever :func:`describe_lines` writes anything else."""

MAX_CHARACTERS = 1200
_ICON_SIDE = 64
_BREADCRUMB_GAP = 1.5


def describe_lines(lines: Iterable[OcrLine], width: int, height: int) -> ImageDescription:
    """Describe an image of ``width`` x ``height`` pixels by the text on it."""
    readable = cleaned(lines)
    if not has_text(readable, width, height):
        kind = "Icon" if max(width, height) <= _ICON_SIDE else "Picture"
        return ImageDescription(description=f"{kind} without readable text ({width} x {height} pixels).")
    with_separators = rows_in_reading_order(readable)
    rows = [texts for row in with_separators if (texts := tuple(item for item in row if item.text not in SEPARATORS))]
    return ImageDescription(
        description=f"Text on screen: {_prose(rows)}",
        ui_elements=element_names(line for row in rows for line in row),
        navigation_path=next((path for row in with_separators if (path := _breadcrumb(row))), ()),
    )


def _prose(rows: Sequence[Row]) -> str:
    """Join rows into sentences of at most ``MAX_CHARACTERS`` in all."""
    text = ""
    for index, row in enumerate(rows):
        following = rows[index + 1] if index + 1 < len(rows) else ()
        text += _row_text(row) + (" " if _continues(row, following) else "; ")
        if len(text) > MAX_CHARACTERS:
            return f"{text[: MAX_CHARACTERS - 1].rsplit(' ', 1)[0].rstrip(' ;,')}…"
    return f"{text.rstrip(' ;.')}."


def _row_text(row: Row) -> str:
    """Join the items of a row; a label's colon is enough to separate it from its value."""
    text = row[0].text
    for item in row[1:]:
        text += (" " if text.endswith(":") else ", ") + item.text
    return text


def _breadcrumb(row: Row) -> tuple[str, ...]:
    """Read a row as a breadcrumb, unless its items are as far apart as those of a menu bar."""
    together = all(right.left - left.right <= _BREADCRUMB_GAP * left.height for left, right in pairwise(row))
    return breadcrumb(" ".join(item.text for item in row)) if together else ()


def _continues(row: Row, following: Row) -> bool:
    """Return whether the next row continues the sentence of this one."""
    if len(row) != 1 or len(following) != 1:
        return False
    line, below = row[0], following[0]
    wrapped = len(line.text.split()) >= 4 and abs(line.left - below.left) <= 2 * line.height
    close = below.top - line.bottom <= line.height and abs(line.height - below.height) <= 0.35 * line.height
    return wrapped and close and below.text[0].islower()
