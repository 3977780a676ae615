"""Traces and metrics, as a real collector's port receives them from a real service."""

import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx
import pytest
from fastapi import FastAPI
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from app.telemetry import SpanRedactor, configure_telemetry
from kb_pipeline.errors import SettingsError
from kb_pipeline.settings import Settings
from kb_pipeline_tests.app.model_servers import Aimock
from kb_pipeline_tests.app.page.serving import Place
from kb_pipeline_tests.quoting_server import SECRET, quoting_server

QUESTION = "How do I crop a layer?"


class Collector:
    """Receives OTLP over HTTP (https://opentelemetry.io/docs/specs/otlp/)."""

    def __init__(self) -> None:
        self.spans: list[Span] = []
        self.metrics: set[str] = set()
        collector = self

        class Receive(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                if self.path == "/v1/traces":
                    for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
                        for scope in resource.scope_spans:
                            collector.spans.extend(scope.spans)
                elif self.path == "/v1/metrics":
                    for resource in ExportMetricsServiceRequest.FromString(body).resource_metrics:
                        for scope in resource.scope_metrics:
                            collector.metrics.update(metric.name for metric in scope.metrics)
                self.send_response(200)
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Receive)
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def named(self, beginning: str) -> list[Span]:
        return [span for span in self.spans if span.name.startswith(beginning)]

    def told(self) -> str:
        """All that spans say, errors included."""
        return str(self.spans)

    def environment(self) -> dict[str, str]:
        soon = {"OTEL_BSP_SCHEDULE_DELAY": "100", "OTEL_METRIC_EXPORT_INTERVAL": "300"}
        return {"OTEL_EXPORTER_OTLP_ENDPOINT": self.url, **soon}


@pytest.fixture
def collector() -> Iterator[Collector]:
    collector = Collector()
    threading.Thread(target=collector.server.serve_forever, daemon=True).start()
    yield collector
    collector.server.shutdown()


def wait_until(seen: Callable[[], object]) -> None:
    deadline = time.monotonic() + 15
    while not seen():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def attributes(span: Span) -> dict[str, object]:
    return {each.key: getattr(each.value, each.value.WhichOneof("value") or "string_value") for each in span.attributes}


def test_request_search_tool_model_call_and_vision_are_traced_without_their_content(
    collector: Collector, knowledge_base: Settings, tmp_path: Path, aimock: Aimock
) -> None:
    search = {"name": "search_knowledge_base", "arguments": '{"query": "crop a layer"}'}
    aimock.says(
        {"match": {"sequenceIndex": 0}, "response": {"toolCalls": [search]}},
        {"match": {"sequenceIndex": 1}, "response": {"content": "Choose Crop [Ref #1]."}},
    )
    model = {"KB_CHAT_MODEL": "m", "KB_CHAT_BASE_URL": aimock.base_url}
    place = Place(knowledge_base, tmp_path, **model, **collector.environment())
    with place.service() as url:
        httpx.get(f"{url}/api/search", params={"q": "crop"}).raise_for_status()
        httpx.post(f"{url}/chat", json={"question": QUESTION}, timeout=30).raise_for_status()
        wait_until(lambda: collector.named("POST /chat"))
        wait_until(lambda: "kb.vision.images" in collector.metrics)
    (request,) = collector.named("POST /chat")
    _, searched = collector.named("search knowledge base")
    assert attributes(searched)["kb.search.results"] > 0  # type: ignore[operator]
    assert len({span.trace_id for span in (request, searched, *collector.named("execute_tool"))}) == 1
    calls = collector.named("chat")
    assert len(calls) == 2
    assert all(attributes(call)["gen_ai.usage.input_tokens"] for call in calls)
    assert {"kb.search.duration", "kb.search.results", "kb.vision.bytes"} <= collector.metrics
    assert "crop" not in str(collector.spans).lower()


def test_content_is_recorded_where_that_is_asked_for(
    collector: Collector, knowledge_base: Settings, tmp_path: Path
) -> None:
    place = Place(knowledge_base, tmp_path, KB_RECORD_CONTENT="true", **collector.environment())
    with place.service() as url:
        httpx.post(f"{url}/chat", json={"question": QUESTION}, timeout=30).raise_for_status()
        wait_until(lambda: collector.named("search knowledge base"))
    (searched,) = collector.named("search knowledge base")
    assert attributes(searched)["kb.search.query"] == QUESTION


def test_no_secret_that_a_model_quotes_or_an_address_holds_is_in_a_span(
    collector: Collector, knowledge_base: Settings, tmp_path: Path
) -> None:
    with quoting_server(401) as model:
        settings = {"KB_CHAT_MODEL": "m", "KB_CHAT_BASE_URL": f"{model}/v1", "KB_CHAT_API_KEY": SECRET}
        place = Place(knowledge_base, tmp_path, **settings, KB_RECORD_CONTENT="true", **collector.environment())
        with place.service() as url:
            refused = httpx.post(f"{url}/chat?sv=1&sig={SECRET}", json={"question": QUESTION}, timeout=30)
            wait_until(lambda: collector.named("POST /chat"))
            wait_until(lambda: collector.named("chat"))
    assert refused.status_code == 502
    assert "not with {" in collector.told(), "the refusal is recorded"
    assert SECRET not in collector.told() + refused.text


def test_what_any_instrumentation_records_is_exported_without_secrets() -> None:
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    provider.add_span_processor(SpanRedactor())
    tracer = provider.get_tracer("test")
    with pytest.raises(OSError, match="planted"), tracer.start_as_current_span("GET") as span:
        span.set_attribute("url.full", "http://me:planted-secret@host/c?sv=1&sig=planted-secret")
        span.set_attribute("http.request.size", 7)
        raise OSError("http://me:planted-secret@host")
    (exported,) = exporter.get_finished_spans()
    assert exported.attributes == {"url.full": "http://me:***@host/c?sv=1&sig=***", "http.request.size": 7}
    assert exported.status.description == "OSError: http://me:***@host"
    (event,) = exported.events
    assert event.attributes
    assert event.attributes["exception.message"] == "http://me:***@host"
    assert "OSError: http://me:***@host" in str(event.attributes["exception.stacktrace"])


@pytest.mark.parametrize("name", ["ENDPOINT", "TRACES_ENDPOINT", "METRICS_ENDPOINT", "LOGS_ENDPOINT"])
@pytest.mark.parametrize("address", ["http://me:planted@host:4318", "me:planted@host", "http://host/x?token=planted"])
def test_a_collectors_address_with_credentials_is_refused(
    monkeypatch: pytest.MonkeyPatch, name: str, address: str
) -> None:
    monkeypatch.setenv(f"OTEL_EXPORTER_OTLP_{name}", address)
    with pytest.raises(SettingsError, match=f"OTEL_EXPORTER_OTLP_{name}: .* OTEL_EXPORTER_OTLP_HEADERS") as refused:
        configure_telemetry(FastAPI(), record_content=False)
    assert "planted" not in str(refused.value)


def test_nothing_is_sent_anywhere_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OTEL_EXPORTER_OTLP_ENDPOINT", "APPLICATIONINSIGHTS_CONNECTION_STRING", "ENABLE_CONSOLE_EXPORTERS"):
        monkeypatch.delenv(name, raising=False)
    assert configure_telemetry(None, record_content=False) is False  # type: ignore[arg-type]
