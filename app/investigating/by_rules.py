"""Investigates by rules, without a language model: the same alert and data give the same report."""

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import numpy as np
import pyarrow as pa

from app.investigating.alerts import Alert, Pasted, read_pasted
from app.investigating.base import InvestigationEvent, Investigator
from app.investigating.diagnosing import Diagnosis, Series, diagnose
from app.investigating.documents import find_precedents, find_procedures, planned_work, read_documents
from app.investigating.findings import findings_of
from app.investigating.report import Found, write_report
from app.network_schema import Findings
from kb_pipeline.errors import KnowledgeBaseError
from kb_pipeline.network.base import Limits, NetworkStore, Rows, TopologyQuery
from kb_pipeline.network.scenario import ScenarioFolder
from kb_pipeline.network.topology import Topology

_PAST_DAYS = 7
_ALERTS = Limits(seconds=60, rows=500_000, bytes=500_000_000)
_SHOWN = 4000
Step = Callable[[], Awaitable[str]]


@dataclass
class _Case:
    """What is known of an investigation so far."""

    alert: str
    network: Topology | None = None
    pasted: Pasted | None = None
    alerts: list[Alert] = field(default_factory=list)
    series: Series = field(default_factory=dict)
    since: float = 0.0
    until: float = 0.0
    diagnosis: Diagnosis | None = None
    found: dict[str, Any] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)
    query: str = ""


class RulesInvestigator(Investigator):
    """Reads a store and a scenario's documents. Any step may fail: the others go on, and the report says so."""

    def __init__(self, store: NetworkStore, scenario: ScenarioFolder, window_minutes: int = 30) -> None:
        self.store, self.scenario, self.window = store, scenario, window_minutes * 60.0

    async def investigate(self, alert: str, run_id: str = "") -> AsyncGenerator[InvestigationEvent, None]:
        began = time.perf_counter()
        case = _Case(alert)
        now = datetime.now(UTC).isoformat(timespec="seconds")
        yield InvestigationEvent("run_start", {"run_id": run_id or uuid4().hex, "alert": alert, "timestamp": now})
        steps: list[tuple[str, str, Callable[[_Case], Awaitable[str]]]] = [
            ("GraphExplorerAgent", "reading the network", self._read_network),
            ("TelemetryAgent", "reading the alerts", self._read_alerts),
            ("TelemetryAgent", "comparing measurements with their past", self._read_metrics),
            ("GraphExplorerAgent", "walking from the alerts to what they share", self._diagnose),
            ("RunbookKBAgent", "looking for procedures", self._procedures),
            ("HistoricalTicketAgent", "looking for precedents", self._precedents),
        ]
        for number, (agent, status, step) in enumerate(steps, 1):
            yield InvestigationEvent("step_thinking", {"agent": agent, "status": status})
            yield InvestigationEvent("step_start", {"step": number, "agent": agent})
            yield await self._taken(number, agent, status, step, case)
        yield InvestigationEvent("message", {"text": self._report(case)}, _findings(case))
        seconds = round(time.perf_counter() - began, 3)
        yield InvestigationEvent("run_complete", {"steps": len(steps), "tokens": 0, "time": seconds})

    async def _taken(
        self, number: int, agent: str, status: str, step: Callable[[_Case], Awaitable[str]], case: _Case
    ) -> InvestigationEvent:
        began = time.perf_counter()
        case.query = ""
        failed = False
        try:
            response = await step(case)
        except KnowledgeBaseError as exc:
            failed, response = True, str(exc)
            case.missing.append(f"{agent} failed while {status}: {exc}")
        data = {
            "step": number,
            "agent": agent,
            "duration": round(time.perf_counter() - began, 3),
            "query": case.query,
            "response": response[:_SHOWN],
            **({"error": True} if failed else {}),
        }
        return InvestigationEvent("step_complete", data)

    async def _read_network(self, case: _Case) -> str:
        case.query = "the whole topology"
        limit = 10_000_000
        whole = await self.store.topology(TopologyQuery(limit=limit))
        kinds = {name: declared.kind for name, declared in self.scenario.scenario.vertices.items()}
        rows = [{"name": None, **node["properties"], "id": node["id"], "type": node["type"],
                 "kind": kinds.get(node["type"], "infrastructure")} for node in whole.nodes]  # fmt: skip
        needs = {edge.label: edge.needs for edge in self.scenario.scenario.edges}
        columns = sorted({name for row in rows for name in row})
        vertices = pa.table({name: [row.get(name) for row in rows] for name in columns})
        edges = pa.table(
            {
                "source": [edge["source"] for edge in whole.edges],
                "target": [edge["target"] for edge in whole.edges],
                "label": [edge["type"] for edge in whole.edges],
                "needs": [needs.get(edge["type"], "all") for edge in whole.edges],
            }
        )
        case.network = Topology(vertices, edges)
        case.pasted = read_pasted(case.alert, case.network, self.scenario.scenario.symptoms)
        case.found["unknown"] = case.pasted.unknown
        named = ", ".join(case.pasted.entities[:20]) or "no element"
        return f"{whole.node_count} elements, {whole.edge_count} dependencies. The alert names {named}."

    async def _read_alerts(self, case: _Case) -> str:
        pasted = case.pasted
        case.alerts = list(pasted.alerts) if pasted else []
        case.until = (pasted.newest if pasted else None) or 0.0
        case.since = case.until - self.window
        declared = self.scenario.scenario.telemetry.get("alerts")
        if declared is None:
            return f"the scenario declares no container alerts; {len(case.alerts)} are in the text"
        newest = f"SELECT max({declared.time}) AS newest FROM alerts"  # noqa: S608  (names of the manifest)
        case.query = newest
        (row,) = (await self.store.telemetry(newest, Limits())).rows
        stored = _seconds(row["newest"])
        case.until = case.until or stored
        case.since = case.until - self.window
        case.query = (
            f"SELECT {declared.entity}, alert_type, {declared.time}, severity, message FROM alerts "  # noqa: S608
            f"WHERE {declared.time} BETWEEN TIMESTAMP '{_stamp(case.since)}' AND TIMESTAMP '{_stamp(case.until)}' "
            "ORDER BY ALL"
        )
        found = await self.store.telemetry(case.query, _ALERTS)
        if found.truncated:
            case.missing.append(f"only the first {len(found.rows):,} alerts of the window were read")
        names = [declared.entity, "alert_type", declared.time, "severity", "message"]
        rows = [[row[name] for name in names] for row in found.rows]
        read = [Alert(r[0], r[1] or "", _seconds(r[2]), r[3] or "", r[4] or "") for r in rows]
        case.alerts = _merged(case.alerts, read)
        if stored and case.until - stored > self.window:
            case.missing.append(f"the newest stored alert is {(case.until - stored) / 3600:.1f} h older than this one")
        return f"{len(case.alerts)} alerts between {_stamp(case.since)} and {_stamp(case.until)}"

    async def _read_metrics(self, case: _Case) -> str:
        series: dict[str, tuple[np.ndarray, dict[str, np.ndarray]]] = {}
        for name, declared in self.scenario.scenario.telemetry.items():
            if not declared.metrics:
                continue
            metrics = ", ".join(declared.metrics)
            case.query = (
                f"SELECT {declared.entity}, {declared.time}, {metrics} FROM {name} WHERE {declared.time} BETWEEN "  # noqa: S608
                f"TIMESTAMP '{_stamp(case.until - _PAST_DAYS * 86400)}' AND TIMESTAMP '{_stamp(case.until)}' "
                f"ORDER BY {declared.entity}, {declared.time}"
            )
            rows = await self.store.telemetry(case.query, _ALERTS)
            series |= _by_entity(rows, declared.entity, declared.time, list(declared.metrics))
        case.series = series
        return f"measurements of {len(series)} elements"

    async def _diagnose(self, case: _Case) -> str:
        network = _require(case.network)
        directions = {
            metric: direction
            for declared in self.scenario.scenario.telemetry.values()
            for metric, direction in declared.metrics.items()
        }
        documents = read_documents(self.scenario)
        case.diagnosis = await asyncio.to_thread(
            diagnose,
            network,
            case.alerts,
            self.scenario.scenario.symptoms,
            case.since,
            case.until,
            series=case.series,
            directions=directions,
            planned=planned_work(documents, case.since, case.until),
        )
        case.query = f"causes shared by {len({sign.vertex for sign in case.diagnosis.signs})} alerting elements"
        top = case.diagnosis.ranking.causes[:5]
        return "\n".join(f"{network.ids[cause.vertex]}: {cause.probability:.1%}" for cause in top) or "no candidate"

    async def _procedures(self, case: _Case) -> str:
        network, diagnosis = _require(case.network), _require(case.diagnosis)
        case.found["procedures"] = find_procedures(read_documents(self.scenario), network, diagnosis)
        return _told([each.title for each in case.found["procedures"]])

    async def _precedents(self, case: _Case) -> str:
        network, diagnosis = _require(case.network), _require(case.diagnosis)
        first = 1 + len(case.found.get("procedures", ()))
        case.found["precedents"] = find_precedents(read_documents(self.scenario), network, diagnosis, first)
        return _told([each.title for each in case.found["precedents"]])

    def _report(self, case: _Case) -> str:
        found = Found(**case.found, missing=case.missing)
        if case.network is None or case.diagnosis is None:
            lines = "\n".join(f"- {each}" for each in case.missing)
            return f"# Situation report\n\nNothing could be diagnosed.\n\n{lines}\n"
        return write_report(case.network, case.diagnosis, found)


