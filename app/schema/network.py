"""The messages about networks between the service and its clients. Both sides use these classes."""

from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints

from app.schema.passages import Citation
from app.schema.wire import Wire

Direction = Literal["both", "up", "down"]
EventName = Literal["run_start", "step_thinking", "step_start", "step_complete", "message", "error", "run_complete"]
RunStatus = Literal["running", "finished", "failed", "broken_off"]
InvestigatingMode = Literal["rules", "agents"]

NoError = Annotated[
    str | None,
    Field(
        description="Why the query was not answered, and what can be asked instead. If it is not null: read it, "
        "correct the query, and try again."
    ),
]


class GraphQueryRequest(Wire):
    """A query of vertices and edges, in the language of the backend."""

    query: str


class TelemetryQueryRequest(Wire):
    """A query of alerts and measurements, in SQL."""

    query: str


class AnswerColumn(Wire):
    """A column of an answer."""

    name: str
    type: str


class GraphQueryResponse(Wire):
    """The answer to a query of the graph: objects by column name. ``truncated``: there are more than these."""

    columns: tuple[AnswerColumn, ...] = ()
    data: tuple[dict[str, Any], ...] = ()
    truncated: bool = False
    seconds: float = 0.0
    error: NoError = None


class TelemetryQueryResponse(Wire):
    """The answer to a query of telemetry: objects by column name, times in ISO 8601."""

    columns: tuple[AnswerColumn, ...] = ()
    rows: tuple[dict[str, Any], ...] = ()
    truncated: bool = False
    seconds: float = 0.0
    error: NoError = None


class TopologyRequest(Wire):
    """Which part of the network is wanted: a text in id or name, types, and what lies around some elements.

    ``direction`` is the one in which ``around`` walks: ``up`` to what they depend on, ``down`` to what depends on them.
    """

    query: Annotated[str, StringConstraints(max_length=1000)] = ""
    vertex_labels: tuple[str, ...] = ()
    around: tuple[str, ...] = ()
    depth: int = Field(default=2, ge=0, le=12)
    direction: Direction = "both"
    limit: int | None = Field(default=None, ge=1)


class TopologyNode(Wire):
    """An element; ``label`` is its name for people."""

    id: str
    label: str
    type: str
    properties: dict[str, Any] = Field(default_factory=dict)


class TopologyEdge(Wire):
    """A dependency: ``source`` depends on ``target``."""

    id: str
    source: str
    target: str
    type: str
    properties: dict[str, Any] = Field(default_factory=dict)


class TopologyMeta(Wire):
    """How large the whole network is, and which types it has."""

    node_count: int = 0
    edge_count: int = 0
    vertex_labels: tuple[str, ...] = ()
    edge_labels: tuple[str, ...] = ()


class TopologyResponse(Wire):
    """A part of the network."""

    nodes: tuple[TopologyNode, ...] = ()
    edges: tuple[TopologyEdge, ...] = ()
    meta: TopologyMeta = TopologyMeta()
    error: NoError = None


class AlertRequest(Wire):
    """An alert, or a storm of them, as somebody pastes it."""

    text: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]


class InvestigationEvent(Wire):
    """An event of an investigation. ``id`` counts from 1; a reader who comes back names the last one that it has."""

    id: int
    event: EventName
    data: dict[str, Any]


class FoundCause(Wire):
    """What failed. ``certainty`` is the probability in words, ``onset`` when it began, if that is known."""

    id: str
    type: str
    name: str
    probability: float
    certainty: str
    onset: str | None = None


class Findings(Wire):
    """What an investigation found, as ids of elements. ``paths`` lead from an alerting element to its cause.

    ``perhaps``: what else would be down if one of the alternatives is right.
    """

    causes: tuple[FoundCause, ...] = ()
    alerting: tuple[str, ...] = ()
    down: tuple[str, ...] = ()
    weakened: tuple[str, ...] = ()
    perhaps: tuple[str, ...] = ()
    paths: tuple[tuple[str, ...], ...] = ()
    since: str | None = None
    until: str | None = None


class InvestigationSummary(Wire):
    """An investigation in a list; ``alert`` is the beginning of it, ``cause`` the id of the first cause.

    ``broken_off``: it ended without a report, because its readers left or the service ended.
    """

    id: str
    scenario: str = ""
    alert: str
    began: str
    status: RunStatus
    steps: int = 0
    seconds: float = 0.0
    cause: str | None = None


class Investigation(InvestigationSummary):
    """A whole investigation: the alert, all events so far, the report in markdown, and what it refers to."""

    events: tuple[InvestigationEvent, ...] = ()
    report: str | None = None
    findings: Findings | None = None
    citations: tuple[Citation, ...] = ()


class InvestigationList(Wire):
    """The investigations of a person, the newest first."""

    investigations: tuple[InvestigationSummary, ...]


class AgentInfo(Wire):
    """Who takes part in an investigation: what for, with which data and tools."""

    name: str
    task: str
    data: str = ""
    tools: tuple[str, ...] = ()


class Agents(Wire):
    """Who takes part; ``mode`` says whether a language model does."""

    mode: InvestigatingMode
    agents: tuple[AgentInfo, ...]


class ScenarioType(Wire):
    """A type of elements; ``count`` is ``None`` where nobody counted them."""

    name: str
    kind: str
    color: str = ""
    size: int = 6
    count: int | None = None


class ScenarioInfo(Wire):
    """A scenario that the caller may see. ``sample_alert`` is an alert to try it with."""

    name: str
    title: str
    loaded: bool = False
    vertices: int = 0
    edges: int = 0
    telemetry_until: str | None = None
    types: tuple[ScenarioType, ...] = ()
    sample_alert: str = ""
    problem: str | None = None


class ScenarioList(Wire):
    """The scenarios that the caller may ask; the default is the first."""

    scenarios: tuple[ScenarioInfo, ...]


class LogLines(Wire):
    """The newest lines of the service's log, oldest first."""

    lines: tuple[str, ...]


class NetworkHealth(Wire):
    """A network, and until when its alerts go. ``reachable`` is ``None`` until somebody has looked."""

    backend: str
    scenario: str = ""
    vertices: int = 0
    edges: int = 0
    telemetry_until: str | None = None
    reachable: bool | None = None
    problem: str | None = None
