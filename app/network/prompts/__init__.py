"""The prompts of the agents that investigate: files of this folder, filled with what a scenario and a backend have.

That of the graph explorer has parts: instructions, the scenario's schema, and the language of the backend.
"""

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from string import Template

from kb_pipeline.network.base import Language
from kb_pipeline.network.scenario import Scenario
from kb_pipeline.network.sql_names import sql_name

PROMPT_VERSION = "2"
"""Increase it whenever a change of these texts changes what a model does."""

FILES = (
    *("orchestrator_agent.md", "telemetry_agent.md", "runbook_kb_agent.md", "historical_ticket_agent.md"),
    *("graph_explorer/core_instructions.md", "graph_explorer/description.md"),
)
_RULE = "\n\n---\n\n"
_MOST_INSTANCES = 200
"""Elements that a prompt lists by name; in a larger network they are looked up."""

RECOVERY = """\
The run before this one failed: $reason

Go on where it stopped. What was found until then is below; do not ask for it again. Then write the situation report."""
NO_MORE_CALLS = "(no more calls: answer from what was found)"


@lru_cache
def read(name: str) -> str:
    """The text of a prompt file."""
    return (Path(__file__).parent / name).read_text(encoding="utf-8").strip()


def orchestrator(specialists: Sequence[tuple[str, str]]) -> str:
    """The prompt of the orchestrator, with the names and descriptions of those whom it asks."""
    return fill("orchestrator_agent.md", specialists="\n".join(f"- `{name}`: {text}" for name, text in specialists))


def graph_explorer(scenario: Scenario, language: Language, calls: int, instances: Sequence[tuple[str, str]]) -> str:
    """The prompt of the graph explorer; ``instances`` are the ids and types of all elements, listed if they are few."""
    examples = "\n".join(f"- `{example}`" for example in language.examples)
    told = f"# Language of query_graph: {language.name}\n\n{language.description}\n\nExamples:\n\n{examples}"
    return _RULE.join([fill("graph_explorer/core_instructions.md", calls=calls), schema(scenario, instances), told])


def schema(scenario: Scenario, instances: Sequence[tuple[str, str]] = ()) -> str:
    """The types of a scenario's vertices and edges, with their fields."""
    lines = ["# Schema", "", "Types of elements:", ""]
    for name, vertex in scenario.vertices.items():
        fields = f"; fields: {', '.join(vertex.fields)}" if vertex.fields else ""
        lines.append(f"- {name} ({vertex.kind}){fields}")
    lines += ["", "Edges, from what depends to what it depends on:", ""]
    for edge in scenario.edges:
        needs = ", fails only when all of them fail" if edge.needs == "any" else ""
        lines.append(f"- {' or '.join(edge.from_.types)} {edge.label} {' or '.join(edge.to.types)}{needs}")
    if 0 < len(instances) <= _MOST_INSTANCES:
        lines += ["", "All elements:", ""]
        for name in scenario.vertices:
            lines.append(f"- {name}: {', '.join(each for each, kind in instances if kind == name) or 'none'}")
    return "\n".join(lines)


def telemetry(scenario: Scenario, calls: int) -> str:
    """The prompt of the telemetry agent."""
    lines = []
    for name, container in scenario.telemetry.items():
        metrics = ", ".join(f"{sql_name(metric)} (gets worse {how})" for metric, how in container.metrics.items())
        other = f"metrics: {metrics}" if metrics else "alert_type, severity, message"
        columns = f"{sql_name(container.time)} (time), {sql_name(container.entity)} (id of the element), {other}"
        lines.append(f"- {sql_name(name)}: {columns}")
    return fill("telemetry_agent.md", containers="\n".join(lines) or "- none", calls=calls)


def fill(name: str, **values: object) -> str:
    """A prompt file with its names replaced."""
    return Template(read(name)).substitute({key: str(value) for key, value in values.items()})
