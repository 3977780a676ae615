"""Are the vectors of an article's chunks what an index can compare?"""

import numpy as np
import numpy.typing as npt

from kb_pipeline.records import CheckResult
from kb_pipeline.steps.checks.results import named, outcome

_TOLERANCE = 1e-3
"""How far a norm may be from 1: float32 and a rounding model stay far below."""


def vectors_are_usable(vectors: npt.NDArray[np.float32], chunks: int, dimensions: int) -> CheckResult:
    """One finite float32 vector of norm 1 and the embedder's width for each chunk; ``vectors`` has shape (n, width)."""
    problems = []
    if vectors.shape != (chunks, dimensions):
        problems.append(f"the vectors have shape {vectors.shape}, the chunks need {(chunks, dimensions)}")
    if vectors.dtype != np.float32:
        problems.append(f"the vectors are {vectors.dtype}, not float32")
    norms = np.linalg.norm(vectors, axis=1) if vectors.ndim == 2 else np.zeros(0)
    broken = np.flatnonzero(~np.isfinite(norms)).tolist()
    uneven = np.flatnonzero(np.abs(norms - 1) > _TOLERANCE).tolist()
    uneven = [row for row in uneven if row not in broken]
    problems += named("vector", "not finite, of the chunk with index", broken)
    problems += named("vector", "not of norm 1, of the chunk with index", uneven)
    return outcome(
        "vectors_are_usable",
        problems,
        "Materialise chunk_embeddings again; if it stays so, the embedding model is damaged: forget its files.",
        {"vectors": len(vectors), "broken": len(broken) + len(uneven)},
    )
