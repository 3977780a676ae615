"""Everybody who is measured, with the command that runs them: the peers in `.venv-peers`, we in our own environment.

Here: commands and environments, costs, versions. Not here: what is measured with them.
"""

import json
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.measure import Cost, as_dict, machine, run
from benchmarks.peers.text_only import ANALYZER

REPOSITORY = Path(__file__).parents[2]
PEERS_PYTHON = REPOSITORY / ".venv-peers" / "bin" / "python"
KNOWN = {"langchain": "LangChain", "llamaindex": "LlamaIndex", "haystack": "Haystack"}
VARIANTS = {"langchain-headers": "LangChain, split at headings", "llamaindex-text": "LlamaIndex, all text"}
"""Set up in another documented way, for what is found."""
NAMES = KNOWN | VARIANTS
SENTENCE_TRANSFORMERS = "sentence-transformers"
OURS = "int8"
RUNTIMES = {SENTENCE_TRANSFORMERS: "sentence-transformers (fp32)", OURS: "our int8 graph"}


@dataclass(frozen=True)
class Peer:
    """A framework with one of the two runtimes of the model, and the folder that holds its index."""

    name: str
    runtime: str
    store: Path
    models: Path

    @property
    def label(self) -> str:
        """As tables name it."""
        return f"{NAMES[self.name]}, {RUNTIMES[self.runtime]}"

    def do(self, action: str, *arguments: str) -> dict[str, Any]:
        """Run its worker; returns what it told, and the cost of the whole process."""
        options = ["--store", str(self.store), "--embedder", self.runtime, "--models", str(self.models)]
        command = [str(PEERS_PYTHON), "-m", "benchmarks.peers.worker", self.name, action, *options, *arguments]
        cost, output = run(command, {"PYTHONPATH": str(REPOSITORY)})
        return _told(command, cost, output)


@dataclass(frozen=True)
class Ours:
    """We, with or without Dagster, in one home; descriptions of images switched off."""

    through_dagster: bool
    home: Path

    @property
    def label(self) -> str:
        """As tables name it."""
        return "kb_pipeline, through Dagster (`kb ingest`)" if self.through_dagster else "kb_pipeline, bare steps"

    def ingest(self, staging: Path) -> dict[str, Any]:
        """Bring the home up to date with the staging folder: all of it first, then what changed."""
        again = ["--changed"] if (self.home / "state").exists() else []
        script = [str(Path(sys.executable).parent / "kb"), "ingest", "--json", *again]
        command = script if self.through_dagster else [sys.executable, "-m", "benchmarks.bare_ingest"]
        before = texts_embedded(self.home)
        cost, output = run(command, our_environment(self.home, staging))
        told = _told(command, cost, output)
        return told | {"embedded": texts_embedded(self.home) - before}


def everybody(work: Path, peers: Iterable[str], runtimes: Iterable[str]) -> tuple[tuple[Ours, ...], list[Peer]]:
    """We in both ways and each peer with each runtime, with a folder in ``work`` for each."""
    named = [(name, runtime) for runtime in runtimes for name in peers]
    return (
        (Ours(False, work / "bare"), Ours(True, work / "dagster")),
        [Peer(name, runtime, work / f"{name}-{runtime}", work / "models") for name, runtime in named],
    )


def our_environment(home: Path, staging: Path) -> dict[str, str]:
    """What our own commands need; the analyzer says nothing about pictures."""
    return {
        "KB_HOME": str(home),
        "KB_STAGING": str(staging),
        "KB_ANALYZER": ANALYZER,
        "DAGSTER_HOME": str(home / "dagster"),
        "PYTHONPATH": str(REPOSITORY),
    }


def texts_embedded(home: Path) -> int:
    """How many texts were ever embedded for the articles of a home."""
    states = [json.loads(path.read_text()) for path in (home / "state").glob("*.json")]
    return sum(use["calls"] for state in states for use in state.get("spent", {}).get("chunk_embeddings", ()))


def about(results: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Machine, date and versions, ours and the peers'."""
    known = machine()
    packages = {name: version for result in results for name, version in result.get("packages", {}).items()}
    return {"date": datetime.now(UTC).date().isoformat(), "machine": known, "peers": dict(sorted(packages.items()))}


def sentence(report: dict[str, Any]) -> str:
    """Machine, date and versions in a line of text."""
    known = report["machine"]
    ours = ", ".join(f"{name} {known['packages'][name]}" for name in ("dagster", "lancedb", "onnxruntime"))
    peers = ", ".join(f"{name} {version}" for name, version in report["peers"].items())
    return (
        f"{report['date']}, {known['cpus']} cores ({known['processor']}), Python {known['python']}. "
        f"Ours: {ours}. Peers: {peers}."
    )


def write(report: dict[str, Any], table: str, out: Path) -> None:
    """Keep a report as JSON and its table beside it, and show the table."""
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps(report, indent=1) + "\n")
    out.with_suffix(".md").write_text(table)
    print(table)


def _told(command: Sequence[str], cost: Cost, output: str) -> dict[str, Any]:
    if cost.exit_code:
        raise SystemExit(f"{' '.join(command)} ended with {cost.exit_code}")
    told = json.loads(output) if output.strip().startswith("{") else {}
    return as_dict(cost) | told
