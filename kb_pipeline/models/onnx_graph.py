"""ONNX files of somebody else: finding the one that is meant, its content's hash, what goes in and what comes out.

Here: what can be said without running it. What takes long is remembered for as long as size and time of the file stay.
"""

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

from pydantic import ValidationError

from kb_pipeline.errors import ModelError
from kb_pipeline.records import Record
from kb_pipeline.steps.fingerprint import fingerprint

if TYPE_CHECKING:
    import onnxruntime  # type: ignore[import-untyped]

_SUFFIX = ".onnx"
_USUAL = ("model.onnx", "onnx/model.onnx")
_FORMAT = 1
"""Raised when what is remembered of a graph changes."""


class Port(Record):
    """An input or output: its type ("tensor(int64)") and sizes, ``None`` where they are free."""

    name: str
    type: str
    shape: tuple[int | None, ...]


class Graph(Record):
    """A graph's content and its ends."""

    sha256: str
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]

    def output(self, *names: str) -> Port | None:
        """The output of the first of these names that is there."""
        ends = {port.name: port for port in self.outputs}
        return next((ends[name] for name in names if name in ends), None)


def find_graph(folder: Path) -> Path:
    """The graph of a folder: ``model.onnx`` or ``onnx/model.onnx``, or else the only one.

    Raises:
        ModelError: there is none, or it is not clear which.
    """
    for name in _USUAL:
        if (folder / name).is_file():
            return folder / name
    found = sorted(path for place in ("", "onnx") for path in (folder / place).glob(f"*{_SUFFIX}") if path.is_file())
    if len(found) == 1:
        return found[0]
    if found:
        names = ", ".join(path.relative_to(folder).as_posix() for path in found)
        raise ModelError(f"{folder} has several graphs ({names}); name one: KB_EMBEDDER=onnx/{found[0]}")
    raise ModelError(
        f"{folder} has no ONNX graph (model.onnx or onnx/*.onnx); export the model: "
        f"optimum-cli export onnx --model MODEL --task feature-extraction {folder}"
    )


def read_graph(path: Path, memory: Path) -> Graph:
    """Say what a graph is; what was found is kept in the folder ``memory``, which need not be writable.

    Raises:
        ModelError: onnxruntime cannot load it.
    """
    files = [path, *sorted(file for file in path.parent.glob(f"{path.name}?*") if file.is_file())]
    sizes = [(str(file), file.stat().st_size, file.stat().st_mtime_ns) for file in files]
    key = fingerprint(_FORMAT, sizes)
    kept = memory / f"{path.stem}.{key[:16]}.json"
    try:
        return Graph.model_validate_json(kept.read_bytes())
    except (OSError, ValidationError):
        graph = _inspected(path, files)
        _keep(kept, graph)
        return graph


def open_session(path: Path, threads: int, *, optimised: bool = True) -> "onnxruntime.InferenceSession":
    """Load a graph to be run on the CPU.

    Raises:
        ModelError: onnxruntime cannot load it.
    """
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3  # advice to whoever made the graph is none to us
    if not optimised:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    try:
        return onnxruntime.InferenceSession(
            path,
            options,
            providers=["CPUExecutionProvider"],
            # The fused kernel takes 0.28 ms where addition and normalisation take 0.05 (onnxruntime 1.31).
            disabled_optimizers=["SkipLayerNormFusion"],
        )
    except Exception as exc:  # onnxruntime's have no other base
        raise ModelError(f"{path} cannot be loaded: {_first_line(exc)}; fetch or export the model again") from exc


def _inspected(path: Path, files: Sequence[Path]) -> Graph:
    session = open_session(path, 1, optimised=False)
    return Graph(
        sha256=_digest(files),
        inputs=tuple(_port(end) for end in session.get_inputs()),
        outputs=tuple(_port(end) for end in session.get_outputs()),
    )


def _port(end: "onnxruntime.NodeArg") -> Port:
    shape = tuple(size if isinstance(size, int) else None for size in end.shape)
    return Port(name=end.name, type=end.type, shape=shape)


def _digest(files: Sequence[Path]) -> str:
    """Of the graph and the weights beside it (``model.onnx_data``)."""
    digests = []
    try:
        for file in files:
            with file.open("rb") as content:
                digests.append(hashlib.file_digest(content, "sha256").hexdigest())
    except OSError as exc:
        raise ModelError(f"{files[0]} cannot be read: {exc}; check that its files may be read") from exc
    return fingerprint(*digests)


def _keep(path: Path, graph: Graph) -> None:
    temporary = path.with_name(f"{path.name}.{uuid4().hex}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary.write_text(graph.model_dump_json())
        temporary.replace(path)
    except OSError:
        return  # then it takes as long the next time


def _first_line(problem: Exception) -> str:
    return str(problem).partition("\n")[0][:300]
