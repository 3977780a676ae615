"""What was found at a place of a stream: how far it reaches, and what becomes of it."""

from dataclasses import dataclass
from enum import Enum
from typing import Final, Literal


class _Undecided(Enum):
    WAIT = "wait"


WAIT: Final = _Undecided.WAIT
"""Not decided before more of the text is there."""

Wait = Literal[_Undecided.WAIT]


@dataclass(frozen=True, slots=True)
class Span:
    """Something of the text up to ``end``, and what is inside of it."""

    end: int
    inner: str


@dataclass(frozen=True, slots=True)
class Found:
    """Something that ends before ``end`` and becomes ``text``: nothing if that is empty, ``None`` if it is written.

    ``goes_on``: it includes what follows, up to a closing bracket or the end of the line.
    """

    end: int
    text: str | None = ""
    goes_on: bool = False


Reading = Found | Wait | None
"""``None``: it is nothing but text."""
