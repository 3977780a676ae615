"""What every embedder promises; a new backend joins ``EMBEDDERS`` and thereby this suite."""

import pickle
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from kb_pipeline.models import EMBEDDERS, Embedder, open_embedder
from kb_pipeline.settings import Settings
from kb_pipeline.steps.late_interaction import pack_words
from kb_pipeline_tests.contracts.services import services_of
from kb_pipeline_tests.models.model_folders import minilm_folder

TEXTS = [
    "Open the settings and add a user.",
    "Blur",
    "The invoice of last month was paid twice; ask the accounting department for a correction of the second payment.",
    "Zwiebelkuchen & Crème brûlée, 漢字 и кириллица 🎉",
    "Add a user in the settings",
]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("models")


@pytest.fixture(scope="module")
def names(home: Path) -> dict[str, str]:
    """What KB_EMBEDDER takes, by kind; a model in a folder is the default one."""
    return {
        **dict(zip(EMBEDDERS, EMBEDDERS, strict=True)),
        "onnx": f"onnx/{minilm_folder(home / 'x', home / 'models')}",
    }


@pytest.fixture(scope="module", params=sorted(EMBEDDERS))
def embedder(request: pytest.FixtureRequest, home: Path, names: dict[str, str]) -> Iterator[Embedder]:
    with services_of(request.param) as settings:
        yield open_embedder(Settings(home=str(home), **settings), names[request.param])


@pytest.mark.slow("builds a whole knowledge base")
def test_one_unit_vector_a_text(embedder: Embedder) -> None:
    vectors = embedder.embed(TEXTS)
    assert vectors.shape == (len(TEXTS), embedder.dimensions)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(np.ones(len(TEXTS)), abs=1e-5)


def test_order_is_that_of_the_texts(embedder: Embedder) -> None:
    forth, back = embedder.embed(TEXTS), embedder.embed(TEXTS[::-1])
    assert np.abs(forth - back[::-1]).max() < 0.01


def test_a_text_alone_has_the_vector_it_has_in_company(embedder: Embedder) -> None:
    together = embedder.embed(TEXTS)
    alone = np.vstack([embedder.embed([text]) for text in TEXTS])
    assert (together * alone).sum(axis=1).min() > 0.99


def test_same_texts_same_vectors(embedder: Embedder) -> None:
    assert np.array_equal(embedder.embed(TEXTS), embedder.embed(TEXTS))


def test_similar_texts_are_nearer_than_others(embedder: Embedder) -> None:
    vectors = embedder.embed(TEXTS)
    assert vectors[0] @ vectors[4] > max(vectors[0] @ vectors[index] for index in (1, 2, 3)) + 0.1


def test_no_texts_no_vectors(embedder: Embedder) -> None:
    assert embedder.embed([]).shape == (0, embedder.dimensions)


@pytest.mark.parametrize("text", ["", " \n\t", "\x00", "…!?", "\ud800"])
def test_text_without_words_has_a_vector(embedder: Embedder, text: str) -> None:
    assert np.isfinite(embedder.embed([text, "Blur"])).all()
    assert embedder.count_tokens(text) < 10


def test_long_text_is_embedded_and_counted_in_full(embedder: Embedder) -> None:
    text = "open the settings " * embedder.max_tokens
    assert np.isfinite(embedder.embed([text])).all()
    assert embedder.count_tokens(text) > embedder.max_tokens
    assert embedder.count_tokens("open the settings") < 10


def test_a_question_and_a_passage_have_the_vector_of_their_text(embedder: Embedder) -> None:
    passages = embedder.embed_passages(TEXTS)
    assert np.array_equal(np.stack([passage.vector for passage in passages]), embedder.embed(TEXTS))
    assert embedder.embed_question(TEXTS[0]).vector @ passages[0].vector == pytest.approx(1, abs=1e-5)
    assert embedder.embed_passages([]) == []


def test_words_have_vectors_if_the_embedder_says_so(embedder: Embedder) -> None:
    asked, (passage,) = embedder.embed_question("Blur the photo"), embedder.embed_passages(["Blur the photo"])
    if not embedder.word_vectors:
        assert (asked.words, passage.words) == (None, b"")
        return
    assert asked.words is not None
    assert asked.words.dtype == np.float32
    assert np.linalg.norm(asked.words, axis=1) == pytest.approx(np.ones(len(asked.words)), abs=1e-5)
    assert passage.words == pack_words(asked.words)


@pytest.mark.parametrize("text", ["", " \n\t", "…!?", "\ud800"])
def test_text_without_words_has_none(embedder: Embedder, text: str) -> None:
    words = embedder.embed_question(text).words
    assert words is None or words.shape == (0, embedder.dimensions)
    assert [passage.words for passage in embedder.embed_passages([text])] == [b""]


def test_words_are_those_of_the_text_whatever_its_company(embedder: Embedder) -> None:
    together = [passage.words for passage in embedder.embed_passages(TEXTS)]
    assert together == [embedder.embed_passages([text])[0].words for text in TEXTS]


def test_travels_to_another_process(embedder: Embedder) -> None:
    expected = embedder.embed(TEXTS)
    luggage = pickle.dumps(embedder)
    assert len(luggage) < 4000
    assert np.array_equal(pickle.loads(luggage).embed(TEXTS), expected)


def test_model_ids_are_distinct(home: Path, names: dict[str, str]) -> None:
    settings = Settings(home=str(home), openai_api_key="unused")
    assert len({open_embedder(settings, name).model_id for name in names.values()}) == len(EMBEDDERS)
