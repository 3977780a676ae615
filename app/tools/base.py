"""The contract of all tools: a name, a JSON schema of the arguments, and a call that returns JSON and never raises.

Models, programs over HTTP and clients of MCP call the same tools. Here: what all share, which is checking the
arguments, the limit of time, what traces and the log tell about a call, and failures as values.
"""

import asyncio
import json
import logging
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from time import perf_counter
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, model_validator

from app.callers.principal import Principal
from app.library.retrieval import Retrieval
from app.logs.auditing import note, note_call
from app.logs.telemetry import tracing_tool
from app.tools.failures import ToolFailure, failure_of
from app.tools.image_links import ImageLinks
from kb_pipeline.records import SearchHit
from kb_pipeline.search.base import SearchFilter

SECONDS = 30.0
"""Longest time that a call may take."""

_NOBODY = Principal("nobody")
_log = logging.getLogger(__name__)


class Arguments(BaseModel):
    """Base of the arguments of a tool. Unknown names and values of other types are refused; ``null`` is no value."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    @model_validator(mode="before")
    @classmethod
    def _without_nulls(cls, given: object) -> object:
        """Leave out what is null, because models write out the optional arguments that they do not use."""
        return {name: value for name, value in given.items() if value is not None} if isinstance(given, dict) else given


@dataclass(frozen=True)
class ToolServices:
    """What tools may use. With ``record_content``, traces and the log tell queries and filters, which name people."""

    retrieval: Retrieval
    record_content: bool = False


@dataclass(frozen=True)
class ToolResult:
    """What a call found. ``value`` is the JSON for programs, without "success"; ``hits`` are what answers may cite.

    ``query`` and ``filters`` are what was searched for, for the trace; ``asker``, in which mode, if the call said it.
    """

    value: Mapping[str, Any]
    count: int
    hits: tuple[SearchHit, ...] = ()
    query: str = ""
    filters: SearchFilter | None = None
    failure: ToolFailure | None = None
    asker: Principal | None = None


ArgumentsT = TypeVar("ArgumentsT", bound=Arguments)


class Tool(ABC, Generic[ArgumentsT]):
    """A tool. Subclasses name it, describe it for a model, declare its arguments and run it."""

    name: str
    description: str
    arguments: type[ArgumentsT]
    operation: str = "search"
    """What a call does at the index, as traces name it."""
    seconds: float = SECONDS
    asker_decides: tuple[str, ...] = ()
    """Arguments that only the asker decides about: a model that answers somebody cannot give them."""

    def __init__(self, services: ToolServices) -> None:
        """Open nothing yet."""
        self.services = services
        self.retrieval = services.retrieval

    @property
    def place(self) -> str:
        """What a call looks into, as traces name it."""
        return self.retrieval.index_name

    @abstractmethod
    async def run(self, arguments: ArgumentsT, who: Principal) -> ToolResult:
        """Do the work, with checked ``arguments``, for the person who asks.

        Raises:
            ToolError: there is no result, and the caller can do something about it.
            KnowledgeBaseError: the index or another service failed.
        """

    @cached_property
    def parameters_schema(self) -> dict[str, Any]:
        """The JSON schema of the arguments, without references, as models and clients take it."""
        schema = self.arguments.model_json_schema()
        definitions = schema.pop("$defs", {})
        schema.pop("description", None)  # it is our docstring
        return _inlined(schema, definitions)

    @property
    def function_tool_schema(self) -> dict[str, Any]:
        """The tool as a function of OpenAI's chat completions."""
        function = {"name": self.name, "description": self.description, "parameters": self.parameters_schema}
        return {"type": "function", "function": function}

    async def execute(self, *, user_context: Principal | None = None, **arguments: Any) -> dict[str, Any]:
        """Call the tool: ``{"success": true, ...}``, or ``{"success": false, "error", "type", "hints"}``.

        ``user_context`` is the person who asks; without one, only what everybody may read is found. Whoever runs a
        program in this process runs the service, so results have scores.
        """
        return as_value(await self.call(arguments, replace(user_context or _NOBODY, is_operator=True)))

    async def call(
        self, arguments: object, who: Principal | None = None, links: ImageLinks | None = None
    ) -> ToolResult:
        """Call the tool with arguments that nobody has checked. A failure is in the outcome, it is not raised.

        ``links``: for a program that gets links to pictures.
        """
        asker = who or _NOBODY
        started = perf_counter()
        with tracing_tool(self.name, self.operation) as traced:
            try:
                async with asyncio.timeout(self.seconds):
                    outcome = await self.run(self.arguments.model_validate(arguments), asker)
                    if links:
                        value = await links.put_into(outcome.value, outcome.hits, asker)
                        outcome = replace(outcome, value=value)
                note(*(hit.chunk.article_id for hit in outcome.hits), text=outcome.query)
            except Exception as exc:
                outcome = ToolResult({}, 0, failure=failure_of(exc, self.name, self.parameters_schema, self.seconds))
                note_call("failed")
            told: dict[str, str | int | float] = {
                "azure_operation": self.operation,
                "result_count": outcome.count,
                "index_name": self.place,
                "search_latency_ms": round((perf_counter() - started) * 1000, 1),
            }
            if self.services.record_content:
                told["search_query"] = outcome.query
                told["filter_applied"] = self._filter_applied(outcome, asker)
            traced.set_attributes(told)
            self._log_call(told, outcome.failure)
        return outcome

    def _filter_applied(self, outcome: ToolResult, who: Principal) -> str:
        if outcome.filters is None:
            return ""
        applied = self.retrieval.visible_to(outcome.asker or who, outcome.filters)
        return applied.model_dump_json(exclude_none=True, exclude_defaults=True)

    def _log_call(self, told: Mapping[str, object], failure: ToolFailure | None) -> None:
        line = json.dumps({"tool": self.name, **told} | ({"type": failure.type} if failure else {}))
        _log.log(logging.WARNING if failure else logging.INFO, "tool call %s", line)


def as_value(outcome: ToolResult) -> dict[str, Any]:
    """The JSON value of a call."""
    if outcome.failure:
        return outcome.failure.value()
    return {"success": True, **outcome.value}


def _inlined(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> dict[str, Any]:
    """Return a schema with its references replaced, and without the titles that pydantic makes up."""
    if reference := schema.get("$ref"):
        others = {key: value for key, value in schema.items() if key != "$ref"}
        return _inlined({**definitions[reference.rpartition("/")[2]], **others}, definitions)
    made: dict[str, Any] = {}
    for key, value in schema.items():
        if key == "properties":
            made[key] = {name: _inlined(each, definitions) for name, each in value.items()}
        elif key == "anyOf":
            made[key] = [_inlined(each, definitions) for each in value]
        elif key == "items":
            made[key] = _inlined(value, definitions)
        elif key != "title" and not (key == "default" and value in ("", [])):  # no value is no default of a caller
            made[key] = value
    return made
