"""Searches the index for a caller. The caller's access rights and mode are part of each query."""

import asyncio
from collections.abc import Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from operator import attrgetter
from threading import Lock
from time import monotonic

from app.callers.principal import Principal
from app.logs.telemetry import tracing_search
from kb_pipeline.asking import Scope
from kb_pipeline.errors import TransientError
from kb_pipeline.flow.workspace import Reader, Workspace
from kb_pipeline.records import Chunk, DocumentSort, SearchHit, SearchMode, sections
from kb_pipeline.search.base import DocumentPage, SearchFilter, folded, of_mode
from kb_pipeline.settings import Settings

_PROBE_SECONDS = 10.0
"""Seconds for which a search service that answered is believed to be there: health checks come more often."""
_WAITING = 8
"""Concurrent searches if a service does the work, so that one slow answer does not block other readers."""


class Retrieval:
    """Searches the current generation of the index.

    Searches run in a thread pool of their own: one thread per core, or more if the threads wait for a service.
    """

    def __init__(self, workspace: Workspace, *, record_content: bool = False) -> None:
        """Nothing is opened yet. With ``record_content``, traces contain the queries."""
        self.workspace = workspace
        self._record_content = record_content
        self._reader: tuple[float, Reader] | None = None
        self._probing, self._probed_at = Lock(), -_PROBE_SECONDS
        self._pool = ThreadPoolExecutor(threads_for(workspace.settings), thread_name_prefix="retrieval")

    async def search(
        self,
        question: str,
        who: Principal,
        *,
        top: int,
        mode: SearchMode = "hybrid",
        filters: SearchFilter | None = None,
        topics: Sequence[str] | None = None,
    ) -> list[SearchHit]:
        """The ``top`` best passages that meet the filters and that this person may see, best first.

        ``topics``: only passages of articles with one of these topics.

        Raises:
            IndexMissingError: nothing was published yet.
            KnowledgeBaseError: the index or the embedding model cannot be used.
        """
        loop = asyncio.get_running_loop()
        if topics is not None:
            filters = (filters or SearchFilter()).model_copy(update={"key_topics": tuple(topics)})
        with tracing_search(question, mode, top, record_content=self._record_content) as traced:
            hits = await loop.run_in_executor(self._pool, self._search, question, who, top, mode, filters)
            traced.done(len(hits))
        return hits

    async def section(self, article_id: str, chunk_id: str) -> list[SearchHit]:
        """The passages of the section that a passage belongs to, in order; itself alone if the section is not cut.

        Passages with other readers than this one are left out. Nothing if it is not in the index any more.

        Raises:
            KnowledgeBaseError: the index cannot be read.
        """
        return await asyncio.get_running_loop().run_in_executor(self._pool, self._section, article_id, chunk_id)

    async def passages(self, article_ids: Collection[str], who: Principal) -> list[SearchHit]:
        """All sections of these articles that this person may see, article by article in the order of the text.

        Those that are left for later are among them only if the person's mode has them.

        Raises:
            IndexMissingError: nothing was published yet.
            KnowledgeBaseError: the index cannot be read.
        """

        def read() -> list[SearchHit]:
            reader, visible = self.reader(), self.visible_to(who)
            chunk_ids = [chunk_id for ids in reader.index.entries(article_ids).values() for chunk_id in ids]
            readable = (each for each in reader.index.find(chunk_ids) if _shows(reader, visible, each.chunk))
            hits = (
                SearchHit(
                    chunk=each.chunk, score=0.0, embedding_model=each.embedding_model, generation=reader.generation.id
                )
                for each in readable
                if each.chunk.block_type == "text"
            )
            return sorted(hits, key=lambda hit: (hit.chunk.article_id, hit.chunk.chunk_index))

        return await asyncio.get_running_loop().run_in_executor(self._pool, read)

    async def documents(
        self,
        who: Principal,
        filters: SearchFilter,
        *,
        sort: DocumentSort = "upload_date",
        descending: bool = False,
        limit: int = 20,
        offset: int = 0,
    ) -> DocumentPage:
        """The documents that meet the filters and that this person may see, with their summaries.

        Raises:
            IndexMissingError: nothing was published yet.
            KnowledgeBaseError: the index cannot be read.
        """

        def read() -> DocumentPage:
            visible = self.visible_to(who, filters)
            return self.reader().index.documents(visible, sort=sort, descending=descending, limit=limit, offset=offset)

        return await asyncio.get_running_loop().run_in_executor(self._pool, read)

    def find(self, chunk_ids: Collection[str], who: Principal) -> list[Chunk]:
        """Those of these chunks that stand in the index and that this person may see.

        Raises:
            IndexMissingError: nothing was published yet.
            SearchError: the index cannot be read.
        """
        visible = self.visible_to(who)
        return [each.chunk for each in self.reader().index.find(chunk_ids) if visible.lets_read(each.chunk)]

    def chunks_of(self, article_ids: Collection[str], who: Principal) -> list[Chunk]:
        """All sections of these articles that this person may see, article by article in the order of the text.

        Raises:
            IndexMissingError: nothing was published yet.
            SearchError: the index cannot be read.
        """
        entries = self.reader().index.entries(article_ids)
        chunks = sections(self.find([chunk_id for ids in entries.values() for chunk_id in ids], who))
        return sorted(chunks, key=lambda chunk: (chunk.article_id, chunk.chunk_index))

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

    @property
    def index_name(self) -> str:
        """The id of the generation that was searched last; "" before the first search."""
        return self._reader[1].generation.id if self._reader else ""

    def visible_to(self, who: Principal, filters: SearchFilter | None = None) -> SearchFilter:
        """These filters, limited to what this person may see in their mode and scope, whatever they say of access."""
        visible = self.workspace.access.search_filter(who.names)
        ours = {name: getattr(visible, name) for name in ("principals", "granted_articles", "denied_articles")}
        ours["deferred"] = of_mode(who.mode or self.workspace.settings.mode)
        limited = (filters or visible).model_copy(update=ours)
        return _within(limited, who.scope) if who.scope else limited

    def probe(self) -> None:
        """Run a small query on the index, at most every ten seconds, however often monitors call this.

        Raises:
            IndexDamagedError: files of the index are damaged.
            KnowledgeBaseError: the index cannot be reached.
        """
        with self._probing:
            if monotonic() - self._probed_at >= _PROBE_SECONDS:
                self.workspace.catalog.probe()
                self.reader().index.probe()
                self._probed_at = monotonic()

    def close(self) -> None:
        """Finish the running searches and cancel the waiting ones."""
        self._pool.shutdown(cancel_futures=True)

    def _search(
        self, question: str, who: Principal, top: int, mode: SearchMode, filters: SearchFilter | None
    ) -> list[SearchHit]:
        return self.reader().search(question, top=top, mode=mode, filters=self.visible_to(who, filters))

    def _section(self, article_id: str, chunk_id: str) -> list[SearchHit]:
        index = self.reader().index
        chunks = index.find(index.entries([article_id]).get(article_id, {}))
        here = next((each.chunk for each in chunks if each.chunk.id == chunk_id), None)
        if here is None:
            return []
        same = [each for each in chunks if _is_of_section(each.chunk, here)]  # so in every mode that finds this one
        in_order = sorted(same, key=lambda each: each.chunk.chunk_index)
        return [SearchHit(chunk=each.chunk, score=0.0, embedding_model=each.embedding_model) for each in in_order]


