"""The passages that an answer may rest on, numbered: what was found is what can be cited, nothing else."""

import re
from collections.abc import Callable, Iterable, Mapping
from urllib.parse import quote

from app.schema import Citation, CitationOrigin, CitedImage
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
        if known is None:
            known = self._citations[hit.chunk.id] = _cite(len(self._citations) + 1, hit, self._run_url)
        return known


def _cite(number: int, hit: SearchHit, run_url: RunUrl) -> Citation:
    chunk = hit.chunk
    return Citation(
        number=number,
        chunk_id=chunk.id,
        article_id=chunk.article_id,
        title=chunk.title,
        section=chunk.section_header,
        heading_path=chunk.heading_path,
        passage=with_image_urls(chunk.content, chunk.article_id),
        images=images_of(chunk),
        source_url=chunk.source_url,
        score=hit.score,
        origin=CitationOrigin(
            run_id=chunk.run_id,
            run_url=run_url(chunk.run_id),
            converter=chunk.converter,
            content_hash=chunk.content_hash,
            embedding_model=hit.embedding_model,
        ),
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
