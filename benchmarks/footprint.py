"""Memory and start time of the commands, the agent service, the chat page, a run, and all of them together.

    python -m benchmarks.footprint --home KB_HOME --staging KB_STAGING [--repeats 3] [--only PART ...]

Works on copies. The knowledge base is brought up to date first (untimed), so that commands are measured with nothing to
do. Files are in the page cache; each process starts anew. CPU seconds hardly depend on the other load of the machine,
wall seconds do.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.footprints import dagster_runs, servers
from benchmarks.footprints.processes import take
from benchmarks.measure import machine

_BIN = Path(sys.executable).parent
_COMMANDS: dict[str, list[str | Path]] = {
    "(Python that does nothing)": [sys.executable, "-c", "pass"],
    "(Python that imports Dagster)": [sys.executable, "-c", "import dagster"],
    "kb --help": [_BIN / "kb", "--help"],
    "kb status": [_BIN / "kb", "status"],
    "kb search": [_BIN / "kb", "search", servers.QUESTION],
    "kb ask": [_BIN / "kb", "ask", servers.QUESTION],
    "kb ingest, nothing to do": [_BIN / "kb", "ingest"],
    "kb ingest --changed, nothing to do": [_BIN / "kb", "ingest", "--changed"],
}
_NAMES = {
    "healthy_s": "answers that it is healthy after s",
    "healthy_cpu_s": "CPU s until then",
    "healthy_mb": "MB then",
    "first_search_s": "first search done after s",
    "first_answer_s": "first answer given after s",
    "first_answer_cpu_s": "CPU s until then",
    "answered_mb": "MB then",
    "visited_mb": "MB after two visits",
    "watching_s": "watches the staging folder after s",
    "queued_to_started_s": "a run for an edited article: queued s",
    "started_to_ended_s": "works s",
    "at_rest_mb": "MB before",
    "peak_mb": "most MB",
}


def main() -> None:
    """Measure, print and store the figures."""
    arguments = _arguments()
    with tempfile.TemporaryDirectory(prefix="kb-footprint-", dir=arguments.work) as folder:
        work = Path(folder)
        shutil.copytree(arguments.home, work / "home", ignore=shutil.ignore_patterns("conversations.db*"))
        shutil.copytree(arguments.staging, work / "staging")
        environment = _environment(work)
        subprocess.run([_BIN / "kb", "ingest"], env=environment, check=True, stdout=subprocess.DEVNULL)
        parts: dict[str, Callable[[], Any]] = {
            "commands": lambda: _commands(environment, arguments.repeats),
            "service": lambda: servers.service(environment),
            "page": lambda: servers.page(environment),
            "everything": lambda: servers.everything(environment),
            "run": lambda: dagster_runs.run_for_an_edit(work, {}),
        }
        results = {}
        for name in arguments.only or parts:
            results[name] = parts[name]()
            print(f"{name:12} {json.dumps(results[name])}", flush=True)
        articles = sum(1 for _ in (work / "staging").glob("*/index.html"))
    at = datetime.now(UTC).isoformat(timespec="seconds")
    report = {"machine": machine(), "at": at, "articles": articles, "results": results}
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    arguments.out.write_text(json.dumps(report, indent=1) + "\n")
    arguments.out.with_suffix(".md").write_text(table(report))


def _commands(environment: Mapping[str, str], repeats: int) -> dict[str, Any]:
    return {name: asdict(take([*map(str, said)], environment, repeats)) for name, said in _COMMANDS.items()}


def table(report: Mapping[str, Any]) -> str:
    """The figures as markdown."""
    machine_, results = report["machine"], dict(report["results"])
    lines = [
        "# Start time and memory",
        "",
        f"{report['articles']} articles, {machine_['cpus']} cores ({machine_['processor']}), "
        f"Python {machine_['python']}, Dagster {machine_['packages']['dagster']}, {report['at'][:10]}.",
        "",
    ]
    if commands := results.pop("commands", None):
        lines += ["| command | s | CPU s | most MB |", "|---|---|---|---|"]
        lines += [f"| {name} | {row['wall_s']} | {row['cpu_s']} | {row['peak_mb']} |" for name, row in commands.items()]
        lines.append("")
    for name, row in results.items():
        lines += [f"{name.capitalize()}:", "", *(f"- {said}" for said in _said(row)), ""]
    return "\n".join(lines)


def _said(row: Mapping[str, Any]) -> Iterator[str]:
    for name, value in row.items():
        if isinstance(value, dict):
            painted, usable = value["first_paint_s"], value["question_box_s"]
            yield f"{name.replace('_', ' ')}: painted after {painted} s, usable after {usable} s"
        elif name in _NAMES:
            yield f"{_NAMES[name]}: {value}"


def _environment(work: Path) -> dict[str, str]:
    clean = {key: value for key, value in os.environ.items() if not key.startswith(("KB_", "DAGSTER_"))}
    return clean | {"KB_HOME": str(work / "home"), "KB_STAGING": str(work / "staging")}


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--home", type=Path, required=True, help="a knowledge base")
    parser.add_argument("--staging", type=Path, required=True, help="its staging folder")
    parser.add_argument("--repeats", type=int, default=3, help="of each command; the median counts")
    parser.add_argument("--quick", dest="repeats", action="store_const", const=1, help="each command once")
    parser.add_argument("--only", nargs="+", choices=["commands", "service", "page", "everything", "run"])
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/footprint.json"))
    parser.add_argument("--work", type=Path, default=None, help="where the copies go")
    return parser.parse_args()


if __name__ == "__main__":
    main()
