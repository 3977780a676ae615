"""The vector index of a large LanceDB table: which kind, when it is made anew, and that its hits tell exact scores."""

from functools import partial
from pathlib import Path

import pytest
from lancedb.index import IvfFlat

from kb_pipeline.search.base import IndexEntry
from kb_pipeline.search.lance import table as table_module
from kb_pipeline.search.lance.catalog import LanceDBCatalog
from kb_pipeline.search.lance.index import LanceDBIndex
from kb_pipeline.search.lance.table import VECTOR
from kb_pipeline_tests.contracts.search_contract import Opener
from kb_pipeline_tests.contracts.search_samples import article, embed, embedded, generation

QUESTION = "w7 v3"


@pytest.fixture
def opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Opener:
    monkeypatch.setattr(table_module, "LARGE", 300)
    catalog = LanceDBCatalog(str(tmp_path / "index"))
    return partial(lambda **fields: catalog.open(generation(**fields)))


@pytest.fixture
def index(opened: Opener) -> LanceDBIndex:
    index = opened()
    index.publish(many())
    return index


def many() -> dict[str, list[IndexEntry]]:
    return {k: v for i in range(30) for k, v in article(f"a{i}", *(f"w{i} v{j}" for j in range(10))).items()}


def vector_index(index: LanceDBIndex) -> tuple[str, int]:
    (found,) = (each for each in index._store.open().list_indices() if each.columns == [VECTOR])
    return found.index_type, found.num_segments


def nearest(index: LanceDBIndex) -> dict[str, float | None]:
    return {hit.chunk.content: hit.vector_score for hit in index.search("", embed(QUESTION), mode="vector", top=5)}


def test_short_codes_are_searched_and_exact_cosines_told(index: LanceDBIndex) -> None:
    scanned = nearest(index)
    index.optimise()
    assert vector_index(index) == ("IvfRq", 1)
    found = nearest(index)
    assert next(iter(found)) == next(iter(scanned)) == QUESTION
    assert found == {text: pytest.approx(float(embed(text) @ embed(QUESTION)), abs=1e-5) for text in found}


def test_rows_that_came_later_are_found_with_exact_cosines(index: LanceDBIndex) -> None:
    index.optimise()
    index.publish(article("new", QUESTION, "w7 v3 twice"))
    assert nearest(index)["w7 v3 twice"] == pytest.approx(float(embed("w7 v3 twice") @ embed(QUESTION)), abs=1e-5)


@pytest.mark.slow("makes an index again and again")
def test_an_index_of_too_many_segments_is_made_anew(index: LanceDBIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table_module, "SEGMENTS", 2)
    segments = []
    for number in range(4):
        index.publish(article(f"later{number}", "brand new"))
        index.optimise()
        segments.append(vector_index(index)[1])
    assert segments == [1, 2, 1, 2]


def test_while_a_long_run_writes_many_new_rows_are_indexed_and_few_are_left(
    index: LanceDBIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unindexed() -> set[int]:
        return {each.num_unindexed_rows for each in index._store.open().list_indices()}

    index.optimise()
    monkeypatch.setattr(table_module, "UNINDEXED", 2)
    index.publish(article("later", "one", "two"))
    index.index_new_rows()
    assert unindexed() == {2}
    index.publish(article("latest", "three"))
    index.index_new_rows()
    assert unindexed() == {0}
    assert vector_index(index)[1] == 2, "no index is made anew meanwhile"


def test_optimising_what_has_not_changed_leaves_the_index(index: LanceDBIndex) -> None:
    index.optimise()
    before = index._store.open().version
    index.optimise()
    assert index._store.open().version == before


def test_an_index_of_another_kind_is_used_until_it_is_replaced(index: LanceDBIndex) -> None:
    index._store.open().create_index(VECTOR, config=IvfFlat(distance_type="cosine", num_partitions=4))
    flat = nearest(index)
    assert flat[QUESTION] == pytest.approx(1, abs=1e-5)
    index.optimise()
    assert vector_index(index) == ("IvfRq", 1)
    assert nearest(index)[QUESTION] == flat[QUESTION]


def test_vectors_that_codes_cannot_hold_are_indexed_as_they_are(opened: Opener) -> None:
    index = opened(dimensions=60)
    index.publish({k: [embedded(e.chunk, e.passages[0].vector[:60]) for e in v] for k, v in many().items()})
    index.optimise()
    index.optimise()
    assert vector_index(index) == ("IvfFlat", 1)
    assert index.search("", embed(QUESTION)[:60], mode="vector", top=1)[0].chunk.content == QUESTION
