"""Find what surrounds each line on the screen: its background, and the frame of the button or field that it stands in.

These tell a button from running text and a selected entry from its neighbours, which the text alone cannot.
"""

from collections.abc import Iterable
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from kb_pipeline.steps.describe.lines import OcrLine, PixelBox, split_at_gaps

Pixels = npt.NDArray[np.uint8]

_SAME = 10
"""Difference of a colour channel (0-255) up to which two pixels belong to one surface; above noise of compression."""

_REACH = 1.6
"""Distance to the upper and lower edge of a frame, in heights of the line. Cards and windows are further away."""

_SHARE = 0.7
"""Share of an edge over the line's width that must be another colour than the surface."""

_EDGE = 4
"""Pixels that the edges of two frames may be apart and be the same edge."""

_CENTRED = 0.2
"""Distance of a text from the middle of its frame, as a share of the frame's height."""

_COARSE = 16
"""Steps of a colour channel that count as similar: 16 groups each."""


def surrounded(lines: Iterable[OcrLine], pixels: Pixels) -> list[OcrLine]:
    """Return the lines, split into their items, with background and frame.

    ``pixels`` is the image, height x width x RGB.
    """
    signed = pixels.astype(np.int16)
    found = [_surrounded(item, signed) for line in lines for item in split_at_gaps(line)]
    frames = {line.frame for line in found if line.frame}
    return [line._replace(frame=None) if line.frame and _is_gap(line.frame, frames) else line for line in found]


def _is_gap(frame: PixelBox, frames: Iterable[PixelBox]) -> bool:
    """Return whether this is the space above a field: its lower edge is the upper edge of a narrower frame."""
    return any(
        abs(other.top - frame.bottom) <= _EDGE
        and frame.left <= other.left
        and other.right <= frame.right
        and (frame.left + _EDGE < other.left or other.right < frame.right - _EDGE)
        for other in frames
    )


def _surrounded(line: OcrLine, pixels: npt.NDArray[np.int16]) -> OcrLine:
    height, width = pixels.shape[:2]
    left, right = max(0, round(line.left)), min(width, round(line.right))
    top, bottom = max(0, round(line.top)), min(height, round(line.bottom))
    if right - left < 2 or bottom - top < 2:
        return line
    ground = _most_frequent(pixels[top:bottom, left:right].reshape(-1, 3))
    frame = _frame(line, pixels, ground)
    return line._replace(ground=(int(ground[0]), int(ground[1]), int(ground[2])), frame=frame)


def _most_frequent(colours: npt.NDArray[np.int16]) -> npt.NDArray[np.int16]:
    """Return the median colour of the largest group of similar pixels."""
    keys = (colours // _COARSE) @ np.array([256, 16, 1], dtype=np.int16)
    most_frequent = np.bincount(keys).argmax()
    colour: npt.NDArray[np.int16] = np.median(colours[keys == most_frequent], axis=0).astype(np.int16)
    return colour


def _frame(line: OcrLine, pixels: npt.NDArray[np.int16], ground: npt.NDArray[np.int16]) -> PixelBox | None:
    """Return the edges where the surface that the line stands on ends, if all four are near enough for a control."""
    height, width = pixels.shape[:2]
    reach, inside = round(_REACH * line.height), round(line.height / 3)
    first, last = max(0, round(line.middle) - reach), min(height, round(line.middle) + reach)
    columns = slice(max(0, round(line.left)), min(width, round(line.right)))
    edges = np.flatnonzero(_differs(pixels[first:last, columns], ground).mean(axis=1) >= _SHARE) + first
    above, below = edges[edges <= line.middle - inside], edges[edges >= line.middle + inside]
    if not above.size or not below.size:
        return None
    top, bottom = int(above[-1]), int(below[0])
    if abs((top + bottom) / 2 - line.middle) > _CENTRED * (bottom - top):
        return None
    # Just inside the upper and lower edges are no texts and icons that would end the surface too early.
    spans = [_span(pixels[row], line, ground) for row in (top + 2, bottom - 2) if top < row < bottom]
    if not spans:
        return None
    left, right = max(span[0] for span in spans), min(span[1] for span in spans)
    return PixelBox(float(left), float(top), float(right), float(bottom)) if left <= line.left + 2 < right else None


def _span(row: npt.NDArray[np.int16], line: OcrLine, ground: npt.NDArray[np.int16]) -> tuple[int, int]:
    """Return where the surface around the line's centre ends to the left and to the right."""
    differs = np.flatnonzero(_differs(row, ground))
    centre = (line.left + line.right) / 2
    ends = [-1, *differs.tolist(), len(row)]
    return next((left, right) for left, right in pairwise(ends) if left <= centre <= right)


def _differs(colours: npt.NDArray[np.int16], ground: npt.NDArray[np.int16]) -> npt.NDArray[np.bool_]:
    differs: npt.NDArray[np.bool_] = (np.abs(colours - ground) > _SAME).any(axis=-1)
    return differs
