"""Vectors that no index could compare are noticed."""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb_pipeline.steps.checks import vectors_are_usable

Vectors = npt.NDArray[np.float32]


def unit(rows: int = 3, width: int = 8) -> Vectors:
    return np.full((rows, width), 1 / np.sqrt(width), np.float32)


def set_value(value: float) -> Callable[[Vectors], Vectors]:
    def change(vectors: Vectors) -> Vectors:
        vectors[1, 2] = value
        return vectors

    return change


@pytest.mark.parametrize("rows", [0, 1, 3])
def test_unit_vectors_pass(rows: int) -> None:
    assert vectors_are_usable(unit(rows), rows, 8).passed


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (set_value(np.nan), "1 vector not finite, of the passage with index: '1'"),
        (set_value(np.inf), "1 vector not finite"),
        (set_value(0.0), "1 vector not of norm 1"),
        (lambda v: v * 0, "3 vectors not of norm 1, of the passage with index: '0', '1', '2'"),
        (lambda v: v * np.float32(1.002), "3 vectors not of norm 1"),
        (lambda v: v[:2], "the vectors have shape (2, 8), the passages need (3, 8)"),
        (lambda v: v[:, :4] * np.float32(np.sqrt(2)), "the vectors have shape (3, 4)"),
        (lambda v: v[0], "the vectors have shape (8,)"),
        (lambda v: v.astype(np.float64), "float64, not float32"),
    ],
)
def test_unusable_vectors_are_named(change: Callable[[Vectors], Vectors], named: str) -> None:
    result = vectors_are_usable(change(unit()), 3, 8)
    assert named in result.message


@given(st.floats(-0.5, 0.5, width=32))
def test_the_norm_may_differ_by_a_thousandth(error: float) -> None:
    scaled = unit(1) * np.float32(1 + error)
    assert vectors_are_usable(scaled, 1, 8).passed == (abs(float(np.linalg.norm(scaled)) - 1) <= 1e-3)
