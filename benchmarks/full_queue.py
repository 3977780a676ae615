"""Measures whether an answer waits for what is recorded after it: refused questions, with the recording well and ill.

    python -m benchmarks.full_queue [--rounds 300]

The same question, which nothing answers, is asked over HTTP of services that differ only in the state of what records
it: of the queue of contributions and of the store of conversations. They are asked in turns, in an order that changes
each round, so that whatever else the machine does slows all alike. Writes ``results/full_queue.{json,md}``.
"""

import argparse
import asyncio
import json
import random
import statistics
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Never

import httpx

from app.api.server import application
from app.contributing.own_findings import OwnFindings
from app.conversations.loose_questions import LooseQuestions
from app.conversations.sqlite import SQLiteConversations
from app.schema.conversations import Turn
from app.service import AgentService, open_service
from app.settings import AppSettings
from benchmarks.measure import machine
from kb_pipeline.contributions.base import Contribution
from kb_pipeline.contributions.findings import MOST_WAITING
from kb_pipeline.contributions.folder import FolderQueue
from kb_pipeline.errors import StorageError
from kb_pipeline.settings import Settings
from kb_pipeline_tests.app.collections import publish_collections
from kb_pipeline_tests.app.serving import serving_app

QUESTION = {"question": "zxqv wvut?"}
BAR_MS = 5.0
_RESULTS = Path(__file__).parent / "results"
_WARM_UP = 20


class FullDiskQueue(FolderQueue):
    """A queue to which nothing can be written."""

    def add(self, contribution: Contribution) -> Never:
        raise StorageError(f"{contribution.id}: no space left on device")


class FullDiskStore(SQLiteConversations):
    """A store to which nothing can be written."""

    async def keep_turn(self, user_id: str, conversation_id: str, turn: Turn) -> Never:
        raise StorageError(f"{conversation_id}: no space left on device")


class SilentStore(SQLiteConversations):
    """A store that never ends writing."""

    async def keep_turn(self, user_id: str, conversation_id: str, turn: Turn) -> None:
        await asyncio.sleep(3600)


def well(service: AgentService) -> AgentService:
    """Everything is recorded."""
    return service


def full_disk(service: AgentService) -> AgentService:
    """Every attempt to record something fails."""
    workspace = service.retrieval.workspace
    queue = FullDiskQueue(workspace.settings.home_path / "contributions")
    store = FullDiskStore(workspace.settings.home_path / "full.db")
    return replace(
        service,
        own_findings=OwnFindings(workspace, queue),
        loose_questions=LooseQuestions(store, records_content=False),
    )


def full_queue(service: AgentService) -> AgentService:
    """The thread that hands in is stuck, as many as may be wait for it, and the store never ends writing."""
    stuck, blocked = threading.Event(), threading.Event()

    def wait() -> None:
        stuck.set()
        blocked.wait()

    findings = service.own_findings.findings
    findings.submit(wait)
    stuck.wait()
    for _ in range(MOST_WAITING):
        findings.submit(lambda: None)
    store = SilentStore(service.retrieval.workspace.settings.home_path / "silent.db")
    return replace(service, loose_questions=LooseQuestions(store, records_content=False))


CONDITIONS: dict[str, Callable[[AgentService], AgentService]] = {
    "well": well,
    "disk full": full_disk,
    "queue full, thread stuck": full_queue,
}


def measure(knowledge_base: Settings, rounds: int) -> dict[str, list[float]]:
    """Milliseconds of each answer, by condition."""
    took: dict[str, list[float]] = {name: [] for name in CONDITIONS}
    with ExitStack() as stack:
        clients: dict[str, httpx.Client] = {}
        for name, condition in CONDITIONS.items():
            service = condition(open_service(AppSettings(_env_file=None), knowledge_base))  # type: ignore[call-arg]
            url = stack.enter_context(serving_app(application(service)))
            clients[name] = stack.enter_context(httpx.Client(base_url=url, timeout=30))
        for number in range(_WARM_UP + rounds):
            for name in random.sample(list(CONDITIONS), len(CONDITIONS)):
                began = time.perf_counter()
                answer = clients[name].post("/chat", json=QUESTION).raise_for_status().json()
                if number >= _WARM_UP:
                    took[name].append((time.perf_counter() - began) * 1000)
                assert answer["refused"], answer
    return took


def row(name: str, took: Sequence[float], usual: Sequence[float]) -> dict[str, object]:
    """The figures of a condition beside the usual one: medians of the differences within each round."""
    added = statistics.median(mine - theirs for mine, theirs in zip(took, usual, strict=True))
    return {
        "condition": name,
        "median_ms": round(statistics.median(took), 2),
        "p95_ms": round(statistics.quantiles(took, n=20)[-1], 2),
        "added_ms": round(added, 2),
        "ratio": round(statistics.median(took) / statistics.median(usual), 3),
        "within_bar": added < BAR_MS,
    }


def table(rows: Sequence[dict[str, object]], rounds: int) -> str:
    """The figures as markdown."""
    lines = [
        "# Does an answer wait for what is recorded after it?",
        "",
        f"A question that nothing answers, {rounds} times in each condition, in turns (`benchmarks/full_queue.py`).",
        f"Added: median of the differences to *well* in the same round; the bar is {BAR_MS:g} ms.",
        "",
        "| recording is | median ms | p95 ms | added ms | ratio of medians |",
        "|---|---|---|---|---|",
    ]
    names = ("condition", "median_ms", "p95_ms", "added_ms", "ratio")
    lines += [f"| {' | '.join(str(each[name]) for name in names)} |" for each in rows]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measure, print and write the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=300)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as folder:
        took = measure(publish_collections(Path(folder)), rounds)
    rows = [row(name, times, took["well"]) for name, times in took.items()]
    text = table(rows, rounds)
    (_RESULTS / "full_queue.md").write_text(text)
    (_RESULTS / "full_queue.json").write_text(json.dumps({"machine": machine(), "rows": rows}, indent=1) + "\n")
    print(text)


if __name__ == "__main__":
    main()
