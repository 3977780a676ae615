"""Response times of the agent service with 1, 8 and 32 concurrent clients, and a check that no answers are mixed up.

    python -m benchmarks.service --home KB_HOME [--staging KB_STAGING] [--questions FILE.jsonl] [--requests 200]
        [--out benchmarks/results/service.json]

The service runs as a process of its own on the given knowledge base (with a copy of its conversations in a temporary
folder); clients are threads of this process. Extractive: `/chat`, and `/v1/responses` streamed. With a model:
`/v1/responses` streamed with a scripted model that answers at once (`scripted_model.py`), so that the time to the first
token is all ours; for comparison, the same questions are sent to `/api/search`.
Every answer is compared with the answer to the same question from a single client.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from benchmarks.listening import wait_for
from benchmarks.measure import machine, memory_mb
from kb_pipeline_tests.ports import free_port

CLIENTS = (1, 8, 32)
QUESTIONS = tuple(
    f"How do I {what}?" for what in ("crop an image", "add a layer", "install a package", "publish a map")
)

Timing = tuple[float, float, str]
"""Seconds to the first word, seconds to the end, the answer."""
Ask = Callable[[httpx.Client, str], Timing]


def main() -> None:
    """Measure, print and store the figures."""
    arguments = _arguments()
    questions = _questions(arguments.questions)
    report: dict[str, Any] = {"machine": machine(), "rows": []}
    with tempfile.TemporaryDirectory(prefix="kb-service-") as folder:
        home = Path(folder) / "home"
        _borrow(arguments.home, home)
        with _service(home, arguments.staging) as (client, pid):
            report["chunks"] = client.get("/health").json()["index"]["chunks"]
            report["memory_mb_started"] = memory_mb(pid)
            for name, ask in (
                ("search only", _search),
                ("/chat extractive", _chat),
                ("/v1/responses extractive", _stream),
            ):
                report["rows"] += _measure(name, client, ask, questions, arguments.requests)
            report["memory_mb_after"] = memory_mb(pid)
        with _model() as url:
            for mode in ("retrieve-first", "agent"):
                model = {"KB_CHAT_MODEL": "scripted", "KB_CHAT_BASE_URL": url, "KB_ANSWERING": mode}
                with _service(home, arguments.staging, **model) as (client, pid):
                    report["rows"] += _measure(f"/v1/responses {mode}", client, _stream, questions, arguments.requests)
                    report[f"memory_mb_{mode}"] = memory_mb(pid)
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    arguments.out.write_text(json.dumps(report, indent=1) + "\n")
    arguments.out.with_suffix(".md").write_text(table(report))
    print(table(report))
    if any(row["wrong"] for row in report["rows"]):
        sys.exit("answers were lost or mixed up")


def _measure(
    name: str, client: httpx.Client, ask: Ask, questions: Sequence[str], requests: int
) -> list[dict[str, Any]]:
    expected = {question: ask(client, question)[2] for question in questions}
    rows = []
    for clients in CLIENTS:
        asked = [questions[place % len(questions)] for place in range(requests)]
        begun = time.perf_counter()
        with ThreadPoolExecutor(clients) as pool:
            timings = list(pool.map(lambda question: _tried(ask, client, question), asked))
        seconds = time.perf_counter() - begun
        wrong = sum(answer != expected[question] for question, (_, _, answer) in zip(asked, timings, strict=True))
        rows.append(
            {
                "what": name,
                "clients": clients,
                "requests": requests,
                "wrong": wrong,
                "first_p50_ms": _percentile([first for first, _, _ in timings], 50),
                "first_p95_ms": _percentile([first for first, _, _ in timings], 95),
                "whole_p50_ms": _percentile([whole for _, whole, _ in timings], 50),
                "whole_p95_ms": _percentile([whole for _, whole, _ in timings], 95),
                "per_second": round(requests / seconds, 1),
            }
        )
    return rows


def _tried(ask: Ask, client: httpx.Client, question: str) -> Timing:
    try:
        return ask(client, question)
    except (httpx.HTTPError, KeyError) as exc:
        return 0.0, 0.0, f"failed: {exc}"


def _search(client: httpx.Client, question: str) -> Timing:
    begun = time.perf_counter()
    found = client.get("/api/search", params={"q": question, "top": 5}).raise_for_status().json()["results"]
    seconds = time.perf_counter() - begun
    return seconds, seconds, " ".join(hit["chunk_id"] for hit in found)


def _chat(client: httpx.Client, question: str) -> Timing:
    begun = time.perf_counter()
    answer = client.post("/chat", json={"question": question}).raise_for_status().json()["answer"]
    seconds = time.perf_counter() - begun
    return seconds, seconds, answer


def _stream(client: httpx.Client, question: str) -> Timing:
    begun, first, text = time.perf_counter(), 0.0, ""
    asked = {"input": question, "stream": True}
    with client.stream("POST", "/v1/responses", json=asked) as reply:
        reply.raise_for_status()
        for line in reply.iter_lines():
            if not line.startswith("data: {"):
                continue
            event = json.loads(line[6:])
            if event["type"] == "response.output_text.delta":
                first = first or time.perf_counter() - begun
                text += event["delta"]
            elif event["type"] == "response.failed":
                return first, 0.0, f"failed: {event['response']['error']}"
    return first, time.perf_counter() - begun, text


def _percentile(seconds: Sequence[float], share: int) -> float:
    return round(1000 * statistics.quantiles(seconds, n=100, method="inclusive")[share - 1], 1)


def table(report: dict[str, Any]) -> str:
    """The figures as markdown."""
    lines = [
        f"# The agent service over {report['chunks']:,} chunks",
        "",
        f"{report['machine']['cpus']} cores ({report['machine']['processor']}), clients on the same machine.",
        "",
        "| what | clients | first word p50 ms | p95 | whole p50 ms | p95 | answers/s | lost or mixed up |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for row in report["rows"]:
        figures = (
            row["first_p50_ms"],
            row["first_p95_ms"],
            row["whole_p50_ms"],
            row["whole_p95_ms"],
            row["per_second"],
        )
        cells = " | ".join(f"{figure:,.1f}" for figure in figures)
        lines.append(f"| {row['what']} | {row['clients']} | {cells} | {row['wrong']} of {row['requests']} |")
    memory = ", ".join(
        f"{name.removeprefix('memory_mb_')} {value:,}"
        for name, value in report.items()
        if name.startswith("memory_mb_")
    )
    return "\n".join([*lines, "", f"Memory of the service (MB, proportional): {memory}.", ""])


def _borrow(home: Path, target: Path) -> None:
    """The same knowledge base with a copy of its conversations."""
    target.mkdir()
    for part in home.iterdir():
        if part.name.startswith("conversations.db"):
            continue
        (target / part.name).symlink_to(part.absolute())


@contextmanager
def _service(home: Path, staging: Path | None, **settings: str) -> Iterator[tuple[httpx.Client, int]]:
    port = free_port()
    clean = {key: value for key, value in os.environ.items() if not key.startswith("KB_")}
    environment = clean | {"KB_HOME": str(home), "KB_APP_PORT": str(port), **settings}
    if staging:
        environment["KB_STAGING"] = str(staging)
    process = subprocess.Popen([sys.executable, "-m", "app"], env=environment)
    try:
        limits = httpx.Limits(max_connections=max(CLIENTS), max_keepalive_connections=max(CLIENTS))
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=120, limits=limits) as client:
            wait_for(client, "/health", process)
            yield client, process.pid
    finally:
        process.terminate()
        process.wait(30)


@contextmanager
def _model() -> Iterator[str]:
    port = free_port()
    process = subprocess.Popen([sys.executable, "-m", "benchmarks.scripted_model", str(port)])
    try:
        with httpx.Client(base_url=f"http://127.0.0.1:{port}") as client:
            wait_for(client, "/", process)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        process.terminate()
        process.wait(30)


def _questions(path: Path | None) -> list[str]:
    """Questions with a unique word each, which the scripted model repeats."""
    asked = [json.loads(line)["question"] for line in path.read_text().splitlines()] if path else list(QUESTIONS)
    return [f"{question} nr{number}" for number, question in enumerate(asked)]


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--home", type=Path, required=True, help="the knowledge base")
    parser.add_argument("--staging", type=Path, help="its staging folder")
    parser.add_argument("--questions", type=Path, help='JSON lines with "question"')
    parser.add_argument("--requests", type=int, default=200, help="requests of each row")
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/service.json"))
    return parser.parse_args()


if __name__ == "__main__":
    main()