def _within(filters: SearchFilter, scope: Scope) -> SearchFilter:
    """The filters, which let through only what is in the scope as well."""
    limits: dict[str, tuple[str, ...]] = {}
    for name, values in {
        "document_type": scope.type,
        "department": scope.department,
        "key_topics": scope.topic,
    }.items():
        wanted = getattr(filters, name)
        ours = {folded(value) for value in values}
        if values:
            limits[name] = values if wanted is None else tuple(each for each in wanted if folded(each) in ours)
    return filters.model_copy(update=limits)


def _is_of_section(chunk: Chunk, here: Chunk) -> bool:
    """Return whether a chunk stands under the same headings, and whoever finds the one may find the other.

    A row that is no section stands for itself.
    """
    if not chunk.block_type == here.block_type == "text":
        return chunk.id == here.id
    facts = attrgetter("heading_path", "access_control_list", "deferred")
    return bool(facts(chunk) == facts(here))


def _shows(reader: Reader, visible: SearchFilter, chunk: Chunk) -> bool:
    """Return whether the person of this filter may see a chunk, and their mode has it."""
    return visible.lets_read(chunk) and not (visible.deferred is False and reader.is_deferred(chunk))


def threads_for(settings: Settings) -> int:
    """The number of concurrent searches."""
    waits = settings.index != "lancedb" or settings.embedder.partition("/")[0] == "openai"
    return max(settings.worker_count, _WAITING if waits else 1)
