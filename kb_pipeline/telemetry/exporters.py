"""The exporters for the destinations of a signal, imported only when there is one."""

import importlib
from collections.abc import Callable, Iterator
from typing import Any

from kb_pipeline.errors import SettingsError
from kb_pipeline.secrets import without_secrets
from kb_pipeline.telemetry.destinations import AZURE_MONITOR, Destinations, Signal

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
