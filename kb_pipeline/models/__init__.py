"""Embedding models and image models; one module per backend.

Here: opening an embedder by name. To add one, write its module and add a line to ``EMBEDDERS``.
"""

from collections.abc import Callable
from pathlib import Path

from kb_pipeline.models.base import Embedder
from kb_pipeline.plugins import find_opener
from kb_pipeline.settings import Settings

__all__ = ["EMBEDDERS", "Embedder", "open_embedder"]


def _minilm(settings: Settings) -> Embedder:
    from kb_pipeline.models.minilm import MiniLmEmbedder

    weights = Path(settings.models) if settings.models else None
    return MiniLmEmbedder(settings.home_path / "models", weights=weights)


def _wordllama(_settings: Settings) -> Embedder:
    from kb_pipeline.models.wordllama import WordLlamaEmbedder

    return WordLlamaEmbedder()


def _hashing(_settings: Settings) -> Embedder:
    from kb_pipeline.models.hashing import HashingEmbedder

    return HashingEmbedder()


def _openai(settings: Settings) -> Embedder:
    from kb_pipeline.models.openai_embeddings import OpenAIEmbedder

    return OpenAIEmbedder(settings)


def _onnx(settings: Settings) -> Embedder:
    from kb_pipeline.models.onnx_folder import OnnxFolderEmbedder

    return OnnxFolderEmbedder(settings)


EMBEDDERS: dict[str, Callable[[Settings], Embedder]] = {
    "minilm": _minilm,
    "wordllama": _wordllama,
    "hashing": _hashing,
    "onnx": _onnx,
    "openai": _openai,
}


def open_embedder(settings: Settings, name: str | None = None) -> Embedder:
    """Open the embedder ``name``, or else the one of the settings.

    Ours are named ``kind`` or ``kind/model``. A ``package.module:Class`` is called with the settings, whose
    ``embedder`` is the name to open. Models are loaded with the first text.

    Raises:
        SettingsError: no embedder has this name.
    """
    chosen = name or settings.embedder
    prefix = chosen.partition("/")[0]
    kind = chosen if ":" in chosen and prefix not in EMBEDDERS else prefix
    opener = find_opener("KB_EMBEDDER", kind, EMBEDDERS, Embedder)  # type: ignore[type-abstract]
    return opener(settings.model_copy(update={"embedder": chosen}))
