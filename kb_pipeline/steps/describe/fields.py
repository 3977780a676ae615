"""Find which text is the label of which field: beside it, above it, or in the same frame."""

from collections.abc import Sequence

from kb_pipeline.steps.describe.lines import OcrLine
from kb_pipeline.steps.describe.values import is_data, is_sentence

_GAP_ABOVE = 1.0
_GAP_BESIDE = 12.0
_ALIGNED = 0.8
_FIELD_MARGIN = 3.0
_VALUE_MARGIN = 4.0
_BUTTON_MARGIN = 8.0
"""In line heights: space between a label and the field below or beside it; difference of their left edges; space
right of the text in a field, and of a value that follows its label in one frame; space around the text of a button."""

_HANDLE = 4
"""Pixels between the two parts of a slider."""

_MAX_WORDS = 3
"""Words of a value at the end of its label's frame; a heading has longer remarks there."""

_CENTRED = 1.5
"""Difference of the spaces left and right of the text of a button, in line heights."""


def fields_of(lines: Sequence[OcrLine]) -> dict[OcrLine, OcrLine]:
    """Return the labels and what stands in their fields, in the order of ``lines``."""
    labels: dict[OcrLine, OcrLine] = {}
    for value in lines:
        label = _label_of(value, lines)
        if label and (label not in labels or _distance(value, label) < _distance(labels[label], label)):
            labels[label] = value
    return {line: labels[line] for line in lines if line in labels}


def _distance(value: OcrLine, label: OcrLine) -> float:
    return abs(value.middle - label.middle)


def is_button(line: OcrLine) -> bool:
    """Return whether the text is in the middle of a frame that is not much wider."""
    if line.frame is None:
        return False
    left, right = line.left - line.frame.left, line.frame.right - line.right
    return abs(left - right) <= _CENTRED * line.height and left + right <= _BUTTON_MARGIN * line.height


def _label_of(value: OcrLine, lines: Sequence[OcrLine]) -> OcrLine | None:
    level = [line for line in lines if line is not value and _are_level(line, value)]
    before = max((line for line in level if line.right <= value.left + 2), key=lambda line: line.right, default=None)
    if before and _is_name(before) and _is_before(before, value, level):
        return before
    after = min((line for line in level if line.left >= value.right - 2), key=lambda line: line.left, default=None)
    if not _is_field(value) or (after and _share_control(value, after)):
        return None
    above = max((line for line in lines if _is_above(line, value)), key=lambda line: line.bottom, default=None)
    return above if above and _is_name(above) else None


def _is_name(label: OcrLine) -> bool:
    return not is_data(label.text) and not is_sentence(label.text) and ": " not in label.text


def _is_before(label: OcrLine, value: OcrLine, level: Sequence[OcrLine]) -> bool:
    """Return whether the nearest text on the left is the label: it says so by a colon, or shares the frame."""
    if value.text.endswith(":"):
        return False
    if label.text.endswith(":"):
        opens_dialog = is_button(value) and value.text.endswith("...")
        return value.left - label.right <= _GAP_BESIDE * value.height and not opens_dialog
    if value.frame is None or ": " in value.text or len(value.text.split()) > _MAX_WORDS:
        return False
    alone = all(line.frame != value.frame for line in level if line is not label)
    at_end = value.frame.right - value.right <= _VALUE_MARGIN * value.height
    at_start = label.left - value.frame.left <= label.height
    return label.frame == value.frame and alone and at_start and at_end and label.right < value.left - value.height


def _share_control(label: OcrLine, value: OcrLine) -> bool:
    """Return whether the first text is itself a label: of a list, or of a slider, whose frame its handle divides."""
    if label.frame is None or value.frame is None:
        return False
    return label.frame == value.frame or value.frame.left - label.frame.right <= _HANDLE


def _is_above(label: OcrLine, value: OcrLine) -> bool:
    if value.frame is None or label.frame is not None or label is value:
        return False
    near = -4 <= value.frame.top - label.bottom <= _GAP_ABOVE * label.height  # boxes of text reach into the frame
    aligned = abs(label.left - value.frame.left) <= _ALIGNED * label.height
    return near and aligned and label.right <= value.frame.right


def _is_field(line: OcrLine) -> bool:
    """Return whether the text is at the left of a wider frame, as in a field, and not in its middle, as on a button."""
    if line.frame is None:
        return False
    left, right = line.left - line.frame.left, line.frame.right - line.right
    return right >= _FIELD_MARGIN * line.height and left <= right / 2


def _are_level(first: OcrLine, second: OcrLine) -> bool:
    return abs(first.middle - second.middle) <= 0.5 * min(first.height, second.height)
