"""The contract of an embedder: texts become unit vectors; some models also return a vector for each word.

Here: the contract, and the checks and the batching that all embedders share.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from kb_pipeline.errors import ModelError
from kb_pipeline.records import Chunk
from kb_pipeline.steps.chunk import passages_of
from kb_pipeline.steps.late_interaction import EmbeddedPassage

Vectors = npt.NDArray[np.float32]


def encodable(text: str) -> str:
    """Replace lone surrogates, which no tokenizer accepts, by question marks."""
    return text.encode("utf-8", "replace").decode("utf-8")


@dataclass(frozen=True, slots=True)
class EmbeddedQuestion:
    """The unit vector of a question, shape (d,), and those of its words, shape (words, d), if the model has them.

    A long word may be several of these, its pieces. ``telling`` are the pieces of each word that says something about
    the matter, as positions in ``words``.
    """

    vector: Vectors
    words: Vectors | None = None
    telling: tuple[tuple[int, ...], ...] = ()


class Embedder(ABC):
    """Embeds texts. A backend implements :meth:`embed_batch` and :meth:`count_tokens`, and sets the attributes.

    ``model_id`` names model and quantisation; an index must never mix vectors of different ids. Any text is accepted:
    an empty text has a vector too, and a long one may be cut at ``max_tokens``. Embedders are pickled and sent to
    worker processes; each process loads the model itself.
    """

    model_id: str
    dimensions: int
    max_tokens: int
    word_vectors: bool = False
    """Whether questions and passages are returned with word vectors."""
    batch_size: ClassVar[int] = 16
    pool: ClassVar[str] = ""
    """The Dagster pool that limits how many runs embed at once; "" for no limit."""

    def prepare(self) -> None:  # noqa: B027  (most embedders have nothing to prepare)
        """Create files on disk ahead of time, so that processes started together need not each create them.

        The caller embeds soon afterwards, so this may also load the model.
        """

    @abstractmethod
    def embed_batch(self, texts: Sequence[str]) -> Vectors:
        """Embed up to ``batch_size`` texts; return shape (len(texts), dimensions), vectors of any norm.

        Raises:
            KnowledgeBaseError: the files of the model are missing or damaged, or its service failed or refused
                access.
        """

    @abstractmethod
    def count_tokens(self, text: str) -> int:
        """Return the length of ``text`` in the model's tokens, without truncation."""

    def passages_of(self, chunk: Chunk) -> list[str]:
        """Return the texts to embed for a chunk: several if it is longer than ``max_tokens``."""
        return passages_of(chunk, count_tokens=self.count_tokens, max_tokens=self.max_tokens)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Embed texts; return shape (len(texts), dimensions) in their order, rows of norm 1.

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
        """Embed a question, to compare it with passages.

        Raises:
            ModelError: as :meth:`embed`.
        """
        return EmbeddedQuestion(self.embed([text])[0])

    def embed_passages(self, texts: Sequence[str]) -> list[EmbeddedPassage]:
        """Embed passages that may answer questions, in their order.

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
