"""What must hold of the tables of a scenario before readers get them. Each check names what is wrong, with examples."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kb_pipeline.errors import ScenarioError
from kb_pipeline.network.incidents import read_incidents
from kb_pipeline.network.scenario import Scenario, ScenarioFolder
from kb_pipeline.network.topology import Topology

_SHOWN = 5
"""Examples that a message names."""
_ENDS = ("source", "target")
_GAP = 12
"""Longest pause between two measurements, in usual intervals, that is not worth a word."""


@dataclass(frozen=True)
class NetworkCheck:
    """The outcome of a check: ``problem`` is empty if it passed; a blocking one keeps the version from readers."""

    name: str
    problem: str
    blocking: bool = True

    @property
    def passed(self) -> bool:
        """Whether nothing is wrong."""
        return not self.problem


def check_network(scenario: Scenario, vertices: pa.Table, edges: pa.Table) -> list[NetworkCheck]:
    """Check vertices and edges against each other and the manifest."""
    checks: list[tuple[Callable[[Scenario, pa.Table, pa.Table], str], bool]] = [
        (ids_are_unique, True),
        (edges_have_both_ends, True),
        (every_type_is_declared, True),
        (no_cycle_of_dependencies, False),
    ]
    return [NetworkCheck(check.__name__, check(scenario, vertices, edges), blocking) for check, blocking in checks]


def check_telemetry(scenario: Scenario, vertices: pa.Table, telemetry: dict[str, pa.Table]) -> list[NetworkCheck]:
    """Check every container against the manifest and the vertices."""
    checks: list[tuple[Callable[[Scenario, pa.Table, dict[str, pa.Table]], str], bool]] = [
        (every_row_has_a_time, True),
        (metrics_are_finite, True),
        (entities_exist, False),
        (no_long_gaps, False),
    ]
    return [NetworkCheck(check.__name__, check(scenario, vertices, telemetry), blocking) for check, blocking in checks]


def check_incidents(folder: ScenarioFolder, vertices: pa.Table) -> NetworkCheck:
    """Check that the recorded incidents can be used. They are not what readers get, so they keep nothing from them."""
    problem = ""
    if folder.scenario.incidents:
        try:
            read_incidents(folder, dict(zip(vertices["id"].to_pylist(), vertices["type"].to_pylist(), strict=True)))
        except ScenarioError as exc:
            problem = str(exc)
    return NetworkCheck("incidents_can_be_used", problem, blocking=False)


def ids_are_unique(scenario: Scenario, vertices: pa.Table, edges: pa.Table) -> str:
    """Every vertex has an id, and no two the same, not even in another case."""
    ids = vertices["id"]
    if empty := pc.sum(pc.equal(pc.fill_null(pc.utf8_trim_whitespace(ids), ""), "")).as_py():
        return f"{empty} vertices have no id"
    counts = pc.value_counts(pc.utf8_lower(ids))
    several = counts.filter(pc.greater(counts.field("counts"), 1))
    return _told("ids that several vertices have", several.field("values").to_pylist())


def edges_have_both_ends(scenario: Scenario, vertices: pa.Table, edges: pa.Table) -> str:
    """Both ends of every edge are vertices of a type that the manifest allows there."""
    allowed: dict[str, tuple[set[str], set[str]]] = {}
    for each in scenario.edges:
        sources, targets = allowed.setdefault(each.label, (set(), set()))
        sources.update(each.from_.types)
        targets.update(each.to.types)
    ids = vertices["id"].combine_chunks()
    ends = [vertices["type"].combine_chunks().take(pc.index_in(edges[end], value_set=ids)) for end in _ENDS]
    is_right = np.zeros(len(edges), bool)
    for label, types in allowed.items():
        fits = pc.equal(edges["label"], label)
        for end, some in zip(ends, types, strict=True):
            fits = pc.and_(fits, pc.is_in(end, value_set=pa.array(sorted(some), pa.string())))
        is_right |= pc.fill_null(fits, fill_value=False).to_numpy().astype(bool)
    wrong = (
        f"{edge['source']} -{edge['label']}-> {edge['target']}"
        for edge in edges.filter(pa.array(~is_right)).to_pylist()
    )
    return _told("edges whose ends are missing or of another type", wrong)


def every_type_is_declared(scenario: Scenario, vertices: pa.Table, edges: pa.Table) -> str:
    """Types that edges and symptoms name are declared."""
    named = {name for each in scenario.edges for name in (*each.from_.types, *each.to.types)}
    named |= {name for each in scenario.symptoms.values() for name in (*each.own, *each.derived)}
    return _told("types that the manifest uses and does not declare", sorted(named - set(scenario.vertices)))


def no_cycle_of_dependencies(scenario: Scenario, vertices: pa.Table, edges: pa.Table) -> str:
    """No element depends on itself through others."""
    topology = Topology(vertices, edges)
    remaining = topology.dependency_counts().copy()
    is_done = remaining == 0
    ready = np.flatnonzero(is_done)
    while len(ready):
        _, dependents = topology.every_dependent(ready)
        np.subtract.at(remaining, dependents, 1)
        is_done[ready] = True
        ready = np.flatnonzero((remaining == 0) & ~is_done)
    cyclic = [topology.ids[number] for number in np.flatnonzero(~is_done).tolist()]
    return _told("elements on a cycle of dependencies, or behind one", cyclic)


def every_row_has_a_time(scenario: Scenario, vertices: pa.Table, telemetry: dict[str, pa.Table]) -> str:
    """Every row of telemetry has a time and an entity."""
    missing = {
        name: table[declared.time].null_count + table[declared.entity].null_count
        for name, table in telemetry.items()
        for declared in [scenario.telemetry[name]]
    }
    return _told("containers with rows without time or entity", (name for name, count in missing.items() if count))


def metrics_are_finite(scenario: Scenario, vertices: pa.Table, telemetry: dict[str, pa.Table]) -> str:
    """No metric is infinite or not a number; a missing value is empty."""
    wrong = [
        f"{name}.{metric}"
        for name, table in telemetry.items()
        for metric in scenario.telemetry[name].metrics
        if not pc.all(pc.is_finite(pc.fill_null(table[metric].cast(pa.float64()), 0.0))).as_py()
    ]
    return _told("metrics with values that are no finite numbers", wrong)


def entities_exist(scenario: Scenario, vertices: pa.Table, telemetry: dict[str, pa.Table]) -> str:
    """Telemetry speaks of vertices of the network."""
    unknown: set[str] = set()
    for name, table in telemetry.items():
        ids = pc.unique(table[scenario.telemetry[name].entity])
        is_known = pc.is_in(ids, value_set=vertices["id"].combine_chunks())
        unknown.update(ids.filter(pc.invert(is_known)).drop_null().to_pylist())
    return _told("entities of telemetry that are no vertices", sorted(unknown))


def no_long_gaps(scenario: Scenario, vertices: pa.Table, telemetry: dict[str, pa.Table]) -> str:
    """Measurements go on without a pause of more than twelve of their usual intervals."""
    paused = []
    for name, table in telemetry.items():
        if scenario.telemetry[name].metrics:
            times = np.unique(table[scenario.telemetry[name].time].to_numpy())
            steps = np.diff(times).astype("int64")
            if len(steps) and steps.max() > _GAP * np.median(steps):
                paused.append(f"{name} after {times[steps.argmax()]}")
    return _told("pauses in measurements", paused)


def _told(what: str, wrong: Iterable[str]) -> str:
    examples = list(wrong)
    more = f" and {len(examples) - _SHOWN} more" if len(examples) > _SHOWN else ""
    return f"{what}: {', '.join(examples[:_SHOWN])}{more}" if examples else ""
