"""A chunk of several passages is found by the best of them, once; tables of older versions have one vector a chunk."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from lancedb.index import FTS

from kb_pipeline.search.base import IndexEntry
from kb_pipeline.search.catalog import Generation
from kb_pipeline.search.lance import table as table_module
from kb_pipeline.search.lance.catalog import LanceDBCatalog
from kb_pipeline.search.lance.index import LanceDBIndex
from kb_pipeline.search.lance.table import VECTOR, WORDS, table_schema
from kb_pipeline.steps.late_interaction import PACKING, EmbeddedPassage, pack_words
from kb_pipeline_tests.contracts.search_samples import article, embed, entry, generation, words_of


def made_of(number: int, *passages: str) -> IndexEntry:
    """A chunk with these passages."""
    chunk = entry("long", " ".join(passages), number).chunk
    return IndexEntry(chunk, tuple(EmbeddedPassage(embed(text), pack_words(words_of(text))) for text in passages))


LONG = {"long": [made_of(0, "apple pear", "stone sand", "brick"), made_of(1, "apple stone")]}


@pytest.fixture
def index(tmp_path: Path) -> LanceDBIndex:
    index = LanceDBCatalog(str(tmp_path / "index")).open(generation(word_vectors=PACKING))
    index.publish(LONG)
    return index


def found(index: LanceDBIndex, question: str) -> list[tuple[int, float | None]]:
    hits = index.search(question, embed(question), word_vectors=words_of(question))
    return [(hit.chunk.chunk_index, hit.vector_score) for hit in hits]


def test_the_best_passage_ranks_the_chunk_which_is_found_once(index: LanceDBIndex) -> None:
    first, second = found(index, "stone sand")
    assert first == (0, pytest.approx(1, abs=1e-5))
    assert second[0] == 1


def test_so_it_is_with_an_index_of_vectors(index: LanceDBIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table_module, "LARGE", 300)
    index.publish({k: v for i in range(30) for k, v in article(f"a{i}", *(f"w{i} v{j}" for j in range(10))).items()})
    index.optimise()
    assert found(index, "brick")[0] == (0, pytest.approx(1, abs=1e-5))
    (by_vector, *_) = index.search("", embed("brick"), mode="vector", top=3)
    assert (by_vector.chunk.chunk_index, by_vector.vector_score) == (0, pytest.approx(1, abs=1e-5))


def test_passages_come_back_as_they_were_published(index: LanceDBIndex) -> None:
    stored = {each.chunk.chunk_index: each for each in index.stored(["long"])}
    for expected in LONG["long"]:
        passages = stored[expected.chunk.chunk_index].passages
        assert [each.words for each in passages] == [each.words for each in expected.passages]
        assert np.array_equal([each.vector for each in passages], [each.vector for each in expected.passages])
    assert index.mismatched(LONG["long"]) == set()
    other = IndexEntry(LONG["long"][0].chunk, LONG["long"][0].passages[:2])
    assert index.mismatched([other]) == {other.chunk.id}


def old_table(of: Generation) -> pa.Schema:
    schema = table_schema(of)
    for name in (VECTOR, WORDS):
        position = schema.get_field_index(name)
        schema = schema.set(position, pa.field(name, schema.field(name).type.value_type))
    return schema


def test_a_table_with_one_vector_a_chunk_is_searched_until_its_successor_is_filled(tmp_path: Path) -> None:
    catalog = LanceDBCatalog(str(tmp_path / "index"))
    older = generation("old", chunker="2/24-220", word_vectors=PACKING)
    (whole,) = article("guide", "apple pear")["guide"]
    index = catalog.open(older)
    index.publish({"guide": [whole]})
    table = index._store.open()
    rows = table.to_arrow()
    for name in (VECTOR, WORDS):
        column = rows[name].combine_chunks()
        rows = rows.set_column(rows.schema.get_field_index(name), name, column.flatten())
    index._database.drop(index._store.name)
    made = index._database.connection.create_table(index._store.name, rows.cast(old_table(older)))
    made.create_index("search_text", config=FTS(stem=True, remove_stop_words=True, ascii_folding=True))

    (hit,) = index.search("apple pear", embed("apple pear"), word_vectors=words_of("apple pear"))
    assert (hit.chunk, hit.vector_score) == (whole.chunk, pytest.approx(1, abs=1e-5))
    (stored,) = index.stored(["guide"])
    assert np.array_equal(stored.passages[0].vector, whole.passages[0].vector)
    index.set_readers({"guide": ["ann"]})
    assert index.stored(["guide"])[0].chunk.access_control_list == ("ann",)
    index.probe()
    index.remove(["guide"])
    assert index.count() == 0
