"""Vectors of chunks are kept with those of their words, and made again when these are missing."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from kb_pipeline.flow.layers import ARTICLE_LAYERS, chunk_embeddings
from kb_pipeline.flow.layers.chunk_embeddings import EmbeddedChunk, load_vectors
from kb_pipeline.flow.layers.chunks import load_chunks
from kb_pipeline.flow.workspace import Workspace
from kb_pipeline.models.base import EmbeddedQuestion, Embedder
from kb_pipeline.models.hashing import HashingEmbedder
from kb_pipeline.settings import Settings
from kb_pipeline.steps.late_interaction import EmbeddedPassage, pack_words
from kb_pipeline.store.state import load_state
from kb_pipeline_tests.building import page
from kb_pipeline_tests.conftest import Article, Build

LAYERS = tuple(layer.name for layer in ARTICLE_LAYERS)
WORDY = f"{__name__}:WordyEmbedder"


class WordyEmbedder(HashingEmbedder):
    """The model-free embedder under its own name, with a vector for each word."""

    word_vectors = True

    def __init__(self, _settings: Settings) -> None: ...

    def embed_question(self, text: str) -> EmbeddedQuestion:
        return EmbeddedQuestion(self.embed([text])[0], self.embed(text.split()))

    def embed_passages(self, texts: Sequence[str]) -> list[EmbeddedPassage]:
        return [EmbeddedPassage(self.embed([text])[0], pack_words(self.embed(text.split()))) for text in texts]


@pytest.fixture(autouse=True)
def _staged(article: Article) -> None:
    article("bread", page("Bread"))


def stored(settings: Settings) -> dict[str, EmbeddedChunk]:
    workspace = Workspace(settings)
    version = load_state(workspace.layout, "bread").version
    return load_vectors(workspace.layout, "bread", version, workspace.embedder.model_id)


def newly_embedded(build_here: Build, embedder: str = "hashing") -> object:
    made = build_here(layers=LAYERS, embedder=embedder)["bread"]
    assert made.error is None
    return made.layers[-1].report["newly_embedded"] if not made.layers[-1].reused else "reused"


def test_words_are_stored_with_the_vector(build_here: Build, settings: Settings) -> None:
    build_here(layers=LAYERS, embedder=WORDY)
    found = stored(settings)
    workspace = Workspace(settings)
    chunks = load_chunks(workspace.layout, "bread", load_state(workspace.layout, "bread").version)
    assert found.keys() == {chunk.id for chunk in chunks}
    for each in (passage for chunk in found.values() for passage in chunk.passages):
        assert np.linalg.norm(each.vector) == pytest.approx(1, abs=1e-5)
        assert len(each.words) % (256 // 8) == 0
        assert each.words


def test_a_model_without_words_stores_none(build_here: Build, settings: Settings) -> None:
    build_here(layers=LAYERS)
    assert {each.words for chunk in stored(settings).values() for each in chunk.passages} == {b""}


def test_nothing_is_embedded_twice(build_here: Build) -> None:
    assert newly_embedded(build_here, WORDY) == 3  # two sections, and the article as a whole
    assert newly_embedded(build_here, WORDY) == "reused"


def test_a_file_without_words_is_made_again_when_the_model_tells_them(build_here: Build) -> None:
    assert newly_embedded(build_here) == 3
    assert newly_embedded(build_here, WORDY) == 3
    assert newly_embedded(build_here) == 0  # what has words as well is good for one that needs none


def test_words_that_are_packed_in_another_way_are_made_again(
    build_here: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert newly_embedded(build_here, WORDY) == 3
    monkeypatch.setattr(chunk_embeddings, "PACKING", "2bit/1")
    assert newly_embedded(build_here, WORDY) == 3


def test_an_edit_keeps_the_words_of_the_other_chunks(build_here: Build, settings: Settings, article: Article) -> None:
    build_here(layers=LAYERS, embedder=WORDY)
    before = stored(settings)
    article("bread", page("Bread").replace("More Some", "Much more"))
    assert newly_embedded(build_here, WORDY) == 1  # the section; the summary quotes the beginning
    after = stored(settings)
    assert sum(before[key].text_hashes == after[key].text_hashes for key in before) == 2


def test_a_file_that_lacks_its_words_is_damaged(build_here: Build, settings: Settings) -> None:
    build_here(layers=LAYERS, embedder=WORDY)
    workspace = Workspace(settings)
    path = workspace.layout.vectors("bread", load_state(workspace.layout, "bread").version, "hashing-256")
    table = pq.read_table(pa.BufferReader(path.read_bytes()))
    pq.write_table(table.drop_columns(["words"]), str(path))
    with pytest.raises(chunk_embeddings.DamagedLayerError, match="chunk_embeddings"):
        stored(settings)


def test_a_build_that_is_killed_goes_on_from_the_passages_that_it_wrote(
    build_here: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chunk_embeddings, "_KEPT_TOGETHER", 1)
    calls: list[Sequence[str]] = []

    def embed_until_killed(self: HashingEmbedder, texts: Sequence[str]) -> list[EmbeddedPassage]:
        calls.append(texts)
        if len(calls) == 3:
            raise SystemExit
        return Embedder.embed_passages(self, texts)

    with monkeypatch.context() as until_killed, pytest.raises(SystemExit):
        until_killed.setattr(HashingEmbedder, "embed_passages", embed_until_killed)
        build_here(layers=LAYERS)
    assert newly_embedded(build_here) == 1
    assert newly_embedded(build_here) == "reused"
