"""Which versions of a scenario an Azure Cosmos DB graph holds: one property of one vertex, so that it changes at once.

Elements of a version have it in their partition key and in their ids, so versions lie beside each other. Readers look
up the current one first, and then see nothing else. What a loader that was killed left behind is listed as begun.
"""

import json
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

from kb_pipeline.network.cosmos.gremlin import GremlinService
from kb_pipeline.network.cosmos.gremlin_gate import PARTITION, NetworkVersion
from kb_pipeline.network.cosmos.sql_gate import Contained


class Dialect(NamedTuple):
    """How a server wants the id of a new element written, and where a traversal inside another begins."""

    id: str
    inner: str


COSMOS = Dialect("'id'", "g")
TINKERPOP = Dialect("id", "__")
_STATE = "kb_state"
_LABEL = "kb_versions"


@dataclass(frozen=True)
class LoadedVersion:
    """What was written of a version. ``vertices`` and ``edges``: their columns with the types of Arrow.

    Elements have the number of a page, by which all of them are read in parts.
    """

    version: str
    scenario: str
    vertices: dict[str, str]
    edges: dict[str, str]
    vertex_count: int
    edge_count: int
    page_size: int
    telemetry: dict[str, Contained] = field(default_factory=dict)
    telemetry_until: str = ""

    @property
    def scope(self) -> NetworkVersion:
        """Where its vertices and edges are."""
        return NetworkVersion(f"{self.scenario}@{self.version}")


@dataclass(frozen=True)
class Versions:
    """The versions of a scenario in the graph.

    ``previous`` is kept for readers that have not looked again; ``begun`` are all that a loader ever wrote to.
    """

    current: LoadedVersion | None = None
    previous: LoadedVersion | None = None
    begun: tuple[LoadedVersion, ...] = ()

    def find(self, version: str) -> LoadedVersion | None:
        """A version that was written whole."""
        return next((each for each in (self.current, self.previous) if each and each.version == version), None)


def read_versions(gremlin: GremlinService, scenario: str, seconds: float) -> Versions:
    """What the graph holds of a scenario.

    Raises:
        KnowledgeBaseError: the graph cannot be read.
    """
    query = f"g.V(s).has('{PARTITION}', s).values('{_STATE}')"
    results = gremlin.ask(query, {"s": scenario}, seconds=seconds)
    if not results:
        return Versions()
    state = json.loads(results[0])
    return Versions(
        _read(state["current"]), _read(state["previous"]), tuple(each for row in state["begun"] if (each := _read(row)))
    )


def write_versions(
    gremlin: GremlinService, scenario: str, versions: Versions, dialect: Dialect, seconds: float
) -> None:
    """Replace what the graph says that it holds."""
    query = (
        f"g.V(s).has('{PARTITION}', s).fold().coalesce(unfold(), addV('{_LABEL}').property({dialect.id}, s)"
        f".property('{PARTITION}', s)).property('{_STATE}', v)"
    )
    gremlin.ask(query, {"s": scenario, "v": json.dumps(asdict(versions))}, seconds=seconds)


def forget_versions(gremlin: GremlinService, scenario: str, seconds: float) -> None:
    """Remove the vertex."""
    gremlin.ask(f"g.V(s).has('{PARTITION}', s).drop()", {"s": scenario}, seconds=seconds)


def _read(row: dict[str, Any] | None) -> LoadedVersion | None:
    if row is None:
        return None
    telemetry = {
        name: Contained(**{**contained, "columns": tuple(contained["columns"])})
        for name, contained in row["telemetry"].items()
    }
    return LoadedVersion(**{**row, "telemetry": telemetry})
