"""Search times in 10,000, 100,000 and 1,000,000 chunks: ours directly and through the API, and LanceDB's own.

    python -m benchmarks.queries --home KB_HOME --questions FILE.jsonl --cache FOLDER [--sizes 10000,100000]
        [--requests 200 | --quick] [--out benchmarks/results/queries.json]

An index of each size is built once from the chunks of ``KB_HOME``, whose embedder must provide word vectors, and kept
in the cache folder: 100,000 chunks take a minute and 1 GB. The kinds of search take turns question by question, so that
other load on the machine slows all of them equally. Everything is measured on an idle index, and while another process
publishes ten articles at a time. Ours embeds each question; LanceDB's own hybrid search (reciprocal ranks) gets the
vector.
"""

import argparse
import json
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, nullcontext
from pathlib import Path
from typing import Any

import httpx

from benchmarks.measure import machine
from benchmarks.searched import Service, Writing, open_reader, own_hybrid, serving
from benchmarks.synthetic_index import GROUPS, Material, build, load_material
from kb_pipeline.flow.workspace import Reader
from kb_pipeline.search.base import SearchFilter

CLIENTS = 8
TOP = 10
WARM = 8
"""Questions that are asked before any time is taken."""
FILTERS = {"off": None, "on": SearchFilter(principals=(GROUPS[0], "somebody"))}

Way = Callable[[str], object]


def main() -> None:
    """Measure, print and store the figures."""
    arguments = _arguments()
    questions = [json.loads(line)["question"] for line in arguments.questions.read_text().splitlines()]
    requests = 60 if arguments.quick else arguments.requests
    asked = [questions[place % len(questions)] for place in range(requests)]
    material = load_material(arguments.home / "index")
    report: dict[str, Any] = {"machine": machine(), "requests": requests, "builds": [], "rows": []}
    for size in arguments.sizes:
        folder = arguments.cache / str(size)
        report["builds"].append({"chunks": size, **_built(material, size, folder)})
        for writing in (False, True):
            with Writing(arguments.home, folder) if writing else nullcontext():
                for row in _measured(arguments.home, folder, asked):
                    report["rows"].append({"chunks": size, "ingesting": writing, **row})
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    arguments.out.write_text(json.dumps(report, indent=1) + "\n")
    arguments.out.with_suffix(".md").write_text(table(report))
    print(table(report))


def _built(material: Material, size: int, folder: Path) -> dict[str, float]:
    """The cost of building the index, now or in an earlier run."""
    figures = folder / "built.json"
    if not figures.exists():
        figures.parent.mkdir(parents=True, exist_ok=True)
        figures.write_text(json.dumps(build(material, size, folder / "index")))
    made: dict[str, float] = json.loads(figures.read_text())
    return made


def _measured(home: Path, folder: Path, asked: Sequence[str]) -> Iterator[dict[str, Any]]:
    with tempfile.TemporaryDirectory(prefix="kb-queries-") as own:
        reader = open_reader(home, folder)
        with serving(Path(own), home, folder, CLIENTS) as service, closing(service.client):
            ways = _ways(reader, service.client)
            for row, times in zip(ways, _in_turns(list(ways.values()), asked), strict=True):
                yield {"what": row[0], "filters": row[1], "clients": 1, **_figures(times)}
            yield {"what": "API", "filters": "on", **_together(service, asked)}


def _ways(reader: Reader, client: httpx.Client) -> dict[tuple[str, str], Way]:
    """The kinds of search to compare, by name and by whether filters are on."""

    def by_reader(filters: SearchFilter | None) -> Way:
        return lambda question: reader.search(question, top=TOP, filters=filters)

    def by_lancedb(filters: SearchFilter | None) -> Way:
        embedded: dict[str, Any] = {}

        def ask(question: str) -> object:
            return own_hybrid(reader, question, embedded[question], TOP, filters)

        def prepared(question: str) -> object:
            embedded.setdefault(question, reader.embedder.embed([question])[0])
            return lambda: ask(question)

        return prepared

    def by_api(question: str) -> object:
        return client.get("/api/search", params={"q": question, "top": TOP}).raise_for_status().json()

    return {
        **{("Reader.search", name): by_reader(filters) for name, filters in FILTERS.items()},
        **{("LanceDB's hybrid", name): by_lancedb(filters) for name, filters in FILTERS.items()},
        ("API", "on"): by_api,
    }


