"""The records that steps pass to each other: frozen, validated, and JSON round-trippable.

They cover the way of an article from staging to search, and the reports on it: quality checks, usage, and what Dagster
shows (markdown, tables, bars). Nothing here does I/O. Records of one part only (states, evaluations) live there.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from operator import not_
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

HIDDEN = "kb:hidden"
"""The only reader of an article with invalid metadata: no user or group has this name, so nobody can read it."""


class Record(BaseModel):
    """Base of all records: immutable, no unknown fields."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def may_read(readers: Collection[str], names: Collection[str]) -> bool:
    """Whether a person with these names (user and groups) may read it; without ``readers``, everybody may."""
    return not readers or not set(readers).isdisjoint(set(names) - {HIDDEN})


# --- contributions -------------------------------------------------------------------------------

ContributionType = Literal[
    "Pitfall", "Service pattern update", "New service", "Tool pattern", "Language pattern", "Answer"
]
ContributionSource = Literal["manual", "qa", "feedback", "evaluation"]
"""Who handed it in: a person; or the service, after questions without an answer, a rating, or a lost question."""
ContributionState = Literal["pending", "accepted", "rejected"]


# --- staging -------------------------------------------------------------------------------------


class StagedFile(Record):
    """One file of a staged article; ``name`` is relative to the article's folder, with ``/``."""

    name: str
    size: int
    sha256: str


class StagedArticle(Record):
    """The content of one staging folder. ``content_hash`` covers the names and bytes of all files.

    ``main`` is the name of the file that is the article: its page or its document.
    """

    article_id: str
    files: tuple[StagedFile, ...]
    content_hash: str
    main: str = "index.html"


class ArticleMetadata(Record):
    """The optional ``metadata.json`` next to the article's main file; its values override those of the file.

    ``main`` names the main file if several documents could be it. ``document_type`` is the author's word ("Manual"),
    ``upload_date`` an ISO 8601 date ("2024-05-31").
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    title: str | None = None
    source_url: str | None = None
    language: str | None = None
    key_topics: tuple[str, ...] = ()
    access_control_list: tuple[str, ...] = ()
    main: str | None = None
    document_type: str = ""
    department: str = ""
    author: str = ""
    upload_date: str = ""


# --- pages of documents --------------------------------------------------------------------------
# Fields about pages are left out of files where they are empty, so that those of articles without pages stay the same.

PageReading = Literal["tags", "text", "ocr", "nothing", "unread"]
"""How a page was read: by the document's own structure tags, by its text and layout, by OCR; or there was nothing.

Words of an ``unread`` page are missing, which its text says.
"""


class PageInfo(Record):
    """A page of a document. ``number`` counts from 1; ``label`` is what is printed on it, if that differs.

    ``width`` and ``height`` are in points (1/72 inch), 0 if pages have no size. ``words`` are what the control reading
    found, which is made without any of our rules.
    """

    number: int
    label: str = ""
    width: float = 0.0
    height: float = 0.0
    words: int = 0
    read_by: PageReading = "text"


class Spoken(Record):
    """Some words of a recording, with the seconds from its beginning at which they begin and end."""

    start: float
    end: float
    text: str


class PageLine(Record):
    """A line that OCR read on a page, from ``top`` to ``bottom``, in points from the top left corner as readers see it.

    Each of its words is its text with its left and its right edge.
    """

    top: float
    bottom: float
    words: tuple[tuple[str, float, float], ...]


class PageLines(Record):
    """The lines of the pages that were read by OCR, by the page's number."""

    pages: dict[int, tuple[PageLine, ...]]


class PageBreak(Record):
    """A page begins at the character ``offset`` of a text."""

    offset: int
    page: int
    label: str = ""


class OutlineEntry(Record):
    """An entry of the contents that a document carries in itself; ``level`` and ``page`` count from 1, 0 is unknown."""

    title: str
    level: int = 1
    page: int = 0


class DocumentFacts(Record):
    """What a document, or ``metadata.json``, says about it apart from its text; empty where nothing is said.

    Dates are ISO 8601. ``upload_date`` is the day on which the document came in, if its author says one.
    """

    author: str = ""
    created: str = ""
    changed: str = ""
    producer: str = ""
    document_type: str = Field(default="", exclude_if=not_)
    department: str = Field(default="", exclude_if=not_)
    upload_date: str = Field(default="", exclude_if=not_)


class Quoted(Record):
    """Words of a document, and the number of the page on which they stand; ``None`` if it has no pages."""

    text: str
    page: int | None = Field(default=None, exclude_if=lambda page: page is None)


