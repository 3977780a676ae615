"""The numbered passages that an answer may cite, made from what its searches found."""

import hashlib
import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import quote

from app.schema.passages import Citation, CitationOrigin, CitedImage, Passage
from kb_pipeline.records import Chunk, DocumentEntry, PageBreak, SearchHit
from kb_pipeline.steps.main_file import is_page
from kb_pipeline.steps.markers import escape_line

IMAGE_ROUTE = "/api/images/"
"""Where the service serves images; ``<article_id>/images/<stem>.png`` follows."""

DOCUMENT_ROUTE = "/api/documents/"
"""Where the service serves documents; ``<article_id>/<file>`` or ``<article_id>/pages/<number>.png`` follows."""

_LONGEST_LABEL = 40
"""Characters of a page's label, such as "A-12"; the file chooses it, so a longer one is cut."""

RunUrl = Callable[[str], str | None]
_LOCAL_IMAGE = re.compile(r"\]\(images/")


@dataclass(frozen=True, slots=True)
class WebPassage:
    """What an answer is given of a page of the web: markdown without links and images.

    ``url`` is where it was fetched, ``fetched_at`` when, in ISO 8601; ``sha256`` is the hash of the page.
    """

    url: str
    title: str
    passage: str
    fetched_at: str
    sha256: str


class CitationBook:
    """The passages of one answer, numbered from 1 in the order in which searches found them, each once."""

    def __init__(self, run_url: RunUrl = lambda _: None, *, links_documents: bool = True) -> None:
        """``run_url`` returns the address at which a reader sees a run of the pipeline.

        ``links_documents``: readers may open the original files of documents.
        """
        self._run_url = run_url
        self._links_documents = links_documents
        self._citations: dict[str, Citation] = {}
        self._leans_on: dict[str, None] = {}

    def add(self, hits: Iterable[SearchHit]) -> list[Citation]:
        """Add hits, and return their citations in the same order."""
        return [self._citation(hit) for hit in hits]

    def add_web(self, passages: Iterable[WebPassage]) -> list[Citation]:
        """Add passages of pages of the web, and return their citations in the same order."""
        return [self._web_citation(passage) for passage in passages]

    def lean_on(self, article_ids: Iterable[str]) -> None:
        """Note articles that the answer names, or takes a word from, without citing them."""
        self._leans_on |= dict.fromkeys(article_ids)

    @property
    def citations(self) -> tuple[Citation, ...]:
        return tuple(self._citations.values())

    @property
    def leans_on(self) -> tuple[str, ...]:
        """The articles of :meth:`lean_on`."""
        return tuple(self._leans_on)

    def numbers(self) -> frozenset[int]:
        return frozenset(range(1, len(self._citations) + 1))

    def image_urls(self) -> Mapping[str, tuple[str, ...]]:
        """URLs of the images that an answer may show, by file name in lower case, best passage first."""
        by_name: dict[str, list[str]] = {}
        for citation in self._citations.values():
            for image in citation.images:
                urls = by_name.setdefault(image.url.rsplit("/", 1)[-1].lower(), [])
                if image.url not in urls:
                    urls.append(image.url)
        return {name: tuple(urls) for name, urls in by_name.items()}

    def _citation(self, hit: SearchHit) -> Citation:
        citation = self._citations.get(hit.chunk.id)
        if citation is None:
            cited = hit.model_copy(update={"chunk": as_cited(hit.chunk)})
            citation = self._citations[hit.chunk.id] = self._cite(len(self._citations) + 1, cited)
        return citation

    def _web_citation(self, page: WebPassage) -> Citation:
        # no article can have such an id, so nothing that is looked up by it is ever found
        article_id, chunk_id = f"web:{_short_hash(page.url)}", f"web:{_short_hash(page.url + page.passage)}"
        if chunk_id not in self._citations:
            self._citations[chunk_id] = Citation(
                number=len(self._citations) + 1,
                chunk_id=chunk_id,
                article_id=article_id,
                title=page.title,
                section=page.title,
                heading_path=(page.title,),
                passage=page.passage,
                source_url=page.url,
                origin=CitationOrigin(run_id="", converter="web", content_hash=page.sha256, embedding_model=""),
                kind="web",
                fetched_at=page.fetched_at,
            )
        return self._citations[chunk_id]

    def _cite(self, number: int, hit: SearchHit) -> Citation:
        chunk = hit.chunk
        links = chunk.filename and self._links_documents
        return Citation(
            **dict(passage_of(hit)),
            number=number,
            score=hit.score,
            source_url=chunk.source_url,
            origin=CitationOrigin(
                run_id=chunk.run_id,
                run_url=self._run_url(chunk.run_id),
                converter=chunk.converter,
                content_hash=chunk.content_hash,
                embedding_model=hit.embedding_model,
                generation=hit.generation or None,
            ),
            kind="document" if chunk.filename else "article",
            document_url=document_url(chunk.article_id, chunk.filename, chunk.pages[:1]) if links else None,
        )


