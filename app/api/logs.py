"""The route of the service's log: its newest lines, and those that follow."""

import asyncio
import json
from collections.abc import AsyncGenerator

from fastapi import APIRouter
from fastapi.sse import format_sse_event

from app.api.event_streams import KEPT_ALIVE, KEPT_ALIVE_SECONDS, EventStream
from app.api.gate import TheService, Who
from app.callers.principal import Principal
from app.logs.lines import LogLine, log_tail
from app.network.networks import NetworkNotFoundError, Networks
from app.schema.network import LogLines
from kb_pipeline.errors import ScenarioError

router = APIRouter(prefix="/api", tags=["service"])
_LOOK_SECONDS = 0.25
"""Lines come as soon as a person would notice."""


@router.get("/logs", response_model=LogLines)
async def logs(service: TheService, who: Who, follow: bool = True) -> LogLines | EventStream:
    """The newest lines as a stream that goes on, or as JSON. A reader that is too slow loses lines.

    Where scenarios are served, lines about one are for those who may read it, all others for those who may read all of
    them; else they are for operators (KB_ADMINISTRATORS).
    """
    shown = await _shown(log_tail().after(0), service.networks, who)
    if not follow:
        return LogLines(lines=tuple(line.text for line in shown))
    return EventStream(_lines(service.networks, who), lambda: None)


async def _shown(lines: list[LogLine], networks: Networks, who: Principal) -> list[LogLine]:
    """Those of the lines that this person may see now.

    Raises:
        NetworkNotFoundError: this person may see none of the scenarios, or there is none, and they are no operator.
        ScenarioError: its manifest cannot be read.
    """
    if networks.all():
        await networks.find(who)
    elif not who.is_operator:  # the lines tell what all people did, and how the service runs
        raise NetworkNotFoundError
    may_see = {each: await networks.may_see(*each, who) for each in {each for line in lines for each in line.about}}
    return [line for line in lines if all(may_see[each] for each in line.about)]


async def _lines(networks: Networks, who: Principal) -> AsyncGenerator[bytes, None]:
    number, silent = 0, 0.0
    while True:
        if fresh := log_tail().after(number):
            try:
                shown = await _shown(fresh, networks, who)
            except (NetworkNotFoundError, ScenarioError):
                return  # the access control list has changed
            for line in shown:
                yield format_sse_event(data_str=json.dumps({"line": line.text}), event="log", id=str(line.number))
            number = fresh[-1].number
        silent = 0.0 if fresh else silent + _LOOK_SECONDS
        if silent >= KEPT_ALIVE_SECONDS:
            yield KEPT_ALIVE
            silent = 0.0
        await asyncio.sleep(_LOOK_SECONDS)
