"""Investigates by rules, without a language model: the same alert and data give the same report."""

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal
from uuid import uuid4

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from app.grounding.citations import CitationBook
from app.grounding.stream import Grounder
from app.grounding.support import mark_used
from app.network.alerts import alert_table
from app.network.base import Investigator, ReportedEvent
from app.network.baselines import PAST_DAYS, RHYTHM_DAYS
from app.network.diagnosing import Diagnosis, Measured, Series, conspicuous, diagnose, worth_measuring
from app.network.documents import find_precedents, find_procedures, planned_work
from app.network.findings import findings_of
from app.network.knowledge import KnowledgeSearch, NotIndexedError, queries_of
from app.network.pasted import Pasted, read_pasted
from app.network.reading import (
    alerts_query,
    metrics_query,
    read_alerts,
    read_metrics,
    read_network,
    seconds_of,
    stamp,
)
from app.network.report import Quotation, SideFindings, percent, write_report
from app.schema.network import Findings
from kb_pipeline.errors import KnowledgeBaseError, ScenarioError
from kb_pipeline.network.base import NetworkStore, QueryLimits
from kb_pipeline.network.knowledge import read_documents
from kb_pipeline.network.scenario import ScenarioFolder
from kb_pipeline.network.sql_names import sql_name
from kb_pipeline.network.topology import Topology
from kb_pipeline.wording import counted

_log = logging.getLogger(__name__)
_SHOWN = 4000
"""Characters of an answer that a step shows; more is scrolled past."""


