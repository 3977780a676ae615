"""The analyzer role: an article's HTML becomes markdown, an image becomes a description.

Here: the contract and what all analyzers share. Not here: anything about one service.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import ClassVar

from kb_pipeline.records import ConvertedArticle, ImageDescription, ImageInfo


class Analyzer(ABC):
    """Turns source material into what the serving layer is made of.

    ``converter`` and ``image_model`` name implementation and version; they are part of the
    fingerprint of everything made with them, so a change of either makes that again. The pools are those of Dagster
    that limit how many runs convert or describe at once; "" for no limit.
    """

    name: ClassVar[str]
    converter: ClassVar[str]
    image_model: ClassVar[str]
    prompt_version: ClassVar[str]
    convert_pool: ClassVar[str] = ""
    describe_pool: ClassVar[str] = ""

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
