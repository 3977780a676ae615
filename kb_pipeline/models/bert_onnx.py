"""A BERT encoder with mean pooling as an ONNX graph, written from its weights.

Here: the graph of ``BertModel`` and its int8 form. Not here: which weights, where they lie, how text becomes tokens.
Architecture: Devlin et al., "BERT" (arXiv:1810.04805). Pooling: Reimers and Gurevych, "Sentence-BERT"
(arXiv:1908.10084).
Tensor names are those of the Hugging Face ``transformers`` checkpoint.
"""

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import onnx

OPSET = 20
IR_VERSION = 10
_ONNXRUNTIME = "com.microsoft"
"""Where the operators are from that onnxruntime adds to the standard."""

Weights = Mapping[str, npt.NDArray[np.float32]]


class BertShape(NamedTuple):
    """What the names and shapes of the weights do not tell."""

    layers: int
    heads: int
    layer_norm_eps: float = 1e-12


def bert_encoder(weights: Weights, shape: BertShape) -> "onnx.ModelProto":
    """Build the graph: int64 ``input_ids`` (texts, tokens) -> ``embeddings`` (texts, hidden) of any norm.

    Texts of equal length only: there is no mask, because padding would cost as much as text. ``embeddings`` is the
    mean of ``last_hidden_state`` (texts, tokens, hidden), the other output.
    """
    graph = _Graph(weights, shape)
    hidden = graph.embeddings()
    for index in range(shape.layers):
        hidden = graph.layer(f"encoder.layer.{index}.", hidden)
    graph.outputs(hidden)
    return graph.model()


def quantize_int8(model: "onnx.ModelProto") -> bytes:
    """Serialise with int8 weights, one scale per output channel; activations are quantised at run time."""
    import onnx
    from onnxruntime.quantization import QuantType, quantize_dynamic  # type: ignore[import-untyped]
    from onnxruntime.quantization.quant_utils import add_pre_process_metadata  # type: ignore[import-untyped]

    # Says that shapes are inferred and constants folded, which this graph never needed.
    add_pre_process_metadata(model)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "int8.onnx")
        # what is not inferred behind an operator of onnxruntime's own
        float32 = {"DefaultTensorType": onnx.TensorProto.FLOAT}
        quantize_dynamic(model, path, per_channel=True, weight_type=QuantType.QInt8, extra_options=float32)
        return path.read_bytes()


class _Graph:
    """Nodes and initialisers under construction; every method returns the name of the value it computes."""

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
        """Apply one or more dense layers to the same input, their outputs side by side."""
        name = "+".join(prefixes)
        matrix = self.constant(f"{name}.weight.T", np.concatenate([self.weights[f"{p}.weight"] for p in prefixes]).T)
        bias = self.constant(f"{name}.bias", np.concatenate([self.weights[f"{p}.bias"] for p in prefixes]))
        return self.add("Add", self.add("MatMul", value, matrix), bias)

    def layer_norm(self, value: str, prefix: str) -> str:
        scale, bias = self.weight(f"{prefix}.weight"), self.weight(f"{prefix}.bias")
        return self.add("LayerNormalization", value, scale, bias, epsilon=self.shape.layer_norm_eps)

    def embeddings(self) -> str:
        """Sum word, position and (always the first) token type embeddings."""
        words = self.add("Gather", self.weight("embeddings.word_embeddings.weight"), "input_ids")
        length = self.add("Shape", "input_ids", start=1, end=2)
        positions = self.add(
            "Slice",
            self.constant("positions", self._positions()),
            self.constant("zero", np.array([0])),
            length,
            self.constant("axis0", np.array([0])),
        )
        return self.layer_norm(self.add("Add", words, positions), "embeddings.LayerNorm")

    def _positions(self) -> npt.NDArray[np.float32]:
        token_type = self.weights["embeddings.token_type_embeddings.weight"][0]
        positions: npt.NDArray[np.float32] = self.weights["embeddings.position_embeddings.weight"] + token_type
        return positions

    def layer(self, prefix: str, hidden: str) -> str:
        attended = self.linear(self.attention(prefix, hidden), f"{prefix}attention.output.dense")
        hidden = self.layer_norm(self.add("Add", attended, hidden), f"{prefix}attention.output.LayerNorm")
        inner = self.add("Gelu", self.linear(hidden, f"{prefix}intermediate.dense"))
        outer = self.linear(inner, f"{prefix}output.dense")
        return self.layer_norm(self.add("Add", outer, hidden), f"{prefix}output.LayerNorm")

    def attention(self, prefix: str, hidden: str) -> str:
        """Scaled dot-product attention of all heads, query, key and value from one product.

        onnxruntime's own operator: composed of products, softmax and transpositions it takes twice as long.
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
