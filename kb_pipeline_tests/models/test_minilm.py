"""The default embedder gives the published model's vectors, from weights it has verified."""

from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest

from kb_pipeline.models import open_embedder
from kb_pipeline.models.minilm import MiniLmEmbedder
from kb_pipeline.settings import Settings
from kb_pipeline_tests.models.model_folders import minilm_folder


@pytest.fixture(scope="module")
def cache_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("models")


@pytest.mark.slow("builds a whole knowledge base")
def test_similarities_are_those_of_the_model_card(cache_dir: Path) -> None:
    vectors = MiniLmEmbedder(cache_dir).embed(
        ["The weather is lovely today.", "It's so sunny outside!", "He drove to the stadium."]
    )
    assert (vectors @ vectors.T)[np.triu_indices(3, 1)] == pytest.approx([0.6660, 0.1046, 0.1411], abs=0.04)


def test_company_does_not_change_a_vector(cache_dir: Path) -> None:
    embedder = MiniLmEmbedder(cache_dir)
    assert np.array_equal(embedder.embed(["Blur", "A much longer text " * 20])[0], embedder.embed(["Blur"])[0])


def test_text_beyond_the_window_does_not_count(cache_dir: Path) -> None:
    embedder = MiniLmEmbedder(cache_dir)
    text = "settings " * (embedder.max_tokens - 2)
    assert embedder.count_tokens(text) == embedder.max_tokens
    assert np.array_equal(embedder.embed([text]), embedder.embed([f"{text} and so on"]))


@pytest.mark.slow("builds a whole knowledge base")
def test_the_model_is_built_once(cache_dir: Path) -> None:
    MiniLmEmbedder(cache_dir).embed(["Blur"])
    (model,) = cache_dir.iterdir()
    written = model.stat().st_mtime_ns
    MiniLmEmbedder(cache_dir).embed(["Blur"])
    assert model.stat().st_mtime_ns == written


def test_words_come_with_the_vector(cache_dir: Path) -> None:
    embedder = MiniLmEmbedder(cache_dir)
    text = "File > Export As... saves a file, another file."
    asked, (passage,) = embedder.embed_question(text), embedder.embed_passages([text])
    assert asked.words is not None
    assert asked.words.shape == (8, 384)  # file, export, as, saves, a, file, another, file
    assert len(passage.words) == 6 * 384 / 8  # each word once
    assert np.array_equal(asked.vector, embedder.embed([text])[0])
    assert np.array_equal(asked.vector, passage.vector)


@pytest.mark.parametrize(
    ("question", "telling"),
    [
        ("What is FreedomBox?", ((2, 3),)),
        ("Wie ändere ich die Dateien?", ((2, 3), (6, 7))),
        ("What is it?", ((0,), (1,), (2,))),
        ("?", ()),
    ],
)
def test_a_question_tells_the_pieces_of_its_telling_words(
    cache_dir: Path, question: str, telling: tuple[tuple[int, ...], ...]
) -> None:
    assert MiniLmEmbedder(cache_dir).embed_question(question).telling == telling


def test_a_word_is_nearest_to_the_same_word_in_a_like_sentence(cache_dir: Path) -> None:
    embedder = MiniLmEmbedder(cache_dir)
    question, passage = (embedder.embed_question(text).words for text in ("save the picture", "the image is stored"))
    assert question is not None
    assert passage is not None
    nearest = (question @ passage.T).argmax(axis=1).tolist()
    assert nearest == [3, 0, 1]  # save: stored, the: the, picture: image


@pytest.mark.slow("builds a whole knowledge base")
def test_the_same_model_in_a_folder_gives_the_same(cache_dir: Path, tmp_path: Path) -> None:
    folder = minilm_folder(tmp_path / "all-MiniLM-L6-v2", cache_dir)
    ours, theirs = MiniLmEmbedder(cache_dir), open_embedder(Settings(home=str(tmp_path)), f"onnx/{folder}")
    texts = ["Export the image as JPEG.", "settings " * 300]
    assert theirs.embed(texts) == pytest.approx(ours.embed(texts), abs=1e-6)
    assert [each.words for each in theirs.embed_passages(texts)] == [each.words for each in ours.embed_passages(texts)]
    assert (theirs.dimensions, theirs.max_tokens, theirs.word_vectors) == (384, 256, True)


def _embed(cache_dir: Path) -> list[float]:
    vector: list[float] = MiniLmEmbedder(cache_dir).embed(["Blur"])[0].tolist()
    return vector


@pytest.mark.rare("two processes")
def test_two_processes_may_build_at_once(tmp_path: Path) -> None:
    with get_context("spawn").Pool(2) as pool:
        first, second = pool.map(_embed, [tmp_path] * 2, chunksize=1)
    assert first == second
    assert len(list(tmp_path.iterdir())) == 1


def test_questions_of_a_home_with_the_graph_of_an_earlier_release_meet_its_vectors(cache_dir: Path) -> None:
    """The name of the graph is theirs: what has one keeps it, and nothing is embedded again."""
    MiniLmEmbedder(cache_dir).prepare()
    (graph,) = cache_dir.glob("*.onnx")
    assert graph.name.startswith("all-MiniLM-L6-v2-int8-v3-53aa51172d14.")
