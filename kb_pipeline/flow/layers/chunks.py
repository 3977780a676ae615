"""chunks: the serving article split into its sections, the units of retrieval and citation.

Behind them stand the other rows of the index: one for each image, and one for the article as a whole.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import ClassVar

from pydantic import ValidationError
from upath import UPath

from kb_pipeline.errors import DamagedLayerError, KnowledgeBaseError
from kb_pipeline.flow.access import AccessLists
from kb_pipeline.flow.layers.base import Layer, LayerOutput, Run, outputs_of, read_made
from kb_pipeline.flow.layers.document_summary import DocumentSummaryLayer, deferral, load_summary
from kb_pipeline.flow.layers.serving_article import ServingArticleLayer, load_manifest
from kb_pipeline.records import Chunk, DocumentEntry, Manifest, Report, Scalar, Table, bars, sections
from kb_pipeline.steps.checks import check_chunks, rows_are_complete
from kb_pipeline.steps.chunk import (
    CHUNKER_VERSION,
    ROWS_VERSION,
    chunk_article,
    rows_beside,
    with_readers,
    without_deferred,
)
from kb_pipeline.steps.fingerprint import fingerprint, sha256
from kb_pipeline.steps.pages import article_pages
from kb_pipeline.steps.summary import first_headings, summarise, topics_of
from kb_pipeline.store.files import read_text, write_bytes
from kb_pipeline.store.layout import Layout
from kb_pipeline.store.state import ArticleState, LayerState

CHUNKS = "chunks.jsonl"


class ChunksLayer(Layer):
    """Sections with their heading path and images, and the rows beside them."""

    name: ClassVar[str] = "chunks"
    upstream: ClassVar[tuple[str, ...]] = ("document_summary", "serving_article")
    version: ClassVar[str] = f"{CHUNKER_VERSION}/{ROWS_VERSION}"
    description: ClassVar[str] = (
        "One chunk per section, with its images, the path of its headings, and topics, also where the author names "
        "none. Tables and code stay whole. One row for each image and one for the article as a whole stand beside them."
    )

    def backend(self) -> str:
        # tokens are counted by the embedder, so another embedder makes other chunks
        least, most = self.workspace.chunk_limits
        return f"{self.workspace.embedder.model_id}/{least}-{most}"

    def files(self, state: ArticleState) -> Mapping[str, UPath]:
        return {CHUNKS: self.layout.chunks(state.article_id, state.version)}

    def inputs(self, state: ArticleState, run: Run) -> dict[str, str]:
        if state.pinned_version:  # the summary is of the newest source, not of the version that was put back
            made_from = outputs_of([ServingArticleLayer.name], state, needed_by=self.name)
        else:
            made_from = super().inputs(state, run)
        with suppress(KnowledgeBaseError):  # a text that is gone is made again before it is cut
            text = read_text(self.layout.version(state.article_id, state.version) / "article.md", self.name)
            made_from |= deferral(text, self.workspace.deferred_titles)
        return made_from

    def report(self, state: ArticleState) -> Report:
        return _report(load_chunks(self.layout, state.article_id, state.version))

    def make(self, state: ArticleState, inputs: Mapping[str, str], run: Run) -> LayerOutput:
        markdown, manifest = self._read(state)
        chunks = self._cut(state, markdown, manifest)
        data = b"".join(chunk.model_dump_json().encode() + b"\n" for chunk in chunks)
        write_bytes(self.layout.chunks(state.article_id, state.version), data)
        return LayerOutput(
            chunks_hash(chunks),
            _report(chunks),
            (
                *check_chunks(
                    article_pages(markdown, manifest).text,
                    sections(chunks),
                    count_tokens=self.workspace.embedder.count_tokens,
                    max_tokens=self.workspace.chunk_limits[1],
                ),
                rows_are_complete(chunks, manifest),
            ),
            {CHUNKS: sha256(data)},
        )

    def cut(self, state: ArticleState) -> list[Chunk]:
        """The chunks that would be made now of the article's newest version. Writes nothing.

        Raises:
            KnowledgeBaseError: a file of an earlier layer is missing or damaged.
        """
        return self._cut(state, *self._read(state))

    def _read(self, state: ArticleState) -> tuple[str, Manifest]:
        folder = self.layout.version(state.article_id, state.version)
        serving = state.layers.get(ServingArticleLayer.name)
        markdown = read_made(folder / "article.md", ServingArticleLayer.name, serving, "article.md").decode()
        return markdown, load_manifest(folder)

    def _cut(self, state: ArticleState, markdown: str, manifest: Manifest) -> list[Chunk]:
        count_tokens = self.workspace.embedder.count_tokens
        least, most = self.workspace.chunk_limits
        if not manifest.key_topics:
            text = without_deferred(article_pages(markdown, manifest).text, self.workspace.deferred_titles)
            manifest = manifest.model_copy(update={"key_topics": topics_of(text, manifest.title)})
        found = chunk_article(
            markdown,
            manifest,
            count_tokens=count_tokens,
            max_tokens=most,
            min_tokens=least,
            deferring=self.workspace.deferred_titles,
        )
        entry = self._entry(state, markdown, manifest)
        return [*found, *rows_beside(found, manifest, entry, count_tokens=count_tokens, max_tokens=most)]

    def _entry(self, state: ArticleState, markdown: str, manifest: Manifest) -> DocumentEntry:
        """The article's entry in the list of documents; that of a version that was put back is the one it had."""
        if not state.pinned_version:
            return load_summary(self.layout, state.article_id, state.layers.get(DocumentSummaryLayer.name))
        with suppress(KnowledgeBaseError):  # its chunks are gone
            kept = _read_chunks(self.layout.chunks(state.article_id, state.version))
            if entry := next((row.document for row in kept if row.document), None):
                return entry
        text = without_deferred(article_pages(markdown, manifest).text, self.workspace.deferred_titles)
        return DocumentEntry(
            filename=manifest.provenance.source_file,
            language=manifest.language or "",
            upload_date=state.arrived_at[:10],
            page_count=len(manifest.pages),
            summary=summarise(text, manifest.title),
            headings=first_headings(text),
        )


