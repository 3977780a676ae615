"""Starts traces, metrics and logs of a process that serves.

Logs are the records that it writes to stderr, with the trace in which they were written.
"""

import logging

from opentelemetry import metrics, trace
from opentelemetry.instrumentation.logging.handler import LoggingHandler
from opentelemetry.instrumentation.utils import is_instrumentation_enabled
from opentelemetry.sdk._logs import LoggerProvider

from kb_pipeline.telemetry import AUDIT, providers
from kb_pipeline.telemetry.destinations import Destinations
from kb_pipeline.telemetry.redaction import Hide

_ABOUT_SENDING = ("opentelemetry", "azure.monitor")
"""Loggers whose records are about records that could not be sent."""


def start(destinations: Destinations, service: str, hide: Hide, *, record_content: bool) -> None:
    """Send all signals of this process that have a destination. Call it once in a process.

    Raises:
        MissingExtraError: the exporter of a destination is not installed.
    """
    started: list[providers.Closable] = []
    if destinations.of("traces"):
        traces = providers.tracer_provider(destinations, service, hide, record_content=record_content)
        trace.set_tracer_provider(traces)
        started.append(traces)
    if destinations.of("metrics"):
        measured = providers.meter_provider(destinations, service)
        metrics.set_meter_provider(measured)
        started.append(measured)
    if destinations.of("logs"):
        logs = providers.logger_provider(destinations, service, hide)
        _send_logs(logs)
        started.append(logs)
    providers.send_the_rest_at_the_end(started)


def _send_logs(provider: LoggerProvider) -> None:
    handler = LoggingHandler(logger_provider=provider)
    handler.addFilter(_is_not_about_sending)
    logging.getLogger().addHandler(handler)
    audit = logging.getLogger(AUDIT)
    audit.setLevel(logging.INFO)
    audit.propagate = False
    audit.addHandler(handler)


def _is_not_about_sending(record: logging.LogRecord) -> bool:
    return is_instrumentation_enabled() and not record.name.startswith(_ABOUT_SENDING)
