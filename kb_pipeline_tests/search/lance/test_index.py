"""The LanceDB index keeps every promise of a search index."""

import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest

from kb_pipeline.errors import IndexMismatchError, SearchError
from kb_pipeline.search.base import SearchFilter, SearchIndex
from kb_pipeline.search.catalog import index_name
from kb_pipeline.search.lance import table as table_module
from kb_pipeline.search.lance.catalog import LanceDBCatalog
from kb_pipeline.search.lance.database import Database
from kb_pipeline.search.lance.table import table_schema
from kb_pipeline_tests.contracts.search_concurrency import SearchConcurrencyContract
from kb_pipeline_tests.contracts.search_contract import Opener, SearchIndexContract
from kb_pipeline_tests.contracts.search_samples import article, embed, generation


def open_generation(uri: str, **fields: object) -> SearchIndex:
    return LanceDBCatalog(uri).open(generation(**fields))


@pytest.fixture
def opened(tmp_path: Path) -> Opener:
    return partial(open_generation, str(tmp_path / "index"))


class TestLanceDBIndex(SearchIndexContract):
    pass


@pytest.mark.slow("many processes at once")
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
    assert columns == {
        *("search_text", "search_text_beside", "search_stems", "content_vector"),
        *("article_id", "access_control_list", "restricted", "block_type", "document_type", "department"),
    }
    assert [hit.chunk.id for hit in index.search("", embed("w7 v3"), mode="vector", top=1)] == before
    assert index.search("", embed("brand new"), mode="vector", top=1)[0].chunk.article_id == "new"


@pytest.mark.slow("makes an index again and again")
def test_a_large_table_hides_what_others_may_not_see(opened: Opener, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table_module, "LARGE", 20)
    index = opened()
    for number in range(20):
        index.publish(
            article(f"open{number}", "apple") | article(f"ours{number}", "apple", access_control_list=("us",))
        )
    index.optimise()
    index.publish(article("later", "apple", access_control_list=("us", "them")) | article("open0", "apple"))
    for principals, expected in (((), 20), (("them",), 21), (("us", "x"), 41)):
        assert (
            len(index.search("apple", mode="keyword", top=99, filters=SearchFilter(principals=principals))) == expected
        )


def test_a_table_whose_maker_was_killed_gets_its_word_index(opened: Opener, tmp_path: Path) -> None:
    database = Database(str(tmp_path / "index"))
    database.connection.create_table(index_name("g1"), schema=table_schema(generation()))
    opened().publish(article("a", "selects an apple"))
    assert len(opened().search("selecting", mode="keyword")) == 1


def test_a_missing_table_is_made_by_one_of_those_who_need_it(tmp_path: Path) -> None:
    makers = []

    def need(number: int) -> None:
        database = Database(str(tmp_path / "index"))

        def make() -> object:
            makers.append(number)
            time.sleep(0.05)
            return database.connection.create_table("t", [{"id": number}])

        assert database.table_or("t", make).to_arrow()["id"].to_pylist() == makers

    with ThreadPoolExecutor(3) as pool:
        list(pool.map(need, range(3)))
    assert len(makers) == 1


def test_old_versions_do_not_pile_up(opened: Opener, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table_module, "KEEP_VERSIONS", table_module.timedelta(milliseconds=1))
    index = opened()
    for number in range(10):
        index.publish(article("a", *(f"text {number} {i}" for i in range(50))))
    before = sum(file.stat().st_size for file in tmp_path.rglob("*") if file.is_file())
    index.optimise()
    assert sum(file.stat().st_size for file in tmp_path.rglob("*") if file.is_file()) < before / 2


def test_rows_that_somebody_wrote_twice_are_doubled(opened: Opener) -> None:
    index = opened()
    index.publish(article("a", "apple", "pear") | article("it's", "fig") | article("c", "apple"))
    table = index._store.open()
    table.add(table.search().where("article_id = 'it''s' OR content = 'pear'").to_arrow())
    assert index.doubled() == {"a", "it's"}
    index.set_readers({"a": ("hr",), "it's": ("hr",)})  # which must not wait until that is repaired
    assert {row["access_control_list"][0] for row in index._store.open().search().to_list() if row["restricted"]} == {
        "hr"
    }
    assert (
        index.search("apple pear fig", mode="keyword", filters=SearchFilter(principals=()))[0].chunk.article_id == "c"
    )


def test_a_table_of_another_program_is_refused(opened: Opener, tmp_path: Path) -> None:
    import lancedb

    lancedb.connect(tmp_path / "index").create_table(index_name("g1"), [{"id": "1"}])
    with pytest.raises(IndexMismatchError, match="another program"):
        opened().count()


def test_a_place_that_cannot_hold_an_index_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    index = open_generation(str(tmp_path / "file" / "index"))
    with pytest.raises(SearchError, match=r"could not open table .* of the search index at .*file/index: "):
        index.count()


class TestRetrying:
    @pytest.fixture
    def database(self, monkeypatch: pytest.MonkeyPatch) -> Database:
        monkeypatch.setattr(time, "sleep", lambda _seconds: None)
        return Database("somewhere")

    def test_goes_on_until_other_writers_are_done(self, database: Database) -> None:
        outcomes = iter([RuntimeError("Commit conflict for version 7"), OSError("Too many concurrent writers"), None])

        def work() -> str:
            if error := next(outcomes):
                raise error
            return "done"

        assert database.retrying("write to", work) == "done"

    def test_gives_up_with_the_reason(self, database: Database) -> None:
        def work() -> None:
            raise RuntimeError("Retryable commit conflict")

        with pytest.raises(SearchError, match="could not write to the search index at somewhere: Retryable"):
            database.retrying("write to", work)

    def test_does_not_repeat_other_errors(self, database: Database) -> None:
        calls = []

        def work() -> None:
            calls.append(1)
            raise OSError("disk full")

        with pytest.raises(SearchError, match="disk full"):
            database.retrying("write to", work)
        assert len(calls) == 1