class DocumentSummary(Record):
    """What a document is about: ``brief`` in two or three sentences, ``standard`` in one or two paragraphs of them."""

    brief: tuple[Quoted, ...] = ()
    standard: tuple[tuple[Quoted, ...], ...] = ()

    @property
    def brief_text(self) -> str:
        """The brief summary on one line."""
        return " ".join(sentence.text for sentence in self.brief)

    @property
    def standard_text(self) -> str:
        """The standard summary, with an empty line between its paragraphs."""
        return "\n\n".join(" ".join(sentence.text for sentence in paragraph) for paragraph in self.standard)


class DocumentEntry(Record):
    """An article in the list of documents: its facts, its summary and its headings of the first level.

    ``filename`` is the main file. ``upload_date`` is the day on which it came in, ``created`` and ``changed`` are what
    the document says; all are ISO 8601. ``page_count`` is 0 if it has no pages.
    """

    filename: str
    document_type: str = ""
    department: str = ""
    author: str = ""
    language: str = ""
    upload_date: str = ""
    created: str = ""
    changed: str = ""
    page_count: int = 0
    summary: DocumentSummary = DocumentSummary()
    headings: tuple[Quoted, ...] = ()


# --- images --------------------------------------------------------------------------------------


class ImageInfo(Record):
    """A staged image, read from its header. ``problem`` is why it cannot be shown, if it cannot."""

    file: str
    sha256: str
    format: str = ""
    width: int = 0
    height: int = 0
    problem: str | None = None


class ImageReference(Record):
    """A content image at its place in an article; one for each distinct file of the article.

    ``file`` is the staged name. ``stem`` is unique within the article; the image is served as ``images/<stem>.png``.
    ``context`` is the text right before the image: the step that it illustrates. ``section`` is the heading above it.
    """

    file: str
    stem: str
    sha256: str
    alt: str = ""
    caption: str = ""
    context: str = ""
    section: str = ""


class ImageDescription(Record):
    """A description of an image from its pixels alone, so that equal files share one description."""

    description: str
    ui_elements: tuple[str, ...] = ()
    navigation_path: tuple[str, ...] = ()


class ImageProblem(Record):
    """A content image that cannot be shown, and why; ``section`` is the heading above its place."""

    file: str
    problem: str
    section: str = ""


class DescribedImages(Record):
    """The descriptions of an article's images by staged file name.

    ``said`` are the sentences of the author that they begin with, ``warnings`` are about those that were left out.
    """

    descriptions: dict[str, ImageDescription]
    problems: tuple[ImageProblem, ...] = ()
    said: dict[str, str] = Field(default_factory=dict, exclude_if=not_)
    warnings: tuple[str, ...] = Field(default=(), exclude_if=not_)


# --- conversion ----------------------------------------------------------------------------------


class Link(Record):
    """A hyperlink of the main content; ``target`` exactly as the author wrote it."""

    label: str
    target: str


class ArticleLink(Record):
    """A link to another staged article."""

    label: str
    target: str
    article_id: str


class DocumentCounts(Record):
    """Counts of the main content of the HTML, all of which must survive the conversion.

    ``words`` are split at spaces and at markup, which is good enough for people to read. ``letters`` include digits,
    but not the numbers of code lines.
    """

    words: int = 0
    letters: int = 0
    headings: int = 0
    images: int = 0
    links: int = 0
    tables: int = 0
    code_blocks: int = 0
    list_items: int = 0


class Unplaced(Record):
    """An image or link of the HTML of which a service left neither the place nor the text around it.

    ``name`` is the image's file, or label and target of the link; ``section`` the heading below which it is shown.
    """

    kind: Literal["image", "link"]
    name: str
    section: str = ""


class LeftOutText(Record):
    """A text of a page that its conversion left out on purpose, and what told that it is no text of the article.

    That is the name or role of its box (``name``), that it holds mostly links (``links``), its words (``words``), its
    place beside the page (``place``), or the model of main content (``model``).
    """

    text: str
    why: Literal["name", "links", "words", "place", "model"]


