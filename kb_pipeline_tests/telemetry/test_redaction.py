"""What any library records is exported without secrets, and without search terms unless they may be recorded."""

import logging

import pytest
from opentelemetry.instrumentation.logging.handler import LoggingHandler
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import InMemoryLogRecordExporter, SimpleLogRecordProcessor
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from kb_pipeline.telemetry.redaction import LogRedactor, SpanRedactor

ADDRESS = "http://me:planted-secret@host/c?sv=1&sig=planted-secret"


def test_spans_hold_no_secret() -> None:
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    provider.add_span_processor(SpanRedactor())
    tracer = provider.get_tracer("test")
    with pytest.raises(OSError, match="planted"), tracer.start_as_current_span("GET") as span:
        span.set_attribute("url.full", ADDRESS)
        span.set_attribute("http.request.size", 7)
        span.set_attribute("http.request.header.authorization", ["Bearer planted-secret-planted-secret"])
        raise OSError("http://me:planted-secret@host")
    (exported,) = exporter.get_finished_spans()
    assert exported.attributes == {
        "url.full": "http://me:***@host/c?sv=1&sig=***",
        "http.request.size": 7,
        "http.request.header.authorization": ["***"],
    }
    assert exported.status.description == "OSError: http://me:***@host"
    (event,) = exported.events
    assert event.attributes
    assert event.attributes["exception.message"] == "http://me:***@host"
    assert "OSError: http://me:***@host" in str(event.attributes["exception.stacktrace"])


@pytest.mark.parametrize("name", ["http.url", "http.target", "url.full"])
def test_what_was_searched_for_is_in_no_address_unless_content_is_recorded(name: str) -> None:
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SpanRedactor(record_content=False))
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    attributes = {name: "http://host/api/search?q=salary", "url.query": "q=salary"}
    provider.get_tracer("test").start_span("GET", attributes=attributes).end()
    (exported,) = exporter.get_finished_spans()
    assert exported.attributes == {name: "http://host/api/search", "url.query": ""}


def test_log_records_hold_no_secret_in_text_attributes_or_stack_trace() -> None:
    exporter = InMemoryLogRecordExporter()
    provider = LoggerProvider()
    provider.add_log_record_processor(LogRedactor())
    provider.add_log_record_processor(SimpleLogRecordProcessor(exporter))
    log = logging.Logger("test")
    log.addHandler(LoggingHandler(logger_provider=provider))
    try:
        raise OSError(ADDRESS)
    except OSError:
        log.exception("cannot open %s", ADDRESS, extra={"places": [ADDRESS, {"in": ADDRESS}], "tries": 3})
    (exported,) = exporter.get_finished_logs()
    record = exported.log_record
    assert record.body == "cannot open http://me:***@host/c?sv=1&sig=***"
    assert record.attributes
    assert record.attributes["tries"] == 3
    assert "OSError: http://me:***@host/c" in str(record.attributes["exception.stacktrace"])
    assert "planted" not in str(record.attributes)
