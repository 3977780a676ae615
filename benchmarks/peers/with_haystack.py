"""Haystack, as its documentation says.

- Indexing: https://haystack.deepset.ai/tutorials/08_preprocessing (150 words, 50 shared; this very model)
- HTML: https://docs.haystack.deepset.ai/docs/htmltodocument
- Hybrid: https://haystack.deepset.ai/tutorials/33_hybrid_retrieval (ranks fused; without its cross-encoder, because
  nobody else here has one)
- Keeping: https://docs.haystack.deepset.ai/docs/inmemorydocumentstore (``save_to_disk``)
"""

from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

from haystack import Document, Pipeline, component
from haystack.components.converters import HTMLToDocument
from haystack.components.joiners import DocumentJoiner
from haystack.components.preprocessors import DocumentCleaner, DocumentSplitter
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever, InMemoryEmbeddingRetriever
from haystack.components.writers import DocumentWriter
from haystack.core.component import Component
from haystack.document_stores.in_memory import InMemoryDocumentStore

from benchmarks.peers.base import PAGES, Mode, Passage, Peer, article_of
from benchmarks.peers.embedding import Model


class Haystack(Peer):
    """HTMLToDocument, DocumentCleaner, DocumentSplitter, InMemoryDocumentStore."""

    name: ClassVar[str] = "Haystack"
    packages: ClassVar[tuple[str, ...]] = ("haystack-ai", "sentence-transformers-haystack", "trafilatura")

    def __init__(self, store: Path, model: Model) -> None:
        """Read the documents that were kept."""
        super().__init__(store, model)
        self.kept = store / "documents.json"
        self.documents = InMemoryDocumentStore()
        if self.kept.is_file():
            self.documents = InMemoryDocumentStore.load_from_disk(str(self.kept))
        self.searching = Pipeline()
        self.inputs: tuple[tuple[str, str], ...] = ()
        self.last = ""

    def ingest(self, staging: Path) -> int:
        """One run of the pipeline, and the documents to disk."""
        indexing = Pipeline()
        indexing.add_component("converter", HTMLToDocument(store_full_path=True))
        indexing.add_component("cleaner", DocumentCleaner())
        indexing.add_component("splitter", DocumentSplitter(split_by="word", split_length=150, split_overlap=50))
        indexing.add_component("embedder", _document_embedder(self.model))
        indexing.add_component("writer", DocumentWriter(self.documents))
        for source, target in (
            ("converter", "cleaner"), ("cleaner", "splitter"), ("splitter", "embedder"), ("embedder", "writer"),
        ):  # fmt: skip
            indexing.connect(source, target)
        pages = sorted(staging.glob(PAGES))
        written: int = indexing.run({"converter": {"sources": pages}})["writer"]["documents_written"]
        self.documents.save_to_disk(str(self.kept))
        return written

    def update(self, staging: Path) -> dict[str, Any]:
        """Its documents' ids are hashes of what they hold; nothing finds out what is gone or need not be embedded."""
        raise NotImplementedError("Haystack documents no way to ingest again only what changed")

    def open(self, mode: Mode, top: int) -> None:
        """Retrievers of the store; ranks fused by a joiner."""
        self.searching = Pipeline()
        by_words = InMemoryBM25Retriever(self.documents, top_k=top)
        by_vector = InMemoryEmbeddingRetriever(self.documents, top_k=top)
        if mode != "keyword":
            self.searching.add_component("embedder", _text_embedder(self.model))
            self.searching.add_component("by_vector", by_vector)
            self.searching.connect("embedder.embedding", "by_vector.query_embedding")
        if mode != "vector":
            self.searching.add_component("by_words", by_words)
        if mode == "hybrid":
            self.searching.add_component("joiner", DocumentJoiner(join_mode="reciprocal_rank_fusion", top_k=top))
            self.searching.connect("by_words", "joiner")
            self.searching.connect("by_vector", "joiner")
        asked = {"vector": ["embedder"], "keyword": ["by_words"], "hybrid": ["embedder", "by_words"]}[mode]
        self.inputs = tuple((name, "text" if name == "embedder" else "query") for name in asked)
        self.last = {"vector": "by_vector", "keyword": "by_words", "hybrid": "joiner"}[mode]

    def search(self, question: str) -> list[Passage]:
        """Run the query pipeline."""
        found = self.searching.run({name: {field: question} for name, field in self.inputs})
        return [
            Passage(article_of(each.meta["file_path"]), each.content or "") for each in found[self.last]["documents"]
        ]


def _document_embedder(model: Model) -> Component:
    if not model.folder:
        return _OurDocumentEmbedder(model)
    from haystack_integrations.components.embedders import sentence_transformers  # brings torch, only needed here

    return sentence_transformers.SentenceTransformersDocumentEmbedder(model=model.folder, progress_bar=False)


def _text_embedder(model: Model) -> Component:
    if not model.folder:
        return _OurTextEmbedder(model)
    from haystack_integrations.components.embedders import sentence_transformers

    return sentence_transformers.SentenceTransformersTextEmbedder(model=model.folder, progress_bar=False)


@component
class _OurDocumentEmbedder:
    def __init__(self, model: Model) -> None:
        self.model = model

    @component.output_types(documents=list[Document])
    def run(self, documents: list[Document]) -> dict[str, list[Document]]:
        vectors = self.model.embed([document.content or "" for document in documents])
        return {"documents": [replace(one, embedding=vector) for one, vector in zip(documents, vectors, strict=True)]}


@component
class _OurTextEmbedder:
    def __init__(self, model: Model) -> None:
        self.model = model

    @component.output_types(embedding=list[float])
    def run(self, text: str) -> dict[str, list[float]]:
        return {"embedding": self.model.embed([text])[0]}