def _short_hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


class ReadingOrder:
    """Numbers the passages of one answer anew, in the order in which a reader meets references to them."""

    def __init__(self) -> None:
        self._shown: dict[int, int] = {}

    def __call__(self, number: int) -> int:
        """The number to show for a passage that the book gave this number."""
        return self._shown.setdefault(number, len(self._shown) + 1)

    def of(self, citations: Sequence[Citation]) -> tuple[Citation, ...]:
        """The citations under their new numbers, in this order; those that nobody met come last."""
        met = [*self._shown, *(citation.number for citation in citations if citation.number not in self._shown)]
        shown = {number: place for place, number in enumerate(met, 1)}
        renumbered = (citation.model_copy(update={"number": shown[citation.number]}) for citation in citations)
        return tuple(sorted(renumbered, key=lambda citation: citation.number))


def as_cited(chunk: Chunk) -> Chunk:
    """The row of the index as an answer cites it: that of a document with all that is known of the document.

    Its text in the index is cut to what is embedded, and names no dates and pages.
    """
    entry = chunk.document
    if entry is None:
        return chunk
    brief, standard = entry.summary.brief_text, entry.summary.standard_text
    paragraphs = [
        chunk.title,
        facts_of(entry),
        *("" if brief in standard else brief, *standard.split("\n\n")),
    ]
    headings = "\n".join(f"- {escape_line(heading.text)}" for heading in entry.headings)
    content = "\n\n".join([*(escape_line(text) for text in paragraphs if text), *filter(None, [headings])])
    return chunk.model_copy(update={"content": content, "filename": _own_file(entry)})


def facts_of(entry: DocumentEntry) -> str:
    """What is known of a document, in one line."""
    facts = {
        "File": _own_file(entry),
        "Type": entry.document_type,
        "Department": entry.department,
        "Author": entry.author,
        "Uploaded": entry.upload_date,
        "Pages": str(entry.page_count or ""),
    }
    return " ".join(f"{name}: {value}." for name, value in facts.items() if value)


def _own_file(entry: DocumentEntry) -> str:
    """Return the file that a reader can open; a page of HTML is none."""
    return "" if is_page(entry.filename) else entry.filename


def passage_of(hit: SearchHit) -> Passage:
    """A hit as the service shows it."""
    chunk = hit.chunk
    return Passage(
        chunk_id=chunk.id,
        article_id=chunk.article_id,
        title=chunk.title,
        section=chunk.section_header,
        heading_path=chunk.heading_path,
        passage=with_image_urls(chunk.content, chunk.article_id),
        images=images_of(chunk),
        filename=chunk.filename,
        pages=chunk.pages,
        page_labels=tuple(_labels(chunk)),
        page_breaks=breaks_with_image_urls(chunk),
    )


def _labels(chunk: Chunk) -> Iterator[str]:
    """What is printed on each page of a chunk: its number, unless the document says something else."""
    labels = {page_break.page: page_break.label for page_break in reversed(chunk.page_breaks)}
    return (labels[page].strip()[:_LONGEST_LABEL] or str(page) for page in chunk.pages)


def breaks_with_image_urls(chunk: Chunk) -> tuple[PageBreak, ...]:
    """The page breaks of a chunk, at their places in :func:`with_image_urls` of its content."""
    longer = len(with_image_urls("](images/", chunk.article_id)) - len("](images/")
    images = [match.start() for match in _LOCAL_IMAGE.finditer(chunk.content)] if chunk.page_breaks else []
    return tuple(
        page_break.model_copy(update={"offset": page_break.offset + longer * bisect_left(images, page_break.offset)})
        for page_break in chunk.page_breaks
    )


def document_url(article_id: str, filename: str, pages: Sequence[int] = ()) -> str:
    """Where the service serves the original file of a document, at the first of these pages."""
    at = f"#page={pages[0]}" if pages else ""
    return f"{DOCUMENT_ROUTE}{quote(article_id)}/{quote(filename, safe='')}{at}"


def images_of(chunk: Chunk) -> tuple[CitedImage, ...]:
    """The images of a chunk that the service serves, with their URLs there.

    A picture of an index that another program fills is elsewhere, from where no page of ours loads anything.
    """
    return tuple(image_at(path) for path in chunk.image_urls if not is_elsewhere(path))


def is_elsewhere(path: str) -> bool:
    """Whether the path of an image is an address outside the serving layer."""
    return path.startswith(("https://", "http://"))


def image_at(path: str) -> CitedImage:
    """The image at a path below the serving layer (not percent-encoded)."""
    return CitedImage(url=IMAGE_ROUTE + quote(path), alt=path.rsplit("/", 1)[-1].removesuffix(".png"))


def with_image_urls(markdown: str, article_id: str) -> str:
    """Markdown of the serving layer, with its relative ``images/...`` replaced by URLs of the service."""
    return _LOCAL_IMAGE.sub(f"]({IMAGE_ROUTE}{quote(article_id)}/images/", markdown)
