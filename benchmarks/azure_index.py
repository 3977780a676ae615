"""The cost of indexing into Azure AI Search, measured against the tests' stand-in: slow, and refusing some requests.

Sending batches alone shows how close the client gets to the limit of concurrent batches. Publishing shows how much of
that a pipeline gets, because each commit also asks for the existing entries and waits until the new ones are visible.
At the end, each article is compared with the index. The stand-in runs in a process of its own on the same cores, so its
speed is not that of the real service.
"""

import argparse
import json
import multiprocessing
import os
import random
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measure import machine, memory_mb
from kb_pipeline.records import Chunk
from kb_pipeline.search.azure.catalog import AzureSearchCatalog
from kb_pipeline.search.azure.publish import CONCURRENCY, IndexWriter
from kb_pipeline.search.azure.service import SearchService
from kb_pipeline.search.base import IndexEntry
from kb_pipeline.search.catalog import Generation, index_name
from kb_pipeline.settings import Settings
from kb_pipeline.steps.late_interaction import EmbeddedPassage
from kb_pipeline_tests.search_service.app import ADMIN_KEY
from kb_pipeline_tests.search_service.running import running_service

LATENCY, THROTTLED, RETRY_AFTER = 0.1, 0.02, 1.0
"""Seconds; a share of the requests; seconds that those are to wait."""
_WORDS = "select layer crop image menu dialog button press open save export filter brush colour tool window".split()
_BATCH = 20
"""Documents of a batch where only sending is measured: so few that neither side's processor is the limit."""


def main() -> None:
    """Measure and write ``results/azure_index.{json,md}``."""
    arguments = _arguments()
    results: dict[str, Any] = {
        "machine": machine(),
        "load_before": round(os.getloadavg()[0], 1),
        "latency_s": LATENCY,
        "throttled_share": THROTTLED,
        "chunks_per_article": arguments.chunks,
        "dimensions": arguments.dimensions,
        "sending": [_sending(arguments.batches, share) for share in (0.0, THROTTLED)],
        "publishing": [_publishing(arguments, size) for size in arguments.commits],
    }
    arguments.out.write_text(json.dumps(results, indent=1) + "\n")
    arguments.out.with_suffix(".md").write_text(_report(results))
    print(_report(results))


@contextmanager
def _service(share: float) -> Iterator[tuple[Settings, Connection]]:
    """Run the stand-in in its own process; after any message, the connection returns its counts."""
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(target=_serve, args=(theirs, share))
    process.start()
    try:
        url = ours.recv()
        yield Settings(index="azure-ai-search", search_endpoint=url, search_api_key=ADMIN_KEY), ours  # type: ignore[arg-type]
    finally:
        ours.send("end")
        process.join(30)


def _serve(connection: Connection, share: float) -> None:
    with running_service() as running:
        running.faults.latency, running.faults.share, running.faults.retry_after = LATENCY, share, str(RETRY_AFTER)
        connection.send(running.url)
        while connection.recv() != "end":
            counts = {"requests": sum(running.app.counts.values()), "throttled": running.faults.throttled}
            connection.send(counts | {"most_at_once": running.app.most_busy})


def _sending(batches: int, share: float) -> dict[str, Any]:
    """Send batches of tiny documents."""
    generation = _generation(64)
    with _service(share) as (settings, counting):
        index = AzureSearchCatalog(settings).open(generation)
        index.publish({"first": _article("first", 1, 64)})
        documents = ({"id": f"k{number}", "article_id": "a", "content": "x"} for number in range(batches * _BATCH))
        writer = IndexWriter(SearchService(settings), index_name(generation.id))
        started = time.perf_counter()
        writer.send("upload", _grouped(documents, _BATCH))
        seconds = time.perf_counter() - started
        counting.send("count")
        counts = counting.recv()
        held = index.count() - 1
    least, paused = batches * LATENCY, counts["throttled"] * (LATENCY + RETRY_AFTER)
    return {
        "throttled_share": share,
        "batches": batches,
        "seconds": round(seconds, 2),
        "batches_per_s": round(batches / seconds, 1),
        "share_of_the_limit": round(least / CONCURRENCY / seconds, 3),
        "share_with_pauses": round((least + paused) / CONCURRENCY / seconds, 3),
        "most_at_once": counts["most_at_once"],
        "throttled": counts["throttled"],
        "documents_lost": batches * _BATCH - held,
    }