@dataclass
class Case:
    """What the steps of an investigation have found so far, and what is missing in its report.

    ``pasted`` is what the text of the alert names. ``alerts`` are those of the window from ``since`` to ``until``, in
    seconds since 1970; ``only_pasted``: the stored ones were not read; ``stored`` is the time of the newest of these.
    ``now`` is the time of alerts that have none. ``title`` is the name of the network, ``also_named`` those of others
    that the text names. ``query`` is what the step under way asks the store.
    """

    alert: str
    network: Topology | None = None
    pasted: Pasted | None = None
    now: float = 0.0
    alerts: pa.Table = field(default_factory=lambda: alert_table(()))
    only_pasted: bool = False
    since: float = 0.0
    until: float = 0.0
    stored: float = 0.0
    series: Series = field(default_factory=dict)
    diagnosis: Diagnosis | None = None
    procedures: Sequence[Quotation] = ()
    precedents: Sequence[Quotation] = ()
    missing: list[str] = field(default_factory=list)
    title: str = "the network"
    also_named: Sequence[str] = ()
    query: str = ""

    @property
    def found(self) -> SideFindings:
        """What the report says beside the diagnosis."""
        return SideFindings(
            procedures=self.procedures,
            precedents=self.precedents,
            missing=self.missing,
            unknown=self.pasted.unknown if self.pasted else (),
            meant=self.pasted.meant if self.pasted else (),
            only_pasted=self.only_pasted,
            names_elements=bool(self.pasted and self.pasted.entities),
            names_a_time=bool(self.pasted and self.pasted.newest is not None),
            asks_for_a_time=self.asks_for_a_time,
            stored=self.stored,
            network=self.title,
            also_named=self.also_named,
        )

    @property
    def about(self) -> tuple[str, ...]:
        """The elements of which the text raises alerts."""
        return tuple(dict.fromkeys(each.entity for each in self.pasted.alerts)) if self.pasted else ()

    @property
    def names_nothing(self) -> bool:
        """Whether there is nothing to look for."""
        return not self.about and not self.asks_for_a_time

    @property
    def asks_for_a_time(self) -> bool:
        """Whether the text names a time and nothing else, so that everything of that time is meant."""
        pasted = self.pasted
        return pasted is None or (pasted.newest is not None and not (pasted.entities or pasted.kinds or pasted.unknown))


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
        clock: Callable[[], float] = time.time,
        also_named: Sequence[str] = (),
    ) -> None:
        """``knowledge`` finds runbooks and tickets in the knowledge base; without it they are read from the folder.

        ``clock`` tells when an alert is that has no time. ``also_named`` are other networks that the alert may be of.
        """
        self.store, self.scenario, self.window = store, scenario, window_minutes * 60.0
        self.knowledge, self._clock, self._also_named = knowledge, clock, also_named

    @property
    def rests_on(self) -> Collection[str]:
        return {each.article_id for each in self.knowledge.book.citations} if self.knowledge else ()

    async def investigate(self, alert: str, run_id: str = "") -> AsyncGenerator[ReportedEvent, None]:
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

    async def steps(self, case: Case, done: int = 0) -> AsyncGenerator[ReportedEvent, None]:
        """Take the steps that are not taken yet; they are numbered after those that are ``done``."""
        steps = [*([] if case.diagnosis else self._evidence), *self._documents]
        for number, (agent, status, step) in enumerate(steps, done + 1):
            yield ReportedEvent("step_thinking", {"agent": agent, "status": status})
            yield ReportedEvent("step_start", {"step": number, "agent": agent})
            yield await self._taken(number, agent, status, step, case)

    async def gather_evidence(self, case: Case) -> list[ReportedEvent]:
        """Take the steps up to the ranked causes, and return their events. What fails is noted in the case."""
        return [
            await self._taken(number, agent, status, step, case)
            for number, (agent, status, step) in enumerate(self._evidence)
        ]

    def message(self, case: Case) -> ReportedEvent:
        """The report of the case."""
        book = self.knowledge.book if self.knowledge else CitationBook()
        grounder = Grounder(book)
        text = grounder.feed(self._report(case)) + grounder.finish()
        return ReportedEvent("message", {"text": text}, findings(case), mark_used(text, book.citations))

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
    ) -> ReportedEvent:
        began = time.perf_counter()
        case.query = ""
        failed = False
        try:
            response = await step(case)
        except KnowledgeBaseError as exc:
            failed, response = True, str(exc)
            case.missing.append(f"{agent} failed while {status}: {exc}")
        except Exception as exc:
            _log.error("%s failed while %s", agent, status, exc_info=exc)
            failed, response = True, "something went wrong; the service's log has the details"
            case.missing.append(f"{agent} failed while {status}: {response}")
        data = {
            "step": number,
            "agent": agent,
            "duration": round(time.perf_counter() - began, 3),
            "query": case.query,
            "response": response[:_SHOWN],
            **({"error": True} if failed else {}),
        }
        return ReportedEvent("step_complete", data)

    async def _read_network(self, case: Case) -> str:
        case.query = "the whole topology"
        case.title, case.also_named = self.scenario.scenario.title, self._also_named
        network = case.network = await read_network(self.store, self.scenario.scenario)
        case.now = self._clock()
        pasted = case.pasted = await asyncio.to_thread(
            read_pasted, case.alert, network, self.scenario.scenario.symptoms, case.now
        )
        named = ", ".join(pasted.entities[:20]) or "no element"
        return f"{len(network.ids)} elements, {len(network.labels)} dependencies. The alert names {named}."

    async def _read_alerts(self, case: Case) -> str:
        pasted = case.pasted
        case.alerts = alert_table(pasted.alerts if pasted else ())
        case.until = pasted.newest if pasted and pasted.newest is not None else case.now or self._clock()
        case.since = case.until - self.window
        declared = self.scenario.scenario.telemetry.get("alerts")
        if declared is None:
            return f"the scenario declares no container alerts; {case.alerts.num_rows} are in the text"
        case.only_pasted = True  # until the stored ones are read, which may fail
        newest = f"SELECT max({sql_name(declared.time)}) AS newest FROM alerts"  # noqa: S608
        case.query = newest
        answer, _ = await self.store.table(newest, QueryLimits())
        stored = case.stored = float(np.nan_to_num(seconds_of(answer["newest"])).max(initial=0))
        if case.names_nothing:
            case.only_pasted = False
            return "the text names nothing whose alerts could be looked at"
        case.query = alerts_query(declared, case.since, case.until)
        read, truncated = await read_alerts(self.store, declared, case.query)
        if truncated:
            case.missing.append(f"only the first {read.num_rows:,} alerts of the window were read")
        case.alerts = _merged(case.alerts, read)
        case.only_pasted = False
        if not stored:
            case.missing.append("no alert is stored")
        elif case.until - stored > self.window:
            case.missing.append(f"the newest stored alert is {_age(case.until - stored)} older than this one")
        return f"{counted(case.alerts.num_rows, 'alert')} between {stamp(case.since)} and {stamp(case.until)}"

    async def _read_metrics(self, case: Case) -> str:
        network = _require(case.network)
        if case.names_nothing:
            return "the text names nothing whose measurements could be looked at"
        symptoms = self.scenario.scenario.symptoms
        entities = await asyncio.to_thread(worth_measuring, network, case.alerts, symptoms, case.since, case.until)
        series: dict[str, tuple[np.ndarray, Mapping[str, np.ndarray]]] = {}
        for name, declared in self.scenario.scenario.telemetry.items():
            if declared.metrics and entities:
                read = await self._read_past(case, name, entities, PAST_DAYS)
                longer = await asyncio.to_thread(conspicuous, read, declared.metrics, case.since, case.until)
                series |= read | (await self._read_past(case, name, longer, RHYTHM_DAYS) if longer else {})
        case.series = series
        return f"measurements of {len(series)} of {len(entities)} elements that may be a cause"

    async def _read_past(self, case: Case, name: str, entities: Sequence[str], days: int) -> dict[str, Measured]:
        declared = self.scenario.scenario.telemetry[name]
        case.query = metrics_query(name, declared, entities, case.until - days * 86400, case.until)
        read, truncated = await read_metrics(self.store, declared, case.query)
        if not truncated:
            return read
        if len(entities) == 1:
            case.missing.append(f"{entities[0]} is measured so often that only the oldest of {days} days were read")
            return read
        middle = len(entities) // 2
        first = await self._read_past(case, name, entities[:middle], days)
        return first | await self._read_past(case, name, entities[middle:], days)

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
            about=case.about,
            sees_all=case.stored >= case.since,
        )
        case.query = f"causes shared by {len({sign.vertex for sign in case.diagnosis.signs})} alerting elements"
        top = case.diagnosis.ranking.causes[:5]
        return (
            "\n".join(f"{network.ids[cause.vertex]}: {percent(cause.probability)}" for cause in top) or "no candidate"
        )

    async def _procedures(self, case: Case) -> str:
        network, diagnosis = _require(case.network), _require(case.diagnosis)
        queries = queries_of(network, diagnosis, self.scenario.scenario.symptoms, case.alert)
        case.query = "\n".join(queries)
        quoted = await self._found(case, "runbooks", self.knowledge.procedures(queries) if self.knowledge else None)
        if quoted is None:
            quoted = find_procedures(read_documents(self.scenario), network, diagnosis, queries)
        case.procedures = quoted
        return _told([each.title for each in quoted])

    async def _precedents(self, case: Case) -> str:
        network, diagnosis = _require(case.network), _require(case.diagnosis)
        queries = queries_of(network, diagnosis, self.scenario.scenario.symptoms, case.alert)
        case.query = "\n".join(queries)
        quoted = await self._found(case, "tickets", self.knowledge.precedents(queries) if self.knowledge else None)
        if quoted is None:
            quoted = find_precedents(read_documents(self.scenario), network, diagnosis)
        case.precedents = quoted
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
        if case.network is None or case.diagnosis is None:
            lines = "\n".join(f"- {each}" for each in case.missing)
            return f"# Situation report\n\nNothing could be diagnosed.\n\n{lines}\n"
        return write_report(case.network, case.diagnosis, case.found)


