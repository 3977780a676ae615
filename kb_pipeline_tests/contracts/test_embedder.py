"""What every embedder promises; a new backend joins ``EMBEDDERS`` and thereby this suite."""

import pickle
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from kb_pipeline.models import EMBEDDERS, Embedder, open_embedder
from kb_pipeline.settings import Settings
from kb_pipeline_tests.contracts.services import services_of

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


@pytest.fixture(scope="module", params=sorted(EMBEDDERS))
def embedder(request: pytest.FixtureRequest, home: Path) -> Iterator[Embedder]:
    with services_of(request.param) as settings:
        yield open_embedder(Settings(home=str(home), **settings), request.param)


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


def test_travels_to_another_process(embedder: Embedder) -> None:
    expected = embedder.embed(TEXTS)
    luggage = pickle.dumps(embedder)
    assert len(luggage) < 4000
    assert np.array_equal(pickle.loads(luggage).embed(TEXTS), expected)


def test_model_ids_are_distinct(home: Path) -> None:
    settings = Settings(home=str(home), openai_api_key="unused")
    assert len({open_embedder(settings, name).model_id for name in EMBEDDERS}) == len(EMBEDDERS)
