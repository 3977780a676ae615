"""Traces and metrics of the agent service, by OpenTelemetry. Nothing leaves the process unless a setting says where to.

Where: ``OTEL_EXPORTER_OTLP_ENDPOINT`` (and its kin), ``APPLICATIONINSIGHTS_CONNECTION_STRING`` (with the extra
``azure-monitor``), or the console by ``ENABLE_CONSOLE_EXPORTERS``. Requests are traced by FastAPI's instrumentation,
agents, model calls (tokens) and tools by Agent Framework's; here is what they cannot know: searches and vision.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from time import perf_counter
from typing import TYPE_CHECKING, Any

from opentelemetry import metrics, trace
from opentelemetry.trace import Span

from kb_pipeline.errors import MissingExtraError

if TYPE_CHECKING:
    from fastapi import FastAPI

_DESTINATIONS = (
    "OTEL_EXPORTER_OTLP_ENDPOINT",
    "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
    "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT",
)
_AZURE_MONITOR = "APPLICATIONINSIGHTS_CONNECTION_STRING"
_CONSOLE = "ENABLE_CONSOLE_EXPORTERS"
_SERVICE = "kb-pipeline"

# both follow the providers that are set later, and do nothing while there are none
_tracer = trace.get_tracer(_SERVICE)
_meter = metrics.get_meter(_SERVICE)
_search_seconds = _meter.create_histogram("kb.search.duration", "s", "Time of a search, embedding included")
_search_results = _meter.create_histogram("kb.search.results", "{passage}", "Passages that a search found")
_vision_images = _meter.create_counter("kb.vision.images", "{image}", "Images that a model was shown")
_vision_bytes = _meter.create_counter("kb.vision.bytes", "By", "Their size")


class SearchTrace:
    """A search under way."""

    def __init__(self, span: Span) -> None:
        self._span = span
        self.found = 0

    def done(self, found: int) -> None:
        """Say how many passages were found."""
        self.found = found
        self._span.set_attribute("kb.search.results", found)


@contextmanager
def tracing_search(query: str, mode: str, top: int, *, record_content: bool) -> Iterator[SearchTrace]:
    """A span and metrics around a search; the words themselves only where that was asked for."""
    attributes: dict[str, Any] = {"kb.search.mode": mode, "kb.search.top": top}
    with _tracer.start_as_current_span("search knowledge base", attributes=attributes) as span:
        if record_content:
            span.set_attribute("kb.search.query", query)
        begun = perf_counter()
        search = SearchTrace(span)
        try:
            yield search
        finally:
            _search_seconds.record(perf_counter() - begun, {"kb.search.mode": mode})
            _search_results.record(search.found, {"kb.search.mode": mode})


def record_vision(images: int, size: int) -> None:
    """Images of ``size`` bytes together go to a model."""
    _vision_images.add(images)
    _vision_bytes.add(size)
    span = trace.get_current_span()
    span.set_attribute("kb.vision.images", images)
    span.set_attribute("kb.vision.bytes", size)


def configure_telemetry(app: "FastAPI", *, record_content: bool) -> bool:
    """Send traces and metrics where the environment says; once in a process. Returns whether it says anything.

    Raises:
        MissingExtraError: they are to go to Azure Monitor, and its exporter is not installed.
    """
    to_console = os.environ.get(_CONSOLE, "").lower() in ("true", "1", "yes", "on")
    if not to_console and not any(os.environ.get(name) for name in (*_DESTINATIONS, _AZURE_MONITOR)):
        return False
    from agent_framework.observability import configure_otel_providers
    from opentelemetry.instrumentation.fastapi import FastAPIInstrumentor

    configure_otel_providers(
        service_name=os.environ.get("OTEL_SERVICE_NAME", _SERVICE),
        otlp_protocol=os.environ.get("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf"),
        enable_sensitive_data=record_content,
        exporters=_azure_monitor(os.environ.get(_AZURE_MONITOR)),
    )
    hook = None if record_content else _without_query
    FastAPIInstrumentor.instrument_app(app, exclude_spans=["receive", "send"], server_request_hook=hook)
    return True


def _without_query(span: Span, scope: Mapping[str, Any]) -> None:
    """What is searched for stands in the address."""
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
