"""What a process records is collected by a provider for each signal, and sent by threads of their own.

Nothing waits for a destination: what it does not take is dropped, and a process that ends gives it a few seconds.
"""

import importlib
import os
import threading
from collections.abc import Callable, Iterable, Iterator
from multiprocessing.util import Finalize
from typing import Any, Protocol

from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import BatchLogRecordProcessor
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

import kb_pipeline
from kb_pipeline.errors import SettingsError
from kb_pipeline.secrets import without_secrets
from kb_pipeline.telemetry.destinations import AZURE_MONITOR, Destinations, Signal
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


_OTLP = {
    "traces": ("trace_exporter", "OTLPSpanExporter"),
    "metrics": ("metric_exporter", "OTLPMetricExporter"),
    "logs": ("_log_exporter", "OTLPLogExporter"),
}
_CONSOLE = {
    "traces": ("opentelemetry.sdk.trace.export", "ConsoleSpanExporter"),
    "metrics": ("opentelemetry.sdk.metrics.export", "ConsoleMetricExporter"),
    "logs": ("opentelemetry.sdk._logs.export", "ConsoleLogRecordExporter"),
}
_AZURE = {
    "traces": "AzureMonitorTraceExporter",
    "metrics": "AzureMonitorMetricExporter",
    "logs": "AzureMonitorLogExporter",
}


def exporters(destinations: Destinations, signal: Signal) -> Iterator[Any]:
    """An exporter of the signal for each destination that it has; nothing is sent yet.

    Raises:
        SettingsError: a variable of a destination is malformed.
    """
    try:
        if protocol := destinations.otlp.get(signal):
            module, name = _OTLP[signal]
            kind = "grpc" if protocol == "grpc" else "http"
            yield _found(f"opentelemetry.exporter.otlp.proto.{kind}.{module}", name)()
        if destinations.azure_monitor:
            from azure.monitor.opentelemetry import exporter

            yield getattr(exporter, _AZURE[signal])(connection_string=destinations.azure_monitor)
        if destinations.console:
            yield _found(*_CONSOLE[signal])()
    except (ValueError, OSError) as exc:
        why = without_secrets(str(exc))
        raise SettingsError(f"{signal} cannot be sent; check the OTEL_* variables and {AZURE_MONITOR}: {why}") from None


def _found(module: str, name: str) -> Callable[[], Any]:
    exporter: Callable[[], Any] = getattr(importlib.import_module(module), name)
    return exporter
