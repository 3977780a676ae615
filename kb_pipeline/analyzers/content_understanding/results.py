"""The answers of Content Understanding: status of an operation, contents, usage, and errors.

Format: REST API 2025-11-01, ``ContentAnalyzerAnalyzeOperationStatus``
(https://learn.microsoft.com/rest/api/contentunderstanding/content-analyzers/get-result). Requests do not belong here.
"""

import re
from collections.abc import Iterator, Mapping

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic.alias_generators import to_camel

from kb_pipeline.errors import KnowledgeBaseError, ServiceError, ServiceRefusedError, TransientError
from kb_pipeline.records import Usage
from kb_pipeline.services.service import Service

METER = "content-understanding"
"""Prefix of the names under which the meters of the service itself are counted and priced."""

_BUSY = re.compile(
    r"\b(429|rate ?limit\w*|too ?many ?requests|internal ?server ?error|service ?unavailable|time-?out|timed out)\b",
    re.I,
)
_FILTERED = re.compile(r"content[ _]?(filter|management policy)|ResponsibleAI", re.I)
_NO_MODEL = re.compile(r"model deployment|deployment or resource was not found|DeploymentNotFound|ResourceError", re.I)


class ContentFilteredError(ServiceError):
    """A content filter of the service's models refused the input."""


class _Answer(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", alias_generator=to_camel)


class AnalyzeProblem(_Answer):
    """An error as Microsoft's REST guidelines define it; the innermost error says most."""

    code: str = ""
    message: str = ""
    innererror: "AnalyzeProblem | None" = None

    def __str__(self) -> str:
        """All codes and messages, outermost first."""
        text = ": ".join(part for part in (self.code, self.message) if part)
        return f"{text}; {self.innererror}" if self.innererror else text


class FieldValue(_Answer):
    """A generated field: a text, or a list of fields."""

    value_string: str | None = None
    value_array: tuple["FieldValue", ...] | None = None


class MarkdownSpan(_Answer):
    """A piece of the markdown, in code points."""

    offset: int
    length: int


class AnalyzedPage(_Answer):
    """A page of a document; ``spans`` are its pieces of the markdown."""

    page_number: int
    spans: tuple[MarkdownSpan, ...] | None = None


class AnalyzedContent(_Answer):
    """One content of the input: a document or an image."""

    markdown: str | None = None
    fields: Mapping[str, FieldValue] | None = None
    pages: tuple[AnalyzedPage, ...] | None = None

    def page_texts(self) -> list[str]:
        """Return the markdown of each page; all of it at once if the pages do not cover its words."""
        markdown = self.markdown or ""
        texts = [
            "".join(markdown[span.offset : span.offset + span.length] for span in page.spans or ())
            for page in sorted(self.pages or (), key=lambda page: page.page_number)
        ]
        is_covered = "".join("".join(texts).split()) == "".join(markdown.split())
        return texts if texts and is_covered else [markdown]


class Analysis(_Answer):
    """The contents that an analysis returned."""

    contents: tuple[AnalyzedContent, ...] = ()


class Consumption(_Answer):
    """What an analysis is billed by: pages by kind, and tokens by ``<model>-input`` and ``<model>-output``."""

    document_pages_minimal: int | None = None
    document_pages_basic: int | None = None
    document_pages_standard: int | None = None
    contextualization_tokens: int | None = None
    tokens: Mapping[str, int] | None = None

    def usages(self) -> Iterator[Usage]:
        """Yield the usage of each model; the meters of the service itself count as models named after it."""
        pages = (self.document_pages_minimal, self.document_pages_basic, self.document_pages_standard)
        for kind, count in zip(("minimal", "basic", "standard"), pages, strict=True):
            if count:
                yield Usage(model=f"{METER}-{kind}", calls=1, pages=count)
        if self.contextualization_tokens:
            yield Usage(model=f"{METER}-context", calls=1, input_tokens=self.contextualization_tokens)
        tokens = self.tokens or {}
        for model in sorted({name.removesuffix("-output").removesuffix("-input") for name in tokens}):
            input_tokens = tokens.get(f"{model}-input", tokens.get(model, 0))
            output_tokens = tokens.get(f"{model}-output", 0)
            yield Usage(model=model, calls=1, input_tokens=input_tokens, output_tokens=output_tokens)


class Operation(_Answer):
    """A long-running operation; ``result`` is an analysis, or the analyzer that was created."""

    status: str
    error: AnalyzeProblem | None = None
    result: Mapping[str, object] | None = None
    usage: Consumption | None = None

    @property
    def is_running(self) -> bool:
        return self.status.lower() in ("notstarted", "running")

    @property
    def has_succeeded(self) -> bool:
        """Whether it succeeded; it may have no result all the same."""
        return self.status.lower() == "succeeded"


def read_operation(service: Service, body: bytes) -> Operation:
    """Read the status of an operation.

    Raises:
        TransientError: it is not JSON, probably because a gateway answered instead of the service.
        ServiceError: it is not what the service documents.
    """
    try:
        return Operation.model_validate_json(body)
    except ValidationError as exc:
        if exc.errors()[0]["type"] == "json_invalid":
            raise TransientError(f"{service.place} gave an answer that is not JSON; try again") from exc
        raise _unreadable(service, exc) from exc


def read_analysis(service: Service, operation: Operation) -> Analysis:
    """Read the result of a finished analysis, with at least one content.

    Raises:
        KnowledgeBaseError: the analysis failed, returned nothing, or returned what cannot be read.
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
    """Make the error for an empty analysis, which the service returns if a model is not registered."""
    return ServiceRefusedError(
        f"{service.place} found nothing, probably because a model that it needs is not registered; "
        "run: kb analyzers status"
    )


def failure_of(service: Service, operation: Operation) -> KnowledgeBaseError:
    """Make the error for a failed operation; its class depends on who can fix it."""
    reason = str(operation.error or f"no reason given (status {operation.status})")
    message = f"{service.place} failed: {service.words(reason)}"
    if _FILTERED.search(reason):
        return ContentFilteredError(f"{message} (a content filter)")
    if _BUSY.search(reason):
        return TransientError(f"{message}; try again")
    if _NO_MODEL.search(reason):
        return ServiceRefusedError(
            f"{message}; run: kb analyzers setup, and check that KB_OPENAI_DEPLOYMENTS names deployments of "
            "this resource"
        )
    return ServiceError(message)


def _unreadable(service: Service, error: ValidationError) -> ServiceError:
    first = error.errors(include_input=False)[0]
    field = ".".join(map(str, first["loc"]))
    return ServiceError(f"{service.place} gave an answer that its API does not document: {field}: {first['msg']}")
