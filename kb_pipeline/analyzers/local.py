"""The analyzer that needs no service: HTML by rules, images by text recognition on this machine."""

from collections.abc import Mapping
from typing import ClassVar

from kb_pipeline.analyzers import ocr
from kb_pipeline.analyzers.base import Analyzer
from kb_pipeline.records import ConvertedArticle, ImageDescription, ImageInfo
from kb_pipeline.steps.describe import PROMPT_VERSION, describe_lines
from kb_pipeline.steps.html import CONVERTER_VERSION, convert_html
from kb_pipeline.steps.images import flatten

_MIN_LONG_SIDE = 40
_MIN_SHORT_SIDE = 8
"""Below these (in pixels) an image is an icon or a line, and holds no text."""


class LocalAnalyzer(Analyzer):
    """Converts with ``steps.html``, describes with RapidOCR; equal input gives equal output."""

    name: ClassVar[str] = "local"
    converter: str = f"local-{CONVERTER_VERSION}"
    image_model: str = ocr.MODEL
    prompt_version: str = PROMPT_VERSION
    describe_pool: ClassVar[str] = "ocr"

    def convert(self, article_id: str, html: bytes, images: Mapping[str, ImageInfo]) -> ConvertedArticle:
        """Convert the article's main content by ``steps.html``."""
        return convert_html(article_id, html, images)

    def describe(self, png: bytes) -> ImageDescription:
        """Describe an image by the text on it.

        Raises:
            ImageError: the bytes are not an image.
        """
        image = flatten(png)
        is_tiny = max(image.size) < _MIN_LONG_SIDE or min(image.size) < _MIN_SHORT_SIDE
        lines = [] if is_tiny else ocr.recognise(image)
        return describe_lines(lines, image.width, image.height)
