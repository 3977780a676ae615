"""Models behind small contracts: one file per backend."""

from collections.abc import Callable
from pathlib import Path

from kb_pipeline.models.base import Embedder
from kb_pipeline.plugins import find_opener

__all__ = ["EMBEDDERS", "Embedder", "open_embedder"]


def _minilm(cache_dir: Path, threads: int) -> Embedder:
    from kb_pipeline.models.minilm import MiniLmEmbedder

    return MiniLmEmbedder(cache_dir, threads)


def _wordllama(_cache_dir: Path, _threads: int) -> Embedder:
    from kb_pipeline.models.wordllama import WordLlamaEmbedder

    return WordLlamaEmbedder()


def _hashing(_cache_dir: Path, _threads: int) -> Embedder:
    from kb_pipeline.models.hashing import HashingEmbedder

    return HashingEmbedder()


EMBEDDERS: dict[str, Callable[[Path, int], Embedder]] = {
    "minilm": _minilm,
    "wordllama": _wordllama,
    "hashing": _hashing,
}


def open_embedder(name: str, *, cache_dir: Path, threads: int = 1) -> Embedder:
    """Open an embedder: one of ours by name, or ``package.module:Class``, called with folder and threads.

    What it needs to load, it loads at its first text.

    Raises:
        SettingsError: there is no embedder of that name.
    """
    return find_opener("KB_EMBEDDER", name, EMBEDDERS, Embedder)(cache_dir, threads)  # type: ignore[type-abstract]
