"""The analyzer that has articles read by Mistral Document AI, and images described by a vision model.

An article becomes one clean page with a marker where each image stands, the page a PDF, the PDF what the service
reads in it; what reading loses (places of images, links, ...) comes back from the HTML.
"""

import io
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import ClassVar

from PIL import Image

from kb_pipeline.analyzers.base import Analyzer
from kb_pipeline.analyzers.mistral_ocr import MistralOcr
from kb_pipeline.analyzers.mistral_pdf import print_pdf
from kb_pipeline.errors import MissingExtraError, ServiceError
from kb_pipeline.models.openai_vision import OpenAIVision
from kb_pipeline.records import ConvertedArticle, ImageDescription, ImageInfo
from kb_pipeline.settings import Settings
from kb_pipeline.steps.html import CONVERTER_VERSION, convert_html
from kb_pipeline.steps.restore import RESTORE_VERSION, restore_article, service_html

VERSION = "1"
"""Raise it whenever the same page would be printed, read or restored otherwise."""

_ENOUGH, _TOO_LITTLE = 0.9, 0.5
"""Shares of the text, below which there is a warning and an error."""

_NO_TEXT = re.compile(r"\[\[IMG:[^\]]*\]\]|(?<=\])\([^()\s]*\)")
"""Markers, which are printed with other names, and targets of links, which are not printed."""

_PACKAGES = ("mistralai", "playwright", "pypdf")


class MistralAnalyzer(Analyzer):
    """Converts by printing and reading, describes with the vision model of the settings."""

    name: ClassVar[str] = "mistral-doc-ai"
    convert_pool: ClassVar[str] = "mistral"
    describe_pool: ClassVar[str] = "openai"

    def __init__(self, settings: Settings) -> None:
        """Take both services from the settings; nothing is sent, and no browser is started yet.

        Raises:
            SettingsError: a setting of either service is missing.
            MissingExtraError: the packages are not installed.
        """
        super().__init__(settings)
        if not all(map(find_spec, _PACKAGES)):
            raise MissingExtraError("the analyzer mistral-doc-ai", "azure")
        self._ocr = MistralOcr(settings)
        self._vision = OpenAIVision(settings)
        self.converter = f"{self.name}-{settings.mistral_model}-{VERSION}.{RESTORE_VERSION}+{CONVERTER_VERSION}"
        self.image_model = self._vision.model_id
        self.prompt_version = self._vision.prompt_version

    def check(self) -> str:
        """Have a page of two words printed and read, and a white image described.

        Raises:
            KnowledgeBaseError: there is no browser, or a service did not do it.
        """
        self._ocr.read(print_pdf("<p>Knowledge base</p>"))
        self._vision.describe(_white())
        return f"{self.settings.mistral_model} and {self.image_model} answer"

    def convert(self, article_id: str, html: bytes, images: Mapping[str, ImageInfo]) -> ConvertedArticle:
        """Convert the article's main content by what the service reads in its print.

        Raises:
            UnreadableArticleError: the bytes are not HTML.
            EmptyArticleError: there is no main content.
            ArticleError: the page cannot be printed.
            TransientError: the service is busy or away.
            ServiceError: the service refuses us or the document, or reads less than half of it.
        """
        local = convert_html(article_id, html, images)
        pages = self._ocr.read(print_pdf(service_html(article_id, html, images)))
        warnings = self._unread(local.markdown, pages)
        article = restore_article(local, pages, self.converter)
        return article.model_copy(update={"warnings": (*article.warnings, *warnings)})

    def _unread(self, markdown: str, pages: Sequence[str]) -> tuple[str, ...]:
        """What to warn of where part of the article was passed over, which the service does not tell."""
        share = share_read(markdown, pages)
        if share >= _ENOUGH:
            return ()
        message = f"{self._ocr.service.name} read {share:.0%} of the article's text"
        if share < _TOO_LITTLE:
            raise ServiceError(f"{message}; convert the article with another KB_ANALYZER, or try again")
        return (message,)

    def describe(self, png: bytes) -> ImageDescription:
        """Describe an image with the vision model.

        Raises:
            ImageError: the bytes are not an image.
            KnowledgeBaseError: the model is busy, away, or refuses.
        """
        return self._vision.describe(png)


def share_read(markdown: str, pages: Sequence[str]) -> float:
    """Share (0 to 1) of an article's text that is in what was read, by runs of three letters in any order.

    One misread letter costs three runs, a lost space none, and no language needs words.
    """
    wanted, read = _trigrams(_NO_TEXT.sub("", markdown)), _trigrams("".join(pages))
    return (wanted & read).total() / wanted.total() if wanted else 1.0


def _trigrams(text: str) -> Counter[str]:
    letters = "".join(filter(str.isalnum, text.casefold()))
    return Counter(letters[start : start + 3] for start in range(len(letters) - 2))


def _white() -> bytes:
    written = io.BytesIO()
    Image.new("RGB", (64, 64), "white").save(written, "PNG")
    return written.getvalue()
