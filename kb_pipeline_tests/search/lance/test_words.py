"""A hybrid search in LanceDB orders its hits by the vectors of words, where both question and index have them."""

from functools import partial
from pathlib import Path

import pytest

from kb_pipeline.records import SearchHit
from kb_pipeline.search.base import SearchIndex
from kb_pipeline.search.lance.catalog import LanceDBCatalog
from kb_pipeline.steps.late_interaction import PACKING
from kb_pipeline_tests.contracts.search_contract import Opener
from kb_pipeline_tests.contracts.search_samples import article, embed, generation, with_words, words_of

# the question's vector is that of something else: alone it would bring the wrong chunk first
QUESTION, ASIDE = "crop the picture", "stone stone stone"
CONTENTS = ("crop the picture whole", "stone", "the sand", "")


@pytest.fixture
def opened(tmp_path: Path) -> Opener:
    catalog = LanceDBCatalog(str(tmp_path / "index"))
    return partial(lambda **fields: catalog.open(generation(**fields)))


def asked(index: SearchIndex, **options: object) -> list[SearchHit]:
    return index.search(QUESTION, embed(ASIDE), word_vectors=words_of(QUESTION), **options)  # type: ignore[arg-type]


@pytest.fixture
def index(opened: Opener) -> SearchIndex:
    index = opened(word_vectors=PACKING)
    index.publish(with_words(article("a", *CONTENTS)))
    return index


def test_the_chunk_that_covers_all_words_comes_first(index: SearchIndex) -> None:
    first, *others = asked(index)
    assert first.chunk.content == CONTENTS[0]
    assert first.word_score == pytest.approx(1, abs=0.15)
    assert first.confidence == pytest.approx(1, abs=0.2)
    assert all((hit.confidence or 0) < 0.6 for hit in others)


def test_telling_words_are_scored_apart(index: SearchIndex) -> None:
    first, *others = asked(index, telling=[(0,), (2,)])  # crop, picture
    assert first.rare_score == pytest.approx(1, abs=0.15)
    assert (first.above_usual or 0) > max(hit.above_usual or 0 for hit in others)
    sand = next(hit for hit in others if hit.chunk.content == "the sand")
    assert (sand.word_score or 0) > (sand.rare_score or 0)
    assert {(hit.rare_score, hit.above_usual) for hit in asked(index)} == {(None, None)}


def test_every_hit_tells_its_cosine(index: SearchIndex) -> None:
    cosines = {hit.chunk.content: hit.vector_score for hit in asked(index)}
    assert cosines == {text: pytest.approx(float(embed(text) @ embed(ASIDE)), abs=1e-5) for text in CONTENTS}


def test_a_chunk_without_words_covers_nothing(index: SearchIndex) -> None:
    empty = next(hit for hit in asked(index) if hit.chunk.content == "")
    assert (empty.word_score, empty.weakest_word) == (0, 0)


def test_changed_words_count_at_once(index: SearchIndex) -> None:
    index.publish(with_words(article("b", "crop the picture")))
    assert asked(index)[0].chunk.article_id == "b"


@pytest.mark.parametrize("mode", ["keyword", "vector"])
def test_the_other_modes_do_without(index: SearchIndex, mode: str) -> None:
    plain = index.search(QUESTION, embed(ASIDE), mode=mode)  # type: ignore[arg-type]
    assert asked(index, mode=mode) == plain
    assert {hit.confidence for hit in plain} == {None}


@pytest.mark.parametrize("words", [None, words_of("")])
def test_a_question_without_words_is_answered_by_ranks(index: SearchIndex, words: object) -> None:
    hits = index.search(QUESTION, embed(ASIDE), word_vectors=words)  # type: ignore[arg-type]
    assert {hit.word_score for hit in hits} == {None}
    assert hits[0].score < 0.1  # a sum of two reciprocal ranks


@pytest.mark.parametrize("packing", ["", "2bit/7"])
def test_an_index_whose_words_cannot_be_read_is_searched_by_ranks(opened: Opener, packing: str) -> None:
    index = opened(word_vectors=packing)
    index.publish(with_words(article("a", *CONTENTS)))
    assert asked(index) == index.search(QUESTION, embed(ASIDE))
