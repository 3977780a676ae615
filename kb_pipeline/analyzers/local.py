"""The analyzer that needs no service: it converts HTML by rules and reads images with RapidOCR on this machine."""

import ctypes
import math
from collections.abc import Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from PIL import Image

from kb_pipeline.analyzers.base import Analyzer
from kb_pipeline.records import ConvertedArticle, ImageDescription, ImageInfo
from kb_pipeline.steps.describe import LAYOUT_VERSION, OcrLine, OcrWord, describe_lines, surrounded
from kb_pipeline.steps.html import CONVERTER_VERSION, convert_html
from kb_pipeline.steps.images import flatten

if TYPE_CHECKING:
    import rapidocr


MODEL = "PP-OCRv6-small"
STRIP_PIXELS = 600_000
"""Pixels that are searched for text at once; they need 240 MB of memory per megapixel."""

_MAX_PIXELS = 8_000_000
"""Larger images are read smaller: memory grows with the pixels, and letters of screenshots stay legible."""
_MAX_ENLARGEMENT = 2.0
"""Interface text is 8 to 12 pixels high, too small to separate neighbouring words; twice that is enough."""

_OVERLAP = 64
"""Pixels that strips share, so that no line is cut; twice the height of the largest text on a screen."""

_NO_LIMIT = 100_000
"""Pixels: none of its own, because images are scaled here."""
_PARAMETERS: dict[str, Any] = {
    "Global.log_level": "critical",
    "Global.use_cls": False,
    "Global.return_word_box": True,
    "Global.max_side_len": _NO_LIMIT,
    # Padding would turn a tool bar of 8,000 x 90 pixels into one of 8,000 x 2,000, which needs 3 GB.
    "Global.use_vertical_padding": False,
    "Det.limit_type": "max",
    "Det.limit_side_len": _NO_LIMIT,
    "Rec.rec_batch_num": 1,
    "EngineConfig.onnxruntime.intra_op_num_threads": 1,
    "EngineConfig.onnxruntime.inter_op_num_threads": 1,
}


def recognise(image: Image.Image) -> list[OcrLine]:
    """Return the lines of text on an RGB image, in no particular order; coordinates are pixels of the image."""
    # Enlarge as far as one strip allows, and shrink images above the limit.
    area = image.width * image.height
    scale = min(max(1.0, min(_MAX_ENLARGEMENT, math.sqrt(STRIP_PIXELS / area))), math.sqrt(_MAX_PIXELS / area))
    if scale != 1:
        size = (max(1, round(image.width * scale)), max(1, round(image.height * scale)))
        image = image.resize(size, Image.Resampling.BICUBIC)
    pixels = np.asarray(image)[:, :, ::-1]
    lines = [line for start, end in _strips(*image.size) for line in _lines_between(pixels, start, end, scale)]
    # Hand freed memory back to the system; glibc would keep 200 MB of it between two images.
    malloc_trim = getattr(ctypes.pythonapi, "malloc_trim", None)
    if malloc_trim is not None:
        malloc_trim(0)
    return lines


def _strips(width: int, height: int) -> Iterator[tuple[int, int]]:
    """Split the image into as few equal strips as memory allows; yield the first and last row of each."""
    step = max(math.ceil(height / math.ceil(width * height / STRIP_PIXELS)), _OVERLAP)
    yield from ((start, min(start + step, height)) for start in range(0, height, step))


def _lines_between(pixels: "np.typing.NDArray[np.uint8]", start: int, end: int, scale: float) -> Iterator[OcrLine]:
    """Recognise a strip with some rows around it, and yield the lines whose centre lies in the strip."""
    top = max(0, start - _OVERLAP // 2)
    result: Any = _engine()(np.ascontiguousarray(pixels[top : end + _OVERLAP // 2]))
    if result.boxes is None:
        return
    for text, score, corners, words in zip(result.txts, result.scores, result.boxes, result.word_results, strict=True):
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
    """The models, loaded once per process."""
    from rapidocr import RapidOCR

    return RapidOCR(params=_PARAMETERS)


_MIN_LONG_SIDE = 40
_MIN_SHORT_SIDE = 8
"""An image with shorter sides (in pixels) is an icon or a line, and has no text."""


def lines_on(image: Image.Image) -> list[OcrLine]:
    """Return the lines of text on an RGB image with what surrounds each; none on an icon."""
    is_tiny = max(image.size) < _MIN_LONG_SIDE or min(image.size) < _MIN_SHORT_SIDE
    return [] if is_tiny else list(surrounded(recognise(image), np.asarray(image)))


class LocalAnalyzer(Analyzer):
    """Converts with ``steps.html``, describes with RapidOCR; the same input always gives the same output."""

    name: ClassVar[str] = "local"
    converter: str = f"local-{CONVERTER_VERSION}"
    image_model: str = MODEL
    prompt_version: str = LAYOUT_VERSION
    describe_pool: ClassVar[str] = "ocr"

    def convert(self, article_id: str, html: bytes, images: Mapping[str, ImageInfo]) -> ConvertedArticle:
        return convert_html(article_id, html, images)

    def describe(self, png: bytes) -> ImageDescription:
        image = flatten(png)
        return describe_lines(lines_on(image), image.width, image.height)
