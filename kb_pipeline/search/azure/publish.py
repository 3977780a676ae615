"""Replaces articles in an index of Azure AI Search, in an order that leaves nothing missing or doubled.

The service has no transactions, and shows writes a moment later. So the new documents of an article are uploaded with a
revision above the last one, and every result is checked. Once the index shows them, the documents of removed sections
are deleted, and the index is asked again. The key of a section never changes, so no chunk exists twice. Readers that
get two revisions of an article keep the newer one (``documents.newest``).

Readers can still see two things. While the service takes up a batch, some chunks of an article may be missing. Before
the deletion, a chunk of a removed section may appear if the search returns nothing else of its article. If the process
is killed in between, such chunks stay until the article is published again, which reconciling does too.
"""

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from secrets import token_hex
from typing import TYPE_CHECKING, Literal, TypeVar

from kb_pipeline.errors import SearchError
from kb_pipeline.search.azure.documents import (
    KEY,
    OUR_FIELDS,
    READ_FIELDS,
    REVISION,
    Document,
    document_key,
    readers_of,
    size_of,
    to_chunk,
    to_document,
)
from kb_pipeline.search.azure.query import DocumentLister
from kb_pipeline.search.azure.service import ContestedError, SearchBusyError, SearchService, until_uncontested
from kb_pipeline.search.base import IndexEntry, filter_values
from kb_pipeline.search.catalog import Generation
from kb_pipeline.services.service import one_line
from kb_pipeline.steps.chunk import with_readers
from kb_pipeline.wording import counted

if TYPE_CHECKING:
    from azure.search.documents.models import IndexDocumentsBatch, IndexingResult


MOST_DOCUMENTS = 1000
"""Most documents in a batch: the limit of the service."""
MOST_BYTES = 14_000_000
"""Most bytes in a batch; the limit of the service is 16 MB."""
USUAL_DOCUMENTS = 200
USUAL_BYTES = 4_000_000
"""A usual batch: several are sent at once, and a failed one is quickly sent again."""

T = TypeVar("T")


def batches(articles: Iterable[Sequence[T]], size: Callable[[T], int]) -> Iterator[list[T]]:
    """Yield the documents of all articles in batches, in their order.

    An article is split only if no batch can hold it, because documents sent together also become visible together.
    """
    batch: list[T] = []
    filled = 0
    for documents in articles:
        for part, weight in _parts(documents, size):
            if batch and (len(batch) + len(part) > USUAL_DOCUMENTS or filled + weight > USUAL_BYTES):
                yield batch
                batch, filled = [], 0
            batch, filled = [*batch, *part], filled + weight
    if batch:
        yield batch


def _parts(documents: Sequence[T], size: Callable[[T], int]) -> Iterator[tuple[list[T], int]]:
    """Split the documents of an article into as few parts as the limits allow; yield each with its bytes."""
    part: list[T] = []
    weight = 0
    for document in documents:
        more = size(document)
        if part and (len(part) == MOST_DOCUMENTS or weight + more > MOST_BYTES):
            yield part, weight
            part, weight = [], 0
        part.append(document)
        weight += more
    if part:
        yield part, weight


CONCURRENCY = 8
"""Batches sent at the same time."""
_ATTEMPTS = 6
"""With the pauses between them six seconds; then the run tries the article again later."""
_PASSING = frozenset({409, 422, 429, 500, 503})
"""Statuses of a document that may be accepted on retry: written by others, index being updated, busy."""

Action = Literal["upload", "merge", "delete"]


class IndexWriter:
    """Writes documents to one index."""

    def __init__(self, service: SearchService, index: str) -> None:
        self._service = service
        self._index = index

    def send(self, action: Action, batches: Iterable[Sequence[Document]]) -> None:
        """Upload or delete every document of every batch, or merge it into the existing one.

        Raises:
            SearchError: a document was not accepted; others may have been.
        """
        with ThreadPoolExecutor(CONCURRENCY, thread_name_prefix="search-writer") as pool:
            sending: set[Future[None]] = set()
            for batch in batches:  # made one at a time, so that only those being sent are in memory
                if len(sending) == CONCURRENCY:
                    done, sending = wait(sending, return_when=FIRST_COMPLETED)
                    _check(done)
                sending.add(pool.submit(self._send, action, batch))
            _check(wait(sending).done)

    def _send(self, action: Action, batch: Sequence[Document]) -> None:
        pending = list(batch)

        def attempt() -> None:
            nonlocal pending
            with self._service.translated_errors(self._index):
                answer = self._service.documents(self._index).index_documents(_batch(action, pending))
            results = {result.key: result for result in answer}
            pending = [document for document in pending if not self._is_done(results.get(document[KEY]))]
            if pending:
                reason = _reason(results.get(pending[0][KEY]))
                raise ContestedError(
                    f"{self._place} did not {action} {counted(len(pending), 'document')} in {_ATTEMPTS} tries{reason}"
                )

        until_uncontested(attempt, attempts=_ATTEMPTS, first_pause=0.2, longest_pause=5.0)

    def _is_done(self, result: "IndexingResult | None") -> bool:
        if result is None or (not result.succeeded and result.status_code in _PASSING):
            return False
        if not result.succeeded:
            raise SearchError(f"{self._place} refused document {result.key}{_reason(result)}")
        return True

    @property
    def _place(self) -> str:
        return f"the search index {self._index} in {self._service.place}"


