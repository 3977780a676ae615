"""What the searches of a conversation found is kept for a while, apart from all others."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from app.web.cache import CacheStats, ConversationCaches, SearchCache


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.mark.parametrize(("seconds", "kept"), [(0, True), (1799, True), (1800, True), (1801, False)])
def test_an_entry_is_kept_for_half_an_hour(seconds: float, kept: bool) -> None:
    clock = Clock()
    cache = SearchCache[str](clock=clock)
    cache.put("cosmos", "found")
    clock.now += seconds
    assert (cache.get("cosmos") == "found") is kept
    assert cache.stats().entries == int(kept)


def test_the_51st_entry_drops_the_one_that_was_not_used_for_longest() -> None:
    cache = SearchCache[int]()
    for number in range(50):
        cache.put(f"query {number}", number)
    assert cache.get("query 0") == 0  # used again, so query 1 is the oldest now
    cache.put("query 50", 50)
    assert (cache.get("query 0"), cache.get("query 1"), cache.get("query 50")) == (0, None, 50)
    assert cache.stats().entries == 50


def test_case_and_white_space_make_no_difference() -> None:
    cache = SearchCache[str]()
    cache.put("  Cosmos   DB ", "found")
    assert cache.get("cosmos db") == cache.get("COSMOS\tDB\n") == "found"
    assert cache.get("cosmosdb") is None


def test_hits_misses_and_entries_are_counted() -> None:
    cache = SearchCache[str]()
    cache.get("a")
    cache.put("a", "x")
    cache.get("A")
    cache.get("a")
    assert cache.stats() == CacheStats(hits=2, misses=1, entries=1)
    cache.clear()
    assert cache.stats() == CacheStats()
    assert cache.get("a") is None


def test_an_entry_that_is_put_again_is_new() -> None:
    clock = Clock()
    cache = SearchCache[str](clock=clock)
    cache.put("a", "old")
    clock.now += 1000
    cache.put("a", "new")
    clock.now += 1000
    assert cache.get("a") == "new"


def test_a_conversation_never_sees_what_another_one_found() -> None:
    caches = ConversationCaches[str]()
    caches.of("ann/1").put("a", "for Ann")
    assert caches.of("ben/1").get("a") is None
    assert caches.of("ann/1").get("a") == "for Ann"
    assert caches.stats() == CacheStats(hits=1, misses=1, entries=1)


def test_a_question_without_a_conversation_shares_nothing() -> None:
    caches = ConversationCaches[str]()
    caches.of("").put("a", "x")
    assert caches.of("").get("a") is None


def test_the_201st_conversation_drops_the_one_that_was_not_used_for_longest() -> None:
    caches = ConversationCaches[int]()
    for number in range(200):
        caches.of(f"c{number}").put("a", number)
    caches.of("c0")
    caches.of("c200").put("a", 200)
    assert (caches.of("c0").get("a"), caches.of("c1").get("a")) == (0, None)


def test_threads_share_a_cache() -> None:
    cache = SearchCache[int]()

    def work(thread: int) -> int:
        for number in range(500):
            cache.put(f"{thread} {number % 10}", number)
            cache.get(f"{(thread + 1) % 8} {number % 10}")
        return thread

    with ThreadPoolExecutor(8) as pool:
        assert sorted(pool.map(work, range(8))) == [*range(8)]
    stats = cache.stats()
    assert stats.hits + stats.misses == 8 * 500
    assert stats.entries == 50
