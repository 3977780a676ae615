"""Published articles as readers and authors see them."""

from operator import not_
from typing import Literal

from pydantic import Field

from app.schema.gaps import KnowledgeGap
from app.schema.passages import CitedImage
from app.schema.wire import Wire
from kb_pipeline.records import PageBreak


class ArticleSummary(Wire):
    """An article in a list. ``state`` says which text readers see: the newest, an older one, or none.

    One that is ``waiting`` was changed since, or is new; one that is ``withheld`` is shown to nobody. ``error`` is the
    reason why readers do not see the newest text, ``remedy`` what to do about it.

    ``page_count`` is 0 if it has no pages; facts that are not known are empty, dates are ISO 8601.
    """

    article_id: str
    title: str
    state: Literal["published", "behind", "failed", "pinned", "waiting", "withheld"]
    published_at: str | None = None
    images: int = 0
    chunks: int = 0
    error: str | None = None
    remedy: str = Field(default="", exclude_if=not_)
    filename: str = ""
    document_type: str = ""
    department: str = ""
    author: str = ""
    upload_date: str = ""
    page_count: int = 0


ArticleStatus = Literal["published", "failing", "waiting", "withheld"]
"""What an author asks of articles: which readers see, which fail, wait for the next ingest, or are hidden from all."""

ArticleSort = Literal["title", "file", "type", "pages", "date"]


class ArticleList(Wire):
    """A page of the matching articles; ``total`` counts all of them.

    ``document_types`` and ``departments`` are those of all articles that the caller may see, to choose from.
    ``statuses`` are offered to those who are named for the articles.
    """

    total: int
    articles: tuple[ArticleSummary, ...]
    document_types: tuple[str, ...] = ()
    departments: tuple[str, ...] = ()
    statuses: tuple[ArticleStatus, ...] = Field(default=(), exclude_if=not_)


class ArticleFailure(Wire):
    """Why the newest version of an article could not be published, and what to do; readers see an older one."""

    reason: str
    remedy: str
    failed_at: str


class ArticlePicture(CitedImage):
    """A picture of an article for its author: its file, what was read from it, and what the author says of it."""

    file: str
    read_as: str
    said: str = ""
    ui_elements: tuple[str, ...] = ()
    navigation_path: tuple[str, ...] = ()


class Contradiction(Wire):
    """A sentence of an article, and what another one says with another number, date or name in place of ``says``."""

    kind: Literal["number", "date", "name"]
    chunk_id: str
    text: str
    says: str
    other_article_id: str
    other_title: str
    other_chunk_id: str
    other_text: str
    other_says: str


class ArticleChunk(Wire):
    """A chunk of the index; its images are URLs below the service."""

    chunk_id: str
    chunk_index: int
    heading_path: tuple[str, ...]
    content: str
    images: tuple[CitedImage, ...] = ()
    content_hash: str
    page_breaks: tuple[PageBreak, ...] = Field(default=(), exclude_if=not_)


class Article(Wire):
    """A published article: markdown whose images are URLs below the service.

    ``links`` maps link targets in it to ids of other articles. If it is a document, ``filename`` is its file, and
    ``document_url`` leads to it if readers may open it. If that has pages, ``page_breaks`` say where in ``markdown``
    each begins, and ``page_count`` how many there are; ``markdown`` and ``chunks`` may be only the part from
    ``first_page`` to ``last_page``. ``failure``, ``pictures`` and ``contradictions`` are for those who are
    named for the articles.
    """

    article_id: str
    title: str
    source_url: str | None
    markdown: str
    images: tuple[CitedImage, ...]
    chunks: tuple[ArticleChunk, ...]
    links: dict[str, str] = Field(default_factory=dict)
    published_at: str | None
    run_id: str
    run_url: str | None
    converter: str
    content_hash: str
    filename: str = Field(default="", exclude_if=not_)
    document_url: str | None = Field(default=None, exclude_if=not_)
    page_breaks: tuple[PageBreak, ...] = Field(default=(), exclude_if=not_)
    page_count: int = Field(default=0, exclude_if=not_)
    first_page: int = Field(default=0, exclude_if=not_)
    last_page: int = Field(default=0, exclude_if=not_)
    failure: ArticleFailure | None = Field(default=None, exclude_if=not_)
    pictures: tuple[ArticlePicture, ...] = Field(default=(), exclude_if=not_)
    contradictions: tuple[Contradiction, ...] = Field(default=(), exclude_if=not_)


class ArticleUse(Wire):
    """How readers used an article in the ``days`` before ``made_at``, which is ``None`` if nobody looked yet.

    ``cited`` counts the answers that cite it. ``gaps`` are questions that nothing answered, to which it is nearest.
    """

    made_at: str | None
    days: int
    cited: int = 0
    gaps: tuple[KnowledgeGap, ...] = ()
