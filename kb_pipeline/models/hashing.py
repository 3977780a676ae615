"""Feature hashing: vectors made from the words alone, without a model.

For tests, for a first run, and where keyword overlap is enough. Method: Weinberger et al., "Feature Hashing for Large
Scale Multitask Learning" (arXiv:0902.2206), over words, word pairs and the character trigrams of words.
"""

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from itertools import pairwise

import numpy as np

from kb_pipeline.models.base import Embedder, Vectors

_WORD = re.compile(r"\w+")
_PAIR_WEIGHT = 0.5
"""Less than a word: pairs only order texts that have the same words."""
_TRIGRAM_WEIGHT = 0.3
"""Less still: they find other forms of a word, and others by chance."""
_EMPTY = "\0"


class HashingEmbedder(Embedder):
    """Sums words, pairs and trigrams into 256 signed buckets; equal on every machine and Python version."""

    model_id = "hashing-256"
    dimensions = 256
    max_tokens = 1024

    def embed_batch(self, texts: Sequence[str]) -> Vectors:
        """Embed the first ``max_tokens`` words of each text."""
        vectors = np.zeros((len(texts), self.dimensions), np.float32)
        for row, text in enumerate(texts):
            for feature, weight in _features(_words(text)[: self.max_tokens]).items():
                bucket, sign = _bucket(feature, self.dimensions)
                vectors[row, bucket] += sign * weight
            if not vectors[row].any():
                vectors[row, _bucket(_EMPTY, self.dimensions)[0]] = 1.0
        return vectors

    def count_tokens(self, text: str) -> int:
        return len(_words(text))


def _words(text: str) -> list[str]:
    return _WORD.findall(unicodedata.normalize("NFKC", text).casefold())


def _features(words: Sequence[str]) -> dict[str, float]:
    """Weigh each distinct feature by the logarithm of its count."""
    pairs = [f"{left} {right}" for left, right in pairwise(words)]
    weights: dict[str, float] = {}
    for features, weight in ((words, 1.0), (pairs, _PAIR_WEIGHT), (_trigrams(words), _TRIGRAM_WEIGHT)):
        weights |= {feature: weight * (1 + math.log(count)) for feature, count in Counter(features).items()}
    return weights


def _trigrams(words: Iterable[str]) -> Iterator[str]:
    for word in words:
        marked = f"<{word}>"
        yield from (f"#{marked[start : start + 3]}" for start in range(len(marked) - 2))


def _bucket(feature: str, buckets: int) -> tuple[int, int]:
    digest = int.from_bytes(blake2b(feature.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")
    return (digest >> 1) % buckets, 1 if digest & 1 else -1
