"""The events of an investigation, as every way of investigating sends them."""

from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app.schema.network import AgentInfo, EventName, Findings
from app.schema.passages import Citation

TAKING_PART = (
    AgentInfo(
        name="Orchestrator",
        task="Plans, asks the others, and writes the situation report; reads no data.",
        tools=("ranked_causes", "GraphExplorerAgent", "TelemetryAgent", "RunbookKBAgent", "HistoricalTicketAgent"),
    ),
    AgentInfo(
        name="GraphExplorerAgent",
        task="Topology and dependencies, forwards from a failure and backwards from symptoms.",
        data="the graph",
        tools=("query_graph", "neighbourhood"),
    ),
    AgentInfo(
        name="TelemetryAgent",
        task="Alerts and measurements, compared with their past.",
        data="the telemetry",
        tools=("query_telemetry", "baseline"),
    ),
    AgentInfo(
        name="RunbookKBAgent",
        task="Procedures: what to do, and whom to call.",
        data="runbooks",
        tools=("search_knowledge_base",),
    ),
    AgentInfo(
        name="HistoricalTicketAgent",
        task="Precedents: earlier incidents, and what resolved them.",
        data="tickets",
        tools=("search_knowledge_base",),
    ),
)
"""Who takes part in an investigation."""


@dataclass(frozen=True)
class ReportedEvent:
    """One event: ``run_start`` is the first, ``run_complete`` the last, and ``message`` or ``error`` comes once.

    ``findings`` and ``citations`` come with the ``message``. They are kept with the investigation, and are no part of
    the event that clients get.
    """

    event: EventName
    data: Mapping[str, Any]
    findings: Findings | None = None
    citations: Sequence[Citation] = ()


class Investigator(ABC):
    """Investigates an alert."""

    @abstractmethod
    def investigate(self, alert: str, run_id: str = "") -> AsyncGenerator[ReportedEvent, None]:
        """Say what broke and why, event by event. ``run_id`` is the one of ``run_start``; without it, a new one.

        Whoever closes the generator, or cancels its task, ends the investigation.
        """

    @property
    def rests_on(self) -> Collection[str]:
        """The ids of the articles that it has read so far: what it says may tell something of them."""
        return ()

    async def close(self) -> None:  # noqa: B027  (most open nothing by themselves)
        """Release what it opened by itself. The store belongs to whoever gave it."""
