"""What every search index promises to readers and writers that work at the same time."""

import multiprocessing
import threading
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import pytest

from kb_pipeline.records import SearchMode
from kb_pipeline.search.base import SearchFilter, SearchIndex
from kb_pipeline_tests.contracts.search_samples import article, embed, hashes
from kb_pipeline_tests.search.losing import lose

Opener = Callable[..., SearchIndex]
EDITIONS = 15


def sizes(edition: int) -> int:
    """Number of chunks in an edition of the article: it grows and shrinks."""
    return 1 + edition * 7 % 12


def edition(number: int) -> list[str]:
    return [f"apple edition{number} part{i}" for i in range(sizes(number))]


def publish_own_articles(opened: Opener, writer: int) -> None:
    """One writer process: publishes five articles, each several times, and optimises."""
    for number in range(4):
        opened().publish({k: v for i in range(5) for k, v in article(f"w{writer}-{i}", *edition(number)).items()})
        if number == writer:
            opened().optimise()


class SearchConcurrencyContract:
    @pytest.mark.parametrize("mode", ["keyword", "vector", "hybrid"])
    def test_a_reader_never_sees_an_article_missing_half_or_doubled(self, opened: Opener, mode: SearchMode) -> None:
        opened().publish(article("a", *edition(0)) | article("b", "stone"))
        done = threading.Event()

        def read() -> list[str]:
            index, seen = opened(), []
            while not done.is_set() or not seen:
                hits = index.search(
                    "apple", embed("apple"), mode=mode, top=50, filters=SearchFilter(article_ids=("a",))
                )
                seen.append(" ".join(sorted(hit.chunk.content for hit in hits)))
            return seen

        with ThreadPoolExecutor(2) as readers:
            reading = [readers.submit(read) for _ in range(2)]
            for number in range(1, EDITIONS):
                opened().publish(article("a", *edition(number)))
                if number % 10 == 0:
                    opened().optimise()
            done.set()
        whole = {" ".join(sorted(edition(number))) for number in range(EDITIONS)}
        seen = {sight for result in reading for sight in result.result()}
        assert seen <= whole
        assert len(seen) > 1

    def test_a_reader_sees_what_others_published_at_once(self, opened: Opener) -> None:
        reader, writer = opened(), opened()
        for number in range(3):
            writer.publish(article("a", *edition(number)))
            assert reader.count() == sizes(number)

    def test_the_first_to_publish_lose_nothing_to_each_other(self, opened: Opener) -> None:
        together = threading.Barrier(3)

        def write(writer: int) -> None:
            together.wait()
            opened().publish(article(f"a{writer}", "apple"))

        for _ in range(10):
            with ThreadPoolExecutor(3) as writers:
                for writing in [writers.submit(write, number) for number in range(3)]:
                    writing.result()
            assert opened().entries().keys() == {"a0", "a1", "a2"}
            assert len(opened().search("apple", mode="keyword")) == 3
            lose(opened())

    @pytest.mark.slow("builds a whole knowledge base")
    def test_processes_can_publish_different_articles_at_once(self, opened: Opener) -> None:
        with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
            for writing in [pool.submit(publish_own_articles, opened, writer) for writer in range(2)]:
                writing.result()
        entries = opened().entries()
        assert entries.keys() == {f"w{writer}-{i}" for writer in range(2) for i in range(5)}
        assert {len(chunks) for chunks in entries.values()} == {sizes(3)}
        assert opened().count() == 10 * sizes(3)

    def test_writers_that_publish_the_same_article_leave_one_version_of_it(self, opened: Opener) -> None:
        together = threading.Barrier(4)

        def write(writer: int) -> None:
            for number in range(8):
                together.wait()
                opened().publish(article(f"a{number}", *(f"writer{writer} part{i}" for i in range(3))))

        with ThreadPoolExecutor(4) as writers:
            for writing in [writers.submit(write, number) for number in range(4)]:
                writing.result()
        versions = [
            set(hashes(article("a", *(f"writer{w} part{i}" for i in range(3)))["a"]).values()) for w in range(4)
        ]
        assert all(set(found.values()) in versions for found in opened().entries().values())
        assert opened().count() == 8 * 3