def _findings(case: _Case) -> Findings | None:
    return None if case.network is None or case.diagnosis is None else findings_of(case.network, case.diagnosis)


def _require(value: Any) -> Any:  # noqa: ANN401
    if value is None:
        raise KnowledgeBaseError("a step before it failed, so there is nothing to work on")
    return value


def _merged(pasted: Sequence[Alert], read: Sequence[Alert]) -> list[Alert]:
    """Stored alerts, and those of the text that are not stored."""
    known = {(each.entity, each.kind, each.at) for each in read}
    return [*read, *(each for each in pasted if (each.entity, each.kind, each.at) not in known)]


def _by_entity(
    rows: Rows, entity: str, at: str, metrics: Sequence[str]
) -> dict[str, tuple[np.ndarray, dict[str, np.ndarray]]]:
    grouped: dict[str, list[dict[str, Any]]] = {}
    for row in rows.rows:
        grouped.setdefault(row[entity], []).append(row)
    return {
        name: (
            np.array([_seconds(row[at]) for row in some]),
            {metric: np.array([row[metric] for row in some], np.float64) for metric in metrics},
        )
        for name, some in grouped.items()
    }


def _told(titles: Sequence[str]) -> str:
    return "; ".join(titles) or "nothing fits"


def _seconds(text: str | None) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp() if text else 0.0


def _stamp(at: float) -> str:
    return f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d %H:%M:%S}"
