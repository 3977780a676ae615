"""chunks: the serving article cut into its sections, the units that are found and cited."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from pydantic import ValidationError

from kb_pipeline.errors import DamagedLayerError
from kb_pipeline.layers.base import Layer, Made, Run
from kb_pipeline.layers.serving_article import load_manifest
from kb_pipeline.layout import Layout
from kb_pipeline.records import Chunk
from kb_pipeline.report import Report, Scalar, Table, bars
from kb_pipeline.state import ArticleState
from kb_pipeline.steps.checks import check_chunks
from kb_pipeline.steps.chunk import CHUNKER_VERSION, chunk_article
from kb_pipeline.steps.fingerprint import fingerprint
from kb_pipeline.storage import read_bytes, write_bytes


class ChunksLayer(Layer):
    """Sections with their heading path and images, within the embedder's window."""

    name: ClassVar[str] = "chunks"
    upstream: ClassVar[tuple[str, ...]] = ("serving_article",)
    version: ClassVar[str] = CHUNKER_VERSION
    description: ClassVar[str] = "One chunk for each section: heading path inherited, images attached."

    def backend(self) -> str:
        # tokens are the embedder's, so another embedder cuts elsewhere
        least, most = self.workspace.chunk_limits
        return f"{self.workspace.embedder.model_id}/{least}-{most}"

    def exists(self, state: ArticleState) -> bool:
        return self.layout.chunks(state.article_id, state.version).is_file()

    def make(self, state: ArticleState, inputs: Mapping[str, str], run: Run) -> Made:
        folder = self.layout.version(state.article_id, state.version)
        markdown = read_bytes(folder / "article.md").decode()
        count_tokens = self.workspace.embedder.count_tokens
        least, most = self.workspace.chunk_limits
        chunks = chunk_article(
            markdown,
            load_manifest(folder),
            count_tokens=count_tokens,
            max_tokens=most,
            min_tokens=least,
        )
        lines = (chunk.model_dump_json().encode() + b"\n" for chunk in chunks)
        write_bytes(self.layout.chunks(state.article_id, state.version), b"".join(lines))
        return Made(
            chunks_hash(chunks),
            _report(chunks),
            check_chunks(markdown, chunks, count_tokens=count_tokens, max_tokens=self.workspace.embedder.max_tokens),
        )


def chunks_hash(chunks: Sequence[Chunk]) -> str:
    """Hash of what readers see of an article's chunks, whichever run made them."""
    return hashes_hash({chunk.id: chunk.content_hash for chunk in chunks})


def hashes_hash(content_hashes: Mapping[str, str]) -> str:
    """The same, of the content hashes by chunk id, as an index lists them."""
    return fingerprint(sorted(content_hashes.items()))


def _report(chunks: list[Chunk]) -> Report:
    rows: tuple[dict[str, Scalar], ...] = tuple(
        {
            "id": chunk.id,
            "section": " > ".join(chunk.heading_path),
            "characters": len(chunk.content),
            "images": len(chunk.image_urls),
        }
        for chunk in chunks[:100]
    )
    sizes = [len(chunk.content) for chunk in chunks]
    return {
        "chunks": len(chunks),
        "sizes": bars([(chunk.section_header, len(chunk.content)) for chunk in chunks]),
        "smallest_characters": min(sizes, default=0),
        "largest_characters": max(sizes, default=0),
        "with_images": sum(bool(chunk.image_urls) for chunk in chunks),
        "sections": Table(rows=rows),
    }


def load_chunks(layout: Layout, article_id: str, version: str) -> list[Chunk]:
    """The chunks that :class:`ChunksLayer` wrote."""
    path = layout.chunks(article_id, version)
    try:
        return [Chunk.model_validate_json(line) for line in read_bytes(path).splitlines()]
    except ValidationError as exc:
        raise DamagedLayerError(ChunksLayer.name, path) from exc
