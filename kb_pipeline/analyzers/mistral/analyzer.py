"""The analyzer that converts articles with Mistral Document AI and describes images with a vision model.

An article becomes a clean page with a marker for each image. The page is printed to PDF, and the service reads the PDF.
What reading loses (places of images, links, ...) is restored from the HTML.
"""

import io
from collections.abc import Mapping
from importlib.util import find_spec
from typing import ClassVar

from PIL import Image

from kb_pipeline.analyzers.answers import ask
from kb_pipeline.analyzers.base import Analyzer
from kb_pipeline.analyzers.mistral.ocr import MistralOcr
from kb_pipeline.analyzers.mistral.pdf import print_pdf
from kb_pipeline.analyzers.read_by_service import check_read, converted_document
from kb_pipeline.errors import MissingExtraError
from kb_pipeline.models.openai_vision import OpenAIVision
from kb_pipeline.records import ConvertedArticle, ImageDescription, ImageInfo
from kb_pipeline.settings import Settings
from kb_pipeline.sources import SourceDocument
from kb_pipeline.steps.html import CONVERTER_VERSION, convert_html
from kb_pipeline.steps.main_file import format_of
from kb_pipeline.steps.restore import DOCUMENT_VERSION, RESTORE_VERSION, restore_article, service_html

VERSION = "1"
"""Raise it whenever the same page would be printed or read differently; then all are read, and paid for, again."""

_PACKAGES = ("mistralai", "playwright", "pypdf")


class MistralAnalyzer(Analyzer):
    """Converts by printing and reading, describes with the vision model of the settings."""

    name: ClassVar[str] = "mistral-doc-ai"
    convert_pool: ClassVar[str] = "mistral"
    describe_pool: ClassVar[str] = "openai"
    takes_prompt: ClassVar[bool] = True
    readers: ClassVar[Mapping[str, str]] = {"pdf": f"mistral-doc-ai-{DOCUMENT_VERSION}"}

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        if not all(map(find_spec, _PACKAGES)):
            raise MissingExtraError("the analyzer mistral-doc-ai", "azure")
        self._ocr = MistralOcr(settings)
        self._vision = OpenAIVision(settings)
        self.converter = f"{self.name}-{settings.mistral_model}-{VERSION}.{RESTORE_VERSION}+{CONVERTER_VERSION}"
        self._reader = f"{self.name}-{settings.mistral_model}-{VERSION}"
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
        page = service_html(article_id, html, images)
        pages = ask(self._reader, page.encode(), lambda: self._ocr.read(print_pdf(page)))
        warnings = check_read(self._ocr.service.name, local.markdown, pages)
        article = restore_article(local, pages, self.converter)
        return article.model_copy(update={"warnings": (*article.warnings, *warnings)})

    def convert_document(
        self, article_id: str, name: str, data: bytes, document: SourceDocument, images: Mapping[str, ImageInfo]
    ) -> ConvertedArticle:
        """Convert a PDF from what the service reads of its pages; other formats, which it does not take, by rules."""
        if format_of(name) not in self.readers:
            return super().convert_document(article_id, name, data, document, images)
        pages = ask(self._reader, data, lambda: self._ocr.read(data))
        return converted_document(self._ocr.service.name, self.converter, name, document, images, pages, article_id)

    def describe(self, png: bytes) -> ImageDescription:
        return self._vision.describe(png)
