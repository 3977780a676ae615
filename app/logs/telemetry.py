"""What the agent service measures of its own, for OpenTelemetry: requests, searches, tools, and images for models.

It is sent only if the environment names a destination (:mod:`kb_pipeline.telemetry`). FastAPI's instrumentation traces
requests, Agent Framework's agents, model calls and tools. This module adds searches and vision.
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from time import perf_counter
from typing import TYPE_CHECKING, Any

from opentelemetry import metrics, trace
from opentelemetry.trace import Span

from app.logs.redacting import hidden
from kb_pipeline.telemetry.destinations import read_destinations

if TYPE_CHECKING:
    from fastapi import FastAPI

_SERVICE = "kb-agent"
_RESPONSES = re.compile(r"(?:/v1)?/responses(?P<id>/[^/]+)?(?P<part>/cancel|/input_items)?")
_PROBES = "/readiness$"
"""Addresses that are not traced: a platform asks for them every few seconds."""

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
    """Send traces, metrics and logs to the destinations in the environment; returns whether there are any.

    Call it once in a process.

    Raises:
        MissingExtraError: the destination is Azure Monitor, and its exporter is not installed.
        SettingsError: an address contains credentials, which exporters would log, or a protocol is not known.
    """
    destinations = read_destinations()
    if not destinations:
        return False
    from agent_framework.observability import enable_instrumentation
    from opentelemetry.instrumentation.fastapi import FastAPIInstrumentor

    from kb_pipeline.telemetry.outgoing import trace_outgoing_calls
    from kb_pipeline.telemetry.process import start

    start(destinations, _SERVICE, hidden, record_content=record_content)
    trace_outgoing_calls()
    enable_instrumentation(enable_sensitive_data=record_content)
    FastAPIInstrumentor.instrument_app(
        app, exclude_spans=["receive", "send"], excluded_urls=_PROBES, server_request_hook=_name_responses
    )
    return True


def _name_responses(span: Span, scope: Mapping[str, Any]) -> None:
    """Name a request of the Responses protocol by its route; of what is mounted, the instrumentation sees the place."""
    if match := _RESPONSES.fullmatch(scope["path"]):
        response = "/{response_id}" if match["id"] else ""
        span.update_name(f"{scope['method']} /v1/responses{response}{match['part'] or ''}")
