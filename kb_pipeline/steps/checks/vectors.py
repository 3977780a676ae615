"""Check that an article's vectors are usable, and that the search index holds exactly its chunks."""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from kb_pipeline.records import CheckResult
from kb_pipeline.steps.checks.specs import named, outcome

_TOLERANCE = 1e-3
"""Permitted deviation of a norm from 1; rounding in float32 stays far below."""


def vectors_are_usable(vectors: npt.NDArray[np.float32], passages: int, dimensions: int) -> CheckResult:
    """Check for one finite float32 vector of norm 1 per passage; ``vectors`` has shape (passages, dimensions)."""
    problems = []
    if vectors.shape != (passages, dimensions):
        problems.append(f"the vectors have shape {vectors.shape}, the passages need {(passages, dimensions)}")
    if vectors.dtype != np.float32:
        problems.append(f"the vectors are {vectors.dtype}, not float32")
    norms = np.linalg.norm(vectors, axis=1) if vectors.ndim == 2 else np.zeros(0)
    broken = np.flatnonzero(~np.isfinite(norms)).tolist()
    uneven = np.flatnonzero(np.abs(norms - 1) > _TOLERANCE).tolist()
    uneven = [row for row in uneven if row not in broken]
    problems += named("vector", "not finite, of the passage with index", broken)
    problems += named("vector", "not of norm 1, of the passage with index", uneven)
    return outcome(
        "vectors_are_usable",
        problems,
        "Materialize chunk_embeddings again. If the check still fails, the model is damaged: delete its files.",
        {"vectors": len(vectors), "broken": len(broken) + len(uneven)},
    )


def index_holds_the_chunks(expected: Mapping[str, str], live: Mapping[str, str]) -> CheckResult:
    """Check that the ``live`` index lists exactly the ``expected`` chunks; both are content hashes by chunk id."""
    kinds = {
        "missing": sorted(expected.keys() - live.keys()),
        "stale": sorted(key for key in expected.keys() & live.keys() if expected[key] != live[key]),
        "orphaned": sorted(live.keys() - expected.keys()),
    }
    return outcome(
        "index_holds_the_chunks",
        [problem for kind, ids in kinds.items() for problem in named("entry", kind, ids)],
        "Materialize search_index again.",
        {"entries": len(live), **{kind: len(ids) for kind, ids in kinds.items()}},
    )
