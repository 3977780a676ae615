"""all-MiniLM-L6-v2 on the CPU: the default embedder, with nothing to download. ``minilm_weights`` reads its weights."""

import contextlib
import hashlib
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from uuid import uuid4

import numpy as np
import numpy.typing as npt

from kb_pipeline.errors import ModelError
from kb_pipeline.models.base import Vectors
from kb_pipeline.models.minilm_weights import SHA256, Weights, read_tokenizer, read_weights
from kb_pipeline.models.onnx_embedder import OnnxEmbedder, TokenIds

if TYPE_CHECKING:
    import onnx
    from tokenizers import Tokenizer


OPSET = 20  # of ONNX 1.15
IR_VERSION = 10
"""That of ONNX 1.16. Not the newest, because onnxruntime refuses graphs that are newer than itself."""
_ONNXRUNTIME = "com.microsoft"
"""The domain of the operators that onnxruntime adds to the standard."""


class BertShape(NamedTuple):
    """Parameters that the names and shapes of the weights do not show."""

    layers: int
    heads: int
    layer_norm_eps: float = 1e-12


def bert_encoder(weights: Weights, shape: BertShape) -> "onnx.ModelProto":
    """Build the graph: int64 ``input_ids`` (texts, tokens) -> ``embeddings`` (texts, hidden) of any norm.

    All texts must have the same length: there is no mask, because padding would cost as much as text. ``embeddings`` is
    the mean of the other output, ``last_hidden_state`` (texts, tokens, hidden).
    """
    graph = _Graph(weights, shape)
    hidden = graph.embeddings()
    for index in range(shape.layers):
        hidden = graph.layer(f"encoder.layer.{index}.", hidden)
    graph.outputs(hidden)
    return graph.model()


def quantize_int8(model: "onnx.ModelProto") -> bytes:
    """Serialise the model with int8 weights, one scale per output channel; activations are quantised at run time."""
    import onnx
    from onnxruntime.quantization import QuantType, quantize_dynamic  # type: ignore[import-untyped]
    from onnxruntime.quantization.quant_utils import add_pre_process_metadata  # type: ignore[import-untyped]

    # Marks shapes as inferred and constants as folded, which this graph does not need.
    add_pre_process_metadata(model)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "int8.onnx")
        # The type of values after onnxruntime's own operator, which cannot be inferred.
        float32 = {"DefaultTensorType": onnx.TensorProto.FLOAT}
        quantize_dynamic(model, path, per_channel=True, weight_type=QuantType.QInt8, extra_options=float32)
        return path.read_bytes()


class _Graph:
    """A graph under construction; every method returns the name of the value that it computes."""

    def __init__(self, weights: Weights, shape: BertShape) -> None:
        self.weights = weights
        self.shape = shape
        self.hidden_size = weights["embeddings.word_embeddings.weight"].shape[1]
        self.head_size = self.hidden_size // shape.heads
        self.nodes: list[onnx.NodeProto] = []
        self.initializers: dict[str, onnx.TensorProto] = {}

    def add(
        self, operator: str, *inputs: str, output: str = "", domain: str = "", **attributes: float | list[int]
    ) -> str:
        from onnx import helper

        output = output or f"{operator}_{len(self.nodes)}"
        node = helper.make_node(operator, inputs, [output], domain=domain)
        node.attribute.extend(helper.make_attribute(name, value) for name, value in attributes.items())
        self.nodes.append(node)
        return output

    def constant(self, name: str, values: npt.ArrayLike) -> str:
        import onnx

        if name not in self.initializers:
            self.initializers[name] = onnx.numpy_helper.from_array(np.asarray(values, order="C"), name)
        return name

    def weight(self, name: str) -> str:
        return self.constant(name, self.weights[name])

    def linear(self, value: str, *prefixes: str) -> str:
        """Apply one or more dense layers to the same input, and concatenate their outputs."""
        name = "+".join(prefixes)
        matrix = self.constant(f"{name}.weight.T", np.concatenate([self.weights[f"{p}.weight"] for p in prefixes]).T)
        bias = self.constant(f"{name}.bias", np.concatenate([self.weights[f"{p}.bias"] for p in prefixes]))
        return self.add("Add", self.add("MatMul", value, matrix), bias)

    def layer_norm(self, value: str, prefix: str) -> str:
        scale, bias = self.weight(f"{prefix}.weight"), self.weight(f"{prefix}.bias")
        return self.add("LayerNormalization", value, scale, bias, epsilon=self.shape.layer_norm_eps)

    def embeddings(self) -> str:
        """Add word, position and token type embeddings; the token type is always the first."""
        words = self.add("Gather", self.weight("embeddings.word_embeddings.weight"), "input_ids")
        length = self.add("Shape", "input_ids", start=1, end=2)
        token_type = self.weights["embeddings.token_type_embeddings.weight"][0]
        positions = self.add(
            "Slice",
            self.constant("positions", self.weights["embeddings.position_embeddings.weight"] + token_type),
            self.constant("zero", np.array([0])),
            length,
            self.constant("axis0", np.array([0])),
        )
        return self.layer_norm(self.add("Add", words, positions), "embeddings.LayerNorm")

    def layer(self, prefix: str, hidden: str) -> str:
        attended = self.linear(self.attention(prefix, hidden), f"{prefix}attention.output.dense")
        hidden = self.layer_norm(self.add("Add", attended, hidden), f"{prefix}attention.output.LayerNorm")
        inner = self.add("Gelu", self.linear(hidden, f"{prefix}intermediate.dense"))
        outer = self.linear(inner, f"{prefix}output.dense")
        return self.layer_norm(self.add("Add", outer, hidden), f"{prefix}output.LayerNorm")

    def attention(self, prefix: str, hidden: str) -> str:
        """Scaled dot-product attention of all heads, with query, key and value from one product.

        This is onnxruntime's own operator; products, softmax and transpositions would take twice as long.
        """
        joined = self.linear(hidden, *(f"{prefix}attention.self.{role}" for role in ("query", "key", "value")))
        parts = self.split(joined, 3)
        return self.add("MultiHeadAttention", *parts, domain=_ONNXRUNTIME, num_heads=self.shape.heads)

    def split(self, value: str, parts: int) -> list[str]:
        from onnx import helper

        outputs = [f"{value}_part{index}" for index in range(parts)]
        self.nodes.append(helper.make_node("Split", [value], outputs, axis=-1, num_outputs=parts))
        return outputs

    def outputs(self, hidden: str) -> None:
        self.add("Identity", hidden, output="last_hidden_state")
        self.add("ReduceMean", hidden, self.constant("axis1", np.array([1])), keepdims=0, output="embeddings")

    def model(self) -> "onnx.ModelProto":
        import onnx
        from onnx import helper

        inputs = [helper.make_tensor_value_info("input_ids", onnx.TensorProto.INT64, ["texts", "tokens"])]
        outputs = [
            helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, ["texts", *tokens, self.hidden_size])
            for name, tokens in (("embeddings", []), ("last_hidden_state", ["tokens"]))
        ]
        graph = helper.make_graph(self.nodes, "bert_encoder", inputs, outputs, list(self.initializers.values()))
        opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid(_ONNXRUNTIME, 1)]
        model = helper.make_model(graph, opset_imports=opsets, ir_version=IR_VERSION)
        onnx.checker.check_model(model)
        return model


