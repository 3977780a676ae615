"""A chunk of several passages is found by the best of them, once."""

from pathlib import Path

import numpy as np
import pytest

from kb_pipeline.search.base import IndexEntry
from kb_pipeline.search.lance import table as table_module
from kb_pipeline.search.lance.catalog import LanceDBCatalog
from kb_pipeline.search.lance.index import LanceDBIndex
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
