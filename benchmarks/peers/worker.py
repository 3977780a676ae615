"""One peer doing one thing, in a process of its own; prints what it cost as a line of JSON.

    .venv-peers/bin/python -m benchmarks.peers.worker PEER ingest|update --staging DIR --store DIR
    .venv-peers/bin/python -m benchmarks.peers.worker PEER search --store DIR --questions FILE --out FILE

QUESTIONS: a JSON list of texts. OUT: by mode of search, for each of them what was found: article and text.
"""

import argparse
import contextlib
import json
import logging
import os
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

from benchmarks.peers.base import DEPTH, MODES, Mode, Peer
from benchmarks.peers.embedding import KINDS, SENTENCE_TRANSFORMERS, Model, open_model

PEERS = {
    "langchain": ("benchmarks.peers.with_langchain", "LangChain"),
    "langchain-headers": ("benchmarks.peers.with_langchain", "LangChainByHeaders"),
    "llamaindex": ("benchmarks.peers.with_llamaindex", "LlamaIndex"),
    "llamaindex-text": ("benchmarks.peers.with_llamaindex", "LlamaIndexByText"),
    "haystack": ("benchmarks.peers.with_haystack", "Haystack"),
}
_QUIET = {"ANONYMIZED_TELEMETRY": "False", "HAYSTACK_TELEMETRY_ENABLED": "False", "TOKENIZERS_PARALLELISM": "true"}


def main() -> None:
    """Do it, and print what it cost."""
    arguments = _arguments()
    os.environ.update(_QUIET)
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    with contextlib.redirect_stdout(sys.stderr):
        started = _now()
        arguments.store.mkdir(parents=True, exist_ok=True)
        model = open_model(arguments.embedder, arguments.models)
        peer = _open(arguments.peer, arguments.store, model)
        ready = _now()
        told = _work(arguments, peer)
        done = _now()
    figures = {
        "start_s": round(ready[0] - started[0], 2),
        "start_cpu_s": round(ready[1] - started[1], 2),
        "work_s": round(done[0] - ready[0], 2),
        "work_cpu_s": round(done[1] - ready[1], 2),
        "embedded": model.embedded,
        "packages": {name: version(name) for name in peer.packages},
    }
    print(json.dumps(figures | told))


def _work(arguments: argparse.Namespace, peer: Peer) -> dict[str, Any]:
    if arguments.action == "ingest":
        return {"chunks": peer.ingest(arguments.staging)}
    if arguments.action == "update":
        return {"told": peer.update(arguments.staging)}
    questions = json.loads(arguments.questions.read_text())
    arguments.out.write_text(json.dumps({mode: _found(peer, mode, questions) for mode in MODES}))
    return {"questions": len(questions)}


def _found(peer: Peer, mode: Mode, questions: Sequence[str]) -> list[list[tuple[str, str]]]:
    peer.open(mode, DEPTH)
    return [[(passage.article_id, passage.text) for passage in peer.search(text)] for text in questions]


def _open(name: str, store: Path, model: Model) -> Peer:
    module, kind = PEERS[name]
    opener: Callable[[Path, Model], Peer] = getattr(import_module(module), kind)
    return opener(store, model)


def _now() -> tuple[float, float]:
    return time.perf_counter(), time.process_time()


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("peer", choices=PEERS)
    parser.add_argument("action", choices=("ingest", "update", "search"))
    parser.add_argument("--staging", type=Path)
    parser.add_argument("--store", type=Path, required=True)
    parser.add_argument("--embedder", choices=KINDS, default=SENTENCE_TRANSFORMERS)
    parser.add_argument("--models", type=Path, default=Path(".kb/models"), help="where our graph is kept")
    parser.add_argument("--questions", type=Path)
    parser.add_argument("--out", type=Path)
    return parser.parse_args()


if __name__ == "__main__":
    main()
