"""Spans around calls to other services, which carry the header ``traceparent`` so that their spans join the trace.

It goes to models and Azure's services only. Pages of the web are fetched with ``httpx``, which is left as it is.
"""


def trace_outgoing_calls() -> None:
    """Trace what this process asks by ``httpx2``, which the SDKs of models use, and by Azure's SDKs."""
    from azure.core.settings import settings
    from azure.core.tracing.ext.opentelemetry_span import OpenTelemetrySpan
    from opentelemetry.instrumentation.httpx import HTTPX2ClientInstrumentor

    HTTPX2ClientInstrumentor().instrument()
    settings.tracing_implementation = OpenTelemetrySpan


def trace_calls_of_a_client() -> None:
    """Trace also what is asked by ``httpx``, in a process that fetches no pages of the web."""
    from opentelemetry.instrumentation.httpx import HTTPXClientInstrumentor

    HTTPXClientInstrumentor().instrument()
