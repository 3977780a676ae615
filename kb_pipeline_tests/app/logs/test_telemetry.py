"""Traces, metrics and logs of the real service and the real page, as real collectors receive them."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from app.logs.telemetry import configure_telemetry
from kb_pipeline.errors import SettingsError
from kb_pipeline.settings import Settings
from kb_pipeline_tests.app.model_servers import Aimock
from kb_pipeline_tests.app.page.serving import ROOT, Place
from kb_pipeline_tests.collectors import Collector, attributes, collecting, wait_until
from kb_pipeline_tests.dagster_ui import browsing
from kb_pipeline_tests.ports import free_port
from kb_pipeline_tests.quoting_server import SECRET, quoting_server

QUESTION = "How do I crop a layer?"


@pytest.fixture
def collector(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Collector]:
    """By HTTP, unless a test asks for another way."""
    with collecting(getattr(request, "param", "http"), tmp_path) as collector:
        yield collector


def asked(url: str, question: str = QUESTION) -> dict[str, Any]:
    reply = httpx.post(f"{url}/chat", json={"question": question}, timeout=60)
    return dict(reply.raise_for_status().json())


def trace_of(*spans: Span) -> set[bytes]:
    return {span.trace_id for span in spans}


@pytest.mark.slow("starts the service and a collector")
@pytest.mark.parametrize(
    "collector", ["http", pytest.param("grpc", marks=pytest.mark.rare("as by http"))], indirect=True
)
def test_request_search_tool_model_call_and_vision_are_one_trace_without_content(
    collector: Collector, knowledge_base: Settings, tmp_path: Path, aimock: Aimock
) -> None:
    search = {"name": "search_knowledge_base", "arguments": '{"query": "crop a layer"}'}
    aimock.says(
        {"match": {"sequenceIndex": 0}, "response": {"toolCalls": [search]}},
        {"match": {"sequenceIndex": 1}, "response": {"content": "Choose Crop [Ref #1]."}},
    )
    model = {"KB_CHAT_MODEL": "m", "KB_CHAT_BASE_URL": aimock.base_url, "KB_JUDGE": "none"}
    place = Place(knowledge_base, tmp_path, **model, **collector.environment)
    with place.service_process() as url:
        httpx.get(f"{url}/api/search", params={"q": "crop"}).raise_for_status()
        asked(url)
        wait_until(lambda: collector.spans("POST /chat"))
        wait_until(lambda: "kb.vision.images" in collector.metrics())
    (request,) = collector.spans("POST /chat")
    _, searched = collector.spans("search knowledge base")
    assert attributes(searched.attributes)["kb.search.results"] > 0
    asking = [span for span in collector.spans("POST") if span.kind == Span.SPAN_KIND_CLIENT]
    assert len(asking) == 2
    assert len(trace_of(request, searched, *asking, *collector.spans("execute_tool"))) == 1
    calls = collector.spans("chat")
    assert len(calls) == 2
    assert all(attributes(call.attributes)["gen_ai.usage.input_tokens"] for call in calls)
    assert {"kb.search.duration", "kb.search.results", "kb.vision.bytes"} <= collector.metrics()
    assert "crop" not in collector.all().lower()


@pytest.mark.rare("a further start of the service")
def test_spans_are_named_by_their_route(collector: Collector, knowledge_base: Settings, tmp_path: Path) -> None:
    # /health is what waits for the start
    with Place(knowledge_base, tmp_path, **collector.environment).service_process() as url:
        httpx.get(f"{url}/readiness").raise_for_status()
        httpx.get(f"{url}/api/articles/layers").raise_for_status()
        httpx.get(f"{url}/api/articles/nowhere")
        wait_until(lambda: len(collector.spans("GET /api")) == 2)
    assert {span.name for span in collector.spans()} == {"GET /health", "GET /api/articles/{article_id}"}


@pytest.mark.rare("a further start of the service")
@pytest.mark.browser
def test_one_trace_leads_from_the_page_through_the_service_to_the_search(
    collector: Collector, knowledge_base: Settings, tmp_path: Path
) -> None:
    place = Place(knowledge_base, tmp_path, **collector.environment)
    with place.service_process(), place.page() as url, browsing(url) as page:
        page.goto("/")
        page.get_by_role("textbox", name="Ask a question").fill(QUESTION)
        page.get_by_role("textbox", name="Ask a question").press("Enter")
        wait_until(lambda: collector.spans("search knowledge base") and collector.spans("POST", "kb-app"))
        wait_until(lambda: collector.spans("POST /v1/responses", "kb-agent"))
    (sent,) = collector.spans("POST", "kb-app")
    (searched,) = collector.spans("search knowledge base", "kb-agent")
    (served,) = collector.spans("POST /v1/responses", "kb-agent")
    assert len(trace_of(sent, served, searched)) == 1
    assert served.parent_span_id == sent.span_id
    assert "crop" not in str(collector.spans()).lower().replace("crop.png", "")


@pytest.mark.rare("a further start of the service")
def test_content_is_recorded_where_that_is_asked_for(
    collector: Collector, knowledge_base: Settings, tmp_path: Path
) -> None:
    with Place(knowledge_base, tmp_path, KB_RECORD_CONTENT="true", **collector.environment).service_process() as url:
        asked(url)
        wait_until(lambda: collector.spans("search knowledge base"))
    (searched,) = collector.spans("search knowledge base")
    assert attributes(searched.attributes)["kb.search.query"] == QUESTION


@pytest.mark.slow("starts the service and a collector")
def test_what_the_service_logs_arrives_without_secrets(
    collector: Collector, knowledge_base: Settings, tmp_path: Path
) -> None:
    with quoting_server(401) as model:
        settings = {"KB_CHAT_MODEL": "m", "KB_CHAT_BASE_URL": f"{model}/v1", "KB_CHAT_API_KEY": SECRET}
        place = Place(knowledge_base, tmp_path, **settings, KB_RECORD_CONTENT="true", **collector.environment)
        with place.service_process() as url:
            quoted = httpx.post(f"{url}/chat?sv=1&sig={SECRET}", json={"question": QUESTION}, timeout=60)
            wait_until(lambda: collector.spans("POST /chat"))
            wait_until(lambda: collector.spans("chat"))
            wait_until(collector.logs)
    assert quoted.json()["answered_by"] == "extractive", "the model refused the key"
    assert "not with {" in str(collector.spans()), "the refusal is recorded"
    assert {record.severity_text for record in collector.logs()} <= {"WARN", "ERROR"}
    (request,) = collector.spans("POST /chat")
    assert request.trace_id in {record.trace_id for record in collector.logs()}
    assert SECRET not in collector.all() + quoted.text


@pytest.mark.rare("a further start of the service")
def test_a_collector_that_never_answers_delays_no_answer_and_no_end(knowledge_base: Settings, tmp_path: Path) -> None:
    with collecting("http", tmp_path, seconds=3600) as silent:
        with Place(knowledge_base, tmp_path, **silent.environment).service_process() as url:
            assert [asked(url)["citations"] for _ in range(3)]
        assert not silent.file.exists()  # and the service ended, although nothing was taken


@pytest.mark.rare("a further start of the service")
def test_a_collector_that_is_gone_breaks_no_answer(knowledge_base: Settings, tmp_path: Path) -> None:
    gone = {"OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{free_port()}", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}
    with Place(knowledge_base, tmp_path, **gone, OTEL_BSP_SCHEDULE_DELAY="100").service_process() as url:
        assert [asked(url)["citations"] for _ in range(3)]


@pytest.mark.parametrize("name", ["ENDPOINT", "TRACES_ENDPOINT", "METRICS_ENDPOINT", "LOGS_ENDPOINT"])
@pytest.mark.parametrize("address", ["http://me:planted@host:4318", "me:planted@host", "http://host/x?token=planted"])
def test_a_collectors_address_with_credentials_is_refused(
    monkeypatch: pytest.MonkeyPatch, name: str, address: str
) -> None:
    monkeypatch.setenv(f"OTEL_EXPORTER_OTLP_{name}", address)
    with pytest.raises(SettingsError, match=f"OTEL_EXPORTER_OTLP_{name}: .* OTEL_EXPORTER_OTLP_HEADERS") as refused:
        configure_telemetry(FastAPI(), record_content=False)
    assert "planted" not in str(refused.value)


WITHOUT = """
import sys
from app.client.tracing import trace_calls
from app.logs.telemetry import configure_telemetry
assert not configure_telemetry(None, record_content=False)
assert not trace_calls("kb-app", record_content=False)
print(sorted(name for name in sys.modules if name.startswith(("opentelemetry.sdk", "opentelemetry.exporter", "grpc"))))
"""


@pytest.mark.slow("starts the service and a collector")
def test_without_a_destination_nothing_is_sent_or_imported() -> None:
    ran = subprocess.run([sys.executable, "-c", WITHOUT], cwd=ROOT, capture_output=True, text=True, check=True)
    assert ran.stdout == "[]\n"
