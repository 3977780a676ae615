"""The ONNX graph computes what BERT computes: compared with a forward pass in plain numpy."""

import math

import numpy as np
import numpy.typing as npt
import onnxruntime
import pytest

from kb_pipeline.models.minilm import BertShape, bert_encoder, quantize_int8

Array = npt.NDArray[np.float32]

LAYERS, HEADS, HIDDEN, INNER, WORDS, POSITIONS = 2, 4, 64, 128, 50, 32
IDS = np.array([[2, 7, 9, 10, 8, 3], [2, 11, 12, 13, 14, 3]])


@pytest.fixture(scope="module")
def weights() -> dict[str, Array]:
    """Random weights of a small BERT, under the names of a checkpoint."""
    random = np.random.default_rng(0)
    shapes: dict[str, tuple[int, ...]] = {
        "embeddings.word_embeddings.weight": (WORDS, HIDDEN),
        "embeddings.position_embeddings.weight": (POSITIONS, HIDDEN),
        "embeddings.token_type_embeddings.weight": (2, HIDDEN),
        "embeddings.LayerNorm.weight": (HIDDEN,),
        "embeddings.LayerNorm.bias": (HIDDEN,),
    }
    for layer in range(LAYERS):
        for name, rows, columns in [
            *((f"attention.self.{role}", HIDDEN, HIDDEN) for role in ("query", "key", "value")),
            ("attention.output.dense", HIDDEN, HIDDEN),
            ("intermediate.dense", INNER, HIDDEN),
            ("output.dense", HIDDEN, INNER),
        ]:
            shapes |= {
                f"encoder.layer.{layer}.{name}.weight": (rows, columns),
                f"encoder.layer.{layer}.{name}.bias": (rows,),
            }
        for name in ("attention.output.LayerNorm", "output.LayerNorm"):
            shapes |= {f"encoder.layer.{layer}.{name}.{part}": (HIDDEN,) for part in ("weight", "bias")}
    return {name: random.normal(0, 0.2, shape).astype(np.float32) for name, shape in shapes.items()}


def run(model: bytes, output: str = "embeddings") -> Array:
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    result: Array = session.run([output], {"input_ids": IDS})[0]
    return result


def reference(weights: dict[str, Array], ids: npt.NDArray[np.int64]) -> Array:
    """The last layer for one text, written from the paper's equations."""

    def dense(x: Array, name: str) -> Array:
        return x @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]

    def norm(x: Array, name: str) -> Array:
        centred = x - x.mean(axis=-1, keepdims=True)
        scaled = centred / np.sqrt((centred**2).mean(axis=-1, keepdims=True) + 1e-12)
        return scaled * weights[f"{name}.weight"] + weights[f"{name}.bias"]

    x = weights["embeddings.word_embeddings.weight"][ids] + weights["embeddings.position_embeddings.weight"][: len(ids)]
    x = norm(x + weights["embeddings.token_type_embeddings.weight"][0], "embeddings.LayerNorm")
    size = HIDDEN // HEADS
    for layer in range(LAYERS):
        prefix = f"encoder.layer.{layer}"
        query, key, value = (dense(x, f"{prefix}.attention.self.{role}") for role in ("query", "key", "value"))
        heads = []
        for part in (slice(head * size, (head + 1) * size) for head in range(HEADS)):
            scores = np.exp(query[:, part] @ key[:, part].T / math.sqrt(size))
            heads.append(scores / scores.sum(axis=1, keepdims=True) @ value[:, part])
        attended = dense(np.concatenate(heads, axis=1), f"{prefix}.attention.output.dense")
        x = norm(x + attended, f"{prefix}.attention.output.LayerNorm")
        inner = dense(x, f"{prefix}.intermediate.dense")
        inner = inner * 0.5 * (1 + np.vectorize(math.erf)(inner / math.sqrt(2)))
        x = norm(x + dense(inner, f"{prefix}.output.dense"), f"{prefix}.output.LayerNorm")
    return x


def test_graph_equals_the_equations(weights: dict[str, Array]) -> None:
    model = bert_encoder(weights, BertShape(LAYERS, HEADS)).SerializeToString()
    expected = np.stack([reference(weights, ids) for ids in IDS])
    assert run(model, "last_hidden_state") == pytest.approx(expected, abs=2e-5)
    assert run(model) == pytest.approx(expected.mean(axis=1), abs=2e-5)


def test_int8_is_close_and_smaller(weights: dict[str, Array]) -> None:
    model = bert_encoder(weights, BertShape(LAYERS, HEADS))
    exact = model.SerializeToString()
    small = quantize_int8(model)
    left, right = run(exact), run(small)
    cosine = (left * right).sum(axis=1) / (np.linalg.norm(left, axis=1) * np.linalg.norm(right, axis=1))
    assert cosine.min() > 0.98
    assert len(small) < 0.5 * len(exact)
