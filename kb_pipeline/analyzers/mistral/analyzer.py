"""The analyzer that converts articles with Mistral Document AI and describes images with a vision model.

An article becomes a clean page with a marker for each image. The page is printed to PDF, and the service reads the PDF.
What reading loses (places of images, links, ...) is restored from the HTML.
"""

import io
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import ClassVar

from PIL import Image

from kb_pipeline.analyzers.base import Analyzer
from kb_pipeline.analyzers.mistral.ocr import MistralOcr
from kb_pipeline.analyzers.mistral.pdf import print_pdf
from kb_pipeline.errors import MissingExtraError, ServiceError
from kb_pipeline.models.openai_vision import OpenAIVision
from kb_pipeline.records import ConvertedArticle, ImageDescription, ImageInfo
from kb_pipeline.settings import Settings
from kb_pipeline.steps.html import CONVERTER_VERSION, convert_html
from kb_pipeline.steps.restore import RESTORE_VERSION, restore_article, service_html

VERSION = "1"
"""Raise it whenever the same page would be printed, read or restored differently."""

_ENOUGH, _TOO_LITTLE = 0.9, 0.5
"""Shares of the text below which there is a warning, or an error."""

_NO_TEXT = re.compile(r"\[\[IMG:[^\]]*\]\]|(?<=\])\([^()\s]*\)")
"""Image markers, which are printed under other names, and link targets, which are not printed."""

_PACKAGES = ("mistralai", "playwright", "pypdf")


class MistralAnalyzer(Analyzer):
    """Converts by printing and reading, describes with the vision model of the settings."""

    name: ClassVar[str] = "mistral-doc-ai"
    convert_pool: ClassVar[str] = "mistral"
    describe_pool: ClassVar[str] = "openai"
    takes_prompt: ClassVar[bool] = True

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        if not all(map(find_spec, _PACKAGES)):
            raise MissingExtraError("the analyzer mistral-doc-ai", "azure")
        self._ocr = MistralOcr(settings)
        self._vision = OpenAIVision(settings)
        self.converter = f"{self.name}-{settings.mistral_model}-{VERSION}.{RESTORE_VERSION}+{CONVERTER_VERSION}"
        self.image_model = self._vision.model_id
        self.prompt_version = self._vision.prompt_version

    def check(self) -> str:
        """Print and read a page of two words, and describe a white image."""
        self._ocr.read(print_pdf("<p>Knowledge base</p>"))
        white = io.BytesIO()
        Image.new("RGB", (64, 64), "white").save(white, "PNG")
        self._vision.describe(white.getvalue())
        return f"{self.settings.mistral_model} and {self.image_model} answer"

    def convert(self, article_id: str, html: bytes, images: Mapping[str, ImageInfo]) -> ConvertedArticle:
        """Convert the main content from what the service reads in its PDF; reading less than half of it is an error."""
        local = convert_html(article_id, html, images)
        pages = self._ocr.read(print_pdf(service_html(article_id, html, images)))
        warnings = self._unread(local.markdown, pages)
        article = restore_article(local, pages, self.converter)
        return article.model_copy(update={"warnings": (*article.warnings, *warnings)})

    def _unread(self, markdown: str, pages: Sequence[str]) -> tuple[str, ...]:
        """Return a warning if part of the article was not read, which the service does not report."""
        share = share_read(markdown, pages)
        if share >= _ENOUGH:
            return ()
        message = f"{self._ocr.service.name} read {share:.0%} of the article's text"
        if share < _TOO_LITTLE:
            raise ServiceError(f"{message}; convert the article with another KB_ANALYZER, or try again")
        return (message,)

    def describe(self, png: bytes) -> ImageDescription:
        return self._vision.describe(png)


def share_read(markdown: str, pages: Sequence[str]) -> float:
    """Return the share (0 to 1) of an article's text that was read, by runs of three letters in any order.

    A misread letter costs three runs and a lost space none, and this works for languages without spaces.
    """
    expected, read = _trigrams(_NO_TEXT.sub("", markdown)), _trigrams("".join(pages))
    return (expected & read).total() / expected.total() if expected else 1.0


def _trigrams(text: str) -> Counter[str]:
    letters = "".join(filter(str.isalnum, text.casefold()))
    return Counter(letters[start : start + 3] for start in range(len(letters) - 2))
