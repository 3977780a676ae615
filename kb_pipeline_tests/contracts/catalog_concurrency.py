"""What every catalog promises to readers, and to processes that switch, drop and die at any moment."""

import multiprocessing
import random
import threading
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing.synchronize import Event

import pytest

from kb_pipeline.errors import SearchError
from kb_pipeline.records import SearchMode
from kb_pipeline.search.catalog import Generation, IndexCatalog
from kb_pipeline_tests.contracts.catalog_contract import G1, G2, G3, Catalogs, fill, live
from kb_pipeline_tests.contracts.search_samples import article, embed, generation

ROUNDS = 6
SPAWN = multiprocessing.get_context("spawn")


def made(number: int) -> Generation:
    return generation(f"n{number}", created_at=f"2026-01-0{number}")


def contents(number: int) -> set[str]:
    """What generation ``number`` holds, in three articles; every generation is of another size."""
    return {f"apple n{number} {letter}{part}" for letter in "abc" for part in range(number)}


def fill_slowly(catalog: IndexCatalog, number: int) -> None:
    """A commit for each article, as a build does."""
    for letter in "abc":
        parts = sorted(text for text in contents(number) if f" {letter}" in text)
        catalog.open(made(number)).publish(article(letter, *parts))


class Reader:
    """Searches the live generation again and again until stopped, and notes what it found."""

    def __init__(self, catalogs: Catalogs, mode: SearchMode) -> None:
        self.catalog, self.mode = catalogs(), mode
        self.seen: list[tuple[str, set[str]]] = []
        self.failures: list[Exception] = []
        self.stopped = threading.Event()

    def run(self) -> None:
        while not self.stopped.is_set():
            try:
                now = live(self.catalog).generation
                hits = self.catalog.open(now).search("apple", embed("apple"), mode=self.mode, top=50)
                self.seen.append((now.id, {hit.chunk.content for hit in hits}))
            except Exception as exc:
                self.failures.append(exc)

    def wait_for(self, generation_id: str) -> None:
        while not self.failures and (not self.seen or self.seen[-1][0] != generation_id):
            time.sleep(0.001)


def switch_to(catalogs: Catalogs, own: Generation, times: int) -> None:
    for number in range(times):
        catalogs().switch(own, at=f"{own.id}-{number}")


def switch_for_ever(catalogs: Catalogs, started: Event) -> None:
    while True:
        for each in (G2, G1):
            catalogs().switch(each, at="now")
            started.set()


def together(*works: Callable[[], object]) -> list[BaseException | None]:
    """Start all at the same moment; how each ended."""
    barrier = threading.Barrier(len(works))

    def run(work: Callable[[], object]) -> None:
        barrier.wait()
        work()

    with ThreadPoolExecutor(len(works)) as pool:
        return [running.exception() for running in [pool.submit(run, work) for work in works]]


class CatalogConcurrencyContract:
    @pytest.mark.parametrize("mode", ["keyword", "hybrid"])
    def test_readers_always_find_one_whole_generation(self, catalogs: Catalogs, mode: SearchMode) -> None:
        catalog = catalogs()
        fill_slowly(catalog, 1)
        catalog.switch(made(1), at="1")
        readers = [Reader(catalogs, mode) for _ in range(2)]
        with ThreadPoolExecutor(2) as pool:
            for reader in readers:
                pool.submit(reader.run)
            try:
                for number in range(2, ROUNDS):
                    fill_slowly(catalog, number)
                    catalog.switch(made(number), at=str(number))
                    for reader in readers:
                        reader.wait_for(f"n{number}")
                    catalog.open(made(number)).optimise()
                    catalog.drop(f"n{number - 1}")
            finally:
                for reader in readers:
                    reader.stopped.set()
        for reader in readers:
            assert reader.failures == []
            assert {key for key, _ in reader.seen} >= {f"n{number}" for number in range(2, ROUNDS)}
            assert all(found == contents(int(key[1:])) for key, found in reader.seen)

    def test_switches_at_the_same_time_come_one_after_the_other(self, catalogs: Catalogs) -> None:
        fill(catalogs(), G1, G2, G3)
        for _ in range(ROUNDS):
            catalogs().switch(G1, at="0")
            ends = together(lambda: catalogs().switch(G2, at="2"), lambda: catalogs().switch(G3, at="3"))
            now = live(catalogs())
            assert ends == [None, None]
            assert (now.generation, now.previous, now.switched_at) in [(G2, G3, "2"), (G3, G2, "3")]

    def test_the_very_first_switches_come_one_after_the_other(self, catalogs: Catalogs) -> None:
        fill(catalogs(), G1, G2)
        ends = together(*(lambda each=each: catalogs().switch(each, at="now") for each in (G1, G2)))  # type: ignore[misc]
        now = live(catalogs())
        assert ends == [None, None]
        assert (now.generation, now.previous) in [(G1, G2), (G2, G1)]

    def test_no_generation_goes_live_while_it_is_dropped(self, catalogs: Catalogs) -> None:
        fill(catalogs(), G1)
        for _ in range(ROUNDS):
            catalogs().switch(G1, at="1")
            fill(catalogs(), G2)
            switching, dropping = together(lambda: catalogs().switch(G2, at="2"), lambda: catalogs().drop("g2"))
            now = live(catalogs()).generation
            assert isinstance(switching if now == G1 else dropping, SearchError)
            assert (dropping if now == G1 else switching) is None
            assert catalogs().open(now).count() == 1

    @pytest.mark.slow("builds a whole knowledge base")
    def test_two_processes_that_switch_end_in_one_of_the_two_states(self, catalogs: Catalogs) -> None:
        fill(catalogs(), G1, G2, G3)
        catalogs().switch(G1, at="0")
        with ProcessPoolExecutor(2, mp_context=SPAWN) as pool:
            for switching in [pool.submit(switch_to, catalogs, own, 15) for own in (G2, G3)]:
                switching.result()
        now = live(catalogs())
        assert (now.generation, now.previous) in [(G2, G3), (G3, G2)]

    @pytest.mark.slow("starts processes and kills them")
    @pytest.mark.parametrize("kills", [1, pytest.param(5, marks=pytest.mark.rare("kills"))])
    def test_a_process_killed_while_switching_leaves_one_of_the_two_states(
        self, catalogs: Catalogs, kills: int
    ) -> None:
        fill(catalogs(), G1, G2)
        catalogs().switch(G1, at="0")
        for _ in range(kills):
            started = SPAWN.Event()
            process = SPAWN.Process(target=switch_for_ever, args=(catalogs, started))
            process.start()
            assert started.wait(60)
            time.sleep(random.uniform(0, 0.05))
            process.kill()
            process.join()
            now = live(catalogs())
            assert (now.generation, now.previous) in [(G1, G2), (G2, G1)]
            assert catalogs().open(now.generation).count() == 1
            catalogs().switch(G1, at="after")
            assert live(catalogs()).generation == G1
