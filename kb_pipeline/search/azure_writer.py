"""Sends batches of documents, several at once, and looks at what became of each document.

The service answers 207 and no error when it took some documents of a batch and others not.
"""

import random
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import TYPE_CHECKING, Literal

from kb_pipeline.errors import SearchError
from kb_pipeline.search.azure_documents import Document
from kb_pipeline.search.azure_errors import SearchBusyError
from kb_pipeline.search.azure_fields import KEY
from kb_pipeline.search.azure_service import SearchService
from kb_pipeline.services import one_line

if TYPE_CHECKING:
    from azure.search.documents.models import IndexDocumentsBatch, IndexingResult

CONCURRENCY = 8
"""Batches on their way at once."""
_ATTEMPTS = 6
_LONGEST_PAUSE = 5.0
_PASSING = frozenset({409, 422, 429, 500, 503})
"""A document's statuses after which it may be taken: written by others, index being updated, busy."""

Action = Literal["upload", "delete"]


class Writer:
    """Writes to one index."""

    def __init__(self, service: SearchService, index: str) -> None:
        """Name the index; nothing is sent yet."""
        self._service = service
        self._index = index

    def send(self, action: Action, batches: Iterable[Sequence[Document]]) -> None:
        """Have every document of every batch uploaded or deleted.

        Raises:
            SearchError: a document was not taken; others may have been.
        """
        with ThreadPoolExecutor(CONCURRENCY, thread_name_prefix="search-writer") as pool:
            sending: set[Future[None]] = set()
            for batch in batches:  # made one at a time, so that only what is on its way is in memory
                if len(sending) == CONCURRENCY:
                    done, sending = wait(sending, return_when=FIRST_COMPLETED)
                    _check(done)
                sending.add(pool.submit(self._send, action, batch))
            _check(wait(sending).done)

    def _send(self, action: Action, batch: Sequence[Document]) -> None:
        left = list(batch)
        for attempt in range(_ATTEMPTS):
            if attempt:
                time.sleep(random.uniform(0, min(_LONGEST_PAUSE, 0.2 * 2**attempt)))  # noqa: S311
            results = {result.key: result for result in self._results(action, left)}
            left = [document for document in left if not self._is_done(results.get(document[KEY]))]
            if not left:
                return
        last = results.get(left[0][KEY])
        raise SearchBusyError(f"{self._place} did not {action} {len(left)} documents in {_ATTEMPTS} tries{_why(last)}")

    def _results(self, action: Action, documents: list[Document]) -> "list[IndexingResult]":
        with self._service.explained(self._index):
            return self._service.documents(self._index).index_documents(_batch(action, documents))

    def _is_done(self, result: "IndexingResult | None") -> bool:
        if result is None or (not result.succeeded and result.status_code in _PASSING):
            return False
        if not result.succeeded:
            raise SearchError(f"{self._place} refused document {result.key}{_why(result)}")
        return True

    @property
    def _place(self) -> str:
        return f"the search index {self._index} in {self._service.place}"


def _batch(action: Action, documents: list[Document]) -> "IndexDocumentsBatch":
    """The documents for the SDK; item by item, because its constructors look at every number of every vector."""
    from azure.search.documents.models import IndexAction, IndexDocumentsBatch

    actions = [IndexAction({"@search.action": action}) for _ in documents]
    for made, document in zip(actions, documents, strict=True):
        for name, value in document.items():
            made[name] = value
    return IndexDocumentsBatch(actions=actions)


def _check(done: Iterable[Future[None]]) -> None:
    for each in done:
        each.result()


def _why(result: "IndexingResult | None") -> str:
    if result is None:
        return ": it said nothing about them"
    return f" ({result.status_code}): {one_line(result.error_message or 'it gave no reason')}"
