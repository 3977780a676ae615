"""What every catalog of generations promises.

A backend's test module subclasses the contract and has a fixture ``catalogs`` that opens the catalog, again and again
at one place, each as if in another process: ``catalogs()``.
"""

from collections.abc import Callable

import pytest
from pydantic import ValidationError

from kb_pipeline.errors import IndexMismatchError, IndexMissingError, SearchError
from kb_pipeline.search.base import SearchIndex
from kb_pipeline.search.catalog import Generation, IndexCatalog, LiveIndex
from kb_pipeline_tests.contracts.search_samples import article, generation
from kb_pipeline_tests.search.losing import lose

Catalogs = Callable[[], IndexCatalog]
G1, G2, G3 = (generation(f"g{number}", created_at=f"2026-01-0{number}") for number in (1, 2, 3))


def fill(catalog: IndexCatalog, *generations: Generation) -> None:
    for each in generations:
        catalog.open(each).publish(article("a", f"apple {each.id}"))


def words(index: SearchIndex) -> list[str]:
    return [hit.chunk.content for hit in index.search("apple", mode="keyword")]


def live(catalog: IndexCatalog) -> LiveIndex:
    found = catalog.live()
    assert found is not None
    return found


class IndexCatalogContract:
    @pytest.fixture
    def catalog(self, catalogs: Catalogs) -> IndexCatalog:
        return catalogs()

    # --- the first generation --------------------------------------------------------------------

    def test_an_empty_place_has_no_generation(self, catalog: IndexCatalog) -> None:
        catalog.drop("g1")
        assert (catalog.live(), catalog.generations()) == (None, [])

    def test_opening_a_generation_makes_nothing(self, catalog: IndexCatalog) -> None:
        assert catalog.open(G1).count() == 0
        assert catalog.generations() == []

    def test_the_first_generation_may_be_empty(self, catalog: IndexCatalog) -> None:
        assert catalog.switch(G1, at="now") == LiveIndex(generation=G1, switched_at="now") == catalog.live()
        assert words(catalog.open(G1)) == []
        fill(catalog, G1)
        assert words(catalog.open(G1)) == ["apple g1"]

    # --- switching -------------------------------------------------------------------------------

    def test_a_switch_is_seen_by_others_at_once(self, catalogs: Catalogs) -> None:
        reader, writer = catalogs(), catalogs()
        fill(writer, G1, G2)
        for chosen in (G1, G2, G1):
            writer.switch(chosen, at="now")
            assert words(reader.open(live(reader).generation)) == [f"apple {chosen.id}"]

    def test_the_former_live_generation_stays_for_a_way_back(self, catalog: IndexCatalog) -> None:
        fill(catalog, G1, G2)
        catalog.switch(G1, at="1")
        assert catalog.switch(G2, at="2") == LiveIndex(generation=G2, previous=G1, switched_at="2")
        back = catalog.switch(G1, held="g2", at="3")
        assert back == live(catalog) == LiveIndex(generation=G1, previous=G2, held="g2", switched_at="3")

    def test_another_switch_lets_go_of_what_was_held(self, catalog: IndexCatalog) -> None:
        fill(catalog, G1, G2, G3)
        for chosen, held in ((G1, None), (G2, None), (G1, "g2"), (G3, None)):
            catalog.switch(chosen, held=held, at="now")
        assert live(catalog).held is None

    def test_switching_to_the_live_one_only_changes_what_is_held(self, catalog: IndexCatalog) -> None:
        fill(catalog, G1, G2)
        catalog.switch(G1, at="1")
        catalog.switch(G2, at="2")
        assert catalog.switch(G2, at="3") == LiveIndex(generation=G2, previous=G1, switched_at="2")
        assert catalog.switch(G2, held="g1", at="4").held == live(catalog).held == "g1"

    @pytest.mark.parametrize("emptied", [True, False])
    def test_readers_are_never_sent_to_an_empty_generation(self, catalog: IndexCatalog, emptied: bool) -> None:
        fill(catalog, G1)
        before = catalog.switch(G1, at="1")
        if emptied:
            fill(catalog, G2)
            catalog.open(G2).remove(["a"])
        with pytest.raises(SearchError, match="g2 has no entries"):
            catalog.switch(G2, at="2")
        assert catalog.live() == before

    def test_a_handle_of_the_former_generation_works_until_that_is_dropped(self, catalogs: Catalogs) -> None:
        catalog = catalogs()
        fill(catalog, G1, G2)
        catalog.switch(G1, at="1")
        handle = catalogs().open(G1)
        catalog.switch(G2, at="2")
        assert words(handle) == ["apple g1"]
        catalog.drop("g1")
        with pytest.raises(IndexMissingError, match="g1"):
            handle.search("apple", mode="keyword")

    # --- what there is ---------------------------------------------------------------------------

    def test_all_generations_are_listed_oldest_first(self, catalogs: Catalogs) -> None:
        made = [
            generation(
                f"{letter}1",
                created_at=f"2026-01-{day:02}",
                embedder=f"my.models:E'{day}",
                embedding_model='ünï "model"',
                chunker=f"{day}/1-2",
            )
            for day, letter in enumerate("onmlkjihgfedcba", 1)
        ]
        fill(catalogs(), *made[::2], *made[1::2])
        catalogs().switch(made[3], at="now")
        assert catalogs().generations() == made

    def test_the_time_it_was_made_is_that_of_its_first_entries(self, catalogs: Catalogs) -> None:
        fill(catalogs(), G1)
        later = generation("g1", created_at="2027")
        fill(catalogs(), later)
        assert catalogs().generations() == [G1]
        assert catalogs().switch(later, at="now").generation == G1

    def test_an_id_stands_for_one_way_of_making_entries(self, catalog: IndexCatalog) -> None:
        fill(catalog, G1)
        other = generation("g1", chunker="other")
        with pytest.raises(IndexMismatchError, match=r"chunker 1/24-220, but .* chunker other.* is needed"):
            catalog.open(other).count()
        with pytest.raises(IndexMismatchError):
            catalog.switch(other, at="now")
        assert catalog.live() is None

    # --- dropping --------------------------------------------------------------------------------

    def test_the_live_generation_cannot_be_dropped(self, catalog: IndexCatalog) -> None:
        fill(catalog, G1)
        before = catalog.switch(G1, at="1")
        with pytest.raises(SearchError, match="g1 is live and cannot be dropped; switch"):
            catalog.drop("g1")
        assert catalog.live() == before
        assert words(catalog.open(G1)) == ["apple g1"]

    def test_there_is_no_way_back_to_a_dropped_generation(self, catalog: IndexCatalog) -> None:
        fill(catalog, G1, G2)
        catalog.switch(G1, at="1")
        catalog.switch(G2, held="g1", at="2")
        for _ in range(2):
            catalog.drop("g1")
            assert catalog.generations() == [G2]
            assert live(catalog) == LiveIndex(generation=G2, held="g1", switched_at="2")
        with pytest.raises(SearchError, match="g1 has no entries"):
            catalog.switch(G1, at="3")

    def test_dropping_another_leaves_the_way_back(self, catalog: IndexCatalog) -> None:
        fill(catalog, G1, G2, G3)
        catalog.switch(G1, at="1")
        catalog.switch(G2, at="2")
        catalog.drop("g3")
        assert live(catalog).previous == G1

    def test_a_dropped_generation_can_be_made_again(self, catalog: IndexCatalog) -> None:
        fill(catalog, G1, G2)
        catalog.switch(G1, at="1")
        catalog.drop("g2")
        fill(catalog, G2)
        catalog.switch(G2, at="2")
        assert words(catalog.open(live(catalog).generation)) == ["apple g2"]

    def test_a_live_generation_that_vanished_is_made_again_by_publishing(self, catalog: IndexCatalog) -> None:
        fill(catalog, G1)
        catalog.switch(G1, at="1")
        lose(catalog.open(G1))
        fill(catalog, live(catalog).generation)
        assert words(catalog.open(G1)) == ["apple g1"]

    @pytest.mark.parametrize("hostile", ["", "live", "G1", "g-1", "../g1", "g1\n", "x" * 17, "é1", "g1.lance", "١"])
    def test_ids_are_legal_in_every_index_name(self, catalog: IndexCatalog, hostile: str) -> None:
        catalog.switch(G1, at="1")
        with pytest.raises(ValidationError, match="is not the id of a generation"):
            generation(hostile)
        with pytest.raises(SearchError, match="is not the id of a generation"):
            catalog.drop(hostile)
        assert live(catalog).generation == G1

    # --- clearing --------------------------------------------------------------------------------

    def test_a_cleared_place_is_as_before_the_first_generation(self, catalogs: Catalogs) -> None:
        catalog = catalogs()
        fill(catalog, G1, G2)
        catalog.switch(G1, at="1")
        catalog.switch(G2, at="2")
        assert len(catalog.contents()) == 3  # with what points to the live one
        for _ in range(2):
            catalog.clear()
            assert (catalogs().live(), catalogs().generations(), catalogs().contents()) == (None, [], [])
        fill(catalog, G1)
        catalog.switch(G1, at="3")
        assert words(catalogs().open(live(catalogs()).generation)) == ["apple g1"]
