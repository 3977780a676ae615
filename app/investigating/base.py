"""The events of an investigation, as every way of investigating sends them."""

from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

EventName = Literal["run_start", "step_thinking", "step_start", "step_complete", "message", "error", "run_complete"]
AGENTS = ("GraphExplorerAgent", "TelemetryAgent", "RunbookKBAgent", "HistoricalTicketAgent")


@dataclass(frozen=True)
class InvestigationEvent:
    """One event: ``run_start`` is the first, ``run_complete`` the last, and ``message`` or ``error`` comes once."""

    event: EventName
    data: Mapping[str, Any]


class Investigator(ABC):
    """Investigates an alert."""

    @abstractmethod
    def investigate(self, alert: str) -> AsyncGenerator[InvestigationEvent, None]:
        """Say what broke and why, event by event."""
