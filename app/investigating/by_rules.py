"""Investigates by rules, without a language model: the same alert and data give the same report."""

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal
from uuid import uuid4

import numpy as np
import pyarrow as pa

from app.grounding.citations import CitationBook
from app.grounding.stream import Grounder
from app.grounding.support import mark_used
from app.investigating.alerts import Alert, Pasted, read_pasted
from app.investigating.base import InvestigationEvent, Investigator
from app.investigating.diagnosing import Diagnosis, Series, diagnose
from app.investigating.documents import find_precedents, find_procedures, planned_work
from app.investigating.findings import findings_of
from app.investigating.knowledge import KnowledgeSearch, NotIndexedError, queries_of
from app.investigating.report import Found, Quotation, write_report
from app.network_schema import Findings
from kb_pipeline.errors import KnowledgeBaseError, ScenarioError
from kb_pipeline.network.base import Limits, NetworkStore, Rows, TopologyQuery
from kb_pipeline.network.knowledge import read_documents
from kb_pipeline.network.scenario import ScenarioFolder
from kb_pipeline.network.topology import Topology

_PAST_DAYS = 7
_ALERTS = Limits(seconds=60, rows=500_000, bytes=500_000_000)
_SHOWN = 4000


@dataclass
class Case:
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


Step = tuple[str, str, Callable[[Case], Awaitable[str]]]
"""Who takes a step, what it does, and how."""


