"""What the steps hand to each other: frozen, validated, JSON round-trippable.

Nothing here reads, writes or computes more than a hash of its own fields.
"""

from typing import Literal

from pydantic import BaseModel, ConfigDict


class Record(BaseModel):
    """Base of all records: immutable, no unknown fields."""

    model_config = ConfigDict(frozen=True, extra="forbid")


# --- staging -------------------------------------------------------------------------------------


class StagedFile(Record):
    """One file of a staged article; ``name`` is relative to the article's folder, with ``/``."""

    name: str
    size: int
    sha256: str


class StagedArticle(Record):
    """What lies in one staging folder. ``content_hash`` covers the names and bytes of all files."""

    article_id: str
    files: tuple[StagedFile, ...]
    content_hash: str


class ArticleMetadata(Record):
    """The optional ``metadata.json`` beside ``index.html``; what it says wins over the HTML."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    title: str | None = None
    source_url: str | None = None
    language: str | None = None
    key_topics: tuple[str, ...] = ()
    access_control_list: tuple[str, ...] = ()


# --- images --------------------------------------------------------------------------------------


class ImageInfo(Record):
    """A staged image as its header tells it. ``problem`` says why it cannot be shown, if so."""

    file: str
    sha256: str
    format: str = ""
    width: int = 0
    height: int = 0
    problem: str | None = None


class ImageReference(Record):
    """A content image where an article shows it; one for each distinct file of the article.

    ``file`` is the staged name, ``stem`` the name it is served under (``images/<stem>.png``),
    unique within the article. ``context`` is the text right before the image: the step it shows.
    """

    file: str
    stem: str
    sha256: str
    alt: str = ""
    caption: str = ""
    context: str = ""


class ImageDescription(Record):
    """What an image shows, from its pixels alone, so that equal bytes share one description."""

    description: str
    ui_elements: tuple[str, ...] = ()
    navigation_path: tuple[str, ...] = ()


class ImageProblem(Record):
    """A content image that cannot be shown, and why."""

    file: str
    problem: str


class DescribedImages(Record):
    """An article's images with their descriptions in its context, by staged file name."""

    descriptions: dict[str, ImageDescription]
    problems: tuple[ImageProblem, ...] = ()


# --- conversion ----------------------------------------------------------------------------------


class Link(Record):
    """A hyperlink of the main content; ``target`` exactly as the author wrote it."""

    label: str
    target: str


class ArticleLink(Record):
    """A link that leads to another staged article."""

    label: str
    target: str
    article_id: str


class DocumentCounts(Record):
    """How much of each kind the main content of the HTML holds (what must survive)."""

    words: int = 0
    headings: int = 0
    images: int = 0
    links: int = 0
    tables: int = 0
    code_blocks: int = 0
    list_items: int = 0


class ConvertedArticle(Record):
    """An article as markdown, with one ``[[IMG:<file>]]`` marker where each content image stands.

    ``<file>`` is percent-encoded (``urllib.parse.quote``) so that no name can break the marker.
    """

    article_id: str
    title: str
    source_url: str | None = None
    language: str | None = None
    key_topics: tuple[str, ...] = ()
    access_control_list: tuple[str, ...] = ()
    markdown: str
    images: tuple[ImageReference, ...] = ()
    links: tuple[Link, ...] = ()
    counts: DocumentCounts = DocumentCounts()
    decorative_images: int = 0
    unplaced_images: int = 0
    warnings: tuple[str, ...] = ()
    converter: str


# --- serving -------------------------------------------------------------------------------------


class ServedImage(Record):
    """One image of a serving article, and where it came from."""

    path: str
    source_file: str
    source_sha256: str
    sha256: str
    width: int
    height: int
    alt: str = ""
    caption: str = ""
    description: ImageDescription


class Provenance(Record):
    """Where a serving article came from: enough to make it again. ``content_hash`` covers its whole folder."""

    content_hash: str
    source_file: str
    source_sha256: str
    converter: str
    image_model: str
    prompt_version: str
    run_id: str
    created_at: str


class Manifest(Record):
    """``manifest.json`` of a serving article: its metadata, images, links and provenance."""

    article_id: str
    title: str
    source_url: str | None
    language: str | None
    key_topics: tuple[str, ...]
    access_control_list: tuple[str, ...]
    images: tuple[ServedImage, ...]
    article_links: tuple[ArticleLink, ...]
    counts: DocumentCounts
    decorative_images: int
    unplaced_images: int
    warnings: tuple[str, ...]
    provenance: Provenance


# --- search --------------------------------------------------------------------------------------


class Chunk(Record):
    """One section of a serving article, the unit that is embedded, found and cited.

    ``image_urls`` are paths below the serving layer (``<article_id>/images/<stem>.png``);
    ``content_hash`` covers what readers and the embedder see, never the run.
    """

    id: str
    article_id: str
    chunk_index: int
    title: str
    section_header: str
    heading_path: tuple[str, ...]
    content: str
    image_urls: tuple[str, ...] = ()
    source_url: str | None = None
    key_topics: tuple[str, ...] = ()
    access_control_list: tuple[str, ...] = ()
    content_hash: str
    converter: str = ""
    run_id: str = ""


SearchMode = Literal["hybrid", "keyword", "vector"]


class SearchHit(Record):
    """A chunk that answers a query; a higher ``score`` is better, comparable within one query only.

    ``vector_score`` is the cosine to the query and comparable between queries of one embedding model,
    ``keyword_score`` is BM25; ``None`` where that search did not find the chunk or was not asked. Where words' own
    vectors were compared, ``word_score`` is the mean of the question's words' best cosines with a word of the chunk,
    ``weakest_word`` that of the word that the chunk covers least; both are comparable like ``vector_score``.
    """

    chunk: Chunk
    score: float
    keyword_score: float | None = None
    vector_score: float | None = None
    word_score: float | None = None
    weakest_word: float | None = None
    embedding_model: str = ""

    @property
    def confidence(self) -> float | None:
        """How far the chunk covers the question, comparable between questions; ``None`` where nothing told."""
        if self.word_score is None or self.weakest_word is None:
            return None
        return (self.word_score + self.weakest_word) / 2


# --- quality -------------------------------------------------------------------------------------


class CheckResult(Record):
    """What a quality check found in one article.

    ``message`` is for a person: what was lost, where, what to do; empty when the check passed.
    """

    name: str
    passed: bool
    message: str = ""
    counts: dict[str, int | float] = {}


# --- cost ----------------------------------------------------------------------------------------


class Usage(Record):
    """What one model was used for, in the numbers that its provider reports. ``cost`` is in the price table's money."""

    model: str
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    pages: int = 0
    seconds: float = 0.0
    cost: float | None = None


class Price(Record):
    """What a model costs, in any one currency; ``model`` also covers names that begin with it and ``-``."""

    model: str
    input_tokens: float = 0.0
    """A million of them."""
    output_tokens: float = 0.0
    """A million of them."""
    pages: float = 0.0
    """A thousand of them."""
    call: float = 0.0
    """One of them."""
