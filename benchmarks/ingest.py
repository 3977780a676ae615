"""HTML to searchable index: the bare steps and through Dagster, first run, unchanged, and with 1 % edited.

    python -m benchmarks.ingest STAGING [STAGING ...] [--limit N] [--descriptions FOLDER] [--out FILE]

Several staging folders are copied into one. Every image is described once, in the run named `cold` (OCR, about half a
CPU second an image); the later runs start from its cache of descriptions. `--descriptions` names such a cache
(`descriptions/by-content` of a knowledge base of the same articles) and leaves the cold run out: four minutes for
1,000 articles instead of fifteen.
"""

import argparse
import json
import shutil
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Any

from benchmarks.changes import edit
from benchmarks.measure import Cost, as_dict, machine, run
from kb_pipeline.flow.layers import LAYER_NAMES

_BARE = [sys.executable, "-m", "benchmarks.bare_ingest"]
_EDITED = 0.01
_DAGSTER = [str(Path(sys.executable).parent / "kb"), "ingest"]


def main() -> None:
    """Run all variants and print and store the figures."""
    arguments = _arguments()
    work = Path(tempfile.mkdtemp(prefix="kb-benchmark-", dir=arguments.work))
    staging = _stage(arguments.staging, work / "staging", arguments.limit)
    articles = len(list(staging.iterdir()))
    cache = arguments.descriptions or work / "cold" / "descriptions" / "by-content"
    results = {}
    for name, (home, command, kind) in _variants(cold=not arguments.descriptions).items():
        if kind == "cached":
            shutil.copytree(cache, work / home / "descriptions" / "by-content")
        done = len(edit(staging, share=_EDITED, seed=1)) if kind == "edited" else articles
        results[name] = _measure(command, work / home, staging, done)
        print(f"{name:32} {json.dumps(results[name])}", flush=True)
    report = {"machine": machine(), "articles": articles, "results": results}
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    arguments.out.write_text(json.dumps(report, indent=1) + "\n")
    arguments.out.with_suffix(".md").write_text(_table(report))
    shutil.rmtree(work)


def _variants(*, cold: bool) -> dict[str, tuple[str, list[str], str]]:
    """Home, command and preparation of each variant, by name."""
    variants = {
        "conversion alone": ("convert", [*_BARE, "--layers", "staged_article,converted_markdown"], "nothing"),
        "bare, cold": ("cold", _BARE, "nothing"),
        "bare, descriptions cached": ("bare", _BARE, "cached"),
        "bare, nothing changed": ("bare", _BARE, "all"),
        "Dagster, descriptions cached": ("dagster", _DAGSTER, "cached"),
        "Dagster, nothing changed": ("dagster", _DAGSTER, "all"),
        "Dagster, 1 % edited": ("dagster", [*_DAGSTER, "--changed"], "edited"),
    }
    return {name: variant for name, variant in variants.items() if cold or name != "bare, cold"}


def _table(report: dict[str, Any]) -> str:
    """The figures as a markdown table, with Dagster's share of the wall time below."""
    results = report["results"]
    lines = [
        f"{report['articles']} articles, {report['machine']['cpus']} cores ({report['machine']['processor']}), "
        f"Python {report['machine']['python']}, Dagster {report['machine']['packages']['dagster']}.",
        "",
        "| run | articles/s | wall s | CPU s | peak memory MB |",
        "|---|---|---|---|---|",
    ]
    for name, figures in results.items():
        values = (figures[key] for key in ("articles_per_s", "wall_s", "cpu_s", "peak_mb"))
        lines.append(f"| {name} | {' | '.join(map(str, values))} |")
    bare, dagster = (results[f"{kind}, descriptions cached"]["wall_s"] for kind in ("bare", "Dagster"))
    lines += ["", f"Dagster's share of the wall time: {1 - bare / dagster:.0%}.", "", "Seconds of work by layer:", ""]
    lines += ["| run | " + " | ".join(LAYER_NAMES) + " |", "|---" * (len(LAYER_NAMES) + 1) + "|"]
    for name, figures in results.items():
        if seconds := figures.get("seconds_by_layer"):
            lines.append(f"| {name} | " + " | ".join(str(seconds.get(layer, "")) for layer in LAYER_NAMES) + " |")
    return "\n".join(lines) + "\n"


def _measure(command: list[str], home: Path, staging: Path, articles: int) -> dict[str, object]:
    environment = {"KB_HOME": str(home), "KB_STAGING": str(staging)}
    environment["DAGSTER_HOME"] = str(home / "dagster")
    cost, output = run(command, environment)
    return {**_rates(cost, articles), **(json.loads(output) if output.strip().startswith("{") else {})}


def _rates(cost: Cost, articles: int) -> dict[str, object]:
    return {"articles_per_s": round(articles / cost.wall_s, 1), **as_dict(cost)}


def _stage(sources: list[Path], target: Path, limit: int) -> Path:
    taken: dict[Path, int] = defaultdict(int)
    for source in sources:
        for article in sorted(path for path in source.iterdir() if path.is_dir()):
            if limit and taken[source] >= limit:
                break
            taken[source] += 1
            shutil.copytree(article, target / article.name)
    return target


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("staging", nargs="+", type=Path)
    parser.add_argument("--limit", type=int, default=0, help="articles of each staging folder; 0: all")
    parser.add_argument("--descriptions", type=Path, help="a cache of their descriptions: nothing is described")
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/ingest.json"))
    parser.add_argument("--work", type=Path, default=None, help="where the temporary data goes")
    return parser.parse_args()


if __name__ == "__main__":
    main()
