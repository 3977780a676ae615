"""Queries of the network as tools: ``query_graph``, ``query_telemetry`` and ``network_neighbourhood``.

They are for programs and assistants of others, and are offered where networks are loaded, to people who may see them.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
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
_WHICH = "which of the networks is asked, by its name; without one, the first"


class QueryArguments(Arguments):
    """One query."""

    query: Text = Field(description="the whole query; read what a failed one tells, correct it, and try again")
    scenario: str = Field(default="", description=_WHICH)


class NeighbourhoodArguments(Arguments):
    """Where to look, how far, and in which direction."""

    ids: list[Text] = Field(min_length=1, max_length=100, description="ids of elements, as the network has them")
    depth: int = Field(default=2, ge=1, le=12, description="how many dependencies away at most: 1 to 12")
    direction: Direction = Field(
        default="both", description="up: what they depend on; down: what depends on them; both: either way"
    )
    scenario: str = Field(default="", description=_WHICH)


class _NetworkTool(Tool[ArgumentsT]):
    operation = "query"

    def __init__(self, services: ToolServices, queries: NetworkQueries, networks: Sequence["Network"]) -> None:
        super().__init__(services)
        self.queries = queries
        self.networks = networks

    @property
    def place(self) -> str:
        return ", ".join(each.folder.scenario.name for each in self.networks)

    def of_each(self, described: Callable[["Network"], str]) -> str:
        """What is told of each network, by its name."""
        return "\n\n".join(f"scenario {each.folder.scenario.name}: {described(each)}" for each in self.networks)


class QueryGraphTool(_NetworkTool[QueryArguments]):
    """Queries vertices and edges, in the language of the backend."""

    name = "query_graph"
    arguments = QueryArguments

    @cached_property
    def description(self) -> str:  # type: ignore[override]
        return self.of_each(lambda each: graph_description(each.store.language, each.folder.scenario))

    async def run(self, arguments: QueryArguments, who: Principal) -> ToolResult:
        answer = _answered(await self.queries.graph({"query": arguments.query}, who, arguments.scenario))
        return ToolResult(answer.model_dump(mode="json", exclude={"error"}), len(answer.data), query=arguments.query)


class QueryTelemetryTool(_NetworkTool[QueryArguments]):
    """Queries alerts and measurements, in SQL."""

    name = "query_telemetry"
    arguments = QueryArguments

    @cached_property
    def description(self) -> str:  # type: ignore[override]
        return self.of_each(lambda each: telemetry_description(each.folder.scenario))

    async def run(self, arguments: QueryArguments, who: Principal) -> ToolResult:
        answer = _answered(await self.queries.telemetry({"query": arguments.query}, who, arguments.scenario))
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
        answer = _answered(await self.queries.topology(wanted, who, arguments.scenario))
        value = answer.model_dump(mode="json", exclude={"error"})
        return ToolResult(value, len(answer.nodes), query=", ".join(arguments.ids))


Answer = TypeVar("Answer", GraphQueryResponse, TelemetryQueryResponse, TopologyResponse)


def _answered(answer: Answer) -> Answer:
    if answer.error is not None:
        raise ToolError(answer.error, "QueryFailed", "correct the query as the error says, and call it again")
    return answer


def network_tools(
    services: ToolServices, queries: NetworkQueries, networks: Sequence["Network"]
) -> Mapping[str, Tool[Any]]:
    """The tools of networks by name; a call without the name of a network is about the first."""
    tools = (each(services, queries, networks) for each in (QueryGraphTool, QueryTelemetryTool, NeighbourhoodTool))
    return {tool.name: tool for tool in tools}
