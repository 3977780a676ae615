"""Finds the passages that may answer, for the person who asks: access control lists are part of the query itself."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

from app.principal import Principal
from kb_pipeline.records import SearchHit, SearchMode
from kb_pipeline.search.base import SearchFilter, query_words
from kb_pipeline.workspace import Workspace


class Retrieval:
    """Searches the generation of the index that readers use now.

    Embedding is CPU work of our own, so it has threads of its own: as many as there are cores to run them.
    """

    def __init__(self, workspace: Workspace, threads: int | None = None) -> None:
        """Say which knowledge base; nothing is opened yet."""
        self.workspace = workspace
        self._pool = ThreadPoolExecutor(threads or workspace.settings.worker_count, thread_name_prefix="retrieval")

    async def search(self, question: str, who: Principal, *, top: int, mode: SearchMode = "hybrid") -> list[SearchHit]:
        """The ``top`` best passages that this person may see, best first.

        Raises:
            IndexMissingError: nothing was ever published.
            KnowledgeBaseError: the index or the embedding model cannot be used.
        """
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._pool, self._search, question, who, top, mode)

    def close(self) -> None:
        """Let searches end that were begun."""
        self._pool.shutdown(cancel_futures=True)

    def _search(self, question: str, who: Principal, top: int, mode: SearchMode) -> list[SearchHit]:
        reader = self.workspace.reader()
        # what is embedded before the index is asked fails before the index is asked
        vector = None if mode == "keyword" else reader.embedder.embed([query_words(question)])[0]
        return reader.index.search(question, vector, mode=mode, top=top, filters=SearchFilter(principals=who.names))
