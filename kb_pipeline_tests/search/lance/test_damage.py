"""Damaged files of a LanceDB index are recognised, told with the remedy, and the tables that hold them go."""

import itertools
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from kb_pipeline.errors import IndexDamagedError, SearchError
from kb_pipeline.search.base import IndexEntry, SearchFilter
from kb_pipeline.search.catalog import Generation
from kb_pipeline.search.lance import table
from kb_pipeline.search.lance.catalog import LanceDBCatalog
from kb_pipeline.search.lance.database import TableFiles
from kb_pipeline.search.lance.index import LanceDBIndex
from kb_pipeline_tests.contracts.documents_contract import MODES, manual
from kb_pipeline_tests.contracts.search_samples import article, embed, generation

AT = "2026-01-01T00:00:00+00:00"
OWN = generation()


@pytest.fixture
def uri(tmp_path: Path) -> Path:
    """A whole index."""
    catalog = LanceDBCatalog(str(tmp_path / "index"))
    catalog.switch(OWN, at=AT)
    catalog.open(OWN).publish(article("one", "red apple", "green pear") | article("two", "blue plum"))
    catalog.open(OWN).optimise()
    return tmp_path / "index"


def opened(uri: Path, own: Generation = OWN) -> LanceDBIndex:
    return LanceDBCatalog(str(uri)).open(own)


def files(uri: Path, pattern: str) -> list[Path]:
    found = sorted(uri.glob(f"kb-articles-{OWN.id}.lance/{pattern}"))
    assert found
    return found


def test_a_whole_index_passes(uri: Path) -> None:
    opened(uri).inspect()
    assert LanceDBCatalog(str(uri)).mend(OWN) == []
    assert opened(uri).count() == 3


def test_a_missing_and_an_empty_index_pass(tmp_path: Path) -> None:
    catalog = LanceDBCatalog(str(tmp_path / "index"))
    catalog.open(OWN).inspect()
    catalog.switch(OWN, at=AT)
    catalog.open(OWN).inspect()


