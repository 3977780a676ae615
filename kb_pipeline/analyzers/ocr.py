"""Text recognition with RapidOCR: an image becomes lines of text with their places.

Here: the engine and how it is fed. Not here: what the text says about the image (``steps.describe``).

Its models are PP-OCRv6 (detection and recognition, small). On 150 images of 100 to 1,900 pixels, one thread: 0.5 CPU
seconds an image, 415 MB at the peak, 180 MB at rest, against 0.8 s and 1,020 MB with the engine's defaults, which
enlarge every image to 736 pixels on its short side, look at each line whether it is upside down, and recognise lines in
padded batches.
"""

import ctypes
import math
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from PIL import Image

from kb_pipeline.steps.describe import OcrLine, OcrWord

if TYPE_CHECKING:
    import rapidocr

MODEL = "PP-OCRv6-small"
STRIP_PIXELS = 600_000
"""Pixels that are searched for text at once; memory grows with them (240 MB a megapixel)."""

_MAX_PIXELS = 8_000_000
_MAX_ENLARGEMENT = 2.0
"""Interface text is 8 to 12 pixels high, too little to keep neighbouring words apart; twice that is enough."""

_OVERLAP = 64
"""Pixels that strips share, so that no line is cut: twice the height of the largest text on a screen."""

_NO_LIMIT = 100_000
_PARAMETERS: dict[str, Any] = {
    "Global.log_level": "critical",
    "Global.use_cls": False,
    "Global.return_word_box": True,
    "Global.max_side_len": _NO_LIMIT,
    # Would make a tool bar of 8,000 x 90 pixels one of 8,000 x 2,000: 3 GB.
    "Global.use_vertical_padding": False,
    "Det.limit_type": "max",
    "Det.limit_side_len": _NO_LIMIT,
    "Rec.rec_batch_num": 1,
    "EngineConfig.onnxruntime.intra_op_num_threads": 1,
    "EngineConfig.onnxruntime.inter_op_num_threads": 1,
}


def recognise(image: Image.Image) -> list[OcrLine]:
    """Return the lines of text on an RGB image, in no particular order; places in pixels of the image."""
    scale = _scale(image.width * image.height)
    if scale != 1:
        size = (max(1, round(image.width * scale)), max(1, round(image.height * scale)))
        image = image.resize(size, Image.Resampling.BICUBIC)
    pixels = np.asarray(image)[:, :, ::-1]
    lines = [line for start, end in _strips(*image.size) for line in _lines_between(pixels, start, end, scale)]
    _release_memory()
    return lines


def _scale(pixels: int) -> float:
    """Enlarge as far as the strip allows, shrink what is beyond the limit."""
    return min(max(1.0, min(_MAX_ENLARGEMENT, math.sqrt(STRIP_PIXELS / pixels))), math.sqrt(_MAX_PIXELS / pixels))


def _strips(width: int, height: int) -> Iterator[tuple[int, int]]:
    """Cut into as few equal strips as memory allows; first and last row of each."""
    step = max(math.ceil(height / math.ceil(width * height / STRIP_PIXELS)), _OVERLAP)
    yield from ((start, min(start + step, height)) for start in range(0, height, step))


def _lines_between(pixels: "np.typing.NDArray[np.uint8]", start: int, end: int, scale: float) -> Iterator[OcrLine]:
    """Recognise a strip with its surroundings and keep the lines whose centre lies in it."""
    top = max(0, start - _OVERLAP // 2)
    found: Any = _engine()(np.ascontiguousarray(pixels[top : end + _OVERLAP // 2]))
    if found.boxes is None:
        return
    for text, score, corners, words in zip(found.txts, found.scores, found.boxes, found.word_results, strict=True):
        left, upper = (corners.min(axis=0) / scale).tolist()
        right, lower = (corners.max(axis=0) / scale).tolist()
        line = OcrLine(text, float(score), left, top / scale + upper, right, top / scale + lower, _words(words, scale))
        if start <= line.middle * scale < end:
            yield line


def _words(words: Any, scale: float) -> tuple[OcrWord, ...]:  # noqa: ANN401 - RapidOCR's (text, score, corners)
    return tuple(
        OcrWord(text, min(x for x, _ in corners) / scale, max(x for x, _ in corners) / scale)
        for text, _, corners in words
        if corners is not None
    )


@cache
def _engine() -> "rapidocr.RapidOCR":
    """Load the models, once a process."""
    from rapidocr import RapidOCR

    return RapidOCR(params=_PARAMETERS)


def _release_memory() -> None:
    """Hand freed memory back to the system; glibc would keep 200 MB of it between two images."""
    malloc_trim = getattr(ctypes.pythonapi, "malloc_trim", None)
    if malloc_trim is not None:
        malloc_trim(0)
