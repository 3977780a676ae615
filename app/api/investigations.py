"""Routes for investigations of alerts: begin one and follow it, come back to it, list them, and who takes part."""

import asyncio
import json
from collections.abc import AsyncGenerator
from typing import Annotated

from fastapi import APIRouter, Header, Query
from fastapi.sse import format_sse_event

from app.api.event_streams import KEPT_ALIVE, KEPT_ALIVE_SECONDS, EventStream
from app.api.gate import TheService, Who
from app.api.network import Scenario
from app.callers.principal import Principal
from app.network.base import TAKING_PART
from app.network.running import OpenInvestigation
from app.schema.network import Agents, AlertRequest, Investigation, InvestigationEvent, InvestigationList
from app.service import AgentService

router = APIRouter(prefix="/api", tags=["investigations"])


@router.post("/alert", response_class=EventStream, status_code=200)
async def alert(request: AlertRequest, service: TheService, who: Who, scenario: Scenario = "") -> EventStream:
    """Investigate an alert: a stream of events, from ``run_start`` to ``run_complete``. It ends when nobody reads.

    Without a scenario, it is the one of which the alert names most elements, or the default.
    """
    return _streamed(service, await service.investigations.start(request.text, who, scenario), who, 0)


@router.get("/agents")
async def agents(service: TheService, who: Who) -> Agents:
    """Who takes part in an investigation."""
    await service.networks.find(who)
    return Agents(mode=service.settings.investigating, agents=TAKING_PART)


@router.get("/investigations")
async def investigations(
    service: TheService, who: Who, limit: Annotated[int, Query(ge=1, le=500)] = 50
) -> InvestigationList:
    """The caller's investigations, the newest first."""
    await service.networks.find(who)
    return InvestigationList(investigations=tuple(await service.investigations.summaries(who, limit)))


@router.get("/investigations/{investigation_id}")
async def investigation(investigation_id: str, service: TheService, who: Who) -> Investigation:
    """One of the caller's investigations, with its events and what it found so far."""
    await service.networks.find(who)
    return await service.investigations.investigation(investigation_id, who)


@router.get("/investigations/{investigation_id}/events", response_class=EventStream, status_code=200)
async def events(
    investigation_id: str,
    service: TheService,
    who: Who,
    last_event_id: Annotated[int, Header(ge=0, le=1_000_000)] = 0,
) -> EventStream:
    """Its events after the one that the header names, then what happens, until it ends."""
    await service.networks.find(who)
    return _streamed(service, await service.investigations.follow(investigation_id, who), who, last_event_id)


def _streamed(service: AgentService, run: OpenInvestigation, who: Principal, after: int) -> EventStream:
    place = {"Location": f"/api/investigations/{run.id}"}
    return EventStream(_events(service, run, who, after), lambda: service.investigations.leave(run), place)


async def _events(
    service: AgentService, run: OpenInvestigation, who: Principal, number: int
) -> AsyncGenerator[bytes, None]:
    """The events after one. They end when the reader may no longer read the scenario, or what they rest on."""
    while not run.is_over or number < len(run.events):
        fresh = await run.after(number, KEPT_ALIVE_SECONDS)
        if not await service.investigations.is_shown(run, who):
            return
        for event in fresh:
            number = event.id
            yield _encoded(event)
            await asyncio.sleep(0)  # many events in a row hold up nobody
        if not fresh and not run.is_over:
            yield KEPT_ALIVE


def _encoded(event: InvestigationEvent) -> bytes:
    data = json.dumps(event.data)  # in ASCII: some clients take U+2028 or U+0085 for the end of a line
    return format_sse_event(data_str=data, event=event.event, id=str(event.id))
