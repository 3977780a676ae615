"""What a process records is collected by a provider for each signal, and sent by threads of their own.

Nothing waits for a destination: what it does not take is dropped, and a process that ends gives it a few seconds.
"""

import os
import threading
from collections.abc import Iterable
from multiprocessing.util import Finalize
from typing import Protocol

from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import BatchLogRecordProcessor
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

import kb_pipeline
from kb_pipeline.telemetry.destinations import Destinations
from kb_pipeline.telemetry.exporters import exporters
from kb_pipeline.telemetry.redaction import Hide, LogRedactor, SpanRedactor

_LAST_SECONDS = 3.0
"""How long a process that ends waits until what it recorded last is sent."""


def tracer_provider(destinations: Destinations, service: str, hide: Hide, *, record_content: bool) -> TracerProvider:
    """A provider of tracers that exports spans without secrets."""
    provider = TracerProvider(resource=_resource(service), shutdown_on_exit=False)
    provider.add_span_processor(SpanRedactor(hide, record_content=record_content))
    for exporter in exporters(destinations, "traces"):
        provider.add_span_processor(BatchSpanProcessor(exporter))
    return provider


def meter_provider(destinations: Destinations, service: str) -> MeterProvider:
    """A provider of meters that exports what they measured every minute."""
    readers = [PeriodicExportingMetricReader(exporter) for exporter in exporters(destinations, "metrics")]
    return MeterProvider(readers, resource=_resource(service), shutdown_on_exit=False)


def logger_provider(destinations: Destinations, service: str, hide: Hide) -> LoggerProvider:
    """A provider of loggers that exports log records without secrets."""
    provider = LoggerProvider(resource=_resource(service), shutdown_on_exit=False)
    provider.add_log_record_processor(LogRedactor(hide))
    for exporter in exporters(destinations, "logs"):
        provider.add_log_record_processor(BatchLogRecordProcessor(exporter))
    return provider


def _resource(service: str) -> Resource:
    name = os.environ.get("OTEL_SERVICE_NAME") or service
    return Resource.create({"service.name": name, "service.version": kb_pipeline.__version__})


class Closable(Protocol):
    """A provider, which sends what it still has when it is shut down."""

    def shutdown(self) -> object: ...


def send_the_rest_at_the_end(providers: Iterable[Closable]) -> None:
    """When this process ends, let the providers send the rest, but do not wait long for a destination."""
    ending, sent = threading.Event(), threading.Event()

    def send() -> None:
        ending.wait()
        for provider in providers:
            provider.shutdown()
        sent.set()

    def finish() -> None:
        ending.set()
        sent.wait(_LAST_SECONDS)

    # the thread is started now, because none can be started while an interpreter ends
    threading.Thread(target=send, name="telemetry-end", daemon=True).start()
    Finalize(None, finish, exitpriority=0)  # unlike atexit, also at the end of a process of multiprocessing