class RulesInvestigator(Investigator):
    """Reads a store and a scenario's documents. Any step may fail: the others go on, and the report says so."""

    def __init__(
        self,
        store: NetworkStore,
        scenario: ScenarioFolder,
        window_minutes: int = 30,
        knowledge: KnowledgeSearch | None = None,
    ) -> None:
        """``knowledge`` finds runbooks and tickets in the knowledge base; without it they are read from the folder."""
        self.store, self.scenario, self.window = store, scenario, window_minutes * 60.0
        self.knowledge = knowledge

    async def investigate(self, alert: str, run_id: str = "") -> AsyncGenerator[InvestigationEvent, None]:
        began = time.perf_counter()
        case = Case(alert)
        yield begin(alert, run_id)
        number = 0
        async with aclosing(self.steps(case)) as events:
            async for event in events:
                number += event.event == "step_complete"
                yield event
        yield self.message(case)
        yield end(number, 0, began)

    async def steps(self, case: Case, done: int = 0) -> AsyncGenerator[InvestigationEvent, None]:
        """Take the steps that are not taken yet; they are numbered after those that are ``done``."""
        steps = [*([] if case.diagnosis else self._evidence), *self._documents]
        for number, (agent, status, step) in enumerate(steps, done + 1):
            yield InvestigationEvent("step_thinking", {"agent": agent, "status": status})
            yield InvestigationEvent("step_start", {"step": number, "agent": agent})
            yield await self._taken(number, agent, status, step, case)

    async def gather_evidence(self, case: Case) -> None:
        """Take the steps up to the ranked causes. What fails is noted in the case."""
        for number, (agent, status, step) in enumerate(self._evidence):
            await self._taken(number, agent, status, step, case)

    def message(self, case: Case) -> InvestigationEvent:
        """The report of the case."""
        book = self.knowledge.book if self.knowledge else CitationBook()
        grounder = Grounder(book)
        text = grounder.feed(self._report(case)) + grounder.finish()
        return InvestigationEvent("message", {"text": text}, findings(case), mark_used(text, book.citations))

    @property
    def _evidence(self) -> list[Step]:
        return [
            ("GraphExplorerAgent", "reading the network", self._read_network),
            ("TelemetryAgent", "reading the alerts", self._read_alerts),
            ("TelemetryAgent", "comparing measurements with their past", self._read_metrics),
            ("GraphExplorerAgent", "walking from the alerts to what they share", self._diagnose),
        ]

    @property
    def _documents(self) -> list[Step]:
        return [
            ("RunbookKBAgent", "looking for procedures", self._procedures),
            ("HistoricalTicketAgent", "looking for precedents", self._precedents),
        ]

    async def _taken(
        self, number: int, agent: str, status: str, step: Callable[[Case], Awaitable[str]], case: Case
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

    async def _read_network(self, case: Case) -> str:
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

    async def _read_alerts(self, case: Case) -> str:
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

    async def _read_metrics(self, case: Case) -> str:
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
            series |= by_entity(rows, declared.entity, declared.time, list(declared.metrics))
        case.series = series
        return f"measurements of {len(series)} elements"

    async def _diagnose(self, case: Case) -> str:
        network = _require(case.network)
        directions = {
            metric: direction
            for declared in self.scenario.scenario.telemetry.values()
            for metric, direction in declared.metrics.items()
        }
        try:
            planned = planned_work(read_documents(self.scenario), case.since, case.until)
        except ScenarioError as exc:
            planned = []
            case.missing.append(f"tickets of planned work could not be read: {exc}")
        case.diagnosis = await asyncio.to_thread(
            diagnose,
            network,
            case.alerts,
            self.scenario.scenario.symptoms,
            case.since,
            case.until,
            series=case.series,
            directions=directions,
            planned=planned,
        )
        case.query = f"causes shared by {len({sign.vertex for sign in case.diagnosis.signs})} alerting elements"
        top = case.diagnosis.ranking.causes[:5]
        return "\n".join(f"{network.ids[cause.vertex]}: {cause.probability:.1%}" for cause in top) or "no candidate"

    async def _procedures(self, case: Case) -> str:
        network, diagnosis = _require(case.network), _require(case.diagnosis)
        queries = queries_of(network, diagnosis)
        case.query = "\n".join(queries)
        quoted = await self._found(case, "runbooks", self.knowledge.procedures(queries) if self.knowledge else None)
        if quoted is None:
            quoted = find_procedures(read_documents(self.scenario), network, diagnosis)
        case.found["procedures"] = quoted
        return _told([each.title for each in quoted])

    async def _precedents(self, case: Case) -> str:
        network, diagnosis = _require(case.network), _require(case.diagnosis)
        queries = queries_of(network, diagnosis)
        case.query = "\n".join(queries)
        quoted = await self._found(case, "tickets", self.knowledge.precedents(queries) if self.knowledge else None)
        if quoted is None:
            quoted = find_precedents(read_documents(self.scenario), network, diagnosis)
        case.found["precedents"] = quoted
        return _told([each.title for each in quoted])

    async def _found(
        self, case: Case, kind: Literal["runbooks", "tickets"], search: Awaitable[list[Quotation]] | None
    ) -> list[Quotation] | None:
        """What the knowledge base has; ``None`` if the scenario's folder has to be read instead, which the report says.

        Nothing is missing where the scenario has no such documents.
        """
        if search is None:
            return None
        try:
            return await search
        except NotIndexedError:
            if self.scenario.documents(kind):
                case.missing.append(
                    f"the {kind} are not in the knowledge base (kb scenario load ingests them); they were read from "
                    "the scenario's folder"
                )
        except KnowledgeBaseError as exc:
            case.missing.append(f"the {kind} were read from the scenario's folder: {exc}")
        return None

    def _report(self, case: Case) -> str:
        found = Found(**case.found, missing=case.missing)
        if case.network is None or case.diagnosis is None:
            lines = "\n".join(f"- {each}" for each in case.missing)
            return f"# Situation report\n\nNothing could be diagnosed.\n\n{lines}\n"
        return write_report(case.network, case.diagnosis, found)


def begin(alert: str, run_id: str = "") -> InvestigationEvent:
    """The first event."""
    now = datetime.now(UTC).isoformat(timespec="seconds")
    return InvestigationEvent("run_start", {"run_id": run_id or uuid4().hex, "alert": alert, "timestamp": now})


def end(steps: int, tokens: int, began: float) -> InvestigationEvent:
    """The last event, of a run that began at this time of the performance counter."""
    seconds = round(time.perf_counter() - began, 3)
    return InvestigationEvent("run_complete", {"steps": steps, "tokens": tokens, "time": seconds})


def findings(case: Case) -> Findings | None:
    """What the rules found, for programs and maps."""
    return None if case.network is None or case.diagnosis is None else findings_of(case.network, case.diagnosis)


def _require(value: Any) -> Any:  # noqa: ANN401
    if value is None:
        raise KnowledgeBaseError("a step before it failed, so there is nothing to work on")
    return value


def _merged(pasted: Sequence[Alert], read: Sequence[Alert]) -> list[Alert]:
    """Stored alerts, and those of the text that are not stored."""
    known = {(each.entity, each.kind, each.at) for each in read}
    return [*read, *(each for each in pasted if (each.entity, each.kind, each.at) not in known)]


def by_entity(
    rows: Rows, entity: str, at: str, metrics: Sequence[str]
) -> dict[str, tuple[np.ndarray, dict[str, np.ndarray]]]:
    """The rows of measurements by element: times, and each metric."""
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
