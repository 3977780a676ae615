"""chunks: the serving article cut into its sections, the units that are found and cited."""

from collections.abc import Mapping
from typing import ClassVar

from pydantic import ValidationError

from kb_pipeline.errors import DamagedLayerError
from kb_pipeline.layers.base import Layer, Made, Run
from kb_pipeline.layers.serving_article import load_manifest
from kb_pipeline.layout import Layout
from kb_pipeline.records import Chunk
from kb_pipeline.report import Report, Scalar, Table
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
        return f"{self.workspace.embedder.model_id}/{self.workspace.settings.chunk_min_tokens}-{self._max_tokens()}"

    def _max_tokens(self) -> int:
        # what is beyond the embedder's window it would silently not see
        return min(self.workspace.settings.chunk_max_tokens, self.workspace.embedder.max_tokens)

    def exists(self, article_id: str) -> bool:
        return self.layout.chunks(article_id).is_file()

    def make(self, article_id: str, inputs: Mapping[str, str], run: Run) -> Made:
        markdown = read_bytes(self.layout.serving(article_id) / "article.md").decode()
        chunks = chunk_article(
            markdown,
            load_manifest(self.layout, article_id),
            count_tokens=self.workspace.embedder.count_tokens,
            max_tokens=self._max_tokens(),
            min_tokens=min(self.workspace.settings.chunk_min_tokens, self._max_tokens()),
        )
        write_bytes(self.layout.chunks(article_id), b"".join(c.model_dump_json().encode() + b"\n" for c in chunks))
        return Made(fingerprint(sorted((chunk.id, chunk.content_hash) for chunk in chunks)), _report(chunks))


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
        "smallest_characters": min(sizes, default=0),
        "largest_characters": max(sizes, default=0),
        "with_images": sum(bool(chunk.image_urls) for chunk in chunks),
        "sections": Table(rows=rows),
    }


def load_chunks(layout: Layout, article_id: str) -> list[Chunk]:
    """The chunks that :class:`ChunksLayer` wrote."""
    path = layout.chunks(article_id)
    try:
        return [Chunk.model_validate_json(line) for line in read_bytes(path).splitlines()]
    except ValidationError as exc:
        raise DamagedLayerError(ChunksLayer.name, path) from exc
