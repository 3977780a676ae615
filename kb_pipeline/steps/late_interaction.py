"""Late interaction: how well a passage covers each word of a question, by the words' own vectors.

MaxSim as in ColBERT (Khattab, Zaharia: https://arxiv.org/abs/2004.12832). Of a passage's words the signs are kept, one
bit a dimension; of the question the floats. Not here: where the vectors come from, and what else orders hits.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]

PACKING = "1bit/1"
"""How words' vectors are packed; changed whenever bytes of before are read differently, or hold other words."""

_SCALE = np.float32(np.sqrt(np.pi / 2))
"""The cosine with the signs alone is smaller by this factor on average, if a vector's values are spread normally."""

_ALONE = 1 << 18
"""Multiplications of a matrix product up to which OpenBLAS makes no threads (SMP_THRESHOLD_MIN times
GEMM_MULTITHREAD_THRESHOLD in its interface/gemm.c): those of a larger one wait for each other longer than they work."""


@dataclass(frozen=True, slots=True)
class MaxSim:
    """Of each passage, shape (passages,): ``scores``, the mean over the question's words of the best cosine with a
    word of the passage, and ``weakest``, that of the word that the passage covers least. 0 where one has no words.

    The cosines are estimated from signs, so that they may be a little above 1.
    """

    scores: Floats
    weakest: Floats


def pack_words(vectors: Floats) -> bytes:
    """The signs of the vectors of a passage's words, shape (words, d): :func:`packed_size` bytes a word, in order."""
    return np.packbits(vectors > 0, axis=1).tobytes()


def packed_size(dimensions: int) -> int:
    """Bytes of a packed word."""
    return -(-dimensions // 8)


def max_sim(question: Floats, passages: Sequence[bytes]) -> MaxSim:
    """Compare the unit vectors of a question's words, shape (words, d), with packed passages.

    Raises:
        ValueError: a passage was packed with another number of dimensions.
    """
    words, dimensions = question.shape
    size = packed_size(dimensions)
    if any(len(passage) % size for passage in passages):
        raise ValueError(f"a passage's words are not packed with {dimensions} dimensions")
    best = np.zeros((len(passages), words), np.float32)
    # with signs as 2 bits - 1: question . signs = 2 (question . bits) - sum(question)
    weights = question.T * (2 * _SCALE / np.sqrt(np.float32(dimensions)))
    step = max(1, _ALONE // max(1, question.size))
    for row, passage in zip(best, passages, strict=True):
        if passage and words:
            packed = np.frombuffer(passage, np.uint8).reshape(-1, size)
            bits = np.unpackbits(packed, axis=1, count=dimensions).astype(np.float32)
            covered = [bits[start : start + step] @ weights for start in range(0, len(bits), step)]
            np.max(np.concatenate(covered), axis=0, out=row)
            row -= weights.sum(axis=0) / 2
    return MaxSim(best.sum(axis=1) / max(1, words), best.min(axis=1) if words else np.zeros(len(passages), np.float32))
