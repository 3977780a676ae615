"""Readers who leave in the middle of an investigation with a model: its calls end, and nothing of it stays behind."""

import asyncio
import gc
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import duckdb
import httpx
import psutil
import pytest
from starlette.responses import Response, StreamingResponse

from app.client.network import read_events
from kb_pipeline.network.local.query_processes import QueryProcesses
from kb_pipeline_tests.app.api.networks import STORM, client_of, with_network
from kb_pipeline_tests.app.model_servers import chunk
from kb_pipeline_tests.app.network.scripted_model import ScriptedModel, Turn

ROUNDS = 2
AT_ONCE = 4
POOLED = 5
"""By so much threads and processes that are kept for later may grow; whatever leaks grows by eight."""
SLOW = "SELECT count(*) FROM link_metrics a, link_metrics b, link_metrics c WHERE a.latency_ms < b.latency_ms"


class Endless:
    """A model that asks, or writes without end, and knows how many of its answers are being read."""

    def __init__(self) -> None:
        self.under_way = 0
        self._lock = threading.Lock()

    def write(self, _: dict[str, Any]) -> Response:
        return StreamingResponse(self._words(), media_type="text/event-stream")

    async def _words(self) -> AsyncIterator[str]:
        with self._lock:
            self.under_way += 1
        try:
            while True:
                yield chunk("word ")
                await asyncio.sleep(0.05)
        finally:
            with self._lock:
                self.under_way -= 1


class AlwaysTheSame(ScriptedModel):
    """A model whose agents do the same in every investigation."""

    def __init__(self, **turns: Turn) -> None:
        super().__init__(**{agent: [turn] * 1000 for agent, turn in turns.items()})


def eventually(is_so: Callable[[], bool], seconds: float = 60) -> bool:
    deadline = time.monotonic() + seconds
    while not is_so() and time.monotonic() < deadline:
        time.sleep(0.02)
    return is_so()


def held() -> dict[str, int]:
    """What this process has: tasks under way, cursors of the database, descriptors, threads, child processes."""
    gc.collect()
    process = psutil.Process()
    objects = gc.get_objects()
    return {
        "tasks": sum(isinstance(each, asyncio.Task) and not each.done() for each in objects),
        "cursors": sum(isinstance(each, duckdb.DuckDBPyConnection) for each in objects),
        "descriptors": process.num_fds(),
        "threads": process.num_threads(),
        "processes": len(process.children(recursive=True)),
    }


def settled() -> dict[str, int]:
    """What is held once connections to the model are closed and processes are ready again: it changes no more."""
    looks = [held()]
    while len(looks) < 4 or any(look != looks[-1] for look in looks[-4:]):
        time.sleep(0.2)
        looks.append(held())
    return looks[-1]


@pytest.fixture(autouse=True)
def _freeze_what_is_loaded() -> None:
    """Objects are counted again and again; to look at all that is loaded by now took most of the time."""
    gc.collect()
    gc.freeze()


@pytest.fixture
def queries_of(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], int]]:
    """How many queries of processes are under way."""
    asked: set[int] = set()
    answer = QueryProcesses.answer

    def counted(self: QueryProcesses, *arguments: Any) -> Any:
        asked.add(id(arguments))
        try:
            return answer(self, *arguments)
        finally:
            asked.discard(id(arguments))

    monkeypatch.setattr(QueryProcesses, "answer", counted)
    yield lambda: len(asked)


@pytest.mark.slow("waits for a silent or slow service")
@pytest.mark.parametrize(
    "place",
    [
        "a specialist writes",
        *(
            pytest.param(place, marks=pytest.mark.rare("as the first"))
            for place in ("the orchestrator writes", "a query runs")
        ),
    ],
)
def test_nothing_stays_of_readers_who_leave(tmp_path: Path, place: str, queries_of: Callable[[], int]) -> None:
    model = Endless()
    turns: dict[str, dict[str, Turn]] = {
        "the orchestrator writes": {"Orchestrator": model.write},
        "a specialist writes": {
            "Orchestrator": [("TelemetryAgent", {"task": "look"})],
            "TelemetryAgent": model.write,
        },
        "a query runs": {
            "Orchestrator": [("TelemetryAgent", {"task": "look"})],
            "TelemetryAgent": [("query_telemetry", {"query": SLOW})],
        },
    }
    busy = queries_of if place == "a query runs" else lambda: model.under_way

    def leave(client: httpx.Client) -> float:
        """Begin some investigations and leave all in the middle; how long a model or a query then goes on."""
        with ExitStack() as streams:
            readers = []
            for _ in range(AT_ONCE):
                reply = streams.enter_context(client.stream("POST", "/api/alert", json={"text": STORM}))
                readers.append(read_events(reply.iter_lines()))
                assert next(readers[-1]).event == "run_start"
            assert eventually(lambda: busy() == AT_ONCE)
        left = time.monotonic()
        assert eventually(lambda: not busy())
        seconds = time.monotonic() - left
        assert eventually(lambda: all_are(client, "broken_off"))
        return seconds

    with (
        AlwaysTheSame(**turns[place]) as scripted,
        client_of(
            with_network(tmp_path, query_seconds=60),
            chat_model="gpt-test",
            chat_base_url=scripted.base_url,
            investigating="agents",
            vision=False,
            runs_at_once=AT_ONCE,
        ) as client,
    ):
        leave(client)
        first = settled()
        seconds = sorted(leave(client) for _ in range(ROUNDS))
        print(f"when {place}, it went on for {seconds[len(seconds) // 2]:.2f} s, {seconds[-1]:.2f} s at most; {first}")
        assert seconds[-1] < 20  # .8 s where nothing else runs
        assert eventually(lambda: all(now < first[name] + POOLED for name, now in held().items())), f"{first}, {held()}"


def all_are(client: httpx.Client, status: str) -> bool:
    kept = client.get("/api/investigations").json()["investigations"]
    return {each["status"] for each in kept} == {status}
