"""Collectors of OpenTelemetry, each a server of its own that keeps what it gets, over HTTP or gRPC.

``python -m kb_pipeline_tests.collectors http|grpc PORT FILE [SECONDS]``: SECONDS passes before each answer.
"""

import base64
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Lock
from typing import Any

import grpc
from opentelemetry.proto.collector.logs.v1 import logs_service_pb2 as logs
from opentelemetry.proto.collector.metrics.v1 import metrics_service_pb2 as metrics
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2 as traces
from opentelemetry.proto.common.v1.common_pb2 import KeyValue
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from kb_pipeline_tests.ports import free_port, wait_for_port

ROOT = Path(__file__).parents[1]
REQUESTS: dict[str, Any] = {
    "traces": traces.ExportTraceServiceRequest,
    "metrics": metrics.ExportMetricsServiceRequest,
    "logs": logs.ExportLogsServiceRequest,
}
SERVICES = {
    "traces": ("opentelemetry.proto.collector.trace.v1.TraceService", traces.ExportTraceServiceResponse),
    "metrics": ("opentelemetry.proto.collector.metrics.v1.MetricsService", metrics.ExportMetricsServiceResponse),
    "logs": ("opentelemetry.proto.collector.logs.v1.LogsService", logs.ExportLogsServiceResponse),
}


def attributes(pairs: Iterable[KeyValue]) -> dict[str, Any]:
    return {pair.key: getattr(pair.value, pair.value.WhichOneof("value") or "string_value") for pair in pairs}


@dataclass(frozen=True)
class Collector:
    """What a collector got, decoded with OpenTelemetry's own definitions."""

    kind: str
    port: int
    file: Path

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def environment(self) -> dict[str, str]:
        """Send to it, soon."""
        soon = {
            "OTEL_BSP_SCHEDULE_DELAY": "100",
            "OTEL_BLRP_SCHEDULE_DELAY": "100",
            "OTEL_METRIC_EXPORT_INTERVAL": "300",
        }
        protocol = "grpc" if self.kind == "grpc" else "http/protobuf"
        return {"OTEL_EXPORTER_OTLP_ENDPOINT": self.url, "OTEL_EXPORTER_OTLP_PROTOCOL": protocol, **soon}

    def got(self, signal: str) -> list[Any]:
        lines = self.file.read_text().splitlines() if self.file.exists() else []
        found = [json.loads(line) for line in lines]
        return [
            REQUESTS[signal].FromString(base64.b64decode(each["body"])) for each in found if each["signal"] == signal
        ]

    def spans(self, beginning: str = "", service: str = "") -> list[Span]:
        resources = [each for request in self.got("traces") for each in request.resource_spans]
        return [
            span
            for resource in resources
            if service in ("", attributes(resource.resource.attributes)["service.name"])
            for scope in resource.scope_spans
            for span in scope.spans
            if span.name.startswith(beginning)
        ]

    def metrics(self) -> set[str]:
        resources = [each for request in self.got("metrics") for each in request.resource_metrics]
        return {metric.name for resource in resources for scope in resource.scope_metrics for metric in scope.metrics}

    def logs(self) -> list[LogRecord]:
        resources = [each for request in self.got("logs") for each in request.resource_logs]
        return [record for resource in resources for scope in resource.scope_logs for record in scope.log_records]

    def all(self) -> str:
        """Everything that it got, as text."""
        return str([self.got(signal) for signal in REQUESTS])


@contextmanager
def collecting(kind: str, folder: Path, seconds: float = 0) -> Iterator[Collector]:
    """A collector as a process of its own."""
    collector = Collector(kind, free_port(), folder / f"{kind}.jsonl")
    command = [sys.executable, "-m", "kb_pipeline_tests.collectors", kind, str(collector.port), str(collector.file)]
    process = subprocess.Popen([*command, str(seconds)], cwd=ROOT)
    try:
        wait_for_port(collector.port, process)
        yield collector
    finally:
        process.kill()
        process.wait()


def wait_until(seen: Callable[[], object], seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not seen():
        assert time.monotonic() < deadline, "it did not arrive"
        time.sleep(0.05)


class Kept:
    """Writes what arrives to a file, one line for each request."""

    def __init__(self, file: Path, seconds: float) -> None:
        self._file, self._seconds, self._lock = file, seconds, Lock()

    def keep(self, signal: str, body: bytes) -> None:
        time.sleep(self._seconds)
        line = json.dumps({"signal": signal, "body": base64.b64encode(body).decode()})
        with self._lock, self._file.open("a") as file:
            file.write(f"{line}\n")


def serve_http(port: int, kept: Kept) -> None:
    """OTLP over HTTP (https://opentelemetry.io/docs/specs/otlp/#otlphttp)."""

    class Receive(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            kept.keep(self.path.removeprefix("/v1/"), self.rfile.read(int(self.headers["content-length"])))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    ThreadingHTTPServer(("127.0.0.1", port), Receive).serve_forever()


def serve_grpc(port: int, kept: Kept) -> None:
    """OTLP over gRPC (https://opentelemetry.io/docs/specs/otlp/#otlpgrpc)."""

    def handler(signal: str, answer: Any) -> grpc.RpcMethodHandler:
        def export(body: bytes, _: grpc.ServicerContext) -> bytes:
            kept.keep(signal, body)
            return answer().SerializeToString()  # type: ignore[no-any-return]

        return grpc.unary_unary_rpc_method_handler(export)

    server = grpc.server(ThreadPoolExecutor(8))
    for signal, (service, answer) in SERVICES.items():
        handlers = {"Export": handler(signal, answer)}
        server.add_generic_rpc_handlers([grpc.method_handlers_generic_handler(service, handlers)])
    assert server.add_insecure_port(f"127.0.0.1:{port}") == port
    server.start()
    server.wait_for_termination()


if __name__ == "__main__":
    _, kind, port, file, seconds = sys.argv
    serve = {"http": serve_http, "grpc": serve_grpc}[kind]
    serve(int(port), Kept(Path(file), float(seconds)))
