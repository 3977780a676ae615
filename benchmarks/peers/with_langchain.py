"""LangChain, as its documentation says.

- Loading: https://docs.langchain.com/oss/python/integrations/document_loaders/bshtml
- Splitting and storing: https://docs.langchain.com/oss/python/langchain/knowledge-base (1,000 characters, 200 shared)
- Splitting at headings first: https://docs.langchain.com/oss/python/integrations/splitters/split_html
- Keeping in sync: https://reference.langchain.com/python/langchain-core/indexing
- Hybrid: https://reference.langchain.com/python/langchain-classic/retrievers/ensemble/EnsembleRetriever
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

from langchain_chroma import Chroma
from langchain_classic.indexes import SQLRecordManager
from langchain_classic.retrievers import EnsembleRetriever
from langchain_community.document_loaders import BSHTMLLoader, DirectoryLoader
from langchain_community.retrievers import BM25Retriever
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.indexing import index
from langchain_core.retrievers import BaseRetriever
from langchain_text_splitters import HTMLHeaderTextSplitter, RecursiveCharacterTextSplitter

from benchmarks.peers.base import PAGES, Mode, Passage, Peer, article_of
from benchmarks.peers.embedding import Model

_COLLECTION = "articles"
_LARGEST_BATCH = 5000
"""Chroma takes up to 5,461 entries at once."""


class LangChain(Peer):
    """BSHTMLLoader, RecursiveCharacterTextSplitter, Chroma."""

    name: ClassVar[str] = "LangChain"
    packages: ClassVar[tuple[str, ...]] = ("langchain", "langchain-community", "langchain-chroma", "chromadb")

    def __init__(self, store: Path, model: Model) -> None:
        """Open the collection."""
        super().__init__(store, model)
        self.vectors = Chroma(_COLLECTION, _embeddings(model), persist_directory=str(store / "chroma"))
        self.retriever: BaseRetriever | None = None

    def ingest(self, staging: Path) -> int:
        """``add_documents``, as in the tutorial."""
        splits = self.splits(staging, add_start_index=True)
        for start in range(0, len(splits), _LARGEST_BATCH):
            self.vectors.add_documents(splits[start : start + _LARGEST_BATCH])
        return len(splits)

    def update(self, staging: Path) -> dict[str, Any]:
        """``index`` with a record manager, cleaning up what is gone as well, as we do.

        Without start indices, which would make every chunk behind an edit a new one.
        """
        records = SQLRecordManager(f"chroma/{_COLLECTION}", db_url=f"sqlite:///{self.store / 'records.sqlite'}")
        records.create_schema()
        return dict(index(self.splits(staging), records, self.vectors, cleanup="full", source_id_key="source"))

    def open(self, mode: Mode, top: int) -> None:
        """The store's retriever; BM25 over the same chunks; both, fused by their ranks."""
        by_vector = self.vectors.as_retriever(search_kwargs={"k": top})
        if mode == "vector":
            self.retriever = by_vector
            return
        by_words = BM25Retriever.from_documents(self._documents(), k=top)
        fused = EnsembleRetriever(retrievers=[by_words, by_vector], weights=[0.5, 0.5])
        self.retriever = by_words if mode == "keyword" else fused

    def search(self, question: str) -> list[Passage]:
        """Ask the retriever."""
        assert self.retriever is not None
        found = self.retriever.invoke(question)
        return [Passage(article_of(document.metadata["source"]), document.page_content) for document in found]

    def splits(self, staging: Path, *, add_start_index: bool = False) -> list[Document]:
        """All pages in chunks."""
        splitter = RecursiveCharacterTextSplitter(chunk_size=1000, chunk_overlap=200, add_start_index=add_start_index)
        return splitter.split_documents(self.pages(staging))

    def pages(self, staging: Path) -> list[Document]:
        """The text of all pages."""
        loading = {"open_encoding": "utf-8"}
        return DirectoryLoader(str(staging), glob=PAGES, loader_cls=BSHTMLLoader, loader_kwargs=loading).load()

    def _documents(self) -> list[Document]:
        held = self.vectors.get(include=["documents", "metadatas"])
        pairs = zip(held["documents"], held["metadatas"], strict=True)
        return [Document(page_content=text, metadata=metadata) for text, metadata in pairs]


def _embeddings(model: Model) -> Embeddings:
    if not model.folder:
        return _OurEmbeddings(model)
    from langchain_huggingface import HuggingFaceEmbeddings  # brings torch, which only this needs

    return HuggingFaceEmbeddings(model_name=model.folder)


class LangChainByHeaders(LangChain):
    """HTMLHeaderTextSplitter first, so that no chunk goes over a heading."""

    def pages(self, staging: Path) -> list[Document]:
        """The sections of all pages."""
        splitter = HTMLHeaderTextSplitter([("h1", "Header 1"), ("h2", "Header 2"), ("h3", "Header 3")])
        sections = []
        for page in sorted(staging.glob(PAGES)):
            for section in splitter.split_text(page.read_text("utf-8", "replace")):
                section.metadata["source"] = str(page)
                sections.append(section)
        return sections


class _OurEmbeddings(Embeddings):
    def __init__(self, model: Model) -> None:
        self._model = model

    def embed_documents(self, texts: Sequence[str]) -> list[list[float]]:
        return self._model.embed(texts)

    def embed_query(self, text: str) -> list[float]:
        return self._model.embed([text])[0]
