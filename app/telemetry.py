"""OpenTelemetry traces and metrics of the agent service, exported only if the environment names a destination.

Destinations: ``OTEL_EXPORTER_OTLP_ENDPOINT`` and its variants, ``APPLICATIONINSIGHTS_CONNECTION_STRING`` (with the
extra ``azure-monitor``), or the console with ``ENABLE_CONSOLE_EXPORTERS``. FastAPI's instrumentation traces requests,
and Agent Framework's traces agents, model calls and tools. This module adds searches and vision.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from time import perf_counter
from typing import TYPE_CHECKING, Any

from opentelemetry import metrics, trace
from opentelemetry.sdk.trace import Span as RecordingSpan
from opentelemetry.sdk.trace import SpanProcessor, TracerProvider
from opentelemetry.trace import Span, Status
from opentelemetry.util.types import AttributeValue

from kb_pipeline.errors import MissingExtraError, SettingsError
from kb_pipeline.secrets import credentials_in, without_secrets

if TYPE_CHECKING:
    from fastapi import FastAPI

_DESTINATIONS = (
    "OTEL_EXPORTER_OTLP_ENDPOINT",
    "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
    "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT",
    "OTEL_EXPORTER_OTLP_LOGS_ENDPOINT",
)
_AZURE_MONITOR = "APPLICATIONINSIGHTS_CONNECTION_STRING"
_CONSOLE = "ENABLE_CONSOLE_EXPORTERS"
_SERVICE = "kb-pipeline"

# both use the providers that are configured later, and do nothing until then
_tracer = trace.get_tracer(_SERVICE)
_meter = metrics.get_meter(_SERVICE)
_search_seconds = _meter.create_histogram("kb.search.duration", "s", "Time of a search, embedding included")
_search_results = _meter.create_histogram("kb.search.results", "{passage}", "Passages that a search found")
_vision_images = _meter.create_counter("kb.vision.images", "{image}", "Images that a model was shown")
_vision_bytes = _meter.create_counter("kb.vision.bytes", "By", "Their size")


class SearchTrace:
    """The span of a running search."""

    def __init__(self, span: Span) -> None:
        self._span = span
        self.found = 0

    def done(self, found: int) -> None:
        """Record the number of passages that were found."""
        self.found = found
        self._span.set_attribute("kb.search.results", found)


@contextmanager
def tracing_search(query: str, mode: str, top: int, *, record_content: bool) -> Iterator[SearchTrace]:
    """A span and metrics around a search; the query is recorded only with ``record_content``."""
    attributes: dict[str, Any] = {"kb.search.mode": mode, "kb.search.top": top}
    with _tracer.start_as_current_span("search knowledge base", attributes=attributes) as span:
        if record_content:
            span.set_attribute("kb.search.query", query)
        start = perf_counter()
        search = SearchTrace(span)
        try:
            yield search
        finally:
            _search_seconds.record(perf_counter() - start, {"kb.search.mode": mode})
            _search_results.record(search.found, {"kb.search.mode": mode})


@contextmanager
def tracing_tool(name: str, operation: str) -> Iterator[Span]:
    """A span around the call of a tool, to be given what it found."""
    attributes = {"kb.tool.name": name, "azure_operation": operation}
    with _tracer.start_as_current_span(f"call tool {name}", attributes=attributes) as span:
        yield span


def record_vision(images: int, size: int) -> None:
    """Record images of ``size`` bytes in total that are sent to a model."""
    _vision_images.add(images)
    _vision_bytes.add(size)
    span = trace.get_current_span()
    span.set_attribute("kb.vision.images", images)
    span.set_attribute("kb.vision.bytes", size)


def configure_telemetry(app: "FastAPI", *, record_content: bool) -> bool:
    """Export traces and metrics to the destinations in the environment; returns whether there are any.

    Call it once in a process.

    Raises:
        MissingExtraError: the destination is Azure Monitor, and its exporter is not installed.
        SettingsError: an address contains credentials, which exporters would log.
    """
    to_console = os.environ.get(_CONSOLE, "").lower() in ("true", "1", "yes", "on")
    if not to_console and not any(os.environ.get(name) for name in (*_DESTINATIONS, _AZURE_MONITOR)):
        return False
    for name in _DESTINATIONS:
        if credentials := credentials_in(os.environ.get(name, "")):
            raise SettingsError(
                f"{name}: the address contains {credentials}, which exporters would log; set "
                "OTEL_EXPORTER_OTLP_HEADERS (authorization=Basic%20...)"
            )
    from agent_framework.observability import configure_otel_providers
    from opentelemetry.instrumentation.fastapi import FastAPIInstrumentor

    configure_otel_providers(
        service_name=os.environ.get("OTEL_SERVICE_NAME", _SERVICE),
        otlp_protocol=os.environ.get("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf"),
        enable_sensitive_data=record_content,
        exporters=_azure_monitor(os.environ.get(_AZURE_MONITOR)),
    )
    provider = trace.get_tracer_provider()
    if isinstance(provider, TracerProvider):  # not if only metrics are exported
        provider.add_span_processor(SpanRedactor())
    hook = None if record_content else _without_query
    FastAPIInstrumentor.instrument_app(app, exclude_spans=["receive", "send"], server_request_hook=hook)
    return True


class SpanRedactor(SpanProcessor):
    """Hides secrets in spans before they are exported, because instrumentations record addresses and foreign errors.

    The SDK has no public hook for this: an ended span cannot be changed through its methods, and Agent Framework makes
    the exporters. `_on_ending` is called before every exporter's `on_end`.
    """

    def _on_ending(self, span: RecordingSpan) -> None:
        attributes = span.attributes or {}
        span._attributes = {**attributes, **_hidden(attributes)}
        description = span.status.description
        if description and without_secrets(description) != description:
            span._status = Status(span.status.status_code, without_secrets(description))
        for event in span.events:
            attributes = event.attributes or {}
            event._attributes = {**attributes, **_hidden(attributes)}


def _hidden(attributes: Mapping[str, AttributeValue]) -> dict[str, str]:
    """The attributes that contain a secret, with the secret hidden."""
    texts = {name: value for name, value in attributes.items() if isinstance(value, str)}
    return {name: hidden for name, text in texts.items() if (hidden := without_secrets(text)) != text}


def _without_query(span: Span, scope: Mapping[str, Any]) -> None:
    """Remove the query from recorded addresses, because it contains search terms."""
    for name in ("http.url", "http.target", "url.full", "url.query"):
        value = getattr(span, "attributes", {}).get(name)
        if isinstance(value, str):
            span.set_attribute(name, "" if name == "url.query" else value.partition("?")[0])


def _azure_monitor(connection: str | None) -> list[Any]:
    if not connection:
        return []
    try:
        from azure.monitor.opentelemetry.exporter import AzureMonitorMetricExporter, AzureMonitorTraceExporter
    except ImportError as exc:
        raise MissingExtraError(_AZURE_MONITOR, "azure-monitor") from exc
    return [
        AzureMonitorTraceExporter(connection_string=connection),
        AzureMonitorMetricExporter(connection_string=connection),
    ]