def _publishing(arguments: argparse.Namespace, commit: int) -> dict[str, Any]:
    """Publish all articles, ``commit`` of them at a time."""
    with _service(THROTTLED) as (settings, counting):
        index = AzureSearchCatalog(settings).open(_generation(arguments.dimensions))
        names = [f"article-{number:05}" for number in range(arguments.articles)]
        memory: dict[int, int] = {}
        started, cpu = time.perf_counter(), time.process_time()
        for at in range(0, len(names), commit):
            index.publish(
                {name: _article(name, arguments.chunks, arguments.dimensions) for name in names[at : at + commit]}
            )
            done = at + commit
            if done % max(commit, arguments.articles // 10) == 0:
                memory[done] = memory_mb(multiprocessing.current_process().pid or 0) - _children_mb()
        seconds, cpu = time.perf_counter() - started, time.process_time() - cpu
        held = index.entries()
        wrong = [
            name for name in names if held.get(name) != _hashes(_article(name, arguments.chunks, arguments.dimensions))
        ]
        counting.send("count")
        counts = counting.recv()
    return {
        "articles": arguments.articles,
        "articles_per_commit": commit,
        "seconds": round(seconds, 1),
        "articles_per_s": round(arguments.articles / seconds, 1),
        "documents_per_s": round(arguments.articles * arguments.chunks / seconds),
        "cpu_s": round(cpu, 1),
        "articles_lost_or_wrong": len(wrong),
        "memory_mb": memory,
        **counts,
    }


def _children_mb() -> int:
    return sum(memory_mb(child.pid) for child in multiprocessing.active_children() if child.pid)


def _generation(dimensions: int) -> Generation:
    return Generation(
        id="benchmark", embedder="none", embedding_model="none", dimensions=dimensions, chunker="", created_at=""
    )


def _article(name: str, chunks: int, dimensions: int) -> list[IndexEntry]:
    """Chunks of about 100 words with random vectors, the same for the same name."""
    chance, vectors = random.Random(name), np.random.default_rng(sum(name.encode()))
    return [
        IndexEntry(_chunk(name, number, chance), (EmbeddedPassage(_unit(vectors, dimensions)),))
        for number in range(chunks)
    ]


def _chunk(name: str, number: int, chance: random.Random) -> Chunk:
    content = " ".join(chance.choices(_WORDS, k=100))
    return Chunk(
        id=f"{name}-{number}",
        article_id=name,
        chunk_index=number,
        title=name,
        section_header=f"Part {number}",
        heading_path=(name, f"Part {number}"),
        content=content,
        content_hash=sha256(content.encode()).hexdigest(),
    )


def _unit(vectors: np.random.Generator, dimensions: int) -> np.ndarray[Any, np.dtype[np.float32]]:
    vector = vectors.normal(size=dimensions)
    return (vector / np.linalg.norm(vector)).astype(np.float32)


def _hashes(entries: Sequence[IndexEntry]) -> dict[str, str]:
    return {entry.chunk.id: entry.chunk.content_hash for entry in entries}


def _grouped(documents: Iterator[dict[str, Any]], size: int) -> Iterator[list[dict[str, Any]]]:
    while group := [document for _, document in zip(range(size), documents, strict=False)]:
        yield group


def _report(results: dict[str, Any]) -> str:
    here = results["machine"]
    lines = [
        f"The stand-in answers after {results['latency_s']} s; {CONCURRENCY} batches are under way at once, so "
        f"{CONCURRENCY / LATENCY:.0f} batches a second are the limit. On {here['cpus']} cores ({here['processor']}), "
        f"Python {here['python']}, the stand-in on the same cores, whose load by others was {results['load_before']} "
        f"when this began. Throttled requests are to wait {RETRY_AFTER:g} s, counted as under way in the second share.",
        "",
        f"Sending alone, {_BATCH} small documents a batch:",
        "",
        "| throttled | batches | seconds | batches/s | share of the limit | with pauses | most at once | lost |",
        "|---|---|---|---|---|---|---|---|",
        *(
            f"| {run['throttled']} | {run['batches']} | {run['seconds']} | {run['batches_per_s']} | "
            f"{run['share_of_the_limit']} | {run['share_with_pauses']} | {run['most_at_once']} | "
            f"{run['documents_lost']} |"
            for run in results["sending"]
        ),
        "",
        f"Publishing articles of {results['chunks_per_article']} chunks with vectors of {results['dimensions']} "
        f"dimensions, {results['throttled_share']:.0%} of all requests throttled:",
        "",
        "| articles | a commit | seconds | articles/s | documents/s | CPU s | requests | throttled | lost or wrong |",
        "|---|---|---|---|---|---|---|---|---|",
        *(
            f"| {run['articles']} | {run['articles_per_commit']} | {run['seconds']} | {run['articles_per_s']} | "
            f"{run['documents_per_s']} | {run['cpu_s']} | {run['requests']} | {run['throttled']} | "
            f"{run['articles_lost_or_wrong']} |"
            for run in results["publishing"]
        ),
        "",
        "Memory of the publishing process in MB, after so many articles:",
        "",
        *(
            f"- {run['articles_per_commit']} a commit: "
            + ", ".join(f"{done}: {mb}" for done, mb in run["memory_mb"].items())
            for run in results["publishing"]
        ),
    ]
    return "\n".join(lines) + "\n"


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--articles", type=int, default=10_000)
    parser.add_argument("--chunks", type=int, default=6)
    parser.add_argument("--dimensions", type=int, default=384)
    parser.add_argument("--batches", type=int, default=800)
    parser.add_argument("--commits", type=int, nargs="+", default=[50, 500])
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/azure_index.json"))
    return parser.parse_args()


if __name__ == "__main__":
    main()
