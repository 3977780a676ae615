"""From the vectors of a text's tokens to the one of the text.

Pooling as in Reimers and Gurevych, "Sentence-BERT" (arXiv:1908.10084), for one text without padding.
"""

from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import numpy.typing as npt

from kb_pipeline.errors import ModelError

Floats = npt.NDArray[np.float32]

POOLINGS: Mapping[str, Callable[[Floats], Floats]] = {
    "cls": lambda tokens: tokens[0],
    "max": lambda tokens: tokens.max(axis=0),
    "mean": lambda tokens: tokens.mean(axis=0),
    "lasttoken": lambda tokens: tokens[-1],
}
"""By name: tokens' vectors, shape (tokens, d), to the text's, shape (d,)."""

ACTIVATIONS: Mapping[str, Callable[[Floats], Floats]] = {"Identity": lambda values: values, "Tanh": np.tanh}


def read_dense(weights: Path, activation: str) -> Callable[[Floats], Floats]:
    """A dense layer from a safetensors file: shape (d,) to shape (other d,).

    Raises:
        ModelError: the file is damaged, or holds something else.
    """
    from safetensors import SafetensorError
    from safetensors.numpy import load

    try:
        tensors = load(weights.read_bytes())
        matrix = np.asarray(tensors["linear.weight"], np.float32)
    except (OSError, SafetensorError, KeyError) as exc:
        raise ModelError(f"{weights} holds no dense layer: {exc}; fetch the model again") from exc
    bias = np.asarray(tensors.get("linear.bias", np.zeros(len(matrix))), np.float32)
    return lambda values: ACTIVATIONS[activation](matrix @ values + bias)
