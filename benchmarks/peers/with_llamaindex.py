"""LlamaIndex, as its documentation says.

- Loading: https://developers.llamaindex.ai/python/framework/module_guides/loading/simpledirectoryreader
- Nodes of HTML, chained with a splitter by length:
  https://developers.llamaindex.ai/python/framework/module_guides/loading/node_parsers/modules
- Pipeline, vector store, document management, persisting:
  https://developers.llamaindex.ai/python/framework/module_guides/loading/ingestion_pipeline
- Hybrid: https://developers.llamaindex.ai/python/framework/integrations/retrievers/reciprocal_rerank_fusion
"""

from pathlib import Path
from typing import Any, ClassVar

import chromadb
from llama_index.core import SimpleDirectoryReader, VectorStoreIndex
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.bridge.pydantic import PrivateAttr
from llama_index.core.ingestion import DocstoreStrategy, IngestionPipeline
from llama_index.core.llms import MockLLM
from llama_index.core.node_parser import HTMLNodeParser, SentenceSplitter
from llama_index.core.retrievers import BaseRetriever, QueryFusionRetriever
from llama_index.core.schema import Document, MetadataMode, TextNode, TransformComponent
from llama_index.core.storage.docstore import SimpleDocumentStore
from llama_index.readers.file import HTMLTagReader
from llama_index.retrievers.bm25 import BM25Retriever
from llama_index.vector_stores.chroma import ChromaVectorStore
from llama_index.vector_stores.chroma import base as chroma_store

from benchmarks.peers.base import Mode, Passage, Peer, article_of
from benchmarks.peers.embedding import Model

_TOKENS = 256
"""What the model sees; the splitter's default of 1,024 would have most of a chunk cut off."""
_OVERLAP = 20
_HTML: dict[str, Any] = {"recursive": True, "required_exts": [".html"]}

chroma_store.MAX_CHUNK_SIZE = 5000
"""It hands Chroma up to 41,665 nodes at once, which takes no more than 5,461."""


class LlamaIndex(Peer):
    """SimpleDirectoryReader, HTMLNodeParser, SentenceSplitter, Chroma."""

    name: ClassVar[str] = "LlamaIndex"
    packages: ClassVar[tuple[str, ...]] = ("llama-index-core", "llama-index-vector-stores-chroma", "chromadb")

    def __init__(self, store: Path, model: Model) -> None:
        """Open the collection."""
        super().__init__(store, model)
        self.embeddings = _embeddings(model)
        self.collection = chromadb.PersistentClient(str(store / "chroma")).get_or_create_collection("articles")
        self.retriever: BaseRetriever | None = None

    def ingest(self, staging: Path) -> int:
        """The pipeline."""
        return len(self._pipeline().run(documents=self.read(staging)))

    def update(self, staging: Path) -> dict[str, Any]:
        """The pipeline with a document store that tells what is new, changed or gone.

        Without its cache of transformations, which only costs time here: a changed page is never in it.
        """
        pipeline = self._pipeline(
            docstore=SimpleDocumentStore(),
            docstore_strategy=DocstoreStrategy.UPSERTS_AND_DELETE,
            disable_cache=True,
        )
        kept = self.store / "pipeline"
        if kept.is_dir():
            pipeline.load(str(kept))
        nodes = pipeline.run(documents=self.read(staging))
        pipeline.persist(str(kept))
        return {"nodes": len(nodes)}

    def open(self, mode: Mode, top: int) -> None:
        """The index's retriever; BM25 over the same nodes; both, fused by their ranks without rewriting the query."""
        index = VectorStoreIndex.from_vector_store(self._store(), embed_model=self.embeddings)
        by_vector = index.as_retriever(similarity_top_k=top)
        if mode == "vector":
            self.retriever = by_vector
            return
        by_words = BM25Retriever.from_defaults(nodes=self._nodes(), similarity_top_k=top)
        fused = QueryFusionRetriever(
            [by_vector, by_words],
            llm=MockLLM(),
            num_queries=1,
            mode="reciprocal_rerank",
            similarity_top_k=top,
            use_async=False,
        )
        self.retriever = by_words if mode == "keyword" else fused

    def search(self, question: str) -> list[Passage]:
        """Ask the retriever."""
        assert self.retriever is not None
        found = self.retriever.retrieve(question)
        return [
            Passage(article_of(hit.node.metadata["file_path"]), hit.node.get_content(MetadataMode.NONE))
            for hit in found
        ]

    def read(self, staging: Path) -> list[Document]:
        """All pages, each with the same id every time, by which the document store knows it again."""
        return SimpleDirectoryReader(str(staging), filename_as_id=True, **_HTML).load_data()

    def parsers(self) -> list[TransformComponent]:
        """What makes nodes of pages."""
        return [HTMLNodeParser(), SentenceSplitter(chunk_size=_TOKENS, chunk_overlap=_OVERLAP)]

    def _pipeline(self, **options: Any) -> IngestionPipeline:
        return IngestionPipeline(
            transformations=[*self.parsers(), self.embeddings],
            vector_store=self._store(),
            **options,
        )

    def _store(self) -> ChromaVectorStore:
        return ChromaVectorStore(chroma_collection=self.collection)

    def _nodes(self) -> list[TextNode]:
        held = self._store().get_nodes(None)
        return [node for node in held if isinstance(node, TextNode)]


class LlamaIndexByText(LlamaIndex):
    """HTMLTagReader and SentenceSplitter: all text of a page, as long as a chunk can be, whatever the elements."""

    def read(self, staging: Path) -> list[Document]:
        """The text of all pages."""
        return SimpleDirectoryReader(str(staging), file_extractor={".html": HTMLTagReader("body")}, **_HTML).load_data()

    def parsers(self) -> list[TransformComponent]:
        """Only the splitter."""
        return [SentenceSplitter(chunk_size=_TOKENS, chunk_overlap=_OVERLAP)]


def _embeddings(model: Model) -> BaseEmbedding:
    if not model.folder:
        return _OurEmbeddings(model)
    from llama_index.embeddings.huggingface import HuggingFaceEmbedding  # brings torch, which only this needs

    return HuggingFaceEmbedding(model.folder)


class _OurEmbeddings(BaseEmbedding):
    _model: Model = PrivateAttr()

    def __init__(self, model: Model) -> None:
        super().__init__()
        self._model = model

    def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        return self._model.embed(texts)

    def _get_text_embedding(self, text: str) -> list[float]:
        return self._model.embed([text])[0]

    def _get_query_embedding(self, query: str) -> list[float]:
        return self._model.embed([query])[0]

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._get_query_embedding(query)
