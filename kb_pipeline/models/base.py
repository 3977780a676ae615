"""The embedder role: texts become unit vectors, and with some models each word of a text does.

Here: the contract, and the checks and ordering that every embedder shares.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from kb_pipeline.errors import ModelError

Vectors = npt.NDArray[np.float32]


def encodable(text: str) -> str:
    """Replace lone surrogates, which no tokenizer accepts, by question marks."""
    return text.encode("utf-8", "replace").decode("utf-8")


@dataclass(frozen=True, slots=True)
class EmbeddedQuestion:
    """A question's unit vector, shape (d,), and those of its words, shape (words, d), if the model tells them."""

    vector: Vectors
    words: Vectors | None = None


@dataclass(frozen=True, slots=True)
class EmbeddedPassage:
    """A passage's unit vector, shape (d,), and its words' as :func:`late_interaction.pack_words` packs them."""

    vector: Vectors
    words: bytes = b""


class Embedder(ABC):
    """Embeds texts; a backend implements :meth:`embed_batch` and two numbers.

    ``model_id`` names model and quantisation; vectors of different ids must never meet in an index.
    Any text is accepted: an empty one has a vector too, a long one may be cut at ``max_tokens``. Embedders are
    picklable, because they travel to worker processes; what they load, each process loads for itself.
    """

    model_id: str
    dimensions: int
    max_tokens: int
    word_vectors: bool = False
    """Whether questions and passages come with the vectors of their words."""
    batch_size: ClassVar[int] = 16
    pool: ClassVar[str] = ""
    """The pool of Dagster that limits how many runs embed at once; "" for no limit."""

    def prepare(self) -> None:  # noqa: B027  (most embedders have nothing to prepare)
        """Make the files that outlast a process, so that processes started together need not each make them.

        Whoever calls it embeds soon: a model may be loaded as well.
        """

    @abstractmethod
    def embed_batch(self, texts: Sequence[str]) -> Vectors:
        """Embed up to ``batch_size`` texts: shape (len(texts), dimensions), any norm."""

    @abstractmethod
    def count_tokens(self, text: str) -> int:
        """Length of ``text`` in the model's tokens, without truncation."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Embed texts, in their order: shape (len(texts), dimensions), rows of norm 1.

        Texts of similar length share a batch, because padding costs as much as text.

        Raises:
            ModelError: the model returned another shape, or a value that is not finite.
        """
        vectors = np.zeros((len(texts), self.dimensions), np.float32)
        by_length = sorted(range(len(texts)), key=lambda i: len(texts[i]))
        for start in range(0, len(texts), self.batch_size):
            rows = by_length[start : start + self.batch_size]
            vectors[rows] = self._checked(self.embed_batch([encodable(texts[i]) for i in rows]), len(rows))
        return vectors

    def embed_question(self, text: str) -> EmbeddedQuestion:
        """Embed what somebody asks, to be compared with passages.

        Raises:
            ModelError: as :meth:`embed`.
        """
        return EmbeddedQuestion(self.embed([text])[0])

    def embed_passages(self, texts: Sequence[str]) -> list[EmbeddedPassage]:
        """Embed what may answer questions, in its order.

        Raises:
            ModelError: as :meth:`embed`.
        """
        return [EmbeddedPassage(vector) for vector in self.embed(texts)]

    def _checked(self, vectors: Vectors, rows: int) -> Vectors:
        if vectors.shape != (rows, self.dimensions):
            raise ModelError(f"{self.model_id} returned shape {vectors.shape}, not {(rows, self.dimensions)}")
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
        if not np.isfinite(norms).all() or (norms == 0).any():
            raise ModelError(f"{self.model_id} returned a vector that is zero or not finite")
        unit: Vectors = (vectors / norms).astype(np.float32)
        return unit
