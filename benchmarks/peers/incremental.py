"""One per cent of the articles edited: we against LlamaIndex's document management and LangChain's indexing API.

    python -m benchmarks.peers.incremental STAGING [STAGING ...] [--articles N] [--share 0.01] [--runtimes int8]

Everybody ingests the same folder, one sentence is replaced in a share of its articles, everybody ingests again: once
with nothing changed, once with the edits. Haystack documents no way to ingest again only what changed.
"""

import argparse
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.changes import edit
from benchmarks.peers.contenders import OURS, about, everybody, sentence, write
from benchmarks.peers.corpus import copied, count

_PEERS = ("llamaindex", "langchain")
_COLUMNS = ("wall_s", "work_s", "cpu_s", "embedded")
_CELLS = ("wall s", "without start", "CPU s", "texts embedded")
_HEAD = "| | " + " | ".join(f"{step}: {cell}" for step in ("unchanged", "edited") for cell in _CELLS) + " |\n"
_RULE = "|---" * (2 * len(_CELLS) + 1) + "|\n"

Ingest = Callable[[], dict[str, Any]]


def main() -> None:
    """Ingest, ingest again, edit, ingest again."""
    arguments = _arguments()
    with tempfile.TemporaryDirectory(prefix="kb-peers-", dir=arguments.work) as folder:
        work = Path(folder)
        staging = copied(arguments.staging, work / "staging", arguments.articles)
        contenders = _contenders(arguments, work, staging)
        results: dict[str, dict[str, Any]] = {label: {} for label in contenders}
        for step in ("first", "unchanged", "edited"):
            if step == "edited":
                edited = edit(staging, arguments.share, seed=1)
            for label, ingest in contenders.items():
                results[label][step] = ingest()
                print(step, label, results[label][step], flush=True)
        articles = count(staging)
    report = about([told["edited"] for told in results.values()])
    report |= {"articles": articles, "edited": len(edited), "results": results}
    write(report, _table(report), arguments.out)


def _contenders(arguments: argparse.Namespace, work: Path, staging: Path) -> dict[str, Ingest]:
    ours, peers = everybody(work, _PEERS, arguments.runtimes.split(","))
    ourselves: dict[str, Ingest] = {each.label: partial(each.ingest, staging) for each in ours}
    return ourselves | {each.label: partial(each.do, "update", "--staging", str(staging)) for each in peers}


def _table(report: dict[str, Any]) -> str:
    rows = []
    for label, steps in report["results"].items():
        cells = [str(steps[step].get(column, "")) for step in ("unchanged", "edited") for column in _COLUMNS]
        rows.append(f"| {label} | {' | '.join(cells)} |\n")
    return (
        f"{report['edited']} of {report['articles']} articles edited, one sentence each. {sentence(report)}\n\n"
        f"{_HEAD}{_RULE}{''.join(rows)}\n"
        "`without start` leaves out imports and the loading of the model; of ours, only imports. A run of Dagster is a "
        "process of its own, whose start is a part of it.\n"
    )


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("staging", nargs="+", type=Path)
    parser.add_argument("--articles", type=int, default=0, help="how many of them, evenly spread; 0: all")
    parser.add_argument("--share", type=float, default=0.01, help="how many of them are edited, 0 to 1")
    parser.add_argument("--runtimes", default=OURS)
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/peers_incremental.json"))
    parser.add_argument("--work", type=Path, default=None, help="where the temporary data goes")
    return parser.parse_args()


if __name__ == "__main__":
    main()
