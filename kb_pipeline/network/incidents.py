"""Incidents of a scenario whose causes are known: when somebody asked what broke, and what had failed.

They are lines of the file that the manifest names, and tickets that carry their root cause. The file may come from
anybody: it is read strictly, and a line that cannot be used is refused with its number.
"""

from collections.abc import Collection, Iterable, Mapping
from datetime import UTC, datetime
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, StringConstraints, model_validator

from kb_pipeline.errors import ScenarioError
from kb_pipeline.network.scenario import ScenarioFolder
from kb_pipeline.steps.fingerprint import fingerprint
from kb_pipeline.steps.json_lines import numbered_lines, read_line

_LARGEST = 20_000_000
"""Bytes: far more than ``_MOST`` incidents have."""
_MOST = 2000
"""Incidents: an evaluation investigates each of them."""
_SEARCHED = 100_000
"""Most ids among which one is looked for that was meant."""
_Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]
_Elements = Annotated[tuple[_Name, ...], Field(max_length=50)]


class Incident(BaseModel):
    """An incident as people know it afterwards.

    Attributes:
        incident: its name.
        until: when somebody asks what broke; the alerts before that are looked at.
        alert: what that person pastes; without it, only the time is asked for.
        causes: the ids of what had failed; none where the alerts had nothing in common.
        planned: those on which somebody was working, as a ticket of planned work says.
        note: for people.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    incident: _Name
    until: AwareDatetime
    alert: Annotated[str, Field(max_length=100_000)] = ""
    causes: _Elements
    planned: _Elements = ()
    note: Annotated[str, Field(max_length=4000)] = ""

    @model_validator(mode="after")
    def _causes_once(self) -> "Incident":
        if len(set(self.causes)) < len(self.causes):
            raise ValueError("causes names an element twice")
        return self

    @property
    def id(self) -> str:
        """A hash of what is asked and what is right, whatever its name is."""
        return fingerprint(self.asked, sorted(self.causes), sorted(self.planned))[:12]

    @property
    def asked(self) -> str:
        """The text to investigate."""
        until = f"{self.until.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"
        return f"{self.alert}\n{until}" if self.alert else f"{until} what broke?"


def read_incidents(scenario: ScenarioFolder, vertices: Mapping[str, str]) -> tuple[Incident, ...]:
    """The incidents of the file that the manifest names, in its order; none if it names no file.

    ``vertices`` are the types of the network's vertices by their ids.

    Raises:
        ScenarioError: the file cannot be used, or a line names as a cause what is no vertex, or cannot be one; the
            message names file and line.
    """
    if not scenario.scenario.incidents:
        return ()
    path = scenario.path(scenario.scenario.incidents)
    incidents: dict[str, Incident] = {}
    names: set[str] = set()
    for number, line in numbered_lines(_read(path)):
        if len(incidents) == _MOST:
            raise ScenarioError(f"{path} holds more than {_MOST:,} incidents; keep those that differ")
        place = f"{path}:{number}"
        try:
            incident = read_line(Incident, line)
        except ValueError as exc:
            raise ScenarioError(f"{place}: {exc}") from exc
        if incident.incident.casefold() in names or incident.id in incidents:
            raise ScenarioError(f"{place}: the incident {incident.incident!r} is there already; each counts once")
        for name in (*incident.causes, *incident.planned):
            _require_vertex(f"{place}: {name!r} of {incident.incident!r}", name, vertices)
        for name in incident.causes:
            _require_infrastructure(f"{place}: {name!r} of {incident.incident!r}", vertices[name], scenario)
        names.add(incident.incident.casefold())
        incidents[incident.id] = incident
    if not incidents:
        raise ScenarioError(f"{path} holds no incident; write one JSON object a line, or remove it from the manifest")
    return tuple(incidents.values())


def incidents_of_tickets(
    tickets: Iterable[Mapping[str, Any]], vertices: Collection[str], names: Collection[str] = ()
) -> list[Incident]:
    """The tickets that say when they were opened and which vertex was the root cause, as incidents.

    They ask what the diagnosis would have said when the ticket was opened. ``names`` are the names of incidents that
    are known already. Tickets are written for people, so one that says less is no error.
    """
    taken = {name.casefold() for name in names}
    incidents = []
    for ticket in tickets:
        cause = ticket.get("root_cause")
        vertex = cause.get("id") if isinstance(cause, dict) else None
        opened, name = _opened(ticket), str(ticket.get("ticket_id") or "").strip()[:200]
        if opened is None or not name or name.casefold() in taken or ticket.get("kind") == "maintenance":
            continue
        if isinstance(vertex, str) and vertex in vertices:
            incidents.append(Incident(incident=name, until=opened, causes=(vertex,)))
            taken.add(name.casefold())
    return incidents


def _read(path: Path) -> bytes:
    try:
        if path.stat().st_size > _LARGEST:
            raise ScenarioError(f"{path} is larger than {_LARGEST:,} bytes; keep the incidents that differ")
        return path.read_bytes()
    except OSError as exc:
        raise ScenarioError(f"{path} cannot be read: {exc.strerror}") from exc


def _require_vertex(what: str, name: str, vertices: Mapping[str, str]) -> None:
    if name in vertices:
        return
    near = get_close_matches(name, vertices, 1, 0.75) if len(vertices) <= _SEARCHED else []
    raise ScenarioError(f"{what} is no vertex of the network{f'; did you mean {near[0]}?' if near else ''}")


def _require_infrastructure(what: str, type_name: str, scenario: ScenarioFolder) -> None:
    kind = scenario.scenario.vertices[type_name].kind
    if kind != "infrastructure":
        raise ScenarioError(f"{what} is a {type_name}, of kind {kind}: it only suffers; name what had failed below it")


def _opened(ticket: Mapping[str, Any]) -> datetime | None:
    try:
        at = datetime.fromisoformat(str(ticket.get("opened_at")))
    except ValueError:
        return None
    return at if at.tzinfo else at.replace(tzinfo=UTC)
