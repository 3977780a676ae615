"""search_index: the articles' entries in the live index, each article replaced as a whole."""

from collections.abc import Iterable, Mapping
from typing import ClassVar

from kb_pipeline.errors import MissingLayerError
from kb_pipeline.layers.base import Made, outputs_of
from kb_pipeline.layers.chunk_embeddings import load_vectors, text_hash
from kb_pipeline.layers.chunks import load_chunks
from kb_pipeline.layout import Layout
from kb_pipeline.records import Chunk
from kb_pipeline.search.base import IndexEntry
from kb_pipeline.state import load_state
from kb_pipeline.steps.chunk import embedding_text
from kb_pipeline.steps.fingerprint import fingerprint
from kb_pipeline.workspace import Workspace


class SearchIndexLayer:
    """Writes many articles in one commit. What is published already is asked of the live index itself."""

    name: ClassVar[str] = "search_index"
    upstream: ClassVar[tuple[str, ...]] = ("chunks", "chunk_embeddings")
    version: ClassVar[str] = "1"
    description: ClassVar[str] = "The article's entries in the hybrid search index, replaced in one commit."

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self.layout: Layout = workspace.layout

    def backend(self) -> str:
        """The index that is written to."""
        return self.workspace.settings.index

    def code_version(self) -> str:
        """What Dagster calls the code version: another one makes the layer stale."""
        return f"{self.version}/{self.backend()}"

    def publish(self, article_ids: Iterable[str]) -> Mapping[str, tuple[Made, bool]]:
        """Bring the index in line with the articles' chunks: by article, what is there and whether it was already.

        Raises:
            KnowledgeBaseError: a layer is missing, or the index refused; nothing of this call was published.
        """
        chunks = {article_id: self._chunks(article_id) for article_id in article_ids}
        live = self.workspace.index.entries(list(chunks))
        unchanged = {key for key, wanted in chunks.items() if live.get(key, {}) == _hashes(wanted)}
        changed = {key: self._entries(key, wanted) for key, wanted in chunks.items() if key not in unchanged}
        if changed:
            self.workspace.index.publish(changed)
        return {key: (_made(wanted), key in unchanged) for key, wanted in chunks.items()}

    def _chunks(self, article_id: str) -> list[Chunk]:
        outputs_of(self.upstream, load_state(self.layout, article_id), wanted_by=self.name)
        return load_chunks(self.layout, article_id)

    def _entries(self, article_id: str, chunks: list[Chunk]) -> list[IndexEntry]:
        """The chunks with their vectors.

        Raises:
            MissingLayerError: the vectors are of older chunks.
        """
        vectors = load_vectors(self.layout, article_id)
        model = self.workspace.embedder.model_id
        if any(vectors.get(chunk.id, ("",))[0] != text_hash(model, embedding_text(chunk)) for chunk in chunks):
            raise MissingLayerError(
                f"{article_id}: its vectors are of older chunks; materialise chunk_embeddings first"
            )
        return [IndexEntry(chunk, vectors[chunk.id][1]) for chunk in chunks]


def _hashes(chunks: list[Chunk]) -> dict[str, str]:
    return {chunk.id: chunk.content_hash for chunk in chunks}


def _made(chunks: list[Chunk]) -> Made:
    images = {url for chunk in chunks for url in chunk.image_urls}
    return Made(fingerprint(sorted(_hashes(chunks).items())), {"entries": len(chunks), "images": len(images)})
