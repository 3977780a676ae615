"""Routes of the network: queries for programs and models, their description, the scenarios and the store's state."""

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Body, Query, Request
from pydantic import JsonValue

from app.api.gate import TheService, Who
from app.network.descriptions import openapi_document
from app.schema.network import (
    GraphQueryResponse,
    NetworkHealth,
    ScenarioList,
    TelemetryQueryResponse,
    TopologyResponse,
)

router = APIRouter(tags=["network"])
Asked = Annotated[JsonValue, Body()]
Scenario = Annotated[str, Query(description="The name of a scenario; without one, the default is asked.")]


@router.post("/query/graph")
async def graph(service: TheService, who: Who, query: Asked = None, scenario: Scenario = "") -> GraphQueryResponse:
    """Query vertices and edges: ``{"query": ...}``. A query that fails is answered with its ``error``."""
    return await service.queries.graph(query, who, scenario)


@router.post("/query/telemetry")
async def telemetry(
    service: TheService, who: Who, query: Asked = None, scenario: Scenario = ""
) -> TelemetryQueryResponse:
    """Query alerts and measurements in SQL: ``{"query": ...}``. A query that fails is answered with its ``error``."""
    return await service.queries.telemetry(query, who, scenario)


@router.post("/query/topology")
async def topology(service: TheService, who: Who, wanted: Asked = None, scenario: Scenario = "") -> TopologyResponse:
    """A part of the network, or as much of it as is shown at once."""
    return await service.queries.topology({} if wanted is None else wanted, who, scenario)


@router.get("/query/openapi.json")
async def openapi(
    request: Request, service: TheService, who: Who, version: Literal["3.0.3"] = "3.0.3", scenario: Scenario = ""
) -> dict[str, Any]:
    """The queries as OpenAPI 3.0.3, made from backend and scenario, from which outside agents make their tools."""
    network = await service.networks.open(who, scenario)
    return openapi_document(
        network.store.language,
        network.folder.scenario,
        str(request.base_url),
        signs_in=bool(service.settings.token_issuer),
        is_one_of_several=len(await service.networks.seen_by(who)) > 1,
    )


@router.get("/query/health")
async def health(service: TheService, who: Who, scenario: Scenario = "") -> NetworkHealth:
    """The state of a network."""
    return await (await service.networks.find(who, scenario)).health()


@router.get("/api/scenarios")
async def scenarios(service: TheService, who: Who) -> ScenarioList:
    """The scenarios that the caller may see, the default first."""
    return ScenarioList(scenarios=await service.networks.scenarios(who))
