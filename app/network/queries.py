"""Queries of the network for programs and models: whatever is wrong with one is told in its answer, never raised.

A model that gets an error status learns nothing, and whoever runs it often gives up. So a failed query is an answer
whose ``error`` says what to ask instead.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel, ValidationError

from app.callers.principal import Principal
from app.errors import without_places
from app.network.networks import NetworkNotFoundError, Networks
from app.network.served import Network
from app.schema.network import (
    AnswerColumn,
    GraphQueryRequest,
    GraphQueryResponse,
    TelemetryQueryRequest,
    TelemetryQueryResponse,
    TopologyEdge,
    TopologyMeta,
    TopologyNode,
    TopologyRequest,
    TopologyResponse,
)
from kb_pipeline.errors import KnowledgeBaseError, QueryError

if TYPE_CHECKING:
    from kb_pipeline.network.base import Rows

_log = logging.getLogger(__name__)
_Request = TypeVar("_Request", bound=BaseModel)
_Response = TypeVar("_Response", GraphQueryResponse, TelemetryQueryResponse, TopologyResponse)
_UNFORESEEN = (
    "the query could not be answered, for a reason that the service's log tells; change it, or try again later"
)
_LATE_SECONDS = 0.4
"""How long a store may take to stop a query whose time is over."""


class NetworkQueries:
    """Asks the stores of networks, for people who may. Without the name of a scenario the default is asked."""

    def __init__(self, networks: Networks) -> None:
        self._networks = networks

    async def graph(self, body: object, who: Principal, scenario: str = "") -> GraphQueryResponse:
        """Query vertices and edges.

        Raises:
            NetworkNotFoundError: there is no network that this person may see.
        """

        async def ask(network: Network, request: GraphQueryRequest) -> GraphQueryResponse:
            rows = await network.store.graph(request.query, self._networks.limits)
            return GraphQueryResponse(data=tuple(rows.rows), **_about(rows))

        return await self._answered(body, who, scenario, GraphQueryRequest, GraphQueryResponse, ask)

    async def telemetry(self, body: object, who: Principal, scenario: str = "") -> TelemetryQueryResponse:
        """Query alerts and measurements.

        Raises:
            NetworkNotFoundError: there is no network that this person may see.
        """

        async def ask(network: Network, request: TelemetryQueryRequest) -> TelemetryQueryResponse:
            rows = await network.store.telemetry(request.query, self._networks.limits)
            return TelemetryQueryResponse(rows=tuple(rows.rows), **_about(rows))

        return await self._answered(body, who, scenario, TelemetryQueryRequest, TelemetryQueryResponse, ask)

    async def topology(self, body: object, who: Principal, scenario: str = "") -> TopologyResponse:
        """Part of the network.

        Raises:
            NetworkNotFoundError: there is no network that this person may see.
        """
        return await self._answered(body, who, scenario, TopologyRequest, TopologyResponse, self._topology)

    async def _topology(self, network: Network, request: TopologyRequest) -> TopologyResponse:
        from kb_pipeline.network.base import TopologyQuery

        scenario = network.folder.scenario
        if unknown := [each for each in request.vertex_labels if each not in scenario.vertices]:
            types = ", ".join(scenario.vertices)
            return TopologyResponse(error=f"there is no type {unknown[0][:80]!r}; the types are {types}")
        most = self._networks.settings.topology_nodes
        wanted = TopologyQuery(
            text=request.query,
            types=request.vertex_labels,
            around=request.around,
            depth=request.depth,
            direction=request.direction,
            limit=min(request.limit or most, most),
        )
        part = await network.store.topology(wanted)
        return TopologyResponse(
            nodes=tuple(TopologyNode.model_validate(each) for each in part.nodes),
            edges=tuple(TopologyEdge.model_validate(each) for each in part.edges),
            meta=TopologyMeta(
                node_count=part.node_count,
                edge_count=part.edge_count,
                vertex_labels=tuple(scenario.vertices),
                edge_labels=tuple(dict.fromkeys(each.label for each in scenario.edges)),
            ),
        )

    async def _answered(
        self,
        body: object,
        who: Principal,
        scenario: str,
        asked: type[_Request],
        answered: type[_Response],
        ask: Callable[[Network, _Request], Awaitable[_Response]],
    ) -> _Response:
        try:
            request = asked.model_validate(body)
            network = await self._networks.open(who, scenario)
            await network.store.prepare()
            async with asyncio.timeout(self._networks.settings.query_seconds + _LATE_SECONDS):
                return await ask(network, request)
        except NetworkNotFoundError:
            raise
        except ValidationError as exc:
            await self._networks.find(who, scenario)  # whoever may not see the network is not told how to ask about it
            return answered(error=_wrong(exc, asked))
        except QueryError as exc:
            return answered(error=str(exc).replace(str(self._networks.settings.home_path), "…"))
        except TimeoutError:
            seconds = self._networks.settings.query_seconds
            return answered(error=f"the query took longer than {seconds:g} seconds; ask for less at once")
        except KnowledgeBaseError as exc:
            _log.warning("a query of the network failed: %s", exc)
            return answered(error=without_places(str(exc)))
        except Exception as exc:
            _log.error("a query of the network failed unexpectedly", exc_info=exc)
            return answered(error=_UNFORESEEN)


def _about(rows: "Rows") -> dict[str, Any]:
    columns = tuple(AnswerColumn.model_validate(each) for each in rows.columns)
    return {"columns": columns, "truncated": rows.truncated, "seconds": rows.seconds}


def _wrong(exc: ValidationError, asked: type[BaseModel]) -> str:
    fields = ", ".join(asked.model_fields)
    told = "; ".join(": ".join(filter(None, (".".join(map(str, each["loc"])), each["msg"]))) for each in exc.errors())
    return f"send a JSON object with {fields}: {told}"[:1000]
