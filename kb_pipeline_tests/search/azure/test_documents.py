"""Chunks as documents: keys that are legal, terms that are short, and the way back."""

import json
import re

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kb_pipeline.errors import SearchError
from kb_pipeline.search.azure.documents import (
    LONGEST_TERM,
    OUR_FIELDS,
    Fields,
    chunk_id_of,
    document_key,
    size_of,
    to_document,
    to_indexed_chunk,
)
from kb_pipeline.steps.chunk.article import chunk_id
from kb_pipeline_tests.contracts.search_samples import embedded, entry, generation

ANY_TEXT = st.text(st.characters(exclude_categories=()), min_size=1, max_size=60)


@given(ANY_TEXT)
@example("_underscore")
@example("=YQ==")
@example("a/b\\c.d e")
def test_every_id_has_a_legal_key_and_the_way_back(name: str) -> None:
    key = document_key(name)
    assert key is not None
    assert re.fullmatch(r"(?!_)[A-Za-z0-9_=-]{1,1024}", key, re.ASCII)
    assert chunk_id_of(key) == name


@given(ANY_TEXT, ANY_TEXT)
def test_different_ids_have_different_keys(one: str, other: str) -> None:
    assert (document_key(one) == document_key(other)) == (one == other)


@given(ANY_TEXT)
def test_the_ids_of_our_chunks_are_keys_as_they_are(article_id: str) -> None:
    made = chunk_id(article_id, (), 0)
    assert document_key(made) == made


@pytest.mark.parametrize("impossible", ["", "x" * 1025, "ü" * 500])
def test_some_ids_can_be_no_keys(impossible: str) -> None:
    assert document_key(impossible) is None


def test_an_entry_whose_id_cannot_be_a_key_is_refused() -> None:
    with pytest.raises(SearchError, match="'a' has a chunk id of 2000 characters"):
        to_document(entry("a", "apple", id="x" * 2000), generation(), "1")


def test_a_document_is_the_chunk_again() -> None:
    made = entry("a", "apple", id="1/2", key_topics=("x",), source_url=None)
    found = to_indexed_chunk(to_document(made, generation(), "1"), OUR_FIELDS)
    assert (found.chunk, found.embedding_model) == (made.chunk, "hashed/1")


def test_images_have_addresses_where_the_generation_has_one() -> None:
    made = entry("a", "apple", image_urls=("a b/images/one.png", "a b/images/zwei ü.png"))
    assert to_document(made, generation(), "1")["image_addresses"] == []
    document = to_document(made, generation(image_url="https://kb.example.com/api/images"), "1")
    assert document["image_addresses"] == [
        "https://kb.example.com/api/images/a%20b/images/one.png",
        "https://kb.example.com/api/images/a%20b/images/zwei%20%C3%BC.png",
    ]
    assert to_indexed_chunk(document, OUR_FIELDS).chunk == made.chunk


def test_values_too_long_to_filter_by_come_back_whole() -> None:
    made = entry("a", "apple", section_header="ü" * 40_000, key_topics=("short", "y" * 40_000))
    document = to_document(made, generation(), "1")
    assert len(document["section_header"].encode()) <= LONGEST_TERM
    assert [len(topic) <= LONGEST_TERM for topic in document["key_topics"]] == [True, True]
    assert to_indexed_chunk(document, OUR_FIELDS).chunk == made.chunk


def test_vectors_are_sent_short_and_lose_nothing_that_counts() -> None:
    vector = np.random.default_rng(1).normal(size=1536)
    unit = (vector / np.linalg.norm(vector)).astype(np.float32)
    sent = to_document(embedded(entry("a", "apple").chunk, unit), generation(), "1")
    assert len(json.dumps(sent["content_vector"])) < 1536 * 14
    assert abs(float(np.dot(sent["content_vector"], unit)) - 1) < 1e-5


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=200))
def test_the_size_of_a_document_is_not_less_than_what_is_sent(content: str) -> None:
    document = to_document(entry("a", content), generation(), "1")
    assert len(json.dumps(document)) <= size_of(document) + 64


def test_what_somebody_elses_index_lacks_is_empty_and_single_values_become_lists() -> None:
    theirs = Fields({"id": "chunkId", "content": "text", "title": "name", "key_topics": "tag", "chunk_index": "no"})
    document = {"chunkId": "_k", "text": "apple", "name": "Guide", "tag": "fruit", "no": "first"}
    chunk = to_indexed_chunk(document, theirs).chunk
    assert (chunk.id, chunk.article_id, chunk.content, chunk.title) == ("_k", "_k", "apple", "Guide")
    assert (chunk.section_header, chunk.heading_path, chunk.key_topics) == ("Guide", ("Guide",), ("fruit",))
    assert (chunk.chunk_index, chunk.content_hash, chunk.image_urls, chunk.source_url) == (0, "", (), None)
