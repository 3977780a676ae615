"""The analyzer that uses Content Understanding in Foundry Tools to convert pages and describe images.

Here: what is sent, and what is made of the results. The protocol is in ``client``; ``steps.restore`` puts back what the
service loses of a page.
"""

import io
import json
import re
from collections.abc import Iterable, Mapping
from importlib.resources import files
from typing import Any, ClassVar

from PIL import Image

from kb_pipeline.analyzers.answers import ask
from kb_pipeline.analyzers.base import Analyzer
from kb_pipeline.analyzers.content_understanding.client import ContentUnderstanding
from kb_pipeline.analyzers.content_understanding.results import (
    AnalyzedContent,
    ContentFilteredError,
    FieldValue,
    found_nothing,
)
from kb_pipeline.analyzers.pdf_parts import split_pdf
from kb_pipeline.analyzers.read_by_service import converted_document
from kb_pipeline.errors import ArticleError, ImageError
from kb_pipeline.records import ConvertedArticle, ImageDescription, ImageInfo
from kb_pipeline.settings import Settings
from kb_pipeline.sources import SourceDocument
from kb_pipeline.sources.slides.source import without_hidden_slides
from kb_pipeline.steps.describe.image_fields import (
    DESCRIPTION,
    FIELDS_VERSION,
    NAVIGATION_PATH,
    UI_ELEMENTS,
    ImageField,
    image_description,
)
from kb_pipeline.steps.fingerprint import sha256
from kb_pipeline.steps.formats import media_type_of
from kb_pipeline.steps.html import CONVERTER_VERSION, convert_html
from kb_pipeline.steps.images import flatten
from kb_pipeline.steps.main_file import format_of
from kb_pipeline.steps.restore import DOCUMENT_VERSION, RESTORE_VERSION, restore_article, service_html

DEFINITION: dict[str, Any] = json.loads(files(__package__).joinpath("kb_image_analyzer.json").read_bytes())
DEFINITION_VERSION = sha256(json.dumps(DEFINITION, sort_keys=True).encode())[:12]
COMPLETION_MODEL: str = DEFINITION["models"]["completion"]

ANALYZER_ID = f"kb_image_analyzer_{DEFINITION_VERSION}"
"""Only letters, digits and underscores, as the service demands."""

_VERSION = re.compile(r"kb_image_analyzer_[0-9a-f]{12}")


def is_version(analyzer_id: str) -> bool:
    """Whether the id names this analyzer in any version."""
    return _VERSION.fullmatch(analyzer_id) is not None


def comparable_definition(analyzer: Mapping[str, Any]) -> tuple[object, ...]:
    """Return the parts of a definition to compare; a service may add to the rest, or word it differently."""
    fields = (analyzer.get("fieldSchema") or {}).get("fields") or {}
    kinds = sorted((name, field.get("type")) for name, field in fields.items())
    return (analyzer.get("baseAnalyzerId"), (analyzer.get("models") or {}).get("completion"), *kinds)


VERSION = "1"
"""Raise it whenever the same page would be sent differently; then every page is sent, and paid for, again."""

PAGE_ANALYZER = "prebuilt-documentSearch"
_READER = f"content-understanding-{VERSION}-{PAGE_ANALYZER}"
MAX_PAGE = 1_000_000
"""Most bytes of HTML that the service accepts; it also limits the sides of an image, in pixels
(https://learn.microsoft.com/azure/ai-services/content-understanding/service-limits)."""
MIN_SIDE, MAX_SIDE = 50, 10_000
"""Pixels that the service accepts (the same limits)."""
MAX_DOCUMENT = 200_000_000
MAX_PAGES = 300
"""Most bytes of a document, and most pages of a PDF; longer ones are sent in parts (the same limits)."""
_READ = ("pdf", "docx", "pptx")
"""The formats of documents that the service reads itself."""

_HELLO = b"<!DOCTYPE html><html><head><title>Hello</title></head><body><p>Is anybody there?</p></body></html>"