SUFFIX = ".onnx"


def cached_model(cache_dir: Path, name: str, build: Callable[[], bytes]) -> Path:
    """Return the file ``<name>.<hash of its content>.onnx``; build it unless an intact one exists.

    A file whose content does not match its name is deleted and built again. The file appears under its name in one
    step, so processes that build at the same time do not disturb each other.

    Raises:
        ModelError: the folder cannot be written.
    """
    try:
        cache_dir.mkdir(parents=True, exist_ok=True)
        return _intact(cache_dir, name) or _written(cache_dir, name, build())
    except OSError as exc:
        raise ModelError(f"cannot keep {name} in {cache_dir}: {exc}; choose a cache folder that is writable") from exc


def _intact(cache_dir: Path, name: str) -> Path | None:
    for path in sorted(cache_dir.glob(f"{name}.*{SUFFIX}")):
        # Another process may have deleted the same damaged file first.
        with contextlib.suppress(FileNotFoundError):
            if path.name == _file_name(name, path.read_bytes()):
                return path
            path.unlink()
    return None


def _written(cache_dir: Path, name: str, content: bytes) -> Path:
    path = cache_dir / _file_name(name, content)
    temporary = cache_dir / f"{name}.{uuid4().hex}.tmp"
    try:
        temporary.write_bytes(content)
        return temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def _file_name(name: str, content: bytes) -> str:
    return f"{name}.{hashlib.sha256(content).hexdigest()[:16]}{SUFFIX}"


GRAPH_VERSION = 3
"""Part of the name of the cached file: raise it with any change of the graph or its quantisation."""


class MiniLmEmbedder(OnnxEmbedder):
    """Vectors of texts and of their words with 384 dimensions; int8 weights (cosine .994 to fp32 on average).

    A text of 130 tokens takes 13 ms; in batches of 8 and 32 it took 14 and 17 ms, because of the padding.
    """

    model_id = "all-MiniLM-L6-v2-int8"
    dimensions = 384
    max_tokens = 256
    word_vectors = True

    def __init__(self, cache_dir: Path, threads: int = 1, weights: Path | None = None) -> None:
        """Set the cache folder; the first text builds the model there (2 s) unless it exists.

        ``weights`` is where they are, unless in their package.
        """
        self.cache_dir = cache_dir
        self.threads = threads
        self.weights = weights

    def _forward(self, ids: TokenIds, *, words: bool) -> tuple[Vectors, Vectors]:
        outputs = ["embeddings", "last_hidden_state"] if words else ["embeddings"]
        vector, *tokens = self._session.run(outputs, {"input_ids": ids})
        return vector, tokens[0][0] if words else vector[:0]

    def _read_tokenizer(self) -> "Tokenizer":
        from tokenizers import Tokenizer

        return Tokenizer.from_buffer(read_tokenizer())

    def _model_file(self) -> Path:
        # One name for both forms of the weights: in int8 all layers are the same, so vectors of one meet the other's.
        name = f"{self.model_id}-v{GRAPH_VERSION}-{SHA256['model.safetensors'][:12]}"

        def build() -> bytes:
            return quantize_int8(bert_encoder(read_weights(self.weights), BertShape(layers=6, heads=12)))

        return cached_model(self.cache_dir, name, build)
