"""The analyzer role: an article's HTML becomes markdown, an image becomes a description.

Here: the contract and what all analyzers share. Not here: anything about one service.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import ClassVar

from kb_pipeline.records import ConvertedArticle, ImageDescription, ImageInfo
from kb_pipeline.settings import Settings


class Analyzer(ABC):
    """Turns source material into what the serving layer is made of.

    ``converter`` and ``image_model`` name implementation and version; they are part of the
    fingerprint of everything made with them, so a change of either makes that again. The pools are those of Dagster
    that limit how many runs convert or describe at once; "" for no limit.
    """

    name: ClassVar[str]
    converter: str
    image_model: str
    prompt_version: str
    convert_pool: ClassVar[str] = ""
    describe_pool: ClassVar[str] = ""

    def __init__(self, settings: Settings) -> None:
        """Take what it needs from the settings; nothing is loaded or sent yet.

        Raises:
            SettingsError: something that it needs is not set.
        """
        self.settings = settings

    def check(self) -> str:
        """Find out whether articles could be analysed now, and say what was found; costs a page and an image at most.

        Raises:
            KnowledgeBaseError: something is missing or refuses; the message says which setting to look at.
        """
        return f"{self.converter}, {self.image_model}"

    @abstractmethod
    def convert(self, article_id: str, html: bytes, images: Mapping[str, ImageInfo]) -> ConvertedArticle:
        """Convert the article's main content.

        ``images`` maps the name of every image file of the folder to what its header tells.

        Raises:
            UnreadableArticleError: the bytes are not HTML.
            EmptyArticleError: there is no main content.
        """

    @abstractmethod
    def describe(self, png: bytes) -> ImageDescription:
        """Describe an image (PNG, RGB) from its pixels alone.

        Raises:
            ImageError: the bytes are not a PNG.
        """
