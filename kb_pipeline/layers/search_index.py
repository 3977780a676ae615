"""search_index: the articles as readers find them: entries in the index and serving files, replaced as a whole.

Serving files come first, because an answer may show an image as soon as the index names it.
"""

from collections.abc import Mapping
from functools import partial
from typing import ClassVar

from kb_pipeline.errors import KnowledgeBaseError, MissingLayerError, SearchError
from kb_pipeline.layers.base import Made
from kb_pipeline.layers.chunk_embeddings import kept_passages, text_hash
from kb_pipeline.layers.chunks import chunks_hash, load_chunks
from kb_pipeline.layers.versions import is_in_place, put_in_place, remove_place, replacing, tidy_place
from kb_pipeline.layout import Layout
from kb_pipeline.records import Chunk
from kb_pipeline.report import Report, Table
from kb_pipeline.search.base import IndexEntry
from kb_pipeline.steps.checks import check_index
from kb_pipeline.steps.chunk import embedding_text
from kb_pipeline.storage import for_each
from kb_pipeline.workspace import Workspace


class SearchIndexLayer:
    """Writes many articles in one commit. What is published already is asked of the live index itself."""

    name: ClassVar[str] = "search_index"
    upstream: ClassVar[tuple[str, ...]] = ("serving_article", "chunks", "chunk_embeddings")
    version: ClassVar[str] = "2"
    description: ClassVar[str] = "The article before its readers: entries in the hybrid index, replaced in one commit."

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self.layout: Layout = workspace.layout

    def backend(self) -> str:
        """The index and the generation of it that is written to."""
        return f"{self.workspace.settings.index}/{self.workspace.generation.id}"

    def code_version(self) -> str:
        """What Dagster calls the code version: another one makes the layer stale."""
        return f"{self.version}/{self.backend()}"

    def publish(self, versions: Mapping[str, str], before: Mapping[str, str | None]) -> Mapping[str, tuple[Made, bool]]:
        """Put these versions of articles before readers: by article, what is there and whether it was already.

        ``before`` are the versions that readers see now; they get them back if the index refuses the new ones.

        Raises:
            KnowledgeBaseError: a file is missing, or the index refused; readers see what they saw before.
        """
        with replacing(self.layout, versions):
            entries, placed = self._put_before_readers(versions, before)
        live = self.workspace.index.entries(list(entries)) if entries else {}
        return {
            key: self._made(key, version, live.get(key, {}), key in entries, key in placed)
            for key, version in versions.items()
        }

    def _put_before_readers(
        self, versions: Mapping[str, str], before: Mapping[str, str | None]
    ) -> tuple[Mapping[str, list[IndexEntry]], set[str]]:
        """Returns what was written to the index, and the articles whose files were."""
        entries = self._changed(versions)
        placed: set[str] = set()

        def place(key: str) -> None:
            if not is_in_place(self.layout, key, versions[key]):
                placed.add(key)
                put_in_place(self.layout, key, versions[key])

        try:
            for_each(self.layout.serving_root, place, versions)
            if entries:
                self.workspace.index.publish(entries)
        except BaseException as exc:  # whatever it is, readers must not be left with half of it
            for key in placed:
                self._place_back(key, before.get(key), exc)
            raise
        keep_images = bool(placed) and not self._is_read()
        for_each(self.layout.serving_root, partial(tidy_place, self.layout, keep_images=keep_images), placed)
        return entries, placed

    def _changed(self, versions: Mapping[str, str]) -> dict[str, list[IndexEntry]]:
        """Entries of the articles that the live index does not hold exactly so."""
        chunks = {key: load_chunks(self.layout, key, version) for key, version in versions.items()}
        live = self.workspace.index.entries(list(chunks))
        changed = {key for key, wanted in chunks.items() if live.get(key, {}) != _hashes(wanted)}
        return {key: self._entries(key, versions[key], chunks[key]) for key in changed}

    def _entries(self, article_id: str, version: str, chunks: list[Chunk]) -> list[IndexEntry]:
        """The chunks with their vectors, and those of their words if the embedder tells them.

        Raises:
            MissingLayerError: the vectors are of older chunks, made in another way, or damaged.
        """
        embedder = self.workspace.embedder
        kept = kept_passages(self.layout, article_id, version, embedder)
        passages = [kept.get(text_hash(embedder.model_id, embedding_text(chunk))) for chunk in chunks]
        entries = [
            IndexEntry(chunk, passage.vector, passage.words)
            for chunk, passage in zip(chunks, passages, strict=True)
            if passage is not None
        ]
        if len(entries) != len(chunks):
            raise MissingLayerError(
                f"{article_id}: its vectors are of older chunks; materialise chunk_embeddings first"
            )
        return entries

    def _place_back(self, article_id: str, version: str | None, reason: BaseException) -> None:
        try:
            if version:
                put_in_place(self.layout, article_id, version)
                tidy_place(self.layout, article_id)
            else:
                remove_place(self.layout, article_id)
        except KnowledgeBaseError as exc:  # the next article may have more luck; this one is marked as unfinished
            reason.add_note(f"{article_id}: its former files could not be put back: {exc}")

    def _is_read(self) -> bool:
        """Whether readers use this generation; those of an older one still cite what it shows."""
        live = self.workspace.catalog.live()
        return live is None or live.generation.id == self.workspace.generation.id

    def _made(
        self, article_id: str, version: str, live: Mapping[str, str], indexed: bool, placed: bool
    ) -> tuple[Made, bool]:
        """What is there now: the index is asked again for what was written."""
        chunks = load_chunks(self.layout, article_id, version)
        checks = check_index(_hashes(chunks), live if indexed else _hashes(chunks))
        if problems := "; ".join(check.message for check in checks if not check.passed):
            raise SearchError(f"{article_id}: the index does not hold what was published: {problems}")
        report: Report = {
            "entries": len(chunks),
            "images": len({url for chunk in chunks for url in chunk.image_urls}),
            "version": version,
            "generation": self.workspace.generation.id,
            "citations": Table(
                rows=tuple(
                    {"chunk": chunk.id, "section": chunk.section_header, "trace": f"kb trace {chunk.id}"}
                    for chunk in chunks[:50]
                )
            ),
        }
        return Made(chunks_hash(chunks), report, checks), not (indexed or placed)


def _hashes(chunks: list[Chunk]) -> dict[str, str]:
    return {chunk.id: chunk.content_hash for chunk in chunks}