def _in_turns(ways: Sequence[Way], asked: Sequence[str]) -> list[list[float]]:
    """Seconds of each question for each kind of search, taking turns."""
    times: list[list[float]] = [[] for _ in ways]
    for number, question in enumerate([*asked[:WARM], *asked]):
        for way, taken in zip(ways, times, strict=True):
            begun = time.perf_counter()
            prepared = way(question)
            if callable(prepared):  # what was made ready counts as given
                begun = time.perf_counter()
                prepared()
            if number >= WARM:
                taken.append(time.perf_counter() - begun)
    return times


def _together(service: Service, asked: Sequence[str]) -> dict[str, Any]:
    """Figures of the service with several concurrent clients."""

    def ask(question: str) -> float:
        begun = time.perf_counter()
        service.client.get("/api/search", params={"q": question, "top": TOP}).raise_for_status()
        return time.perf_counter() - begun

    begun, cpu = time.perf_counter(), service.cpu_seconds()
    with ThreadPoolExecutor(CLIENTS) as pool:
        times = list(pool.map(ask, asked))
    seconds = time.perf_counter() - begun
    return {
        "clients": CLIENTS,
        **_figures(times),
        "per_second": round(len(asked) / seconds, 1),
        "cpu_ms": round(1000 * (service.cpu_seconds() - cpu) / len(asked), 1),
    }


def _figures(times: Sequence[float]) -> dict[str, float]:
    cuts = statistics.quantiles([1000 * each for each in times], n=100, method="inclusive")
    figures = {f"p{share}_ms": round(cuts[share - 1], 1) for share in (50, 95, 99)}
    return {**figures, "per_second": round(len(times) / sum(times), 1)}


def table(report: dict[str, Any]) -> str:
    """The figures as markdown."""
    lines = [
        "# Searching",
        "",
        f"{report['machine']['cpus']} cores ({report['machine']['processor']}), clients on the same machine, "
        f"{report['requests']} questions a row, {TOP} hits each; filters are an access control list of two names.",
        "",
        "| chunks | ingesting | what | filters | clients | p50 ms | p95 ms | p99 ms | searches/s |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for row in report["rows"]:
        cells = (
            f"{row['chunks']:,}",
            "yes" if row["ingesting"] else "no",
            row["what"],
            row["filters"],
            row["clients"],
            *(f"{row[name]:,.1f}" for name in ("p50_ms", "p95_ms", "p99_ms", "per_second")),
        )
        lines.append(f"| {' | '.join(map(str, cells))} |")
    lines += ["", "| chunks | published in s | optimised in s | CPU s | MB |", "|---|---|---|---|---|"]
    for made in report["builds"]:
        figures = (made["publish_s"], made["optimise_s"], made["cpu_s"], made["mb"])
        lines.append(f"| {made['chunks']:,} | {' | '.join(f'{figure:,.0f}' for figure in figures)} |")
    return "\n".join([*lines, ""])


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--home", type=Path, required=True, help="a knowledge base with word vectors")
    parser.add_argument("--questions", type=Path, required=True, help='JSON lines with "question"')
    parser.add_argument("--cache", type=Path, required=True, help="where the made-up indexes are kept")
    parser.add_argument("--sizes", type=lambda text: [int(size) for size in text.split(",")], default=[10_000, 100_000])
    parser.add_argument("--requests", type=int, default=200, help="questions of each row")
    parser.add_argument("--quick", action="store_true", help="60 questions a row")
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/queries.json"))
    return parser.parse_args()


if __name__ == "__main__":
    os.environ.setdefault("LANCE_LOG", "error")  # its own hybrid search warns of itself
    main()
