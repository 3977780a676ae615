"""Failures of tools as values: what happened, of what type it is, and hints what to do. They are worded only here."""

import logging
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from app.errors import as_answer_error
from kb_pipeline.errors import IndexMissingError, KnowledgeBaseError, TransientError

_log = logging.getLogger(__name__)
_SHOWN = 80
"""Characters of a caller's own words that a message repeats."""


class ToolError(Exception):
    """A call has no result. ``type`` is for programs, ``hints`` say what to do, one thing each."""

    def __init__(self, message: str, type_: str, *hints: str) -> None:
        super().__init__(message)
        self.type = type_
        self.hints = hints


@dataclass(frozen=True)
class ToolFailure:
    """Why a call has no result."""

    error: str
    type: str
    hints: tuple[str, ...]

    def value(self) -> dict[str, Any]:
        """The failure as JSON."""
        return {"success": False, "error": self.error, "type": self.type, "hints": list(self.hints)}


def failure_of(error: Exception, tool: str, schema: Mapping[str, Any], seconds: float) -> ToolFailure:
    """The failure that an exception of a tool becomes; one that nobody expected is logged with its traceback."""
    match error:
        case ToolError():
            return ToolFailure(str(error), error.type, error.hints)
        case ValidationError():
            return _invalid(error, tool, schema)
        case TimeoutError():
            return ToolFailure(
                f"there was no answer within {seconds:g} s",
                "Timeout",
                ("call it again", "if this goes on, ask an administrator to run: kb check"),
            )
        case KnowledgeBaseError():
            return _of_service(error)
    _log.error("the tool %s failed unexpectedly", tool, exc_info=error)
    return ToolFailure(
        "something went wrong", "UnexpectedError", ("call it again", "the service's log has the details at this time")
    )


def _of_service(error: KnowledgeBaseError) -> ToolFailure:
    problem = as_answer_error(error)
    if isinstance(error, IndexMissingError):
        hints: tuple[str, ...] = ("an administrator builds the index with: kb ingest",)
    elif isinstance(error, TransientError):
        wait = f"in {problem.retry_after:g} s" if problem.retry_after else "in a while"
        hints = (f"call it again {wait}",)
    else:
        hints = ("ask an administrator to run: kb check",)
    return ToolFailure(str(problem), _type_of(error), hints)


def _type_of(error: KnowledgeBaseError) -> str:
    if isinstance(error, IndexMissingError):
        return "IndexMissing"
    if any(type(cause).__module__.startswith("azure.") for cause in _causes(error)):
        return "AzureSearchError"
    return "ServiceBusy" if isinstance(error, TransientError) else "SearchError"


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__


def _invalid(error: ValidationError, tool: str, schema: Mapping[str, Any]) -> ToolFailure:
    problems = error.errors(include_url=False, include_context=False)
    messages = dict.fromkeys(_message(problem["loc"], problem["type"], problem["msg"], schema) for problem in problems)
    hints = dict.fromkeys(hint for problem in problems for hint in _hints(problem["loc"], tool, schema))
    return ToolFailure("; ".join(messages), "InvalidArgument", tuple(hints))


Location = tuple[int | str, ...]


def _message(location: Location, kind: str, said: str, schema: Mapping[str, Any]) -> str:
    if not location:
        return "the arguments are not a JSON object"
    path = _known(location, schema)
    if kind == "extra_forbidden":
        what = "filter" if location[0] == "filters" else "argument"
        return f"there is no {what} {str(location[-1])[:_SHOWN]!r}"
    if kind == "missing":
        return f"{'.'.join(path)} is missing"
    return f"{'.'.join(path) or 'arguments'}: {said.removeprefix('Value error, ')}"


def _hints(location: Location, tool: str, schema: Mapping[str, Any]) -> Iterator[str]:
    path, node = _known(location, schema), _at(location, schema)
    if path and "description" in node:
        yield f"{'.'.join(path)}: {node['description']}"
    if names := node.get("properties"):
        yield f"{'filters' if path == ['filters'] else f'arguments of {tool}'}: {', '.join(names)}"


def _known(location: Location, schema: Mapping[str, Any]) -> list[str]:
    """Return the beginning of a location that the schema knows; the rest is how pydantic names what it tried."""
    path: list[str] = []
    for step in location:
        names = schema.get("properties", {})
        if step not in names:
            break
        path.append(str(step))
        schema = names[step]
    return path


def _at(location: Location, schema: Mapping[str, Any]) -> Mapping[str, Any]:
    node = schema
    for step in _known(location, schema):
        node = node["properties"][step]
    return node