def begin(alert: str, run_id: str = "") -> ReportedEvent:
    """The first event."""
    now = datetime.now(UTC).isoformat(timespec="seconds")
    return ReportedEvent("run_start", {"run_id": run_id or uuid4().hex, "alert": alert, "timestamp": now})


def end(steps: int, tokens: int, began: float) -> ReportedEvent:
    """The last event, of a run that began at this time of the performance counter."""
    seconds = round(time.perf_counter() - began, 3)
    return ReportedEvent("run_complete", {"steps": steps, "tokens": tokens, "time": seconds})


def findings(case: Case) -> Findings | None:
    """What the rules found, for programs and maps."""
    return None if case.network is None or case.diagnosis is None else findings_of(case.network, case.diagnosis)


def _age(seconds: float) -> str:
    return f"{seconds / 3600:.1f} h" if seconds < 2 * 86400 else f"{seconds / 86400:.0f} days"


def _require(value: Any) -> Any:  # noqa: ANN401
    if value is None:
        raise KnowledgeBaseError("a step before it failed, so there is nothing to work on")
    return value


def _merged(pasted: pa.Table, read: pa.Table) -> pa.Table:
    """Stored alerts, and those of the text that are not stored."""
    near = read.filter(pc.is_in(read["entity"], value_set=pasted["entity"].combine_chunks()))
    stored = {(row["entity"], row["kind"], row["at"]) for row in near.to_pylist()}
    new = [row for row in pasted.to_pylist() if (row["entity"], row["kind"], row["at"]) not in stored]
    return pa.concat_tables([read, pa.Table.from_pylist(new, pasted.schema)], promote_options="default")


def _told(titles: Sequence[str]) -> str:
    return "; ".join(titles) or "nothing fits"
