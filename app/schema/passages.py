"""A passage with its screenshots and pages, and the citation that it becomes in an answer."""

from datetime import UTC, datetime
from operator import not_
from typing import Literal

from pydantic import Field

from app.schema.wire import Wire
from kb_pipeline.records import PageBreak
from kb_pipeline.steps.formats import part_of


class CitedImage(Wire):
    """A screenshot of a cited passage. ``url`` is below the service: ``/api/images/<article_id>/images/<stem>.png``."""

    url: str
    alt: str = ""


class Passage(Wire):
    """A passage of an article: ``passage`` is markdown whose images are URLs below the service.

    If the article is a document, ``filename`` is its file; if that has pages, ``pages`` are the numbers of those on
    which the passage stands, ``page_labels`` what is printed on each, and ``page_breaks`` where in ``passage`` each
    begins. The JSON of other articles has none of these fields.
    """

    chunk_id: str
    article_id: str
    title: str
    section: str
    heading_path: tuple[str, ...]
    passage: str
    images: tuple[CitedImage, ...] = ()
    filename: str = Field(default="", exclude_if=not_)
    pages: tuple[int, ...] = Field(default=(), exclude_if=not_)
    page_labels: tuple[str, ...] = Field(default=(), exclude_if=not_)
    page_breaks: tuple[PageBreak, ...] = Field(default=(), exclude_if=not_)

    @property
    def file_for_readers(self) -> str:
        """The name of its file if that tells a reader anything, as ``index.md`` does not."""
        return "" if self.filename.startswith("index.") else self.filename

    @property
    def part(self) -> str:
        """What a page of it is called: ``page``, ``slide``, or nothing if its label says it: ``Prices, rows 1-500``."""
        return part_of(self.filename)

    @property
    def pages_in_words(self) -> str:
        """``page 3, 4``, ``slide 3``, ``Prices, rows 1-500``: what is printed on its pages; nothing if it has none."""
        return f"{self.part} {', '.join(self.page_labels)}".strip() if self.page_labels else ""

    def page_at(self, offset: int) -> int | None:
        """The number of the page on which the character ``offset`` of the passage stands, if it has pages."""
        begun = [page_break.page for page_break in self.page_breaks if page_break.offset <= offset]
        return begun[-1] if begun else None

    def label_of(self, page: int) -> str:
        """What is printed on a page of the passage."""
        return dict(zip(self.pages, self.page_labels, strict=False)).get(page, str(page))


class CitationOrigin(Wire):
    """The provenance of a passage: pipeline run, converter with version, hash, embedding model.

    ``run_url`` is the run in the Dagster UI. ``generation`` is the id of the generation of the index in which the
    passage was found; ``None`` in answers from before it was kept.
    """

    run_id: str
    run_url: str | None = None
    converter: str
    content_hash: str
    embedding_model: str
    generation: str | None = None


CitationKind = Literal["article", "document", "web"]
"""What a passage is part of: an article that was HTML, a document with a file of its own, or a page of the web."""


class Citation(Passage):
    """A passage that was available for an answer. ``[Ref #number]`` in the answer refers to it; references count from 1
    in the order in which a reader meets them.

    ``used`` says whether the answer refers to it. ``quotes`` are the sentences of ``passage``, verbatim, that support
    the answer; ``quote_pages`` are the pages on which each or most of it stands, if the passage has pages, and
    ``answer_page`` is the page of the quote that says most of what was asked, of those at the first reference.
    ``kind`` is left out of the JSON of articles. ``document_url`` is the original file below the service, at that page,
    or else at the passage's first; there is none if the service keeps the files to itself. A page of the web has its
    address as ``source_url``, and ``fetched_at``, when it was read, in ISO 8601. ``score`` is that of the
    search, for evaluations. It is neither sent nor kept: scores depend on hidden articles, too.
    """

    number: int
    score: float = Field(default=0.0, exclude=True)
    source_url: str | None = None
    origin: CitationOrigin
    used: bool = False
    quotes: tuple[str, ...] = ()
    kind: CitationKind = Field(default="article", exclude_if=lambda kind: kind == "article")
    quote_pages: tuple[int, ...] = Field(default=(), exclude_if=not_)
    answer_page: int | None = Field(default=None, exclude_if=not_)
    document_url: str | None = Field(default=None, exclude_if=not_)
    fetched_at: str | None = Field(default=None, exclude_if=not_)

    @property
    def pages_for_readers(self) -> tuple[int, ...]:
        """The pages that a reader is told, each once: that of the answer first, else all of the passage."""
        of_quotes = self.quote_pages if self.answer_page is None else (self.answer_page, *self.quote_pages)
        return tuple(dict.fromkeys(of_quotes)) or self.pages

    @property
    def is_of_web(self) -> bool:
        """Whether this is a page of the web, and not of the knowledge base."""
        return self.kind == "web"

    @property
    def fetched(self) -> str:
        """When a page of the web was fetched, for people: ``10:41 UTC on 2026-03-04``; empty for all others."""
        if not self.fetched_at:
            return ""
        at = datetime.fromisoformat(self.fetched_at).astimezone(UTC)
        return f"{at:%H:%M} UTC on {at.date()}"


CitationStyle = Literal["ref", "source"]
"""How an answer refers to its passages: ``[Ref #3]``, or ``(Source: manual.pdf, S. 12)``."""
