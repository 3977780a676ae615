"""Which calls carry the trace: those to models and Azure's services do, those for pages of the web never do."""

import os
import subprocess
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from kb_pipeline_tests.collectors import ROOT, collecting

CALLS = """
import asyncio, sys
from contextlib import suppress
import httpx, httpx2
from azure.core.credentials import AzureKeyCredential
from azure.core.exceptions import AzureError
from azure.cosmos.aio import CosmosClient
from azure.search.documents import SearchClient
from opentelemetry import trace
from app.client.tracing import trace_calls
from kb_pipeline.services.web.limited import direct_transport, get
from kb_pipeline.telemetry.destinations import read_destinations
from kb_pipeline.telemetry.outgoing import trace_outgoing_calls
from kb_pipeline.telemetry.process import start

url, who = sys.argv[1:]
if who == "page":
    trace_calls("kb-app", record_content=False)
else:
    start(read_destinations(), "kb-agent", str, record_content=False)
    trace_outgoing_calls()

async def ask():
    async with httpx2.AsyncClient() as models:
        await models.get(f"{url}/model")
    with suppress(AzureError):
        async with CosmosClient(f"{url}/cosmos", "a2V5", retry_total=0):
            pass
    await get(direct_transport(), httpx.URL(f"{url}/web"), accept="*/*", seconds=9, most_bytes=99)

with trace.get_tracer("test").start_as_current_span("question"):
    with suppress(AzureError):
        SearchClient(f"{url}/search", "index", AzureKeyCredential("key"), retry_total=0).get_document_count()
    if who == "page":
        httpx.get(f"{url}/service")
    else:
        asyncio.run(ask())
"""


@pytest.fixture
def heard() -> Iterator[tuple[str, dict[str, str]]]:
    """A server's address, and the header of each call by the first part of its path."""
    traced: dict[str, str] = {}

    class Hear(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            traced[self.path.split("/")[1]] = self.headers.get("traceparent", "")
            self.send_response(401 if self.path.startswith("/cosmos") else 200)
            self.send_header("content-type", "text/plain")
            self.send_header("content-length", "1")
            self.end_headers()
            self.wfile.write(b"1")

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Hear)
    Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}", traced
    server.shutdown()


@pytest.mark.slow("starts the service and a collector")
def test_models_search_and_cosmos_are_told_the_trace_and_foreign_pages_are_not(
    heard: tuple[str, dict[str, str]], tmp_path: Path
) -> None:
    url, traced = heard
    with collecting("http", tmp_path) as collector:
        environment = {**os.environ, **collector.environment}
        subprocess.run([sys.executable, "-c", CALLS, url, "service"], cwd=ROOT, env=environment, check=True)
        (question,) = collector.spans("question")
    assert sorted(traced) == ["cosmos", "model", "search", "web"]
    assert traced.pop("web") == ""
    assert {header.split("-")[1] for header in traced.values()} == {question.trace_id.hex()}


@pytest.mark.slow("starts the service and a collector")
def test_the_page_tells_the_service_its_trace(heard: tuple[str, dict[str, str]], tmp_path: Path) -> None:
    url, traced = heard
    with collecting("grpc", tmp_path) as collector:
        environment = {**os.environ, **collector.environment}
        subprocess.run([sys.executable, "-c", CALLS, url, "page"], cwd=ROOT, env=environment, check=True)
        (question,) = collector.spans("question")
    assert traced["service"].split("-")[1] == question.trace_id.hex()