class ContentUnderstandingAnalyzer(Analyzer):
    """Converts with a prebuilt analyzer, describes with our own, which ``kb analyzers deploy`` creates."""

    name: ClassVar[str] = "content-understanding"
    converter: str = f"content-understanding-{VERSION}.{RESTORE_VERSION}+{CONVERTER_VERSION}"
    image_model: str = f"content-understanding-{COMPLETION_MODEL}"
    prompt_version: str = f"{DEFINITION_VERSION}-{FIELDS_VERSION}"
    convert_pool: ClassVar[str] = "content-understanding"
    describe_pool: ClassVar[str] = "content-understanding"
    readers: ClassVar[Mapping[str, str]] = dict.fromkeys(_READ, f"content-understanding-{DOCUMENT_VERSION}")

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self._service = ContentUnderstanding(settings)

    def check(self) -> str:
        """Analyze a page of three words and a white image, which shows whether all models are available."""
        self._markdown(_HELLO)
        self._describe(_encoded(Image.new("RGB", (MIN_SIDE, MIN_SIDE), "white")))
        return f"{PAGE_ANALYZER} and {ANALYZER_ID} answer"

    def convert(self, article_id: str, html: bytes, images: Mapping[str, ImageInfo]) -> ConvertedArticle:
        """Convert the main content; images, links and all else that the service loses are restored from the HTML."""
        local = convert_html(article_id, html, images)
        page = service_html(article_id, html, images).encode()
        if len(page) > MAX_PAGE:
            raise ArticleError(
                f"{article_id}: its main content has {len(page):,} bytes of HTML, {self.name} accepts {MAX_PAGE:,}; "
                "divide the article, or choose another analyzer"
            )
        texts = ask(_READER, page, lambda: [self._markdown(page)])
        return restore_article(local, texts[0], self.converter)

    def convert_document(
        self, article_id: str, name: str, data: bytes, document: SourceDocument, images: Mapping[str, ImageInfo]
    ) -> ConvertedArticle:
        """Convert a document from what the service reads of it; Markdown, which it does not take, is converted here.

        The summary that the service writes is not used: ours consists of the document's own sentences.
        """
        file_format = format_of(name)
        if file_format not in self.readers:
            return super().convert_document(article_id, name, data, document, images)
        texts = ask(_READER, data, lambda: self._pages(article_id, name, data, file_format))
        return converted_document(self._service.service.name, self.converter, name, document, images, texts, article_id)

    def _pages(self, article_id: str, name: str, data: bytes, file_format: str) -> list[str]:
        """Return the text of each page, or one text if the service does not say where pages begin."""
        if file_format == "pptx":  # what is hidden in it is not for readers, and a service may not know that
            data = without_hidden_slides(data)
        if file_format == "pdf":
            parts = [part.pdf for part in split_pdf(data, MAX_PAGES, MAX_DOCUMENT)]
        elif len(data) > MAX_DOCUMENT:
            raise ArticleError(f"{article_id}: {name} has {len(data):,} bytes, {self.name} accepts {MAX_DOCUMENT:,}")
        else:
            parts = [data]
        kind = media_type_of(name)
        contents = [content for part in parts for content in self._service.analyze(PAGE_ANALYZER, part, kind)]
        return [text for content in contents for text in content.page_texts()]

    def describe(self, png: bytes) -> ImageDescription:
        try:
            description = self._describe(_encoded(_fitted(flatten(png))))
        except ContentFilteredError as exc:
            raise ImageError(str(exc)) from exc
        if not description.description:
            raise ImageError(f"{self._service.service.place} gave no description of the image")
        return description

    def _markdown(self, page: bytes) -> str:
        contents = self._service.analyze(PAGE_ANALYZER, page, "text/html")
        markdown = "\n\n".join(content.markdown for content in contents if content.markdown)
        if not markdown.strip():
            raise found_nothing(self._service.service)
        return markdown

    def _describe(self, png: bytes) -> ImageDescription:
        contents = self._service.analyze(ANALYZER_ID, png, "image/png")
        if not any(content.fields for content in contents):
            raise found_nothing(self._service.service)
        return image_description(
            " ".join(_texts(contents, DESCRIPTION)), _texts(contents, UI_ELEMENTS), _texts(contents, NAVIGATION_PATH)
        )


def _texts(contents: Iterable[AnalyzedContent], field: ImageField) -> list[str]:
    """Return the texts of a field, which the service fills with one text or with a list."""
    outer = [(content.fields or {}).get(field.name) or FieldValue() for content in contents]
    values = [value for whole in outer for value in (whole, *(whole.value_array or ()))]
    return [value.value_string for value in values if value.value_string]


def _fitted(image: Image.Image) -> Image.Image:
    """Scale the image down, or pad it with white, to the sizes that the service accepts."""
    image.thumbnail((MAX_SIDE, MAX_SIDE))
    if min(image.size) >= MIN_SIDE:
        return image
    wider = Image.new("RGB", (max(image.width, MIN_SIDE), max(image.height, MIN_SIDE)), "white")
    wider.paste(image)
    return wider


def _encoded(image: Image.Image) -> bytes:
    sink = io.BytesIO()
    image.save(sink, "PNG")
    return sink.getvalue()
