"""The contract of a source: it reads a document of one format into HTML and the images that are inside it."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from kb_pipeline.records import DocumentFacts, OutlineEntry, PageInfo, PageLine, Spoken
from kb_pipeline.steps.describe.lines import OcrLine
from kb_pipeline.steps.pages import PAGE_TAG, page_element

__all__ = ["PAGE_TAG", "DocumentLimits", "Source", "SourceDocument", "SourceTools", "page_element"]


@dataclass(frozen=True)
class SourceDocument:
    """A document as the converter reads it.

    ``html`` is a page of which everything is content. Its ``img`` elements name files of the article's folder, or keys
    of ``images``: the images that were inside the document, whose names begin with the document's own and ``/``.
    ``title`` is what the author called the document, apart from its headings. If it has pages, each begins in ``html``
    with the element of :func:`page_element`, pages without text as well, and ``pages`` has one record for each.

    The rest is for the checks. ``control`` is the text of each page, by number, as another reading of the file found
    it, without any of the source's rules. ``left_out`` are those words of it that are left out on purpose: running
    heads, page numbers, the repeated header of a table, all words of a page of contents. ``beside_text`` are those of
    them that no reader sees, that are painted twice, that the file itself marks as no content, or that a picture shows.
    ``outline`` are the contents that the document carries in itself. What is empty is not checked.

    ``lines`` are those that OCR read, by page, so that readers see a sentence marked where it stands on the picture.
    """

    html: str
    title: str = ""
    images: Mapping[str, bytes] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    pages: tuple[PageInfo, ...] = ()
    facts: DocumentFacts | None = None
    control: Mapping[int, str] = field(default_factory=dict)
    left_out: Mapping[int, str] = field(default_factory=dict)
    outline: tuple[OutlineEntry, ...] = ()
    lines: Mapping[int, tuple[PageLine, ...]] = field(default_factory=dict)
    beside_text: Mapping[int, str] = field(default_factory=dict)


@dataclass(frozen=True)
class DocumentLimits:
    """How much of a document is read, and with what effort. Seconds and MB are those of the process that reads it."""

    seconds: float = 300
    memory_mb: int = 1500
    most_bytes: int = 500_000_000
    most_pages: int = 5_000
    most_ocr_pages: int = 500


@dataclass(frozen=True)
class SourceTools:
    """What some sources need besides the document.

    ``read_picture`` returns the lines of text on a picture of a page (PNG), in pixels; without it, such pages are only
    counted. ``mask_addresses``: mails are read without the people and addresses in them. ``transcribe`` returns what is
    said in a recording, by its name and content.
    """

    limits: DocumentLimits = DocumentLimits()
    password: str = ""
    read_picture: Callable[[bytes], Sequence[OcrLine]] | None = None
    mask_addresses: bool = False
    transcribe: Callable[[str, bytes], Sequence[Spoken]] | None = None


class Source(ABC):
    """Reads one format. ``version`` names the rules and the library; another one makes every document again.

    A plug-in says also which files it reads: their ``endings``, in lower case with their dot, the ``media_types`` of
    these for browsers, and what readers call a page of such a document, its ``part``. The sources here say so in
    ``steps.formats``.
    """

    version: ClassVar[str]
    endings: ClassVar[tuple[str, ...]] = ()
    media_types: ClassVar[Mapping[str, str]] = {}
    part: ClassVar[str] = "page"
    names_people: ClassVar[bool] = False
    """Whether ``mask_addresses`` changes what is read; if it is set, readers are not offered the document itself."""

    is_transcribed: ClassVar[bool] = False
    """Whether it reads with ``transcribe``; another model of that makes its documents again."""

    @abstractmethod
    def read(self, article_id: str, name: str, data: bytes) -> SourceDocument:
        """Read the document in the file ``name``.

        Raises:
            UnreadableArticleError: it is not of this format, is damaged, or would be too large once unpacked.
            EmptyArticleError: nothing is in it.
        """

    def equipped(self, tools: SourceTools) -> "Source":
        """Return the source with these tools. Most need none."""
        return self
