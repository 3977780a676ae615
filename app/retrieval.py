"""Finds the passages that may answer, for the person who asks: access control lists are part of the query itself."""

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from time import monotonic

from app.principal import Principal
from app.telemetry import tracing_search
from kb_pipeline.errors import TransientError
from kb_pipeline.records import Chunk, SearchHit, SearchMode
from kb_pipeline.search.base import SearchFilter
from kb_pipeline.settings import Settings
from kb_pipeline.workspace import Reader, Workspace

_MOST_OF_SECTIONS = 100
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

    async def sections(self, chunks: Sequence[Chunk], who: Principal) -> list[SearchHit]:
        """The passages of these passages' sections that this person may see: by section, in the article's order.

        At most a hundred, found in one search whatever the number of sections.

        Raises:
            KnowledgeBaseError: the index cannot be used.
        """
        if not chunks:
            return []
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._pool, self._sections, chunks, who)

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
        return self.reader().search(question, top=top, mode=mode, filters=SearchFilter(principals=who.names))

    def _sections(self, chunks: Sequence[Chunk], who: Principal) -> list[SearchHit]:
        within = SearchFilter(
            article_ids=tuple(dict.fromkeys(chunk.article_id for chunk in chunks)),
            section_header=chunks[0].section_header if len({chunk.section_header for chunk in chunks}) == 1 else None,
            principals=who.names,
        )
        # all of them are found by their headings, which are searched with every passage
        words = " ".join(dict.fromkeys(name for chunk in chunks for name in (chunk.section_header, chunk.title)))
        hits = self.reader().index.search(words, mode="keyword", top=_MOST_OF_SECTIONS, filters=within)
        sections = list(dict.fromkeys(map(_section_of, chunks)))
        found = (hit for hit in hits if _section_of(hit.chunk) in sections)
        return sorted(found, key=lambda hit: (sections.index(_section_of(hit.chunk)), hit.chunk.chunk_index))


def _section_of(chunk: Chunk) -> tuple[str, tuple[str, ...]]:
    return chunk.article_id, chunk.heading_path


def threads_for(settings: Settings) -> int:
    """Searches that may be under way together."""
    waits = settings.index != "lancedb" or settings.embedder.partition("/")[0] == "openai"
    return max(settings.worker_count, _WAITING if waits else 1)
