"""Runbooks and tickets of a scenario: which fit a diagnosis, and the words of them that help."""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from app.investigating.diagnosing import Diagnosis
from app.investigating.report import Quotation
from kb_pipeline.errors import ScenarioError
from kb_pipeline.network.scenario import ScenarioFolder
from kb_pipeline.network.topology import Topology

_MOST = 3
_WORD = re.compile(r"[A-Za-z][A-Za-z0-9_]{2,}")


@dataclass(frozen=True)
class Documents:
    """The runbooks by file name, and the tickets."""

    runbooks: dict[str, str]
    tickets: list[dict[str, Any]]


def read_documents(scenario: ScenarioFolder) -> Documents:
    """Read them.

    Raises:
        ScenarioError: a ticket is no JSON object.
    """
    runbooks = {
        path.name: path.read_text(encoding="utf-8", errors="replace") for path in scenario.documents("runbooks")
    }
    tickets = []
    for path in scenario.documents("tickets"):
        try:
            ticket = json.loads(path.read_text(encoding="utf-8"))
        except (ValueError, RecursionError) as exc:
            raise ScenarioError(f"{path} is no JSON: {exc}") from exc
        if not isinstance(ticket, dict):
            raise ScenarioError(f"{path} must hold one JSON object")
        tickets.append(ticket)
    return Documents(runbooks, tickets)


def planned_work(documents: Documents, since: float, until: float) -> list[str]:
    """The elements that tickets of kind ``maintenance`` name for this time."""
    return [
        str(element)
        for ticket in documents.tickets
        if ticket.get("kind") == "maintenance"
        and _at(ticket, "opened_at") <= until
        and since <= _at(ticket, "resolved_at")
        for element in ticket.get("affected", [])
    ]


def find_procedures(documents: Documents, network: Topology, diagnosis: Diagnosis) -> list[Quotation]:
    """The steps of the runbooks that speak of the cause's type and its alerts most."""
    wanted = set(_signs(network, diagnosis))
    scored = sorted(
        ((len(wanted & set(_WORD.findall(text))), name) for name, text in documents.runbooks.items()), reverse=True
    )
    best = [name for score, name in scored if score >= 2][:1]
    return [
        Quotation(number, _title(documents.runbooks[name]), _steps(documents.runbooks[name]), name)
        for number, name in enumerate(best, 1)
    ]


def find_precedents(documents: Documents, network: Topology, diagnosis: Diagnosis, first: int) -> list[Quotation]:
    """The tickets whose root cause and alerts are most like these; the newest first where they are equal."""
    wanted = set(_signs(network, diagnosis))
    scored = []
    for ticket in documents.tickets:
        cause = ticket.get("root_cause") or {}
        alike = set(map(str, ticket.get("alert_types", []))) | {str(cause.get("id", ""))}
        score = len(alike & wanted) + 2 * (cause.get("type") in wanted)
        if score >= 3 and ticket.get("kind") != "maintenance":
            scored.append((score, str(ticket.get("opened_at", "")), str(ticket.get("ticket_id", "")), ticket))
    scored.sort(key=lambda each: each[:3], reverse=True)
    return [
        Quotation(number, f"{name}: {ticket.get('title', '')}", "\n".join(_resolution(ticket)), name)
        for number, (_, _, name, ticket) in enumerate(scored[:_MOST], first)
    ]


def _signs(network: Topology, diagnosis: Diagnosis) -> Iterator[str]:
    """The words that a fitting document has: type and id of the causes, and the types of alerts they explain."""
    for cause in diagnosis.ranking.chosen:
        yield network.types[cause.vertex]
        yield network.ids[cause.vertex]
        yield from (sign.kind for sign in diagnosis.signs if sign.vertex in cause.hypothesis.failed)


def _title(text: str) -> str:
    return next((line.lstrip("# ").strip() for line in text.splitlines() if line.startswith("#")), "Runbook")


def _steps(text: str) -> str:
    """The numbered steps, word for word; all of it where there are none."""
    steps = [line.strip() for line in text.splitlines() if re.match(r"\s*\d+[.)]\s", line)]
    return "\n".join(steps) or "\n".join(line for line in text.splitlines() if line and not line.startswith("#"))


def _resolution(ticket: dict[str, Any]) -> Iterator[str]:
    yield str(ticket.get("diagnosis", ""))
    steps: Sequence[object] = ticket.get("resolution") or []
    yield from (f"- {step}" for step in steps)
    if minutes := ticket.get("minutes_to_resolve"):
        yield f"Resolved in {minutes} minutes."


def _at(ticket: dict[str, Any], name: str) -> float:
    try:
        return datetime.fromisoformat(str(ticket.get(name))).timestamp()
    except ValueError:
        return float("inf") if name == "resolved_at" else 0.0
