"""Finds the passages that may answer, for the person who asks: access control lists are part of the query itself."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from time import monotonic

from app.principal import Principal
from app.telemetry import tracing_search
from kb_pipeline.errors import TransientError
from kb_pipeline.records import Chunk, SearchHit, SearchMode
from kb_pipeline.search.base import SearchFilter, query_words
from kb_pipeline.settings import Settings
from kb_pipeline.workspace import Reader, Workspace

_MOST_OF_SECTION = 50
_WAITING = 8
"""Searches at once where a service does the work, so that one slow answer does not keep other readers waiting."""


class Retrieval:
    """Searches the generation of the index that readers use now.

    That is done by threads of its own: as many as there are cores to run them, or more where they wait for a service.
    """

    def __init__(self, workspace: Workspace, threads: int | None = None, *, record_content: bool = False) -> None:
        """Say which knowledge base, and whether questions may be recorded in traces; nothing is opened yet."""
        self.workspace = workspace
        self._record_content = record_content
        self._reader: tuple[float, Reader] | None = None
        self._pool = ThreadPoolExecutor(threads or threads_for(workspace.settings), thread_name_prefix="retrieval")

    async def search(self, question: str, who: Principal, *, top: int, mode: SearchMode = "hybrid") -> list[SearchHit]:
        """The ``top`` best passages that this person may see, best first.

        Raises:
            IndexMissingError: nothing was ever published.
            KnowledgeBaseError: the index or the embedding model cannot be used.
        """
        loop = asyncio.get_running_loop()
        with tracing_search(question, mode, top, record_content=self._record_content) as traced:
            hits = await loop.run_in_executor(self._pool, self._search, question, who, top, mode)
            traced.done(len(hits))
        return hits

    async def section(self, chunk: Chunk, who: Principal) -> list[SearchHit]:
        """The passages of a passage's section that this person may see, in the article's order; at most fifty.

        Raises:
            KnowledgeBaseError: the index cannot be used.
        """
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._pool, self._section, chunk, who)

    def reader(self) -> Reader:
        """What readers search now; while nobody can tell, what they searched before.

        Raises:
            IndexMissingError: nothing was ever published.
        """
        now, known = monotonic(), self._reader
        if known is None or now - known[0] > self.workspace.catalog.look_again_seconds:
            try:
                known = (now, self.workspace.reader())
            except TransientError:
                if known is None:
                    raise
                known = (now, known[1])
            self._reader = known
        return known[1]

    def close(self) -> None:
        """Let searches end that were begun."""
        self._pool.shutdown(cancel_futures=True)

    def _search(self, question: str, who: Principal, top: int, mode: SearchMode) -> list[SearchHit]:
        reader = self.reader()
        # what is embedded before the index is asked fails before the index is asked
        needs_vector = mode != "keyword" and not reader.index.embeds_questions
        vector = reader.embedder.embed([query_words(question)])[0] if needs_vector else None
        return reader.index.search(question, vector, mode=mode, top=top, filters=SearchFilter(principals=who.names))

    def _section(self, chunk: Chunk, who: Principal) -> list[SearchHit]:
        within = SearchFilter(
            article_ids=(chunk.article_id,), section_header=chunk.section_header, principals=who.names
        )
        # all of them are found by their headings, which are searched with every passage
        words = f"{chunk.section_header} {chunk.title}"
        hits = self.reader().index.search(words, mode="keyword", top=_MOST_OF_SECTION, filters=within)
        same = (hit for hit in hits if hit.chunk.heading_path == chunk.heading_path)
        return sorted(same, key=lambda hit: hit.chunk.chunk_index)


def threads_for(settings: Settings) -> int:
    """Searches that may be under way together."""
    waits = settings.index != "lancedb" or settings.embedder.partition("/")[0] == "openai"
    return max(settings.worker_count, _WAITING if waits else 1)
