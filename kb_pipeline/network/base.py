"""The one protocol of the stores that hold a network: what queries, walks and their answers look like."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal

if TYPE_CHECKING:
    import pyarrow as pa

    from kb_pipeline.network.tables import NetworkTables
    from kb_pipeline.network.topology import Topology


@dataclass(frozen=True)
class QueryLimits:
    """What one query may take."""

    seconds: float = 10
    rows: int = 1000
    bytes: int = 1_000_000
    characters: int = 16_384


@dataclass(frozen=True)
class Rows:
    """The answer to a query: ``columns`` with name and type, rows by column name, and whether there were more."""

    columns: list[dict[str, str]]
    rows: list[dict[str, Any]]
    truncated: bool = False
    seconds: float = 0.0


@dataclass(frozen=True)
class TopologyQuery:
    """Which part of the network is wanted: types, a text in id or name, and what lies around some elements."""

    text: str = ""
    types: Sequence[str] = ()
    around: Sequence[str] = ()
    depth: int = 2
    direction: Literal["both", "up", "down"] = "both"
    limit: int = 2000


@dataclass(frozen=True)
class Subgraph:
    """A part of the network, and how large the whole is."""

    nodes: list[dict[str, Any]]
    edges: list[dict[str, Any]]
    node_count: int
    edge_count: int


@dataclass(frozen=True)
class NetworkStoreHealth:
    """Which network is served, from which version."""

    backend: str
    scenario: str
    version: str
    vertices: int
    edges: int
    telemetry_until: str


@dataclass(frozen=True)
class Language:
    """The language of :meth:`NetworkStore.graph`, as a person or a model needs it to write a query."""

    name: str
    description: str
    examples: tuple[str, ...] = field(default=())


class NetworkStore(ABC):
    """Reads a network. Queries fail with :class:`kb_pipeline.errors.QueryError`, whose text says how to ask instead."""

    backend: ClassVar[str]
    language: ClassVar[Language]

    @abstractmethod
    async def graph(self, query: str, limits: QueryLimits) -> Rows:
        """Answer a query of vertices and edges, in the store's language."""

    @abstractmethod
    async def telemetry(self, query: str, limits: QueryLimits) -> Rows:
        """Answer a query of alerts and measurements, in SQL."""

    async def prepare(self) -> None:  # noqa: B027  (most need nothing)
        """Do what the first query would have to wait for.

        Raises:
            KnowledgeBaseError: that is not possible.
        """

    async def table(self, query: str, limits: QueryLimits) -> "tuple[pa.Table, bool]":
        """As :meth:`telemetry`, for many rows: a table, and whether there were more."""
        import pyarrow as pa

        rows = await self.telemetry(query, limits)
        return pa.Table.from_pylist(rows.rows), rows.truncated

    async def whole(self) -> "Topology | None":
        """The whole network as arrays, from stores that hold it in this form."""
        return None

    @abstractmethod
    async def topology(self, wanted: TopologyQuery) -> Subgraph:
        """The vertices that are wanted, and the edges between them."""

    @abstractmethod
    async def health(self) -> NetworkStoreHealth:
        """What is served.

        Raises:
            ScenarioError: nothing is loaded yet.
        """

    @abstractmethod
    async def close(self) -> None:
        """Release files and connections."""


class NetworkLoader(ABC):
    """Writes versions of one scenario. Readers get a version when it is whole, and none before that."""

    @abstractmethod
    def current(self) -> str:
        """The version that readers get; empty if there is none."""

    @abstractmethod
    def holds(self, version: str) -> bool:
        """Whether a version was written whole."""

    @abstractmethod
    def write(self, tables: "NetworkTables", version: str) -> None:
        """Write a version beside those that readers have. If that was interrupted before, it is repeated."""

    @abstractmethod
    def counts(self, version: str) -> dict[str, int]:
        """The rows that a written version has: of vertices, edges, and each container."""

    @abstractmethod
    def switch(self, version: str) -> None:
        """Give readers a version that is whole, and remove those that nobody reads any more."""

    @abstractmethod
    def forget(self) -> None:
        """Remove all versions."""

    def close(self) -> None:  # noqa: B027  (files have none)
        """Release connections; there may be none."""
