"""A BERT encoder with mean pooling as an ONNX graph, written from its weights.

Here: the graph of ``BertModel`` and its int8 form. Not here: which weights, where they lie, how text becomes tokens.
Architecture: Devlin et al., "BERT" (arXiv:1810.04805). Pooling: Reimers and Gurevych, "Sentence-BERT"
(arXiv:1908.10084).
Tensor names are those of the Hugging Face ``transformers`` checkpoint.
"""

import math
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

Weights = Mapping[str, npt.NDArray[np.float32]]


class BertShape(NamedTuple):
    """What the names and shapes of the weights do not tell."""

    layers: int
    heads: int
    layer_norm_eps: float = 1e-12


def bert_encoder(weights: Weights, shape: BertShape) -> "onnx.ModelProto":
    """Build the graph: int64 ``input_ids`` and ``attention_mask`` (batch, tokens) -> ``embeddings`` (batch, hidden).

    ``embeddings`` is the mean of the last layer over the tokens that the mask keeps; its norm is arbitrary.
    """
    graph = _Graph(weights, shape)
    mask = graph.add("Cast", "attention_mask", to=1)
    bias = graph.attention_bias(mask)
    hidden = graph.embeddings()
    for index in range(shape.layers):
        hidden = graph.layer(f"encoder.layer.{index}.", hidden, bias)
    graph.mean(hidden, mask)
    return graph.model()


def quantize_int8(model: "onnx.ModelProto") -> bytes:
    """Serialise with int8 weights, one scale per output channel; activations are quantised at run time."""
    from onnxruntime.quantization import QuantType, quantize_dynamic  # type: ignore[import-untyped]
    from onnxruntime.quantization.quant_utils import add_pre_process_metadata  # type: ignore[import-untyped]

    # Says that shapes are inferred and constants folded, which this graph never needed.
    add_pre_process_metadata(model)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "int8.onnx")
        quantize_dynamic(model, path, per_channel=True, weight_type=QuantType.QInt8)
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

    def add(self, operator: str, *inputs: str, output: str = "", **attributes: float | list[int]) -> str:
        from onnx import helper

        output = output or f"{operator}_{len(self.nodes)}"
        node = helper.make_node(operator, inputs, [output])
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

    def attention_bias(self, mask: str) -> str:
        """Shape (batch, 1, 1, tokens): 0 where attended, hugely negative where padding."""
        masked = self.add("Sub", self.constant("one", np.float32(1)), mask)
        masked = self.add("Mul", masked, self.constant("minus_huge", np.float32(-1e4)))
        return self.add("Unsqueeze", masked, self.constant("axes_1_2", np.array([1, 2])))

    def layer(self, prefix: str, hidden: str, bias: str) -> str:
        attended = self.linear(self.attention(prefix, hidden, bias), f"{prefix}attention.output.dense")
        hidden = self.layer_norm(self.add("Add", attended, hidden), f"{prefix}attention.output.LayerNorm")
        inner = self.add("Gelu", self.linear(hidden, f"{prefix}intermediate.dense"))
        outer = self.linear(inner, f"{prefix}output.dense")
        return self.layer_norm(self.add("Add", outer, hidden), f"{prefix}output.LayerNorm")

    def attention(self, prefix: str, hidden: str, bias: str) -> str:
        """Scaled dot-product attention of all heads, from one product for query, key and value."""
        joined = self.linear(hidden, *(f"{prefix}attention.self.{role}" for role in ("query", "key", "value")))
        heads = self.constant("qkv_heads", np.array([0, 0, 3, self.shape.heads, self.head_size]))
        stacked = self.add("Transpose", self.add("Reshape", joined, heads), perm=[2, 0, 3, 1, 4])
        query, key, value = (self.add("Gather", stacked, self.constant(f"i{i}", np.int64(i)), axis=0) for i in range(3))
        scores = self.add("MatMul", query, self.add("Transpose", key, perm=[0, 1, 3, 2]))
        scores = self.add("Mul", scores, self.constant("scale", np.float32(1 / math.sqrt(self.head_size))))
        weighted = self.add("MatMul", self.add("Softmax", self.add("Add", scores, bias), axis=-1), value)
        merged = self.constant("merged", np.array([0, 0, self.hidden_size]))
        return self.add("Reshape", self.add("Transpose", weighted, perm=[0, 2, 1, 3]), merged)

    def mean(self, hidden: str, mask: str) -> str:
        weights = self.add("Unsqueeze", mask, self.constant("axis2", np.array([2])))
        axis = self.constant("axis1", np.array([1]))
        total = self.add("ReduceSum", self.add("Mul", hidden, weights), axis, keepdims=0)
        return self.add("Div", total, self.add("ReduceSum", weights, axis, keepdims=0), output="embeddings")

    def model(self) -> "onnx.ModelProto":
        import onnx
        from onnx import helper

        inputs = [
            helper.make_tensor_value_info(name, onnx.TensorProto.INT64, ["batch", "tokens"])
            for name in ("input_ids", "attention_mask")
        ]
        outputs = [helper.make_tensor_value_info("embeddings", onnx.TensorProto.FLOAT, ["batch", self.hidden_size])]
        graph = helper.make_graph(self.nodes, "bert_encoder", inputs, outputs, list(self.initializers.values()))
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR_VERSION)
        onnx.checker.check_model(model)
        return model
