"""Searches the index for a caller. The caller's access rights are part of each query."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from time import monotonic

from app.principal import Principal
from app.telemetry import tracing_search
from kb_pipeline.errors import TransientError
from kb_pipeline.flow.workspace import Reader, Workspace
from kb_pipeline.records import SearchHit, SearchMode
from kb_pipeline.search.base import SearchFilter
from kb_pipeline.settings import Settings

_PROBE_SECONDS = 10.0
_WAITING = 8
"""Concurrent searches if a service does the work, so that one slow answer does not block other readers."""


class Retrieval:
    """Searches the current generation of the index.

    Searches run in a thread pool of their own: one thread per core, or more if the threads wait for a service.
    """

    def __init__(self, workspace: Workspace, threads: int | None = None, *, record_content: bool = False) -> None:
        """Nothing is opened yet. With ``record_content``, traces contain the queries."""
        self.workspace = workspace
        self._record_content = record_content
        self._reader: tuple[float, Reader] | None = None
        self._probing, self._probed_at = Lock(), -_PROBE_SECONDS
        self._pool = ThreadPoolExecutor(threads or threads_for(workspace.settings), thread_name_prefix="retrieval")

    async def search(self, question: str, who: Principal, *, top: int, mode: SearchMode = "hybrid") -> list[SearchHit]:
        """The ``top`` best passages that this person may see, best first.

        Raises:
            IndexMissingError: nothing was published yet.
            KnowledgeBaseError: the index or the embedding model cannot be used.
        """
        loop = asyncio.get_running_loop()
        with tracing_search(question, mode, top, record_content=self._record_content) as traced:
            hits = await loop.run_in_executor(self._pool, self._search, question, who, top, mode)
            traced.done(len(hits))
        return hits

    def reader(self) -> Reader:
        """The reader of the current generation; the last one if the catalog cannot be reached.

        Raises:
            IndexMissingError: nothing was published yet.
        """
        now, cached = monotonic(), self._reader
        if cached is None or now - cached[0] > self.workspace.catalog.look_again_seconds:
            try:
                cached = (now, self.workspace.reader())
            except TransientError:
                if cached is None:
                    raise
                cached = (now, cached[1])
            self._reader = cached
        return cached[1]

    def probe(self) -> None:
        """Run a small query on the index, at most every ten seconds, however often monitors call this.

        Raises:
            IndexDamagedError: files of the index are damaged.
            KnowledgeBaseError: the index cannot be reached.
        """
        with self._probing:
            if monotonic() - self._probed_at >= _PROBE_SECONDS:
                self.reader().index.probe()
                self._probed_at = monotonic()

    def close(self) -> None:
        """Finish the running searches and cancel the waiting ones."""
        self._pool.shutdown(cancel_futures=True)

    def _search(self, question: str, who: Principal, top: int, mode: SearchMode) -> list[SearchHit]:
        return self.reader().search(question, top=top, mode=mode, filters=self._visible_to(who))

    def _visible_to(self, who: Principal) -> SearchFilter:
        return self.workspace.access.search_filter(who.names)


def threads_for(settings: Settings) -> int:
    """The number of concurrent searches."""
    waits = settings.index != "lancedb" or settings.embedder.partition("/")[0] == "openai"
    return max(settings.worker_count, _WAITING if waits else 1)