def chunks_hash(chunks: Sequence[Chunk]) -> str:
    """Hash of the ids and contents of an article's chunks; it does not depend on the run that made them."""
    return hashes_hash({chunk.id: chunk.content_hash for chunk in chunks})


def hashes_hash(content_hashes: Mapping[str, str]) -> str:
    """As :func:`chunks_hash`, from content hashes by chunk id, as an index lists them."""
    return fingerprint(sorted(content_hashes.items()))


def _report(all_rows: list[Chunk]) -> Report:
    chunks = sections(all_rows)
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
        "other_rows": len(all_rows) - len(chunks),
        "sections": Table(rows=rows),
    }


def load_chunks(layout: Layout, article_id: str, version: str, made: LayerState | None = None) -> list[Chunk]:
    """Load the chunks of a version, with the readers that the article's newest list names.

    ``made`` is the state of the layer; if given, the file is checked against its hash.

    Raises:
        DamagedLayerError: the file is not as it was written.
    """
    chunks = _read_chunks(layout.chunks(article_id, version), made)
    newest = AccessLists(layout).get(article_id)
    return chunks if newest is None else [with_readers(chunk, newest.readers) for chunk in chunks]


def _read_chunks(path: UPath, made: LayerState | None = None) -> list[Chunk]:
    """The chunks as they were written, with the readers of that time."""
    try:
        data = read_made(path, ChunksLayer.name, made, CHUNKS)
        return [Chunk.model_validate_json(line) for line in data.splitlines()]
    except ValidationError as exc:
        raise DamagedLayerError(ChunksLayer.name, path) from exc
