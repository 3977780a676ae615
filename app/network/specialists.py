"""The specialists whom the orchestrator asks: one entry each, with a prompt file and tools of its own.

Their data is text of others. They read it between the marks of untrusted passages.
"""

import json
from collections.abc import Awaitable, Callable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Annotated, Literal

from agent_framework import FunctionTool
from pydantic import Field

from app.answering.base import Question
from app.answering.search_tool import KnowledgeBaseSearch
from app.callers.principal import Principal
from app.grounding.citations import CitationBook
from app.library.retrieval import Retrieval
from app.model.passages import format_result
from app.network import prompts
from app.network.baselines import RHYTHM_DAYS, worst_metric
from app.network.by_rules import Case
from app.network.reading import metrics_query, read_metrics, stamp
from kb_pipeline.errors import KnowledgeBaseError, QueryRefusedError
from kb_pipeline.network.base import NetworkStore, QueryLimits, TopologyQuery
from kb_pipeline.network.knowledge import RUNBOOK, TICKET, topic
from kb_pipeline.network.scenario import ScenarioFolder

CALLS = 6
"""Calls of tools in one consultation of the graph explorer or the telemetry agent."""
_READ = 8000
"""Characters of one result that a model reads."""


@dataclass
class Consultation:
    """One consultation of a specialist: how many calls it has left, and which queries were answered."""

    left: int
    queries: list[str] = field(default_factory=list)


CONSULTATION: ContextVar[Consultation] = ContextVar("consultation")


@dataclass(frozen=True)
class SpecialistTools:
    """What the tools of the specialists work with, for one investigation."""

    store: NetworkStore
    scenario: ScenarioFolder
    limits: QueryLimits
    retrieval: Retrieval
    who: Principal
    book: CitationBook
    case: Case
    searches: int
    top: int


@dataclass(frozen=True)
class Specialist:
    """Its name, what the orchestrator is told of it, its prompt, its tools, and how many calls a consultation has."""

    name: str
    description: str
    prompt: Callable[[SpecialistTools], str]
    tools: Callable[[SpecialistTools], Sequence[FunctionTool]]
    calls: Callable[[SpecialistTools], int]


class DataTools:
    """The tools that query the store. What fails is told as text, by which a model corrects its query."""

    def __init__(self, equipment: SpecialistTools) -> None:
        self._store, self._limits = equipment.store, equipment.limits
        self._scenario = equipment.scenario.scenario

    async def query_graph(
        self, query: Annotated[str, Field(description="the query, in the language of the store")]
    ) -> str:
        """Query vertices and edges. If the result says error, read it, correct the query, and try again."""

        async def rows() -> object:
            answer = await self._store.graph(query, self._limits)
            return {"rows": answer.rows, "truncated": answer.truncated}

        return await _answered(query, rows)

    async def neighbourhood(
        self,
        ids: Annotated[list[str], Field(description="ids of elements")],
        depth: Annotated[int, Field(description="how far to walk", ge=0, le=6)] = 2,
        direction: Annotated[
            Literal["both", "up", "down"], Field(description="up: what they depend on; down: what depends on them")
        ] = "both",
    ) -> str:
        """Get the elements around some elements, and the edges between them."""

        async def around() -> object:
            part = await self._store.topology(
                TopologyQuery(around=tuple(ids), depth=depth, direction=direction, limit=200)
            )
            edges = [f"{each['source']} {each['type']} {each['target']}" for each in part.edges]
            return {"elements": [f"{each['id']} ({each['type']})" for each in part.nodes], "edges": edges}

        return await _answered(f"neighbourhood of {', '.join(ids)}, depth {depth}, {direction}", around)

    async def query_telemetry(self, query: Annotated[str, Field(description="one SELECT of SQL")]) -> str:
        """Query alerts or measurements. If the result says error, read it, correct the query, and try again."""

        async def rows() -> object:
            answer = await self._store.telemetry(query, self._limits)
            return {"rows": answer.rows, "truncated": answer.truncated}

        return await _answered(query, rows)

    async def baseline(
        self,
        entity: Annotated[str, Field(description="id of the element")],
        metric: Annotated[str, Field(description="name of the metric")],
        since: Annotated[str, Field(description="first time, ISO 8601, UTC")],
        until: Annotated[str, Field(description="last time, ISO 8601, UTC")],
    ) -> str:
        """Compare a metric of an element between two times with its own past."""

        async def compared() -> object:
            name, declared = next(
                ((name, each) for name, each in self._scenario.telemetry.items() if metric in each.metrics), ("", None)
            )
            if declared is None:
                metrics = sorted({each for one in self._scenario.telemetry.values() for each in one.metrics})
                raise QueryRefusedError(f"there is no metric {metric!r}; there are: {', '.join(metrics) or 'none'}")
            began, ended = _time("since", since), _time("until", until)
            query = metrics_query(name, declared, [entity], began - RHYTHM_DAYS * 86400, ended)
            read, _ = await read_metrics(self._store, declared, query)
            series = read.get(entity)
            anomaly = series and worst_metric(
                series[0], {metric: series[1][metric]}, dict(declared.metrics), began, ended
            )
            if not anomaly:
                raise QueryRefusedError(f"{entity!r} has too few measurements of {metric} then or before to compare")
            return {
                "now": anomaly.value,
                "usual": anomaly.usual,
                "out of its baseline": anomaly.surprise >= 2,
                "since": stamp(anomaly.onset) if anomaly.onset else None,
            }

        return await _answered(f"baseline of {metric} of {entity}, {since} to {until}", compared)


