"""Embedders are opened by name, and say what is missing."""

import sys
from pathlib import Path

import pytest

from kb_pipeline.errors import MissingExtraError, SettingsError
from kb_pipeline.models import open_embedder
from kb_pipeline.settings import Settings


def test_unknown_name_lists_the_known(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"'word2vec'; it must be one of hashing, minilm, onnx, openai, wordllama"):
        open_embedder(Settings(home=str(tmp_path), embedder="word2vec"))


def test_opening_loads_nothing(tmp_path: Path) -> None:
    open_embedder(Settings(home=str(tmp_path)), "minilm")
    assert list(tmp_path.iterdir()) == []


def test_missing_package_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "wordllama", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'kb-pipeline\[wordllama\]'"):
        open_embedder(Settings(home=str(tmp_path)), "wordllama").embed(["Blur"])
