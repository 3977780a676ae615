"""The analyzer that has Content Understanding in Foundry Tools read pages and look at images.

Here: what is sent, and what is made of the answer. Not here: the protocol (``content_understanding_client``), and
putting back what the service loses of a page (``steps.restore``).
"""

import io
from collections.abc import Iterable, Mapping
from typing import ClassVar

from PIL import Image

from kb_pipeline.analyzers.base import Analyzer
from kb_pipeline.analyzers.content_understanding_client import ContentUnderstanding
from kb_pipeline.analyzers.content_understanding_definition import ANALYZER_ID, COMPLETION_MODEL, DEFINITION_VERSION
from kb_pipeline.analyzers.content_understanding_results import (
    Content,
    ContentFilteredError,
    FieldValue,
    found_nothing,
)
from kb_pipeline.errors import ArticleError, ImageError
from kb_pipeline.records import ConvertedArticle, ImageDescription, ImageInfo
from kb_pipeline.settings import Settings
from kb_pipeline.steps.describe.image_fields import (
    DESCRIPTION,
    FIELDS_VERSION,
    NAVIGATION_PATH,
    UI_ELEMENTS,
    ImageField,
    image_description,
)
from kb_pipeline.steps.html import CONVERTER_VERSION, convert_html
from kb_pipeline.steps.images import flatten
from kb_pipeline.steps.restore import RESTORE_VERSION, restore_article, service_html

VERSION = "1"
"""Raise it whenever the same page would be sent or restored otherwise."""

PAGE_ANALYZER = "prebuilt-documentSearch"
MAX_PAGE = 1_000_000
"""Bytes of HTML that the service takes, which also has limits for the sides of an image, in pixels
(https://learn.microsoft.com/azure/ai-services/content-understanding/service-limits)."""
MIN_SIDE, MAX_SIDE = 50, 10_000

_HELLO = b"<!DOCTYPE html><html><head><title>Hello</title></head><body><p>Is anybody there?</p></body></html>"


class ContentUnderstandingAnalyzer(Analyzer):
    """Converts with a prebuilt analyzer, describes with one of our own that ``kb analyzers deploy`` makes."""

    name: ClassVar[str] = "content-understanding"
    converter: str = f"content-understanding-{VERSION}.{RESTORE_VERSION}+{CONVERTER_VERSION}"
    image_model: str = f"content-understanding-{COMPLETION_MODEL}"
    prompt_version: str = f"{DEFINITION_VERSION}-{FIELDS_VERSION}"
    convert_pool: ClassVar[str] = "content-understanding"
    describe_pool: ClassVar[str] = "content-understanding"

    def __init__(self, settings: Settings) -> None:
        """Take endpoint and key from the settings; nothing is sent.

        Raises:
            SettingsError: there is no endpoint.
            MissingExtraError: the packages are not installed.
        """
        super().__init__(settings)
        self._service = ContentUnderstanding(settings)

    def check(self) -> str:
        """Have a page of three words and a white image analysed, which shows whether all models are there.

        Raises:
            KnowledgeBaseError: the service did not do it.
        """
        self._markdown(_HELLO)
        self._describe(_encoded(Image.new("RGB", (MIN_SIDE, MIN_SIDE), "white")))
        return f"{PAGE_ANALYZER} and {ANALYZER_ID} answer"

    def convert(self, article_id: str, html: bytes, images: Mapping[str, ImageInfo]) -> ConvertedArticle:
        """Have the main content read; images, hyperlinks and all else that the service loses come from the HTML.

        Raises:
            UnreadableArticleError: the bytes are not HTML.
            EmptyArticleError: there is no main content.
            ArticleError: the main content is larger than the service takes.
            KnowledgeBaseError: the service did not do it.
        """
        local = convert_html(article_id, html, images)
        page = service_html(article_id, html, images).encode()
        if len(page) > MAX_PAGE:
            raise ArticleError(
                f"{article_id}: its main content has {len(page):,} bytes of HTML, {self.name} takes {MAX_PAGE:,}; "
                "divide the article, or choose another analyzer"
            )
        return restore_article(local, self._markdown(page), self.converter)

    def describe(self, png: bytes) -> ImageDescription:
        """Have the image described by the fields of ``kb_image_analyzer.json``.

        Raises:
            ImageError: the bytes are not an image, or the service's content filter or model says nothing about it.
            KnowledgeBaseError: the service did not do it.
        """
        try:
            found = self._describe(_encoded(_fitted(flatten(png))))
        except ContentFilteredError as exc:
            raise ImageError(str(exc)) from exc
        if not found.description:
            raise ImageError(f"{self._service.service.place} gives no description of it")
        return found

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


def _texts(contents: Iterable[Content], field: ImageField) -> list[str]:
    """What the service says in a field, whether as one text or as a list of them."""
    given = [(content.fields or {}).get(field.name) or FieldValue() for content in contents]
    values = [value for one in given for value in (one, *(one.value_array or ()))]
    return [value.value_string for value in values if value.value_string]


def _fitted(image: Image.Image) -> Image.Image:
    """The image with sides that the service takes: scaled down, or with white added."""
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