GONE: dict[str, Callable[[Path], object]] = {
    "deleted": Path.unlink,
    "emptied": lambda path: path.write_bytes(b""),
    "cut": lambda path: path.write_bytes(path.read_bytes()[: path.stat().st_size // 2]),
    "noise": lambda path: path.write_bytes(b"noise" * 200),
}


@pytest.mark.parametrize("how", GONE)
@pytest.mark.parametrize("pattern", ["data/*", "_indices/*/part_0_invert.lance"])
def test_a_small_question_shows_that_files_are_damaged_and_the_remedy(uri: Path, pattern: str, how: str) -> None:
    for path in files(uri, pattern):
        GONE[how](path)
    with pytest.raises(IndexDamagedError, match=r"is damaged: it cannot be (read|searched).*; run: kb reconcile"):
        opened(uri).probe()


@pytest.mark.slow("makes an index again and again")
@pytest.mark.parametrize("pattern", ["data/*", "_indices/*/*.lance", "_versions/*.manifest", "_transactions/*.txn"])
def test_a_bit_that_flips_in_any_file_is_noticed_by_its_hash(uri: Path, pattern: str) -> None:
    for path in files(uri, pattern):
        whole = path.read_bytes()
        for place in range(0, len(whole), max(1, len(whole) // 2)):
            path.write_bytes(whole[:place] + bytes([whole[place] ^ 4]) + whole[place + 1 :])
            with pytest.raises(IndexDamagedError, match="kb reconcile"):
                opened(uri).inspect()
        path.write_bytes(whole)
    opened(uri).inspect()


HOW: dict[str, Callable[[bytes], bytes | None]] = {
    "deleted": lambda _: None,
    "cut": lambda whole: whole[: len(whole) // 2],
    "zeros": lambda whole: bytes(len(whole)),
    "noise": lambda whole: bytes(byte ^ 0x5A for byte in whole),
}


def searches(uri: Path) -> bool:
    """Whether a process that has read nothing yet can search in every way."""
    catalog = LanceDBCatalog(str(uri))
    try:
        live = catalog.live()
        assert live
        for mode, kind in itertools.product(MODES, ("text", "image")):
            filters = SearchFilter(block_type=(kind,), principals=("hr",))
            assert catalog.open(live.generation).search("red apple", embed("red apple"), mode=mode, filters=filters)
    except (IndexDamagedError, AssertionError):
        return False
    return True


@pytest.fixture(
    params=["small", pytest.param("large", marks=pytest.mark.rare("as the small one, with two more indexes"))]
)
def grown(request: pytest.FixtureRequest, uri: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An index that was added to, so that its word indexes have several parts; its first row has no words to search.

    A large one has indexes of vectors and conditions, too.
    """
    if request.param == "large":
        monkeypatch.setattr(table, "LARGE", 20)
        opened(uri).publish(
            {f"more-{number}": article(f"more-{number}", "red apple")[f"more-{number}"] for number in range(20)}
        )
        opened(uri).optimise()
    for name in ("three", "four"):
        opened(uri).publish(manual(name, "red apple tree"))
        opened(uri).optimise()
    return uri


@pytest.mark.slow("makes an index again and again")
def test_every_file_that_a_search_needs_is_missed_and_a_mended_index_is_as_before(grown: Path) -> None:
    entries = opened(grown).entries()
    kept = opened(grown).stored(list(entries))
    noticed = 0
    paths = sorted(file for file in grown.rglob("*") if file.is_file() and file.suffix in (".lance", ".manifest"))
    for path, (how, spoil) in zip(paths, itertools.cycle(HOW.items()), strict=False):
        whole, times = path.read_bytes(), path.stat()
        data = spoil(whole)
        path.unlink() if data is None else path.write_bytes(data)
        if how != "deleted" or not searches(grown):  # files of former versions may go
            with pytest.raises(IndexDamagedError, match="kb reconcile"):
                probe(grown)
            noticed += 1
        path.write_bytes(whole)
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert noticed >= len(paths) * 3 // 4
    probe(grown)
    for path in grown.glob(f"kb-articles-{OWN.id}.lance/_indices/*/*_docs.lance"):
        path.unlink()
    assert LanceDBCatalog(str(grown)).mend(OWN)
    by_article: dict[str, list[IndexEntry]] = {}
    for entry in kept:
        by_article.setdefault(entry.chunk.article_id, []).append(entry)
    opened(grown).publish(by_article)
    opened(grown).optimise()
    probe(grown)
    assert opened(grown).entries() == entries


def probe(uri: Path) -> None:
    catalog = LanceDBCatalog(str(uri))
    catalog.probe()
    catalog.open(OWN).probe()


def test_a_file_that_this_process_has_read_before_is_missed(uri: Path) -> None:
    index = opened(uri)
    assert index.search("red apple", mode="keyword")
    for path in files(uri, "_indices/*/part_0_docs.lance"):
        path.unlink()
    assert index.search("red apple", mode="keyword"), "what was read is remembered"
    with pytest.raises(IndexDamagedError, match=r"part_0_docs\.lance"):
        index.probe()


def test_files_of_which_only_the_time_is_another_one_are_no_damage(uri: Path) -> None:
    for path in files(uri, "data/*"):
        os.utime(path, ns=(1, 1))
    probe(uri)
    opened(uri).optimise()
    probe(uri)


def test_the_newest_version_cannot_go_unnoticed_and_leave_the_one_before(uri: Path) -> None:
    opened(uri).publish(article("three", "new words"))
    opened(uri).optimise()
    files(uri, "_versions/*.manifest")[0].unlink()
    with pytest.raises(IndexDamagedError, match="not as they were written"):
        opened(uri).inspect()


def test_what_was_written_since_the_hashes_were_taken_is_no_damage(uri: Path) -> None:
    opened(uri).publish(article("three", "new words"))
    opened(uri).inspect()
    opened(uri).optimise()
    opened(uri).inspect()


def test_a_damaged_table_goes_and_can_be_filled_again(uri: Path) -> None:
    for path in files(uri, "data/*"):
        path.unlink()
    (told,) = LanceDBCatalog(str(uri)).mend(OWN)
    assert "is damaged" in told
    opened(uri).publish(article("one", "red apple"))
    opened(uri).optimise()
    assert LanceDBCatalog(str(uri)).mend(OWN) == []
    assert opened(uri).entries().keys() == {"one"}


def test_a_pointer_that_is_damaged_goes_and_the_table_stays(uri: Path) -> None:
    for path in uri.glob("kb-articles-live.lance/data/*"):
        path.write_bytes(b"")
    with pytest.raises(IndexDamagedError, match="kb reconcile"):
        LanceDBCatalog(str(uri)).live()
    assert len(LanceDBCatalog(str(uri)).mend(OWN)) == 1
    catalog = LanceDBCatalog(str(uri))
    assert (catalog.live(), catalog.open(OWN).count()) == (None, 3)
    catalog.switch(OWN, at=AT)
    assert catalog.live()


def test_a_damaged_generation_that_readers_use_and_nobody_can_make_anew_stays(uri: Path) -> None:
    for path in files(uri, "data/*"):
        path.unlink()
    other = generation(id="other", embedding_model="other")
    assert LanceDBCatalog(str(uri)).mend(other) == []
    assert files(uri, "_versions/*.manifest")


def test_a_folder_that_may_not_be_read_is_no_damage(uri: Path) -> None:
    database = opened(uri)._database
    with pytest.raises(SearchError) as caught, database.translated_errors("search"):
        raise OSError("lance error: Permission denied (os error 13): /index/data/x.lance not found")
    assert not isinstance(caught.value, IndexDamagedError)


def test_what_panics_in_native_code_is_damage_and_ends_no_process(uri: Path) -> None:
    panic = type("PanicException", (BaseException,), {})
    with pytest.raises(IndexDamagedError, match="kb reconcile"), opened(uri)._database.translated_errors("search"):
        raise panic("index out of bounds")


def test_a_file_in_the_place_of_the_index_is_told_with_what_to_do(tmp_path: Path) -> None:
    place = tmp_path / "index"
    place.write_text("a backup")
    with pytest.raises(SearchError, match=f"{place}: a file stands where a folder is needed: move it away"):
        LanceDBCatalog(str(place)).live()


def test_entries_come_back_with_their_vectors(uri: Path) -> None:
    stored = {entry.chunk.id: entry for entry in opened(uri).stored(["one"])}
    assert len(stored) == 2
    for entry in stored.values():
        assert entry.passages[0].vector.tolist() == pytest.approx(embed(entry.chunk.content).tolist(), abs=1e-6)


@pytest.mark.parametrize(
    "values", [{"restricted": True}, {"search_text": "rubbish"}, {"title": "another"}, {"chunk": "{}"}, {"id": "x"}]
)
def test_an_entry_of_which_any_column_is_another_is_found(uri: Path, values: dict[str, object]) -> None:
    index = opened(uri)
    entries = [entry for name in ("one", "two") for entry in index.stored([name])]
    assert index.mismatched(entries) == set()
    table = index._store.open()
    assert table is not None
    table.update(where="article_id = 'two'", values=values)
    assert index.mismatched(entries) == {entry.chunk.id for entry in entries if entry.chunk.article_id == "two"}


def test_the_files_of_a_table_on_object_storage_are_not_looked_at() -> None:
    files = TableFiles("az://container/index", "kb-articles-x")
    files.remember()
    assert files.damaged() == []
