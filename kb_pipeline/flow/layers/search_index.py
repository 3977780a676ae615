"""search_index: the article as readers find it. Its index entries and serving files are replaced as a whole.

Serving files are written first, because an answer may show an image as soon as the index names it.
"""

from collections.abc import Mapping
from functools import partial
from typing import ClassVar

from kb_pipeline.errors import KnowledgeBaseError, MissingLayerError, SearchError
from kb_pipeline.flow.layers.base import LayerOutput
from kb_pipeline.flow.layers.chunk_embeddings import chunk_text_hash, kept_chunks
from kb_pipeline.flow.layers.chunks import chunks_hash, load_chunks
from kb_pipeline.flow.serving_versions import (
    clean_serving,
    is_served,
    publish_to_serving,
    remove_from_serving,
    replacing,
)
from kb_pipeline.flow.workspace import Workspace
from kb_pipeline.records import Chunk, Report, Table, sections
from kb_pipeline.search.base import IndexEntry
from kb_pipeline.steps.checks import index_holds_the_chunks
from kb_pipeline.store.files import for_each
from kb_pipeline.store.layout import Layout


class SearchIndexLayer:
    """Publishes many articles in one commit. The index itself is read to find out what is published already."""

    name: ClassVar[str] = "search_index"
    upstream: ClassVar[tuple[str, ...]] = ("serving_article", "chunks", "chunk_embeddings")
    version: ClassVar[str] = "2"
    description: ClassVar[str] = (
        "The article in the search index, where readers find it. Its entries are replaced in one commit: nobody "
        "sees half an article, and nothing of the old version stays."
    )

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self.layout: Layout = workspace.layout

    def backend(self) -> str:
        """The index, and the generation of it that is written to."""
        return f"{self.workspace.settings.index}/{self.workspace.generation.id}"

    def code_version(self) -> str:
        """Dagster's code version: a different one makes the layer stale."""
        return f"{self.version}/{self.backend()}"

    def publish(
        self, versions: Mapping[str, str], before: Mapping[str, str | None]
    ) -> Mapping[str, tuple[LayerOutput, bool]]:
        """Publish these versions of articles, by article id.

        ``before`` are the versions that readers see now; they are put back if the index refuses the new ones.

        Returns:
            By article: the layer, and whether all of it was published already.

        Raises:
            KnowledgeBaseError: a file is missing, or the index refused; readers see what they saw before.
        """
        # loaded once: if readers change meanwhile, the article is still published whole, and the list applied later
        chunks = {key: load_chunks(self.layout, key, version) for key, version in versions.items()}
        with replacing(self.layout, versions):
            entries, placed = self._put_before_readers(versions, before, chunks)
        live = self.workspace.index.entries(list(entries)) if entries else {}
        return {
            key: self._made(key, version, chunks[key], live.get(key, {}), key in entries, key in placed)
            for key, version in versions.items()
        }

    def _put_before_readers(
        self, versions: Mapping[str, str], before: Mapping[str, str | None], chunks: Mapping[str, list[Chunk]]
    ) -> tuple[Mapping[str, list[IndexEntry]], set[str]]:
        """Returns the entries that were written to the index, and the articles whose serving files were written."""
        live = self.workspace.index.entries(list(chunks))
        changed = {key for key, expected in chunks.items() if live.get(key, {}) != _hashes(expected)}
        entries = {key: self._entries(key, versions[key], chunks[key]) for key in changed}
        placed: set[str] = set()

        def place(key: str) -> None:
            if not is_served(self.layout, key, versions[key]):
                placed.add(key)
                publish_to_serving(self.layout, key, versions[key])

        try:
            for_each(self.layout.serving_root, place, versions)
            if entries:
                self.workspace.index.publish(entries)
        except BaseException as exc:  # also an interrupt: readers must not see half of a publication
            for key in placed:
                self._put_back(key, before.get(key), exc)
            raise
        keep_images = False
        if placed:  # while readers use an older generation, they still cite images of the former version
            pointer = self.workspace.catalog.live()
            keep_images = pointer is not None and pointer.generation.id != self.workspace.generation.id
        for_each(self.layout.serving_root, partial(clean_serving, self.layout, keep_images=keep_images), placed)
        return entries, placed

    def _entries(self, article_id: str, version: str, chunks: list[Chunk]) -> list[IndexEntry]:
        """The chunks with their vectors.

        Raises:
            MissingLayerError: the vectors belong to older chunks, or were made by another model.
        """
        embedder = self.workspace.embedder
        kept = kept_chunks(self.layout, article_id, version, embedder)
        passages = {chunk.chunk_hash: chunk.passages for chunk in kept}
        hashes = [chunk_text_hash(embedder.model_id, chunk) for chunk in chunks]
        entries = [
            IndexEntry(chunk, passages[key]) for chunk, key in zip(chunks, hashes, strict=True) if key in passages
        ]
        if len(entries) != len(chunks):
            raise MissingLayerError(
                f"{article_id}: its vectors are of older chunks; materialize chunk_embeddings first"
            )
        return entries

    def _put_back(self, article_id: str, version: str | None, reason: BaseException) -> None:
        try:
            if version:
                publish_to_serving(self.layout, article_id, version)
                clean_serving(self.layout, article_id)
            else:
                remove_from_serving(self.layout, article_id)
        except KnowledgeBaseError as exc:  # its folder stays marked as unfinished; go on with the next article
            reason.add_note(f"{article_id}: its former files could not be put back: {exc}")

    def _made(
        self, key: str, version: str, chunks: list[Chunk], live: Mapping[str, str], indexed: bool, placed: bool
    ) -> tuple[LayerOutput, bool]:
        """The layer as published; ``live`` are the entries of the index, read back if they were written."""
        check = index_holds_the_chunks(_hashes(chunks), live if indexed else _hashes(chunks))
        if not check.passed:
            raise SearchError(f"{key}: the index does not hold what was published: {check.message}")
        report: Report = {
            "entries": len(sections(chunks)),
            "images": len({url for chunk in chunks for url in chunk.image_urls}),
            "version": version,
            "generation": self.workspace.generation.id,
            "citations": Table(
                rows=tuple(
                    {"chunk": chunk.id, "section": chunk.section_header, "trace": f"kb trace {chunk.id}"}
                    for chunk in sections(chunks)[:50]
                )
            ),
        }
        return LayerOutput(chunks_hash(chunks), report, (check,)), not (indexed or placed)


def _hashes(chunks: list[Chunk]) -> dict[str, str]:
    return {chunk.id: chunk.content_hash for chunk in chunks}
