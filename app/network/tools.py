"""Queries of the network as tools: ``query_graph``, ``query_telemetry`` and ``network_neighbourhood``.

They are for programs and assistants of others, and are offered where a network is loaded, to people who may see it.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from pydantic import Field, StringConstraints

from app.callers.principal import Principal
from app.network.descriptions import graph_description, telemetry_description
from app.network.queries import NetworkQueries
from app.schema.network import Direction, GraphQueryResponse, TelemetryQueryResponse, TopologyResponse
from app.tools.base import Arguments, ArgumentsT, Tool, ToolResult, ToolServices
from app.tools.failures import ToolError

if TYPE_CHECKING:
    from app.network.served import Network

Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]


class QueryArguments(Arguments):
    """One query."""

    query: Text = Field(description="the whole query; read what a failed one tells, correct it, and try again")


class NeighbourhoodArguments(Arguments):
    """Where to look, how far, and in which direction."""

    ids: list[Text] = Field(min_length=1, max_length=100, description="ids of elements, as the network has them")
    depth: int = Field(default=2, ge=1, le=12, description="how many dependencies away at most: 1 to 12")
    direction: Direction = Field(
        default="both", description="up: what they depend on; down: what depends on them; both: either way"
    )


class _NetworkTool(Tool[ArgumentsT]):
    operation = "query"

    def __init__(self, services: ToolServices, queries: NetworkQueries, network: "Network") -> None:
        super().__init__(services)
        self.queries = queries
        self.network = network

    @property
    def place(self) -> str:
        return self.network.folder.scenario.name


class QueryGraphTool(_NetworkTool[QueryArguments]):
    """Queries vertices and edges, in the language of the backend."""

    name = "query_graph"
    arguments = QueryArguments

    def __init__(self, services: ToolServices, queries: NetworkQueries, network: "Network") -> None:
        super().__init__(services, queries, network)
        self.description = graph_description(network.store.language, network.folder.scenario)

    async def run(self, arguments: QueryArguments, who: Principal) -> ToolResult:
        answer = _answered(await self.queries.graph(arguments.model_dump(), who))
        return ToolResult(answer.model_dump(mode="json", exclude={"error"}), len(answer.data), query=arguments.query)


class QueryTelemetryTool(_NetworkTool[QueryArguments]):
    """Queries alerts and measurements, in SQL."""

    name = "query_telemetry"
    arguments = QueryArguments

    def __init__(self, services: ToolServices, queries: NetworkQueries, network: "Network") -> None:
        super().__init__(services, queries, network)
        self.description = telemetry_description(network.folder.scenario)

    async def run(self, arguments: QueryArguments, who: Principal) -> ToolResult:
        answer = _answered(await self.queries.telemetry(arguments.model_dump(), who))
        return ToolResult(answer.model_dump(mode="json", exclude={"error"}), len(answer.rows), query=arguments.query)


class NeighbourhoodTool(_NetworkTool[NeighbourhoodArguments]):
    """Walks from elements along dependencies."""

    name = "network_neighbourhood"
    description = (
        "The elements of the network around some others, and the dependencies between them: each edge leads from what "
        "depends (source) to what it depends on (target)."
    )
    arguments = NeighbourhoodArguments

    async def run(self, arguments: NeighbourhoodArguments, who: Principal) -> ToolResult:
        wanted = {"around": arguments.ids, "depth": arguments.depth, "direction": arguments.direction}
        answer = _answered(await self.queries.topology(wanted, who))
        value = answer.model_dump(mode="json", exclude={"error"})
        return ToolResult(value, len(answer.nodes), query=", ".join(arguments.ids))


Answer = TypeVar("Answer", GraphQueryResponse, TelemetryQueryResponse, TopologyResponse)


def _answered(answer: Answer) -> Answer:
    if answer.error is not None:
        raise ToolError(answer.error, "QueryFailed", "correct the query as the error says, and call it again")
    return answer


def network_tools(services: ToolServices, queries: NetworkQueries, network: "Network") -> Mapping[str, Tool[Any]]:
    """The tools of a network by name."""
    tools = (each(services, queries, network) for each in (QueryGraphTool, QueryTelemetryTool, NeighbourhoodTool))
    return {tool.name: tool for tool in tools}
