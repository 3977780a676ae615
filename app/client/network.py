"""The methods of the client for networks: queries, investigations, scenarios and the service's log."""

import json
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import quote

import httpx
from pydantic import BaseModel

from app.client.answers import CUT_SHORT, TOO_LONG, ClientError, ServiceDownError, path_of, problem_of
from app.schema.network import (
    Agents,
    AlertRequest,
    GraphQueryRequest,
    GraphQueryResponse,
    Investigation,
    InvestigationEvent,
    InvestigationList,
    InvestigationSummary,
    LogLines,
    NetworkHealth,
    ScenarioInfo,
    ScenarioList,
    TelemetryQueryRequest,
    TelemetryQueryResponse,
    TopologyRequest,
    TopologyResponse,
)
from app.schema.wire import Wire

_Message = TypeVar("_Message", bound=BaseModel)
_SILENCE = 45.0
"""Longest silence of a stream: the service sends a comment every 15 seconds."""


class NetworkClient:
    """Part of :class:`app.client.service.Client`. Without the name of a scenario, the default is asked."""

    if TYPE_CHECKING:
        url: str
        _http: httpx.Client

        def _get(self, kind: type[_Message], path: str, /, **params: Any) -> _Message: ...

        def _send(self, kind: type[_Message], method: str, path: str, message: Wire | None = None) -> _Message: ...

    def query_graph(self, query: str, scenario: str = "") -> GraphQueryResponse:
        """Query vertices and edges in the language of the backend; what is wrong with the query is in ``error``."""
        return self._send(GraphQueryResponse, "POST", _of("/query/graph", scenario), GraphQueryRequest(query=query))

    def query_telemetry(self, query: str, scenario: str = "") -> TelemetryQueryResponse:
        """Query alerts and measurements in SQL; what is wrong with the query is in ``error``."""
        path = _of("/query/telemetry", scenario)
        return self._send(TelemetryQueryResponse, "POST", path, TelemetryQueryRequest(query=query))

    def topology(self, wanted: TopologyRequest | None = None, scenario: str = "") -> TopologyResponse:
        """A part of the network, without a request as much of it as the service gives at once."""
        return self._send(TopologyResponse, "POST", _of("/query/topology", scenario), wanted or TopologyRequest())

    def network_health(self, scenario: str = "") -> NetworkHealth:
        """The state of a network."""
        return self._get(NetworkHealth, "/query/health", scenario=scenario or None)

    def scenarios(self) -> tuple[ScenarioInfo, ...]:
        """The scenarios that the person may see, the default first."""
        return self._get(ScenarioList, "/api/scenarios").scenarios

    def investigating_agents(self) -> Agents:
        """Who takes part in an investigation."""
        return self._get(Agents, "/api/agents")

    def investigate(self, alert: str, scenario: str = "") -> Iterator[InvestigationEvent]:
        """Investigate an alert, event by event; closing the iterator early ends the investigation.

        Without a scenario, it is the one of which the alert names most elements.

        Raises:
            ClientError: the service refused the alert, or the connection was lost; :meth:`investigation_events`
                resumes after the last event.
        """
        body = AlertRequest(text=alert).model_dump(mode="json")
        return self._stream(self._http.stream("POST", _of("/api/alert", scenario), json=body, timeout=_SILENCE))

    def investigations(self) -> tuple[InvestigationSummary, ...]:
        """The person's investigations, the newest first."""
        return self._get(InvestigationList, "/api/investigations").investigations

    def investigation(self, investigation_id: str) -> Investigation:
        """An investigation with its events, report and findings."""
        return self._get(Investigation, path_of("investigations", investigation_id))

    def investigation_events(self, investigation_id: str, after: int = 0) -> Iterator[InvestigationEvent]:
        """The events of an investigation after the one with the id ``after``, until it ends."""
        path = path_of("investigations", investigation_id, "events")
        headers = {"last-event-id": str(after)} if after else {}
        return self._stream(self._http.stream("GET", path, headers=headers, timeout=_SILENCE))

    def log_lines(self) -> tuple[str, ...]:
        """The newest lines of the service's log, oldest first."""
        return self._get(LogLines, "/api/logs", follow="false").lines

    def _stream(self, opening: AbstractContextManager[httpx.Response]) -> Iterator[InvestigationEvent]:
        ended = False
        try:
            with opening as reply:
                if reply.status_code != 200:
                    reply.read()
                    raise ClientError(problem_of(reply), reply.status_code)
                for event in read_events(reply.iter_lines()):
                    ended = event.event == "run_complete"
                    yield event
        except httpx.TimeoutException as exc:
            raise ClientError(TOO_LONG) from exc
        except httpx.ConnectError as exc:
            raise ServiceDownError(self.url) from exc
        except httpx.HTTPError as exc:
            raise ClientError(CUT_SHORT) from exc
        if not ended:
            raise ClientError(CUT_SHORT)


def read_events(lines: Iterable[str]) -> Iterator[InvestigationEvent]:
    """The events of an event stream (https://html.spec.whatwg.org/multipage/server-sent-events.html)."""
    fields: dict[str, str] = {}
    for line in lines:
        if line:
            name, _, value = line.partition(":")
            value = value.removeprefix(" ")
            fields[name] = f"{fields[name]}\n{value}" if name == "data" and name in fields else value
        else:
            if "data" in fields:
                event: Any = {"id": fields.get("id"), "event": fields.get("event"), "data": json.loads(fields["data"])}
                yield InvestigationEvent.model_validate(event)
            fields = {}


def _of(path: str, scenario: str) -> str:
    return f"{path}?scenario={quote(scenario, safe='')}" if scenario else path
