"""HTML to searchable index, all in one run: we and the peers, with the same embedding model on the same articles.

    python -m benchmarks.peers.ingest STAGING [STAGING ...] [--articles N] [--runtimes int8,sentence-transformers]

The peers are set up as their documentation says (pages named in `with_*.py`) and make a vector index; ours is hybrid
and holds vectors of words as well. Nobody reads screenshots: ours serves them, its descriptions are switched off.
"""

import argparse
import tempfile
from itertools import chain
from pathlib import Path
from typing import Any

from benchmarks.peers.contenders import KNOWN, RUNTIMES, about, everybody, sentence, write
from benchmarks.peers.corpus import copied, count

_COLUMNS = ("articles_per_s", "articles_per_s_working", "wall_s", "cpu_s", "peak_mb", "embedded")
_HEAD = """| | articles/s | without its start | wall s | CPU s | peak memory MB | texts embedded |
|---|---|---|---|---|---|---|
"""


def main() -> None:
    """Ingest with each in turn, each in a process and a folder of its own."""
    arguments = _arguments()
    with tempfile.TemporaryDirectory(prefix="kb-peers-", dir=arguments.work) as folder:
        work = Path(folder)
        staging = copied(arguments.staging, work / "staging", arguments.articles)
        results = _measured(arguments, work, staging)
        articles = count(staging)
    report = about(list(results.values())) | {"articles": articles, "results": results}
    write(report, _table(report), arguments.out)


def _measured(arguments: argparse.Namespace, work: Path, staging: Path) -> dict[str, dict[str, Any]]:
    articles, results = count(staging), {}
    ours, peers = everybody(work, arguments.peers.split(","), arguments.runtimes.split(","))
    told = chain(
        ((each.label, each.ingest(staging)) for each in ours),
        ((each.label, each.do("ingest", "--staging", str(staging))) for each in peers),
    )
    for label, cost in told:
        results[label] = _rates(cost, articles)
        print(label, results[label], flush=True)
    return results


def _rates(told: dict[str, Any], articles: int) -> dict[str, Any]:
    """Articles a second, of the whole process and without what is told of its start (of `kb ingest`: nothing)."""
    working = told.get("work_s", told["wall_s"])
    return {
        "articles_per_s": round(articles / told["wall_s"], 1),
        "articles_per_s_working": round(articles / working, 1),
        **told,
    }


def _table(report: dict[str, Any]) -> str:
    rows = []
    for label, told in report["results"].items():
        rows.append(f"| {label} | {' | '.join(str(told[column]) for column in _COLUMNS)} |\n")
    return (
        f"{report['articles']} articles. {sentence(report)}\n\n{_HEAD}{''.join(rows)}\n"
        "The model is all-MiniLM-L6-v2 everywhere, from the same weights. `Without its start` leaves out imports and "
        "the loading of the model; of our bare steps imports only, of `kb ingest` nothing. Descriptions of images are "
        "switched off; we convert and serve the images all the same, check every layer and keep versions.\n"
    )


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("staging", nargs="+", type=Path)
    parser.add_argument("--articles", type=int, default=0, help="how many of them, evenly spread; 0: all")
    parser.add_argument("--peers", default=",".join(KNOWN))
    parser.add_argument("--runtimes", default=",".join(RUNTIMES))
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/peers_ingest.json"))
    parser.add_argument("--work", type=Path, default=None, help="where the temporary data goes")
    return parser.parse_args()


if __name__ == "__main__":
    main()
