"""Runbooks and tickets of a scenario: which fit a diagnosis, and the words of them that help."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

from app.network.diagnosing import Diagnosis
from app.network.report import Quotation
from kb_pipeline.network.knowledge import Documents, as_line, as_list
from kb_pipeline.network.topology import Topology

_MOST = 3
"""Runbooks or tickets of a report: as many as somebody reads during an outage."""
_WORD = re.compile(r"[A-Za-z][A-Za-z0-9_]{2,}")


def planned_work(documents: Documents, since: float, until: float) -> list[str]:
    """The elements that tickets of kind ``maintenance`` name for this time."""
    return [
        str(element)
        for ticket in documents.tickets.values()
        if ticket.get("kind") == "maintenance"
        and _at(ticket, "opened_at") <= until
        and since <= _at(ticket, "resolved_at")
        for element in as_list(ticket.get("affected"))
    ]


def find_procedures(
    documents: Documents, network: Topology, diagnosis: Diagnosis, queries: Sequence[str]
) -> list[Quotation]:
    """The steps of the runbooks that speak of the cause's type and its alerts most, and of what is searched for."""
    words = {name: set(_WORD.findall(text.lower())) for name, text in documents.runbooks.items()}
    seldom = Counter(word for some in words.values() for word in some)
    types = {network.types[cause.vertex].lower() for cause in diagnosis.ranking.chosen}
    best: list[str] = []
    for query in queries:
        wanted = {word.lower() for word in (*_signs(network, diagnosis), *_WORD.findall(query))}
        fitting = [name for name, some in words.items() if len(wanted & some) >= 2 or types & some]
        scored = sorted((sum(1 / seldom[word] for word in wanted & words[name]), name) for name in fitting)
        best = best or [name for _, name in scored[-1:]]
    return [Quotation(_title(documents.runbooks[name]), _steps(documents.runbooks[name]), name) for name in best]


def find_precedents(documents: Documents, network: Topology, diagnosis: Diagnosis) -> list[Quotation]:
    """The tickets whose root cause and alerts are most like these; the newest first where they are equal."""
    wanted = set(_signs(network, diagnosis))
    scored = []
    for file, ticket in documents.tickets.items():
        cause = ticket.get("root_cause")
        fault = cause if isinstance(cause, dict) else {}
        alike = {*map(str, as_list(ticket.get("alert_types"))), str(fault.get("id", ""))}
        score = len(alike & wanted) + 2 * (str(fault.get("type")) in wanted)
        if score >= 3 and ticket.get("kind") != "maintenance":
            scored.append((score, str(ticket.get("opened_at", "")), str(ticket.get("ticket_id", "")), file))
    scored.sort(reverse=True)
    return [
        Quotation(
            f"{number}: {as_line(documents.tickets[file].get('title'))}", _resolution(documents.tickets[file]), file
        )
        for _, _, number, file in scored[:_MOST]
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


def _resolution(ticket: dict[str, Any]) -> str:
    minutes = as_line(ticket.get("minutes_to_resolve"))
    told = [as_line(ticket.get("diagnosis")), *(f"- {as_line(step)}" for step in as_list(ticket.get("resolution")))]
    return "\n".join([*told, *([f"Resolved in {minutes} minutes."] if minutes else [])])


def _at(ticket: dict[str, Any], name: str) -> float:
    try:
        at = datetime.fromisoformat(str(ticket.get(name)))
        return (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp()
    except ValueError:
        return float("inf") if name == "resolved_at" else 0.0