class ConvertedArticle(Record):
    """An article as markdown, with an ``[[IMG:<file>]]`` marker in the place of each content image.

    ``<file>`` is percent-encoded (``urllib.parse.quote``) so that no name can break the marker. ``lost_images`` are
    content images without a marker, because their files are missing or cannot be decoded.
    """

    article_id: str
    title: str
    source_url: str | None = None
    language: str | None = None
    key_topics: tuple[str, ...] = ()
    access_control_list: tuple[str, ...] = ()
    markdown: str
    images: tuple[ImageReference, ...] = ()
    lost_images: tuple[ImageProblem, ...] = ()
    links: tuple[Link, ...] = ()
    counts: DocumentCounts = DocumentCounts()
    decorative_images: int = 0
    unplaced_images: int = 0
    unplaced: tuple[Unplaced, ...] = Field(default=(), exclude_if=not_)
    """Images and links at the end of their section, because their place is unknown."""
    warnings: tuple[str, ...] = ()
    left_out: tuple[LeftOutText, ...] = Field(default=(), exclude=True)
    """Only for the checks of the run that converted it: it is not kept."""
    converter: str
    pages: tuple[PageInfo, ...] = Field(default=(), exclude_if=not_)
    ocr_lines: str = Field(default="", exclude_if=not_)
    """The SHA-256 of :class:`PageLines`, as they are kept beside it; empty if no page was read by OCR."""
    facts: DocumentFacts | None = Field(default=None, exclude_if=not_)
    descriptions: Mapping[str, ImageDescription] = Field(default_factory=dict, exclude_if=not_)
    """Descriptions that came with the article, by file; no model is asked for one of these images."""


# --- serving -------------------------------------------------------------------------------------


class ServedImage(Record):
    """An image of a serving article and its source; ``said`` is the author's sentence that begins its description."""

    path: str
    source_file: str
    source_sha256: str
    sha256: str
    width: int
    height: int
    alt: str = ""
    caption: str = ""
    said: str = Field(default="", exclude_if=not_)
    description: ImageDescription


class Provenance(Record):
    """The origin of a serving article, enough to rebuild it. ``content_hash`` covers its whole staging folder."""

    content_hash: str
    source_file: str
    source_sha256: str
    converter: str
    image_model: str
    prompt_version: str
    run_id: str
    created_at: str


class ServedDocument(Record):
    """The original file of a serving article that was a document; ``path`` is ``document/<file name>``.

    ``ocr_lines`` is the SHA-256 of the file beside it with :class:`PageLines`; empty if no page was read by OCR.
    """

    path: str
    sha256: str
    size: int
    media_type: str
    ocr_lines: str = Field(default="", exclude_if=not_)


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
    document: ServedDocument | None = Field(default=None, exclude_if=not_)
    pages: tuple[PageInfo, ...] = Field(default=(), exclude_if=not_)
    facts: DocumentFacts | None = Field(default=None, exclude_if=not_)


# --- search --------------------------------------------------------------------------------------


BlockType = Literal["text", "image", "document"]
"""A row of the index is a section, a picture of it, or the document as a whole."""