async def _answered(query: str, work: Callable[[], Awaitable[object]]) -> str:
    """What a query found, or why it found nothing, as data."""
    consultation = CONSULTATION.get()
    if consultation.left <= 0:
        return prompts.NO_MORE_CALLS
    consultation.left -= 1
    try:
        result = json.dumps(await work(), ensure_ascii=False, default=str)
    except KnowledgeBaseError as exc:
        return format_result(f"error: {exc}")
    consultation.queries.append(query)
    cut = "" if len(result) <= _READ else f" (cut after {_READ:,} characters; ask for less)"
    return format_result(result[:_READ] + cut)


class TopicSearch(KnowledgeBaseSearch):
    """Searches runbooks or tickets of a scenario, and notes what was searched for."""

    async def search(self, query: Annotated[str, Field(description="what to look for")]) -> str:
        """Search, and return the passages as numbered blocks."""
        consultation = CONSULTATION.get()
        if consultation.left <= 0:
            return prompts.NO_MORE_CALLS
        consultation.left -= 1
        blocks = await super().search(query)
        consultation.queries.append(query)
        return blocks


def _graph_tools(equipment: SpecialistTools) -> list[FunctionTool]:
    tools = DataTools(equipment)
    language = equipment.store.language
    told = f"Query the topology in {language.name}: {language.description}"
    return [
        FunctionTool(name="query_graph", description=told, func=tools.query_graph),
        FunctionTool(
            name="neighbourhood",
            description="The elements around some elements, and the edges between them.",
            func=tools.neighbourhood,
        ),
    ]


def _telemetry_tools(equipment: SpecialistTools) -> list[FunctionTool]:
    tools = DataTools(equipment)
    return [
        FunctionTool(
            name="query_telemetry",
            description="Query alerts or measurements by one SELECT of SQL. If the result says error, read it, correct "
            "the query, and try again.",
            func=tools.query_telemetry,
        ),
        FunctionTool(
            name="baseline",
            description="Compare a metric of an element between two times with its own past.",
            func=tools.baseline,
        ),
    ]


def _search_of(kind: str) -> Callable[[SpecialistTools], list[FunctionTool]]:
    def tools(equipment: SpecialistTools) -> list[FunctionTool]:
        question = Question(equipment.case.alert[:1000], equipment.who, equipment.top)
        topics = (topic(equipment.scenario.scenario.name, kind),)
        rounds = 1000  # each consultation has a limit of its own
        return TopicSearch(equipment.retrieval, question, equipment.book, rounds, topics=topics).tools

    return tools


def _graph_prompt(equipment: SpecialistTools) -> str:
    network = equipment.case.network
    instances = list(zip(network.ids, network.types, strict=True)) if network and len(network.ids) <= 200 else []
    return prompts.graph_explorer(equipment.scenario.scenario, equipment.store.language, CALLS, instances)


SPECIALISTS = (
    Specialist(
        "GraphExplorerAgent",
        prompts.read("graph_explorer/description.md"),
        _graph_prompt,
        _graph_tools,
        lambda _: CALLS,
    ),
    Specialist(
        "TelemetryAgent",
        "Answers questions about alerts and measurements, and compares measurements with their past.",
        lambda equipment: prompts.telemetry(equipment.scenario.scenario, CALLS),
        _telemetry_tools,
        lambda _: CALLS,
    ),
    Specialist(
        "RunbookKBAgent",
        "Finds procedures in runbooks: what to do, in which order, and whom to call. Returns steps with references.",
        lambda equipment: prompts.fill("runbook_kb_agent.md", calls=equipment.searches),
        _search_of(RUNBOOK),
        lambda equipment: equipment.searches,
    ),
    Specialist(
        "HistoricalTicketAgent",
        "Finds earlier incidents of this kind in tickets, and what resolved them. Returns them with references.",
        lambda equipment: prompts.fill("historical_ticket_agent.md", calls=equipment.searches),
        _search_of(TICKET),
        lambda equipment: equipment.searches,
    ),
)


def _time(name: str, text: str) -> float:
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        raise QueryRefusedError(f"{name} is {text[:40]!r}; write a time like 2026-11-02T03:45:00Z") from None
    return (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp()
