"""What every layer of the flow is: named files of one article, made from other named files of it."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from kb_pipeline.errors import MissingLayerError
from kb_pipeline.records import CheckResult
from kb_pipeline.report import Report, Scalar, Table
from kb_pipeline.state import ArticleState
from kb_pipeline.steps.fingerprint import fingerprint
from kb_pipeline.workspace import Workspace


@dataclass(frozen=True)
class Run:
    """The run that makes something: its id and start (ISO 8601, UTC), recorded as provenance."""

    id: str
    started_at: str


@dataclass(frozen=True)
class Made:
    """A layer's result: the hash of its content, what to tell people about it, and whether it is good."""

    output_hash: str
    report: Report
    checks: tuple[CheckResult, ...] = ()

    def shown(self) -> Report:
        """The report, with what the checks found."""
        rows: tuple[dict[str, Scalar], ...] = tuple(
            {"check": check.name, "passed": check.passed, "problem": check.message} for check in self.checks
        )
        return {**self.report, "checks": Table(rows=rows)} if rows else self.report


class Layer(ABC):
    """One layer. ``version`` is raised with every change of code that changes results."""

    name: ClassVar[str]
    upstream: ClassVar[tuple[str, ...]]
    version: ClassVar[str]
    description: ClassVar[str]
    observes: ClassVar[bool] = False
    """Whether the layer looks at what others own: looked at in every build, made anew only if it changed."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self.layout = workspace.layout

    def backend(self) -> str:
        """Names of the models and options that the result depends on, besides its inputs."""
        return ""

    def pool(self) -> str:
        """Name of the concurrency pool of what the layer uses; "" if anybody may use it at any time."""
        return ""

    def code_version(self) -> str:
        """What Dagster calls the code version: another one makes the layer stale."""
        return f"{self.version}/{self.backend()}"

    def is_needed(self, state: ArticleState) -> bool:
        """Whether what is published depends on the layer; a version that was put back needs no conversion."""
        return True

    @abstractmethod
    def exists(self, state: ArticleState) -> bool:
        """Whether the layer's files are there (they may have been deleted by hand)."""

    @abstractmethod
    def make(self, state: ArticleState, inputs: Mapping[str, str], run: Run) -> Made:
        """Read what is upstream, compute, check, write. ``inputs`` are the upstream layers' output hashes."""

    def inputs(self, state: ArticleState, run: Run) -> dict[str, str]:
        """What this layer is made from: by default the output hashes of the upstream layers.

        Raises:
            MissingLayerError: one of them has not been made.
        """
        return outputs_of(self.upstream, state, wanted_by=self.name)

    def made_from(self, inputs: Mapping[str, str]) -> str:
        """The fingerprint of a result that this code makes from these inputs."""
        return fingerprint(self.version, self.backend(), inputs)


def outputs_of(layers: Sequence[str], state: ArticleState, *, wanted_by: str) -> dict[str, str]:
    """Output hashes of ``layers``.

    Raises:
        MissingLayerError: one of them has not been made.
    """
    missing = [name for name in layers if name not in state.layers]
    if missing:
        raise MissingLayerError(
            f"{state.article_id}: {wanted_by} is made from {' and '.join(missing)}, not made yet; "
            f"materialise {'it' if len(missing) == 1 else 'them'} first"
        )
    return {name: state.layers[name].output_hash for name in layers}
