"""Keeps what the searches of a conversation found, for a while: the next answer may look the same up again."""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock
from time import monotonic
from typing import Generic, TypeVar

TTL_SECONDS = 1800.0
"""Half an hour: as long as a conversation goes on, and short enough for news."""
MOST_ENTRIES = 50
"""Searches of one conversation that are kept."""
MOST_CONVERSATIONS = 200
"""Conversations whose searches are kept; with entries of some kilobytes, tens of megabytes at most."""

V = TypeVar("V")


@dataclass(frozen=True, slots=True)
class CacheStats:
    """How often something was found, how often not, and how many entries there are."""

    hits: int = 0
    misses: int = 0
    entries: int = 0


class SearchCache(Generic[V]):
    """What searches of one conversation found. Threads can share it.

    An entry is forgotten :data:`TTL_SECONDS` after it was put, or when there are too many and it was not used for
    longest. Upper and lower case, and how much white space is between words, make no difference.
    """

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._entries: OrderedDict[str, tuple[float, V]] = OrderedDict()
        self._hits = self._misses = 0
        self._lock = Lock()

    def get(self, query: str) -> V | None:
        """What was put for this query, if it is kept."""
        key = _key(query)
        with self._lock:
            entry = self._entries.get(key)
            if entry is None or self._clock() - entry[0] > TTL_SECONDS:
                self._entries.pop(key, None)
                self._misses += 1
                return None
            self._entries.move_to_end(key)
            self._hits += 1
            return entry[1]

    def put(self, query: str, value: V) -> None:
        """Keep what was found."""
        key = _key(query)
        with self._lock:
            self._forget_old()
            self._entries[key] = (self._clock(), value)
            self._entries.move_to_end(key)
            while len(self._entries) > MOST_ENTRIES:
                self._entries.popitem(last=False)

    def clear(self) -> None:
        """Forget all entries, and what was counted."""
        with self._lock:
            self._entries.clear()
            self._hits = self._misses = 0

    def stats(self) -> CacheStats:
        with self._lock:
            self._forget_old()
            return CacheStats(self._hits, self._misses, len(self._entries))

    def _forget_old(self) -> None:
        now = self._clock()
        for key in [key for key, (at, _) in self._entries.items() if now - at > TTL_SECONDS]:
            del self._entries[key]


class ConversationCaches(Generic[V]):
    """A cache for each conversation, of those that were used last. No conversation sees what another one found."""

    def __init__(self) -> None:
        self._caches: OrderedDict[str, SearchCache[V]] = OrderedDict()
        self._lock = Lock()

    def of(self, conversation: str) -> SearchCache[V]:
        """The cache of a conversation; a new one that is not kept for a question without a conversation."""
        if not conversation:
            return SearchCache()
        with self._lock:
            cache = self._caches.setdefault(conversation, SearchCache())
            self._caches.move_to_end(conversation)
            while len(self._caches) > MOST_CONVERSATIONS:
                self._caches.popitem(last=False)
            return cache

    def stats(self) -> CacheStats:
        """The counts of all conversations that are kept."""
        with self._lock:
            each = [cache.stats() for cache in self._caches.values()]
        return CacheStats(sum(s.hits for s in each), sum(s.misses for s in each), sum(s.entries for s in each))


def _key(query: str) -> str:
    return " ".join(query.lower().split())
