"""The LanceDB index keeps every promise of a search index."""

from functools import partial
from pathlib import Path

import pytest

from kb_pipeline.errors import IndexMismatchError, SearchError
from kb_pipeline.search import lancedb_table as table_module
from kb_pipeline.search import open_index
from kb_pipeline.search.base import INDEX_NAME
from kb_pipeline.search.lancedb_table import TableStore
from kb_pipeline_tests.contracts.search_concurrency import SearchConcurrencyContract
from kb_pipeline_tests.contracts.search_contract import Opener, SearchIndexContract
from kb_pipeline_tests.contracts.search_samples import DIMENSIONS, article, embed


@pytest.fixture
def opened(tmp_path: Path) -> Opener:
    return partial(open_index, "lancedb", str(tmp_path / "index"), embedding_model="hashed/1", dimensions=DIMENSIONS)


class TestLanceDBIndex(SearchIndexContract):
    pass


class TestLanceDBConcurrency(SearchConcurrencyContract):
    pass


def test_a_large_table_gets_a_vector_index_that_finds_the_same(opened: Opener, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table_module, "LARGE", 300)
    index = opened()
    index.publish({k: v for i in range(30) for k, v in article(f"a{i}", *(f"w{i} v{j}" for j in range(10))).items()})
    before = [hit.chunk.id for hit in index.search("", embed("w7 v3"), mode="vector", top=1)]
    index.optimise()
    index.publish(article("new", "brand new"))
    columns = {column for each in index._store.open().list_indices() for column in each.columns}
    assert columns == {"search_text", "content_vector", "article_id"}
    assert [hit.chunk.id for hit in index.search("", embed("w7 v3"), mode="vector", top=1)] == before
    assert index.search("", embed("brand new"), mode="vector", top=1)[0].chunk.article_id == "new"


def test_old_versions_do_not_pile_up(opened: Opener, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table_module, "KEEP_VERSIONS", table_module.timedelta(milliseconds=1))
    index = opened()
    for number in range(10):
        index.publish(article("a", *(f"text {number} {i}" for i in range(50))))
    before = sum(file.stat().st_size for file in tmp_path.rglob("*") if file.is_file())
    index.optimise()
    assert sum(file.stat().st_size for file in tmp_path.rglob("*") if file.is_file()) < before / 2


def test_a_table_of_another_program_is_refused(opened: Opener, tmp_path: Path) -> None:
    import lancedb

    lancedb.connect(tmp_path / "index").create_table(INDEX_NAME, [{"id": "1"}])
    with pytest.raises(IndexMismatchError, match="another program"):
        opened().count()


def test_a_place_that_cannot_hold_an_index_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    index = open_index("lancedb", str(tmp_path / "file" / "index"), embedding_model="m", dimensions=4)
    with pytest.raises(SearchError, match="file/index could not"):
        index.count()


class TestRetrying:
    @pytest.fixture
    def store(self, monkeypatch: pytest.MonkeyPatch) -> TableStore:
        monkeypatch.setattr(table_module.time, "sleep", lambda _seconds: None)
        return TableStore("somewhere", None, None)

    def test_goes_on_until_other_writers_are_done(self, store: TableStore) -> None:
        outcomes = iter([RuntimeError("Commit conflict for version 7"), OSError("Too many concurrent writers"), None])

        def work() -> str:
            if error := next(outcomes):
                raise error
            return "done"

        assert store.retrying("be written", work) == "done"

    def test_gives_up_with_the_reason(self, store: TableStore) -> None:
        def work() -> None:
            raise RuntimeError("Retryable commit conflict")

        with pytest.raises(SearchError, match="somewhere could not be written: Retryable"):
            store.retrying("be written", work)

    def test_does_not_repeat_other_errors(self, store: TableStore) -> None:
        calls = []

        def work() -> None:
            calls.append(1)
            raise OSError("disk full")

        with pytest.raises(SearchError, match="disk full"):
            store.retrying("be written", work)
        assert len(calls) == 1
