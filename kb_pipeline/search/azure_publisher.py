"""Replaces articles in an index of Azure AI Search, in an order that leaves nothing missing or doubled.

The service has no transactions, and shows what was written a moment later. So an article's new documents are uploaded
under a revision above the last one; every result is checked; the index is asked until it shows them; the documents of
sections that are gone are deleted; the index is asked again. A section's key stays the same for good, so that no chunk
is ever there twice, and readers that find two revisions of an article keep the newer one (azure_hits.py).

What a reader can still see: while the service takes up a batch, an article of which some chunks are not found; before
the deletion, a chunk of a section that is gone, if it finds nothing else of the article. A process that is killed in
between leaves such chunks until the article is published again, which reconciling does as well.
"""

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from secrets import token_hex

from kb_pipeline.search.azure_batches import batches
from kb_pipeline.search.azure_documents import Document, document_key, size_of, to_document
from kb_pipeline.search.azure_errors import SearchBusyError
from kb_pipeline.search.azure_fields import KEY, OUR_FIELDS, REVISION
from kb_pipeline.search.azure_listing import Listing
from kb_pipeline.search.azure_service import SearchService
from kb_pipeline.search.azure_writer import Writer
from kb_pipeline.search.base import IndexEntry
from kb_pipeline.search.catalog import Generation

_PATIENCE = 60.0
"""Seconds until the index must show what it took; usually it is less than one."""
_FIRST_PAUSE, _LONGEST_PAUSE = 0.02, 1.0

Articles = Mapping[str, Sequence[IndexEntry]]
State = dict[str, dict[str, str]]
"""Article id -> key -> revision."""


class Publisher:
    """Writes to the index of one generation, which is there."""

    def __init__(self, service: SearchService, index: str, generation: Generation) -> None:
        """Name the index; nothing is sent yet."""
        self._generation = generation
        self._place = f"the search index {index} in {service.place}"
        self._listing = Listing(service, index, OUR_FIELDS)
        self._writer = Writer(service, index)

    def replace(self, articles: Articles) -> None:
        """Have the index hold these entries of these articles, and no others of them.

        Raises:
            SearchError: a document was not taken, or is not shown in time.
        """
        before = self._state(articles)
        revisions = {article_id: _next_revision(before.get(article_id, {})) for article_id in articles}
        self._writer.send("upload", batches(self._documents(articles, revisions), size_of))
        wanted = {article_id: {_key(entry) for entry in entries} for article_id, entries in articles.items()}
        now = self._shown(articles, lambda state: _has(state, wanted, before)) if any(wanted.values()) else before
        self._delete(articles, {key for article_id, keys in now.items() for key in keys.keys() - wanted[article_id]})

    def empty(self) -> None:
        """Delete every document."""
        keys = [row[KEY] for row in self._listing.all([])]
        self._writer.send("delete", batches(([{KEY: key}] for key in keys), size_of))
        self._until(lambda: next(self._listing.all([]), None) is None)

    def _documents(self, articles: Articles, revisions: Mapping[str, str]) -> Iterator[list[Document]]:
        for article_id, entries in articles.items():
            yield [to_document(entry, self._generation, revisions[article_id]) for entry in entries]

    def _delete(self, articles: Collection[str], keys: Collection[str]) -> None:
        if not keys:
            return
        self._writer.send("delete", batches(([{KEY: key}] for key in sorted(keys)), size_of))
        gone = set(keys)
        self._shown(articles, lambda state: all(gone.isdisjoint(known) for known in state.values()))

    def _state(self, article_ids: Collection[str]) -> State:
        state: State = {}
        for row in self._listing.where("article_id", article_ids, ["article_id", REVISION]):
            state.setdefault(row["article_id"], {})[row[KEY]] = row[REVISION] or ""
        return state

    def _shown(self, article_ids: Collection[str], is_as_wanted: Callable[[State], bool]) -> State:
        state: State = {}

        def look() -> bool:
            nonlocal state
            state = self._state(article_ids)
            return is_as_wanted(state)

        self._until(look)
        return state

    def _until(self, look: Callable[[], bool]) -> None:
        deadline, pause = time.monotonic() + _PATIENCE, _FIRST_PAUSE
        while not look():
            if time.monotonic() > deadline:
                raise SearchBusyError(f"{self._place} does not show after {_PATIENCE:g} s what was written; try again")
            time.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)


def _has(state: State, wanted: Mapping[str, Iterable[str]], before: State) -> bool:
    """Whether every key is there with another revision than before."""
    return all(
        (found := state.get(article_id, {}).get(key)) is not None and found != before.get(article_id, {}).get(key)
        for article_id, keys in wanted.items()
        for key in keys
    )


def _next_revision(known: Mapping[str, str]) -> str:
    """Above all that are known, and unlike that of anybody who writes at the same time."""
    last = max((int(revision.partition("-")[0] or 0) for revision in known.values()), default=0)
    return f"{last + 1:010}-{token_hex(4)}"


def _key(entry: IndexEntry) -> str:
    return document_key(entry.chunk.id) or ""
