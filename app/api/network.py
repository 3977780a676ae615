"""Routes of the network: queries for programs and models, their description, the scenarios and the store's state."""

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Body, Request
from pydantic import JsonValue

from app.api.gate import TheService, Who
from app.network.descriptions import openapi_document
from app.network.served import NetworkNotFoundError
from app.schema.network import (
    GraphQueryResponse,
    NetworkHealth,
    ScenarioList,
    TelemetryQueryResponse,
    TopologyResponse,
)

router = APIRouter(tags=["network"])
Asked = Annotated[JsonValue, Body()]


@router.post("/query/graph")
async def graph(service: TheService, who: Who, query: Asked = None) -> GraphQueryResponse:
    """Query vertices and edges: ``{"query": ...}``. A query that fails is answered with its ``error``."""
    return await service.queries.graph(query, who)


@router.post("/query/telemetry")
async def telemetry(service: TheService, who: Who, query: Asked = None) -> TelemetryQueryResponse:
    """Query alerts and measurements in SQL: ``{"query": ...}``. A query that fails is answered with its ``error``."""
    return await service.queries.telemetry(query, who)


@router.post("/query/topology")
async def topology(service: TheService, who: Who, wanted: Asked = None) -> TopologyResponse:
    """A part of the network, or as much of it as is shown at once."""
    return await service.queries.topology({} if wanted is None else wanted, who)


@router.get("/query/openapi.json")
async def openapi(
    request: Request, service: TheService, who: Who, version: Literal["3.0.3"] = "3.0.3"
) -> dict[str, Any]:
    """The queries as OpenAPI 3.0.3, made from backend and scenario, from which outside agents make their tools."""
    network = await service.network.open(who)
    signs_in = bool(service.settings.token_issuer)
    scenario = network.folder.scenario
    return openapi_document(network.store.language, scenario, str(request.base_url), signs_in=signs_in)


@router.get("/query/health")
async def health(service: TheService, who: Who) -> NetworkHealth:
    """The state of the network that is served."""
    await service.network.folder(who)
    known = await service.network.health(who)
    if known is None:
        raise NetworkNotFoundError
    return known


@router.get("/api/scenarios")
async def scenarios(service: TheService, who: Who) -> ScenarioList:
    """The scenarios that the caller may see."""
    return ScenarioList(scenarios=await service.network.scenarios(who))
