"""The passages that an answer may rest on, numbered: what was found is what can be cited, nothing else."""

import re
from collections.abc import Callable, Iterable, Mapping
from urllib.parse import quote

from app.grounding.surroundings import Neighbour
from app.schema import Citation, CitationOrigin, CitedImage, Passage
from kb_pipeline.records import Chunk, SearchHit

IMAGE_ROUTE = "/api/images/"
"""Where the service serves images: followed by ``<article_id>/images/<stem>.png``."""

RunUrl = Callable[[str], str | None]
_LOCAL_IMAGE = re.compile(r"\]\(images/")


class CitationBook:
    """The passages of one answer, numbered from 1 as they are found; one that is found again keeps its number."""

    def __init__(self, run_url: RunUrl = lambda _: None) -> None:
        """Say how a run of the pipeline is reached by a reader."""
        self._run_url = run_url
        self._citations: dict[str, Citation] = {}

    def add(self, hits: Iterable[SearchHit]) -> list[Citation]:
        """The citations of these hits, in their order."""
        return [self._citation(hit) for hit in hits]

    def add_neighbours(self, neighbours: Iterable[Neighbour]) -> list[Citation]:
        """The citations of those passages that were not entered before."""
        fresh = [neighbour for neighbour in neighbours if neighbour.hit.chunk.id not in self._citations]
        for neighbour in fresh:
            beside = {"follows": self._number(neighbour.follows), "precedes": self._number(neighbour.precedes)}
            self._citations[neighbour.hit.chunk.id] = self._citation(neighbour.hit).model_copy(update=beside)
        return [self._citations[neighbour.hit.chunk.id] for neighbour in fresh]

    @property
    def citations(self) -> tuple[Citation, ...]:
        """All passages so far, by number."""
        return tuple(self._citations.values())

    def numbers(self) -> frozenset[int]:
        """Numbers that an answer may refer to."""
        return frozenset(range(1, len(self._citations) + 1))

    def image_urls(self) -> Mapping[str, tuple[str, ...]]:
        """URLs of the images that an answer may show, by file name in lower case; best passage first."""
        urls: dict[str, list[str]] = {}
        for citation in self._citations.values():
            for image in citation.images:
                named = urls.setdefault(image.url.rsplit("/", 1)[-1].lower(), [])
                if image.url not in named:
                    named.append(image.url)
        return {name: tuple(found) for name, found in urls.items()}

    def _citation(self, hit: SearchHit) -> Citation:
        known = self._citations.get(hit.chunk.id)
        if known is None or known.follows or known.precedes:
            number = known.number if known else len(self._citations) + 1
            known = self._citations[hit.chunk.id] = _cite(number, hit, self._run_url)
        return known

    def _number(self, chunk_id: str | None) -> int | None:
        known = self._citations.get(chunk_id) if chunk_id else None
        return known.number if known else None


def _cite(number: int, hit: SearchHit, run_url: RunUrl) -> Citation:
    chunk = hit.chunk
    return Citation(
        **dict(passage_of(hit)),
        number=number,
        source_url=chunk.source_url,
        origin=CitationOrigin(
            run_id=chunk.run_id,
            run_url=run_url(chunk.run_id),
            converter=chunk.converter,
            content_hash=chunk.content_hash,
            embedding_model=hit.embedding_model,
        ),
    )


def passage_of(hit: SearchHit) -> Passage:
    """What was found, as the service shows it."""
    chunk = hit.chunk
    return Passage(
        chunk_id=chunk.id,
        article_id=chunk.article_id,
        title=chunk.title,
        section=chunk.section_header,
        heading_path=chunk.heading_path,
        passage=with_image_urls(chunk.content, chunk.article_id),
        images=images_of(chunk),
        score=hit.score,
    )


def images_of(chunk: Chunk) -> tuple[CitedImage, ...]:
    """The chunk's images as the service serves them."""
    return tuple(image_at(path) for path in chunk.image_urls)


def image_at(path: str) -> CitedImage:
    """The image at a path below the serving layer (not percent-encoded)."""
    return CitedImage(url=IMAGE_ROUTE + quote(path), alt=path.rsplit("/", 1)[-1].removesuffix(".png"))


def with_image_urls(markdown: str, article_id: str) -> str:
    """Markdown of the serving layer with its ``images/...`` as URLs below the service."""
    return _LOCAL_IMAGE.sub(f"]({IMAGE_ROUTE}{quote(article_id)}/images/", markdown)
