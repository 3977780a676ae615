"""What Content Understanding says about an operation, as far as we read it: status, contents, usage, what went wrong.

Format: REST API 2025-11-01, ``ContentAnalyzerAnalyzeOperationStatus``
(https://learn.microsoft.com/rest/api/contentunderstanding/content-analyzers/get-result). Not here: asking for it.
"""

import re
from collections.abc import Iterator, Mapping

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic.alias_generators import to_camel

from kb_pipeline.errors import KnowledgeBaseError, ServiceError, ServiceRefusedError, TransientError
from kb_pipeline.records import Usage
from kb_pipeline.services import Service

METER = "content-understanding"
"""Begins the names under which the service's own meters are counted and priced."""

_BUSY = re.compile(
    r"\b(429|rate ?limit\w*|too ?many ?requests|internal ?server ?error|service ?unavailable|time-?out|timed out)\b",
    re.I,
)
_FILTERED = re.compile(r"content[ _]?(filter|management policy)|ResponsibleAI", re.I)
_NO_MODEL = re.compile(r"model deployment|deployment or resource was not found|DeploymentNotFound|ResourceError", re.I)


class ContentFilteredError(ServiceError):
    """A content filter of the service's models refuses what it was given."""


class _Answer(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", alias_generator=to_camel)


class Problem(_Answer):
    """An error in the form of Microsoft's REST guidelines: the innermost says most."""

    code: str = ""
    message: str = ""
    innererror: "Problem | None" = None

    def __str__(self) -> str:
        """All codes and messages, from outside in."""
        said = ": ".join(part for part in (self.code, self.message) if part)
        return f"{said}; {self.innererror}" if self.innererror else said


class FieldValue(_Answer):
    """A generated field: a text, or a list of such fields."""

    value_string: str | None = None
    value_array: tuple["FieldValue", ...] | None = None


class Content(_Answer):
    """One content of the input: a document, or an image."""

    markdown: str | None = None
    fields: Mapping[str, FieldValue] | None = None


class Analysis(_Answer):
    """What an analysis found."""

    contents: tuple[Content, ...] = ()


class Consumption(_Answer):
    """What an analysis is billed by: pages by kind, tokens by ``<model>-input`` and ``<model>-output``."""

    document_pages_minimal: int | None = None
    document_pages_basic: int | None = None
    document_pages_standard: int | None = None
    contextualization_tokens: int | None = None
    tokens: Mapping[str, int] | None = None

    def usages(self) -> Iterator[Usage]:
        """The same by model; the service's own meters are named after it."""
        pages = (self.document_pages_minimal, self.document_pages_basic, self.document_pages_standard)
        for kind, count in zip(("minimal", "basic", "standard"), pages, strict=True):
            if count:
                yield Usage(model=f"{METER}-{kind}", calls=1, pages=count)
        if self.contextualization_tokens:
            yield Usage(model=f"{METER}-context", calls=1, input_tokens=self.contextualization_tokens)
        tokens = self.tokens or {}
        for model in sorted({name.removesuffix("-output").removesuffix("-input") for name in tokens}):
            read, written = tokens.get(f"{model}-input", tokens.get(model, 0)), tokens.get(f"{model}-output", 0)
            yield Usage(model=model, calls=1, input_tokens=read, output_tokens=written)


class Operation(_Answer):
    """A long-running operation; ``result`` is an analysis, or the analyzer that was made."""

    status: str
    error: Problem | None = None
    result: Mapping[str, object] | None = None
    usage: Consumption | None = None

    @property
    def is_running(self) -> bool:
        """Whether it has yet to end."""
        return self.status.lower() in ("notstarted", "running")

    @property
    def has_succeeded(self) -> bool:
        """Whether it ended well; there may be no result all the same."""
        return self.status.lower() == "succeeded"


def read_operation(service: Service, body: bytes) -> Operation:
    """Read the status of an operation.

    Raises:
        TransientError: it is no JSON, as what a gateway says in the service's place.
        ServiceError: it is not what the service documents.
    """
    try:
        return Operation.model_validate_json(body)
    except ValidationError as exc:
        if exc.errors()[0]["type"] == "json_invalid":
            raise TransientError(f"{service.place} answered no JSON; try again") from exc
        raise _unreadable(service, exc) from exc


def read_analysis(service: Service, operation: Operation) -> Analysis:
    """Read what a finished analysis found: at least one content.

    Raises:
        KnowledgeBaseError: the analysis failed, found nothing, or found what nobody can read.
    """
    if not operation.has_succeeded:
        raise failure_of(service, operation)
    try:
        analysis = Analysis.model_validate(operation.result or {})
    except ValidationError as exc:
        raise _unreadable(service, exc) from exc
    if not analysis.contents:
        raise found_nothing(service)
    return analysis


def found_nothing(service: Service) -> ServiceRefusedError:
    """The error for an analysis that gave nothing, as it does where a model is not registered."""
    return ServiceRefusedError(
        f"{service.place} found nothing, as it does where a model that it needs is not "
        "registered; run: kb analyzers status"
    )


def failure_of(service: Service, operation: Operation) -> KnowledgeBaseError:
    """The error for an operation that ended badly: who can mend it decides which."""
    said = str(operation.error or f"no reason given (status {operation.status})")
    told = f"{service.place} failed: {service.words(said)}"
    if _FILTERED.search(said):
        return ContentFilteredError(f"{told} (a content filter)")
    if _BUSY.search(said):
        return TransientError(f"{told}; try again")
    if _NO_MODEL.search(said):
        return ServiceRefusedError(
            f"{told}; run: kb analyzers setup, and check KB_OPENAI_DEPLOYMENTS against the deployments of the resource"
        )
    return ServiceError(told)


def _unreadable(service: Service, problem: ValidationError) -> ServiceError:
    first = problem.errors(include_input=False)[0]
    where = ".".join(map(str, first["loc"]))
    return ServiceError(f"{service.place} answered what its API does not document: {where}: {first['msg']}")
