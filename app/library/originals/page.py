"""What a drawn page is, for those who only ask for it: importing this does not load PDFium."""

from typing import NamedTuple

LONGEST_SIDE = 2000
"""Pixels."""

DRAWING_VERSION = "1"
"""Raised when the same page would look different."""

Box = tuple[float, float, float, float]
"""Left, bottom, right and top on the page, in points."""


class DrawnPage(NamedTuple):
    """A page as a PNG of this size. ``found`` says of each quote whether it was found and is marked, ``boxes`` where,
    in points."""

    png: bytes
    width: int
    height: int
    found: tuple[bool, ...] = ()
    boxes: tuple[Box, ...] = ()


class PageMissingError(Exception):
    """The document does not have this page."""


class PageUnreadableError(Exception):
    """PDFium cannot open the document or its page; the message says why."""
