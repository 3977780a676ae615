"""The contract of a source: it reads a document of one format into HTML and the images that are inside it."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar


@dataclass(frozen=True)
class SourceDocument:
    """A document as the converter reads it.

    ``html`` is a page of which everything is content. Its ``img`` elements name files of the article's folder, or keys
    of ``images``: the images that were inside the document, whose names begin with the document's own and ``/``.
    ``title`` is what the author called the document, apart from its headings.
    """

    html: str
    title: str = ""
    images: Mapping[str, bytes] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()


class Source(ABC):
    """Reads one format. ``version`` names the rules and the library; another one makes every document again."""

    version: ClassVar[str]

    @abstractmethod
    def read(self, article_id: str, name: str, data: bytes) -> SourceDocument:
        """Read the document in the file ``name``.

        Raises:
            UnreadableArticleError: it is not of this format, is damaged, or would be too large once unpacked.
            EmptyArticleError: nothing is in it.
        """
