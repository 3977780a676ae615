"""The contract of a layer: named files of one article, made from the files of its upstream layers."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from upath import UPath

from kb_pipeline.errors import DamagedLayerError, MissingLayerError
from kb_pipeline.flow.workspace import Workspace
from kb_pipeline.records import CheckResult, Report, Scalar, Table
from kb_pipeline.steps.fingerprint import fingerprint, sha256
from kb_pipeline.store.files import is_file_of, read_bytes
from kb_pipeline.store.state import ArticleState, LayerState


@dataclass(frozen=True)
class Run:
    """The run that makes a layer: its id and start time (ISO 8601, UTC), recorded as provenance."""

    id: str
    started_at: str


@dataclass(frozen=True)
class LayerOutput:
    """The result of making a layer: the hash of its content, a report for people, and the results of its checks.

    ``files`` are the SHA-256 hashes of the files that were written, by the names of :meth:`Layer.files`. ``format`` and
    ``text_hash`` are for the state.
    """

    output_hash: str
    report: Report
    checks: tuple[CheckResult, ...] = ()
    files: Mapping[str, str] = field(default_factory=dict)
    format: str = ""
    text_hash: str = ""

    def report_with_checks(self) -> Report:
        """The report, with a table of the checks."""
        rows: tuple[dict[str, Scalar], ...] = tuple(
            {
                "check": check.name,
                "passed": check.passed,
                "problem": check.message,
                "counts": ", ".join(f"{name.replace('_', ' ')}: {count:,}" for name, count in check.counts.items()),
            }
            for check in self.checks
        )
        return {**self.report, "checks": Table(rows=rows)} if rows else self.report


class Layer(ABC):
    """One layer. Raise ``version`` with every change of the code that changes results."""

    name: ClassVar[str]
    upstream: ClassVar[tuple[str, ...]]
    version: ClassVar[str]
    description: ClassVar[str]
    observes: ClassVar[bool] = False
    """Whether the layer records files that others own: every build makes it, but only a changed result is new."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self.layout = workspace.layout

    def backend(self) -> str:
        """The models and options that the result depends on, in addition to the inputs."""
        return ""

    def pool(self) -> str:
        """The concurrency pool of the service that the layer uses; "" if it needs none."""
        return ""

    def code_version(self) -> str:
        """Dagster's code version: a different one makes the layer stale."""
        return f"{self.version}/{self.backend()}"

    def is_needed(self, state: ArticleState) -> bool:
        """Whether the published version depends on this layer; after a rollback the conversion is not needed."""
        return True

    @abstractmethod
    def files(self, state: ArticleState) -> Mapping[str, UPath]:
        """The layer's files, by the names under which the state keeps their hashes."""

    @abstractmethod
    def report(self, state: ArticleState) -> Report:
        """Make a report from the layer's files, for when the original report is lost."""

    def damaged_file(self, state: ArticleState) -> str:
        """The first file of a made layer that is gone or not as it was written; "" if all are intact."""
        made = state.layers[self.name].files
        return next((str(path) for name, path in self.files(state).items() if not is_file_of(path, made.get(name))), "")

    @abstractmethod
    def make(self, state: ArticleState, inputs: Mapping[str, str], run: Run) -> LayerOutput:
        """Read the upstream layers, compute this one, check it and write it. ``inputs`` are from :meth:`inputs`."""

    def inputs(self, state: ArticleState, run: Run) -> dict[str, str]:
        """What this layer is made from: by default the output hashes of the upstream layers.

        Raises:
            MissingLayerError: one of them was not made yet.
        """
        return outputs_of(self.upstream, state, needed_by=self.name)

    def made_from(self, inputs: Mapping[str, str]) -> str:
        """The fingerprint of the code, the backend and these inputs; equal fingerprints have equal results."""
        return fingerprint(self.version, self.backend(), inputs)


def outputs_of(layers: Sequence[str], state: ArticleState, *, needed_by: str) -> dict[str, str]:
    """Output hashes of ``layers``; ``needed_by`` is what needs them, for the message.

    Raises:
        MissingLayerError: one of them was not made yet.
    """
    missing = [name for name in layers if name not in state.layers]
    if missing:
        raise MissingLayerError(
            f"{state.article_id}: {needed_by} is made from {' and '.join(missing)}, not made yet; "
            f"materialize {'it' if len(missing) == 1 else 'them'} first"
        )
    return {name: state.layers[name].output_hash for name in layers}


def read_made(path: UPath, layer: str, made: LayerState | None, name: str) -> bytes:
    """Read the file ``name`` of a layer, and check it if ``made`` has its hash.

    Raises:
        DamagedLayerError: it is not as it was written.
        StorageError: it is missing or unreadable.
    """
    data = read_bytes(path)
    if made and made.files.get(name) != sha256(data):
        raise DamagedLayerError(layer, path)
    return data