def _batch(action: Action, documents: list[Document]) -> "IndexDocumentsBatch":
    """Wrap the documents for the SDK item by item, because its constructors look at every number of every vector."""
    from azure.search.documents.models import IndexAction, IndexDocumentsBatch

    actions = [IndexAction({"@search.action": action}) for _ in documents]
    for index_action, document in zip(actions, documents, strict=True):
        for name, value in document.items():
            index_action[name] = value
    return IndexDocumentsBatch(actions=actions)


def _check(done: Iterable[Future[None]]) -> None:
    for future in done:
        future.result()


def _reason(result: "IndexingResult | None") -> str:
    if result is None:
        return ": it returned no result for them"
    return f" ({result.status_code}): {one_line(result.error_message or 'it gave no reason')}"


_PATIENCE = 60.0
"""Seconds until the index must show what it took; usually it is less than one."""
_FIRST_PAUSE, _LONGEST_PAUSE = 0.02, 1.0
"""Seconds between looks whether the index shows what was written; the pause grows from one to the other."""

Articles = Mapping[str, Sequence[IndexEntry]]
State = dict[str, dict[str, str]]
"""Article id -> key -> revision."""


class Publisher:
    """Writes articles to the index of one generation, which must exist."""

    def __init__(self, service: SearchService, index: str, generation: Generation) -> None:
        self._generation = generation
        self._place = f"the search index {index} in {service.place}"
        self._listing = DocumentLister(service, index, OUR_FIELDS)
        self._writer = IndexWriter(service, index)

    def replace(self, articles: Articles) -> None:
        """Replace all entries of these articles.

        Raises:
            SearchError: a document was not accepted, or does not show up in time.
        """
        before = self._state(articles)
        self._writer.send("upload", batches(self._documents(articles, before), size_of))
        expected = {
            article_id: {document_key(entry.chunk.id) or "" for entry in entries}
            for article_id, entries in articles.items()
        }
        now = before
        if any(expected.values()):
            now = self._wait_for(articles, lambda state: _has(state, expected, before))
        self._delete(articles, {key for article_id, keys in now.items() for key in keys.keys() - expected[article_id]})

    def set_readers(self, readers: Mapping[str, Sequence[str]]) -> None:
        """Replace the readers in the documents of these articles.

        Raises:
            SearchError: a document was not accepted, or does not show up in time.
        """
        hashes: dict[str, str] = {}
        documents: list[Document] = []
        for row in self._listing.where("article_id", readers, READ_FIELDS):
            chunk = to_chunk(row, OUR_FIELDS)
            changed = with_readers(chunk, readers[chunk.article_id])
            if changed is not chunk:
                hashes[row[KEY]] = changed.content_hash
                documents.append(readers_of(changed, row[KEY]))

        def is_shown() -> bool:
            rows = self._listing.where("article_id", readers, ["content_hash"])
            return hashes.items() <= {row[KEY]: row["content_hash"] for row in rows}.items()

        if documents:
            self._writer.send("merge", batches(([document] for document in documents), size_of))
            self._until(is_shown)

    def _documents(self, articles: Articles, before: State) -> Iterator[list[Document]]:
        """Make documents whose revision is above the last one and differs from that of a concurrent writer."""
        for article_id, entries in articles.items():
            revisions = before.get(article_id, {}).values()
            last = max((int(revision.partition("-")[0] or 0) for revision in revisions), default=0)
            revision = f"{last + 1:010}-{token_hex(4)}"
            values = filter_values(entries).get(article_id, {})
            yield [to_document(entry, self._generation, revision, values) for entry in entries]

    def _delete(self, articles: Collection[str], keys: Collection[str]) -> None:
        if not keys:
            return
        self._writer.send("delete", batches(([{KEY: key}] for key in sorted(keys)), size_of))
        deleted = set(keys)
        self._wait_for(articles, lambda state: all(deleted.isdisjoint(shown) for shown in state.values()))

    def _state(self, article_ids: Collection[str]) -> State:
        state: State = {}
        for row in self._listing.where("article_id", article_ids, ["article_id", REVISION]):
            state.setdefault(row["article_id"], {})[row[KEY]] = row[REVISION] or ""
        return state

    def _wait_for(self, article_ids: Collection[str], is_expected: Callable[[State], bool]) -> State:
        state: State = {}

        def is_shown() -> bool:
            nonlocal state
            state = self._state(article_ids)
            return is_expected(state)

        self._until(is_shown)
        return state

    def _until(self, is_shown: Callable[[], bool]) -> None:
        deadline, pause = time.monotonic() + _PATIENCE, _FIRST_PAUSE
        while not is_shown():
            if time.monotonic() > deadline:
                raise SearchBusyError(f"{self._place} does not show after {_PATIENCE:g} s what was written; try again")
            time.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)


def _has(state: State, expected: Mapping[str, Iterable[str]], before: State) -> bool:
    """Whether every key exists with another revision than before."""
    return all(
        state.get(article_id, {}).get(key) not in (None, before.get(article_id, {}).get(key))
        for article_id, keys in expected.items()
        for key in keys
    )
