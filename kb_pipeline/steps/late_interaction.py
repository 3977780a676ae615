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
    """Scores of passages, each of shape (passages,); 0 where the question or the passage has no words.

    For each word of the question, take its best cosine with any word of the passage: ``scores`` is the mean over the
    question's words, ``weakest`` the minimum. The cosines are estimated from signs, so they may slightly exceed 1.
    """

    scores: Floats
    weakest: Floats


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
    return MaxSim(best.sum(axis=1) / max(1, words), best.min(axis=1) if words else np.zeros(len(passages), np.float32))