class Chunk(Record):
    """A section of a serving article: the unit that is embedded, retrieved and cited.

    ``image_urls`` are paths below the serving layer (``<article_id>/images/<stem>.png``);
    ``content_hash`` covers what readers and the embedder see, not the run. ``page_breaks`` say which page begins where
    in ``content``; the first has offset 0. They are empty if the article has no pages.

    ``deferred``: the section is left for later by its heading, or by one above it, such as a production backlog. Which
    headings do that is a setting; readers find such a section only if they ask for it.

    Other rows of the index are chunks, too. An ``image`` is one picture, described in words: ``part_of`` is the id of
    the section in which it is shown. A ``document`` is the article as a whole, with what ``document`` says about it.
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
    block_type: BlockType = Field(default="text", exclude_if=lambda kind: kind == "text")
    page_breaks: tuple[PageBreak, ...] = Field(default=(), exclude_if=not_)
    filename: str = Field(default="", exclude_if=not_)
    part_of: str = Field(default="", exclude_if=not_)
    document: DocumentEntry | None = Field(default=None, exclude_if=not_)
    deferred: bool = Field(default=False, exclude_if=not_)

    @property
    def pages(self) -> tuple[int, ...]:
        """The numbers of the pages on which the content stands, in order."""
        return tuple(dict.fromkeys(page_break.page for page_break in self.page_breaks))

    @property
    def entry(self) -> DocumentEntry:
        """What a row of the list of documents says; of other rows it is only the name of the file."""
        return self.document or DocumentEntry(filename=self.filename)

    def page_at(self, offset: int) -> PageBreak | None:
        """The page on which the character ``offset`` of the content stands; ``None`` if there are no pages."""
        begun = [page_break for page_break in self.page_breaks if page_break.offset <= offset]
        return begun[-1] if begun else None


def sections(rows: Iterable[Chunk]) -> list[Chunk]:
    """Return the sections among the rows of an index."""
    return [row for row in rows if row.block_type == "text"]


SearchMode = Literal["hybrid", "keyword", "vector"]
DocumentSort = Literal["title", "filename", "document_type", "department", "author", "upload_date", "page_count"]

KnowledgeMode = Literal["poc", "production", "all"]
"""What of the knowledge base is used: without its deferred sections, with them, or everything there is."""


class SearchHit(Record):
    """A chunk that matches a query. A higher ``score`` is better, and comparable within one query only.

    ``vector_score`` is the cosine similarity to the query, comparable between queries of one embedding model, and
    ``keyword_score`` is BM25. Each is ``None`` if that search did not find the chunk or did not run. Embedders with
    word vectors add two scores, comparable like ``vector_score``: each word of the query is matched with the most
    similar word of the chunk. ``word_score`` is the mean of these cosines, ``weakest_word`` the lowest of them. Of the
    words that are no stop words, a long one once, ``rare_score`` is the mean in which a word weighs the more the
    farther other sections are from it, and ``above_usual`` how much higher the plain mean is than that of other
    sections. ``generation`` is the id of the generation of the index that was searched; empty if no catalog was asked.
    """

    chunk: Chunk
    score: float
    keyword_score: float | None = None
    vector_score: float | None = None
    word_score: float | None = None
    weakest_word: float | None = None
    rare_score: float | None = None
    above_usual: float | None = None
    embedding_model: str = ""
    generation: str = ""

    @property
    def confidence(self) -> float | None:
        """How well the chunk covers the question, comparable between questions; ``None`` without word scores."""
        if self.word_score is None or self.weakest_word is None:
            return None
        return (self.word_score + self.weakest_word) / 2


# --- quality -------------------------------------------------------------------------------------


class CheckResult(Record):
    """The result of a quality check on one article.

    ``message`` is for a person: what was lost, where, and what to do; empty if the check passed.
    """

    name: str
    passed: bool
    message: str = ""
    counts: dict[str, int | float] = {}


# --- cost ----------------------------------------------------------------------------------------


class Usage(Record):
    """The usage of one model, as its provider reports it. ``cost`` is in the currency of the configured prices."""

    model: str
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    pages: int = 0
    seconds: float = 0.0
    cost: float | None = None


class Price(Record):
    """The price of a model, in any one currency. ``model`` also matches names that begin with it and ``-``."""

    model: str
    input_tokens: float = 0.0
    """Per million."""
    output_tokens: float = 0.0
    """Per million."""
    pages: float = 0.0
    """Per thousand."""
    call: float = 0.0
    """Per call."""


Scalar = bool | int | float | str


class Markdown(Record):
    """Markdown text to render."""

    kind: Literal["markdown"] = "markdown"
    text: str


class Table(Record):
    """Rows with the same columns."""

    kind: Literal["table"] = "table"
    rows: tuple[Mapping[str, Scalar], ...]


ReportValue = Scalar | Markdown | Table
Report = Mapping[str, ReportValue]

PREVIEW_CHARACTERS = 3000
"""Characters: two screens of text in Dagster's dialog."""


def preview(markdown: str) -> Markdown:
    """The beginning of a markdown text, cut at the end of a line."""
    if len(markdown) <= PREVIEW_CHARACTERS:
        return Markdown(text=markdown)
    cut = markdown[:PREVIEW_CHARACTERS].rsplit("\n", 1)[0]
    return Markdown(text=f"{cut}\n\n*… {len(markdown) - len(cut):,} more characters*")


_BAR_WIDTH = 24
"""Characters of the longest bar, so that value and name fit beside it in Dagster's dialog."""
_MOST_BARS = 14
"""Bars of a chart: a screen."""
_LABEL_WIDTH = 28
"""Characters of a name."""


def bars(values: Sequence[tuple[str, int]]) -> Markdown:
    """A bar chart of named numbers as text, in the given order; at most the first 14 are shown."""
    largest = max((value for _, value in values), default=0) or 1
    lines = [f"{_bar(value / largest):<{_BAR_WIDTH}} {value:>5} {_label(name)}" for name, value in values[:_MOST_BARS]]
    more = [f"… and {len(values) - _MOST_BARS} more"] if len(values) > _MOST_BARS else []
    return Markdown(text="\n".join(["```", *lines, *more, "```"]))


def _bar(share: float) -> str:
    eighths = round(share * _BAR_WIDTH * 8)
    return "█" * (eighths // 8) + "▏▎▍▌▋▊▉"[eighths % 8 - 1] * (eighths % 8 > 0)


def _label(name: str) -> str:
    line = name.replace("`", "'")
    return line if len(line) <= _LABEL_WIDTH else f"{line[: _LABEL_WIDTH - 1]}…"
