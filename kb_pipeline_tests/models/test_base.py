"""The base class checks what a backend returns."""

from collections.abc import Sequence

import numpy as np
import pytest

from kb_pipeline.errors import ModelError
from kb_pipeline.models.base import Embedder, Vectors


class Canned(Embedder):
    """Returns the given vectors, whatever the texts."""

    model_id, dimensions, max_tokens = "canned", 2, 10

    def __init__(self, vectors: list[list[float]]) -> None:
        self.vectors = vectors

    def embed_batch(self, texts: Sequence[str]) -> Vectors:
        return np.array(self.vectors, np.float32)

    def count_tokens(self, text: str) -> int:
        return len(text)


def test_vectors_are_normalised() -> None:
    assert Canned([[3, 4]]).embed(["a"]).tolist() == [pytest.approx([0.6, 0.8])]


@pytest.mark.parametrize(
    ("vectors", "reason"),
    [([[1.0]], "shape"), ([[1.0, 0.0]] * 2, "shape"), ([[0.0, 0.0]], "zero"), ([[float("nan"), 1.0]], "not finite")],
)
def test_unusable_vectors_are_refused(vectors: list[list[float]], reason: str) -> None:
    with pytest.raises(ModelError, match=f"canned returned .*{reason}"):
        Canned(vectors).embed(["a"])


def test_a_model_without_words_gives_vectors_alone() -> None:
    embedder = Canned([[3, 4]])
    assert not embedder.word_vectors
    asked, (passage,) = embedder.embed_question("a"), embedder.embed_passages(["a"])
    assert asked.vector.tolist() == passage.vector.tolist() == [pytest.approx(0.6), pytest.approx(0.8)]
    assert (asked.words, passage.words) == (None, b"")
