"""How to ask the network, worded for models: what the queries are, with examples, and OpenAPI 3.0.3 for outside agents.

Everything is made from the backend and the scenario, so that a new backend or scenario needs no text of its own.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from app.schema.network import GraphQueryRequest, GraphQueryResponse, TelemetryQueryRequest, TelemetryQueryResponse
from kb_pipeline.network.sql_names import sql_name

if TYPE_CHECKING:
    from kb_pipeline.network.base import Language
    from kb_pipeline.network.scenario import Scenario

READ_ERRORS = (
    "If `error` in the answer is not null, the query was not answered: read it, correct the query, and try again."
)
_SCHEMAS = "#/components/schemas/"


def graph_description(language: "Language", scenario: "Scenario") -> str:
    """What a query of the graph is on this backend, and what this network has."""
    types = ", ".join(
        f"{name} ({each.kind}{f'; {fields}' if (fields := ', '.join(each.fields)) else ''})"
        for name, each in scenario.vertices.items()
    )
    edges = "; ".join(
        f"{each.label}: {'|'.join(each.from_.types)} to {'|'.join(each.to.types)}" for each in scenario.edges
    )
    return (
        f"Query the topology graph of {scenario.title} in {language.name}. {language.description}\n"
        f"Types of vertices: {types}.\n"
        f"Edges, each from what depends to what it depends on: {edges}.\n"
        f"{_examples(language.examples)}{READ_ERRORS}"
    )


def telemetry_description(scenario: "Scenario") -> str:
    """What a query of telemetry is, and which containers there are."""
    containers = "; ".join(
        f"{sql_name(name)} ({', '.join(map(sql_name, columns))})"
        for name, each in scenario.telemetry.items()
        for columns in [(each.time, each.entity, *(each.metrics or ("alert_type", "severity", "message")))]
    )
    examples = telemetry_examples(scenario)
    return (
        "Query alerts and measurements with one SELECT of SQL, in which the name after FROM is the container. "  # noqa: S608
        f"Times are ISO 8601, in {scenario.time_zone}.\n"
        f"Containers, with their columns: {containers or 'none'}.\n"
        f"{_examples(examples)}{READ_ERRORS}"
    )


def telemetry_examples(scenario: "Scenario") -> tuple[str, ...]:
    """A query of each container that every backend answers."""
    return tuple(
        f"SELECT {table}.{sql_name(each.time)}, {table}.{sql_name(column)} FROM {table} "  # noqa: S608
        f"WHERE {table}.{sql_name(each.entity)} = 'ID'"
        for name, each in scenario.telemetry.items()
        for table in [sql_name(name)]
        for column in list(each.metrics or ("alert_type",))[:1]
    )


def _examples(examples: tuple[str, ...]) -> str:
    return f"Examples: {' | '.join(examples)}\n" if examples else ""


def openapi_document(
    language: "Language", scenario: "Scenario", url: str, *, signs_in: bool, is_one_of_several: bool = False
) -> dict[str, Any]:
    """OpenAPI 3.0.3 of the queries, from which outside agents make their tools. ``signs_in``: with a bearer token.

    ``is_one_of_several``: each query names the scenario.
    """
    telemetry_example = next(iter(telemetry_examples(scenario)), "")
    graph_example = next(iter(language.examples), "")
    document: dict[str, Any] = {
        "openapi": "3.0.3",
        "info": {
            "title": f"Queries of {scenario.title}",
            "version": str(scenario.version),
            "description": "The topology graph and the telemetry of a network.",
        },
        "servers": [{"url": url.rstrip("/")}],
        "paths": {
            "/query/graph": _path(
                "query_graph", graph_description(language, scenario), graph_example, GraphQueryRequest,
                GraphQueryResponse,
            ),
            "/query/telemetry": _path(
                "query_telemetry", telemetry_description(scenario), telemetry_example, TelemetryQueryRequest,
                TelemetryQueryResponse,
            ),
        },
        "components": {"schemas": {}},
    }  # fmt: skip
    for model, mode in (
        (GraphQueryRequest, "validation"),
        (GraphQueryResponse, "serialization"),
        (TelemetryQueryRequest, "validation"),
        (TelemetryQueryResponse, "serialization"),
    ):
        schema = model.model_json_schema(ref_template=f"{_SCHEMAS}{{model}}", mode=mode)  # type: ignore[arg-type]
        made = {**schema.pop("$defs", {}), model.__name__: schema}
        document["components"]["schemas"] |= {name: _as_of_3_0(each) for name, each in made.items()}
    if is_one_of_several:
        which = {"name": "scenario", "in": "query", "required": True, "schema": {"type": "string"}}
        which["schema"] = {"type": "string", "enum": [scenario.name]}
        for path in document["paths"].values():
            path["post"]["parameters"] = [which]
    if signs_in:
        document["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
        document["security"] = [{"token": []}]
    return document


def _path(
    operation: str, description: str, example: str, asked: type[BaseModel], answered: type[BaseModel]
) -> dict[str, Any]:
    return {
        "post": {
            "operationId": operation,
            "summary": description.partition("\n")[0][:300],
            "description": description,
            "requestBody": {
                "required": True,
                "content": {
                    "application/json": {
                        "schema": {"$ref": f"{_SCHEMAS}{asked.__name__}"},
                        "example": {"query": example},
                    }
                },
            },
            "responses": {
                "200": {
                    "description": f"The answer. {READ_ERRORS}",
                    "content": {"application/json": {"schema": {"$ref": f"{_SCHEMAS}{answered.__name__}"}}},
                }
            },
        }
    }


def _as_of_3_0(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A JSON schema in the words of OpenAPI 3.0: what may be null is ``nullable``."""
    made: dict[str, Any] = {}
    for key, value in schema.items():
        if key == "anyOf" and {"type": "null"} in value:
            (other,) = [each for each in value if each != {"type": "null"}]
            made |= {**_as_of_3_0(other), "nullable": True}
        elif key == "properties":
            made[key] = {name: _as_of_3_0(each) for name, each in value.items()}
        elif key == "items":
            made[key] = _as_of_3_0(value)
        elif key not in ("title", "default"):
            made[key] = value
    return made
