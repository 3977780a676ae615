"""The LanceDB catalog keeps every promise of a catalog, also among what others left at its place."""

import shutil
from functools import partial
from pathlib import Path

import lancedb
import pyarrow as pa
import pytest

from kb_pipeline.errors import IndexMismatchError, SearchError
from kb_pipeline.search.lance.catalog import POINTER_TABLE, LanceDBCatalog
from kb_pipeline.search.lance.database import Database
from kb_pipeline_tests.contracts.catalog_concurrency import CatalogConcurrencyContract
from kb_pipeline_tests.contracts.catalog_contract import G1, G2, Catalogs, IndexCatalogContract, fill, words


@pytest.fixture
def catalogs(tmp_path: Path) -> Catalogs:
    return partial(LanceDBCatalog, str(tmp_path / "index"))


@pytest.fixture
def database(tmp_path: Path) -> lancedb.DBConnection:
    return lancedb.connect(tmp_path / "index")


class TestLanceDBCatalog(IndexCatalogContract):
    pass


@pytest.mark.slow("many processes at once")
class TestLanceDBCatalogConcurrency(CatalogConcurrencyContract):
    pass


def test_tables_of_other_programs_are_left_alone(
    catalogs: Catalogs, database: lancedb.DBConnection, tmp_path: Path
) -> None:
    fill(catalogs(), G1)
    for name in ("kb-articles", "kb-articles-x", "other", *(f"kb-articles-many{number}" for number in range(12))):
        database.create_table(name, [{"id": "1"}])
    misplaced = database.open_table("kb-articles-g1").schema
    database.create_table("kb-articles-copy", schema=misplaced)
    unreadable = pa.schema([pa.field("id", pa.string())], metadata={"kb_generation": '{"id": "y"}'})
    database.create_table("kb-articles-y", schema=unreadable)
    (tmp_path / "index" / "kb-articles-empty.lance").mkdir()
    assert catalogs().generations() == [G1]
    with pytest.raises(IndexMismatchError, match=r"kb-articles-x at .* another program.*KB_INDEX_URI"):
        catalogs().open(G1.model_copy(update={"id": "x"})).count()


@pytest.mark.parametrize(
    "foreign",
    [
        [{"id": "1"}],
        pa.table({"revision": pa.array([0], pa.int64()), "pointer": ['{"live": 1}']}),
        pa.table({"revision": pa.array([0], pa.int64()), "pointer": ["no JSON"]}),
    ],
)
def test_a_pointer_of_another_program_is_refused_and_kept(
    catalogs: Catalogs, database: lancedb.DBConnection, foreign: object
) -> None:
    before = database.create_table(POINTER_TABLE, foreign).to_arrow()
    for use in (catalogs().live, lambda: catalogs().switch(G1, at="now"), lambda: catalogs().drop("g1")):
        with pytest.raises(IndexMismatchError, match=r"kb-articles-live at .*KB_INDEX_URI"):
            use()
    assert database.open_table(POINTER_TABLE).to_arrow() == before


class TestKilledDrop:
    @pytest.fixture
    def killed(self, catalogs: Catalogs, monkeypatch: pytest.MonkeyPatch) -> None:
        """A drop of g2 that got no further than its announcement."""
        fill(catalogs(), G1, G2)
        catalogs().switch(G1, at="1")
        with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
            patch.setattr(Database, "drop", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
            catalogs().drop("g2")

    @pytest.mark.usefixtures("killed")
    def test_its_generation_never_goes_live(self, catalogs: Catalogs) -> None:
        with pytest.raises(SearchError, match="g2 is being dropped; drop it again"):
            catalogs().switch(G2, at="2")
        assert words(catalogs().open(G1)) == ["apple g1"]

    @pytest.mark.usefixtures("killed")
    @pytest.mark.parametrize("gone", ["_versions", "data", "."])
    def test_another_drop_brings_it_to_an_end(self, catalogs: Catalogs, tmp_path: Path, gone: str) -> None:
        shutil.rmtree(tmp_path / "index" / "kb-articles-g2.lance" / gone)
        catalogs().drop("g2")
        assert not (tmp_path / "index" / "kb-articles-g2.lance").exists()
        fill(catalogs(), G2)
        assert catalogs().switch(G2, at="2").generation == G2
