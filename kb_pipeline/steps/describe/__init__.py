"""Describe an image by the text recognised on it and its layout, so that it can be searched and read.

Not here: recognising text (``analyzers``).
"""

from kb_pipeline.steps.describe.context import CONTEXT_VERSION, in_context
from kb_pipeline.steps.describe.lines import OcrLine, OcrWord, PixelBox
from kb_pipeline.steps.describe.message import message_of
from kb_pipeline.steps.describe.summary import LAYOUT_VERSION, MAX_CHARACTERS, describe_lines
from kb_pipeline.steps.describe.surroundings import surrounded

__all__ = [
    "CONTEXT_VERSION",
    "LAYOUT_VERSION",
    "MAX_CHARACTERS",
    "OcrLine",
    "OcrWord",
    "PixelBox",
    "describe_lines",
    "in_context",
    "message_of",
    "surrounded",
]
