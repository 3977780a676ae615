"""Late interaction: score how well a passage covers each word of a question, by comparing word vectors.

MaxSim as in ColBERT (Khattab, Zaharia: https://arxiv.org/abs/2004.12832). Passages store only the signs of their word
vectors, one bit per dimension; questions use floats. Not here: computing the vectors, and other ways to rank hits.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]

PACKING = "1bit/1"
"""How word vectors are packed. Change it whenever stored bytes would be read differently or hold other words."""

_SCALE = np.float32(np.sqrt(np.pi / 2))
"""Cosines computed from signs are smaller by this factor on average, if vector values are normally distributed."""

_SINGLE_THREADED = 1 << 18
"""Multiplications in a matrix product up to which OpenBLAS uses a single thread (SMP_THRESHOLD_MIN times
GEMM_MULTITHREAD_THRESHOLD in its interface/gemm.c). With more, its threads wait longer than they work."""


@dataclass(frozen=True, slots=True)
class MaxSim:
    """How well passages cover each word of a question: ``best``, shape (passages, words), has its best cosine with any
    word of the passage; 0 where the passage has no words. The cosines are estimated from signs, so they may slightly
    exceed 1.
    """

    best: Floats

    @property
    def scores(self) -> Floats:
        """The mean over the question's words, shape (passages,); 0 if it has none."""
        return np.asarray(self.best.sum(axis=1) / max(1, self.best.shape[1]), np.float32)

    @property
    def weakest(self) -> Floats:
        """The minimum over the question's words, shape (passages,); 0 if it has none."""
        return np.asarray(self.best.min(axis=1) if self.best.shape[1] else self.scores, np.float32)

    def of_words(self, words: Sequence[Sequence[int]]) -> Floats:
        """How well passages cover each of some words, shape (passages, words): the mean of the word's pieces, of which
        ``words`` has the columns.
        """
        return np.stack([self.best[:, list(columns)].mean(axis=1) for columns in words], axis=1)


_USUAL, _OTHERS = np.float32(0.44), 10
"""How near a word is to sections that have nothing to do with it, and how many such sections count beside those that
are compared: a few sections do not show what is usual. The mean of 364 questions about five manuals."""
_LEAST_RARITY = np.float32(0.05)


def told_apart(of_words: Floats) -> tuple[Floats, Floats]:
    """How well each passage covers the rare words, and how much better it covers all words than passages usually do.

    Of ``of_words``, shape (passages, words). Other passages show what is usual for a word. The farther they are from
    it, the rarer it is, and the more it weighs.
    """
    usual = (of_words.sum(axis=0) + _OTHERS * _USUAL) / (len(of_words) + _OTHERS)
    rarity = np.maximum(1 - usual, _LEAST_RARITY)
    return of_words @ rarity / rarity.sum(), (of_words - usual).mean(axis=1)


@dataclass(frozen=True, slots=True)
class EmbeddedPassage:
    """The unit vector of a passage, shape (d,), and its word vectors packed by :func:`pack_words`, if it has any."""

    vector: Floats
    words: bytes = b""


def pack_words(vectors: Floats) -> bytes:
    """Pack the signs of a passage's word vectors, shape (words, d), in :func:`packed_size` bytes per word."""
    return np.packbits(vectors > 0, axis=1).tobytes()


def packed_size(dimensions: int) -> int:
    """Return the number of bytes per packed word."""
    return -(-dimensions // 8)


def max_sim(question: Floats, passages: Sequence[bytes]) -> MaxSim:
    """Compare the unit vectors of a question's words, shape (words, d), with packed passages.

    Raises:
        ValueError: a passage was packed with a different number of dimensions.
    """
    words, dimensions = question.shape
    size = packed_size(dimensions)
    if any(len(passage) % size for passage in passages):
        raise ValueError(f"a passage's words are not packed with {dimensions} dimensions")
    best = np.zeros((len(passages), words), np.float32)
    # As signs = 2 bits - 1: question . signs = 2 (question . bits) - sum(question)
    weights = question.T * (2 * _SCALE / np.sqrt(np.float32(dimensions)))
    step = max(1, _SINGLE_THREADED // max(1, question.size))
    for row, passage in zip(best, passages, strict=True):
        if passage and words:
            packed = np.frombuffer(passage, np.uint8).reshape(-1, size)
            bits = np.unpackbits(packed, axis=1, count=dimensions).astype(np.float32)
            cosines = [bits[start : start + step] @ weights for start in range(0, len(bits), step)]
            np.max(np.concatenate(cosines), axis=0, out=row)
            row -= weights.sum(axis=0) / 2
    return MaxSim(best)
