"""The contract of an analyzer: it converts an article to markdown and describes its images.

Nothing about a single service belongs here.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import ClassVar

from kb_pipeline.records import ConvertedArticle, DocumentSummary, ImageDescription, ImageInfo
from kb_pipeline.settings import Settings
from kb_pipeline.sources import SourceDocument
from kb_pipeline.steps.html import convert_document
from kb_pipeline.steps.summary import SUMMARY_VERSION, summarise


class Analyzer(ABC):
    """Turns source material into what the serving layer is made of.

    ``converter``, ``image_model`` and ``summarizer`` name implementation and version. They are part of the fingerprint
    of everything made with them, so changing one of them makes that again. The pools are Dagster pools that limit
    how many runs convert, describe or summarise at once; "" for no limit. ``takes_prompt``: images are described as the
    file of KB_IMAGE_PROMPT_FILE asks, and ``prompt_version`` changes with its text. ``readers`` are the formats of
    documents that a service reads itself, also without text on their pages, each with the version of how.
    """

    name: ClassVar[str]
    converter: str
    image_model: str
    prompt_version: str
    summarizer: str = SUMMARY_VERSION
    readers: ClassVar[Mapping[str, str]] = {}
    takes_prompt: ClassVar[bool] = False
    convert_pool: ClassVar[str] = ""
    describe_pool: ClassVar[str] = ""
    summarize_pool: ClassVar[str] = ""

    def __init__(self, settings: Settings) -> None:
        """Keep the settings; nothing is loaded or sent yet.

        Raises:
            SettingsError: a setting that the analyzer needs is missing.
            MissingExtraError: its packages are not installed.
        """
        self.settings = settings

    def check(self) -> str:
        """Check whether articles can be analyzed now, and say what answered; costs a page and an image at most.

        Raises:
            KnowledgeBaseError: something is missing or refuses access; the message names the setting to check.
        """
        return f"{self.converter}, {self.image_model}"

    @abstractmethod
    def convert(self, article_id: str, html: bytes, images: Mapping[str, ImageInfo]) -> ConvertedArticle:
        """Convert the main content of the article.

        ``images`` maps the name of every image file in the folder to the information from its header.

        Raises:
            UnreadableArticleError: the bytes are not HTML.
            EmptyArticleError: the article has no main content.
            ArticleError: the analyzer cannot handle the article, for example because it is too large.
            KnowledgeBaseError: a service failed, or refused access.
        """

    def convert_document(
        self, article_id: str, name: str, data: bytes, document: SourceDocument, images: Mapping[str, ImageInfo]
    ) -> ConvertedArticle:
        """Convert the document in the file ``name``: by rules, or for the formats of ``readers`` by a service.

        ``document`` is what its source has read, ``images`` maps the images inside the document, too.

        Raises:
            EmptyArticleError: the document has neither text nor an image.
            KnowledgeBaseError: a service failed, or refused access or the document.
        """
        return convert_document(article_id, name, document.html, images, [page.number for page in document.pages])

    def summarise(self, article: ConvertedArticle) -> DocumentSummary:
        """Say what a converted article is about, by sentences of its own.

        Raises:
            KnowledgeBaseError: a service failed, or refused access.
        """
        return summarise(article.markdown, article.title)

    @abstractmethod
    def describe(self, png: bytes) -> ImageDescription:
        """Describe an image (PNG, RGB) from its pixels alone.

        Raises:
            ImageError: the bytes are not a PNG, or there is no description of this image.
            KnowledgeBaseError: a service failed, or refused access.
        """
