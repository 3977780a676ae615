"""HTML to markdown: our converter and others on the same pages, by fidelity and speed.

    sh benchmarks/converters/setup.sh
    python -m benchmarks.conversion STAGING [STAGING ...] --scorer FILE [--limit N] [--only NAME ...]

Each converter runs alone in a process of its own and converts one page after the other; only converting is timed, after
a first page. `ours, served` covers everything up to the serving article (reading its folder, conversion, images as PNG,
links, provenance), start included, on all cores; a fake describes its images, because no other converter describes any.
The scorer's output fills the columns of its measures; `corrected` is explained in `converters/scoring.py`.
"""

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks import paid
from benchmarks.converters.others import OTHERS
from benchmarks.converters.scoring import MEASURES, Scorer, pooled, spell_out_markdown, spell_out_source
from benchmarks.measure import machine, run

ALONE, SERVED = "ours", "ours, served"
_LAYERS = "staged_article,converted_markdown,image_descriptions,serving_article"
_BARE = [sys.executable, "-m", "benchmarks.bare_ingest", "--layers", _LAYERS]

Families = Mapping[Path, Sequence[str]]
"""Staging folder -> the articles of it that are taken."""


def main() -> None:
    """Convert, score, print and store the figures."""
    arguments = _arguments()
    families = {folder: _sample(folder, arguments.limit) for folder in arguments.staging}
    names = arguments.only or [ALONE, SERVED, *OTHERS]
    with tempfile.TemporaryDirectory(prefix="kb-conversion-", dir=arguments.work) as folder:
        work = Path(folder)
        rows = {name: _convert(name, families, work / _slug(name), arguments.python) for name in names}
        scorer = Scorer(arguments.python, arguments.scorer)
        for name, scores in zip(names, _scored(scorer, families, names, work), strict=True):
            rows[name] |= scores
            print(f"{name:32} {json.dumps(rows[name] | {'by_staging': None})}", flush=True)
    report = {
        "machine": machine(),
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "versions": _versions(arguments.python),
        "articles": {folder.name: len(ids) for folder, ids in families.items()},
        "results": rows,
    }
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    arguments.out.write_text(json.dumps(report, indent=1) + "\n")
    arguments.out.with_suffix(".md").write_text(table(report))
    print(table(report))


def _convert(name: str, families: Families, out: Path, python: Path) -> dict[str, Any]:
    """Convert all pages to ``<out>/<article id>/article.md`` and return the cost."""
    out.mkdir()
    pages = [folder / article_id for folder, ids in families.items() for article_id in ids]
    if name == SERVED:
        return _serve(pages, out)
    listed = out.with_suffix(".pages")
    listed.write_text("".join(f"{page.absolute()}\n" for page in pages))
    where = ["--pages", str(listed), "--out", str(out)]
    ours = [sys.executable, "-m", "benchmarks.converters.ours"]
    command = ours if name == ALONE else [str(python), "-m", "benchmarks.converters.others", name]
    environment = os.environ | {"TOKENIZERS_PARALLELISM": "false"}
    told = subprocess.run([*command, *where], env=environment, stdout=subprocess.PIPE, text=True, check=True).stdout
    took: dict[str, Any] = json.loads(told.splitlines()[-1])
    return took | _rates(took)


def _serve(pages: Sequence[Path], out: Path) -> dict[str, Any]:
    staging = out.with_suffix(".staging")
    for page in pages:
        shutil.copytree(page, staging / page.name)
    home = out.with_suffix(".home")
    cost, told = run(_BARE, {"KB_STAGING": str(staging), "KB_HOME": str(home), "KB_ANALYZER": paid.ANALYZER})
    for article in (home / "versions").glob("*/*/article.md"):
        target = out / article.parents[1].name
        target.mkdir()
        shutil.copy(article, target)
    took = {"pages": len(pages), "failures": json.loads(told)["failed"], "wall_s": cost.wall_s, "cpu_s": cost.cpu_s}
    return took | {"peak_mb": cost.peak_mb} | _rates(took)


def _rates(took: Mapping[str, Any]) -> dict[str, float]:
    pages = took["pages"]
    return {"pages_per_s": round(pages / took["wall_s"], 1), "cpu_ms_a_page": round(1000 * took["cpu_s"] / pages, 2)}


def _scored(scorer: Scorer, families: Families, names: Sequence[str], work: Path) -> Iterator[dict[str, Any]]:
    """The fidelity of each converter's output, in the order of the names."""
    respelled = {folder: spell_out_source(folder, work / "source" / folder.name) for folder in families}
    for folder in families:
        listed = Path(f"{folder}.manifest.jsonl")  # what the scorer reads of all images, if it is there
        if listed.is_file():
            shutil.copy(listed, f"{respelled[folder]}.manifest.jsonl")

    def one(name: str) -> dict[str, Any]:
        out, scratch = work / _slug(name), work / f"{_slug(name)}.scores"
        ids = [article_id for chosen in families.values() for article_id in chosen]
        spelled = spell_out_markdown(out, ids, scratch / "markdown")
        given = {f: scorer.score(f, chosen, out, scratch / f.name) for f, chosen in families.items()}
        fair = [
            row
            for folder, chosen in families.items()
            for row in scorer.score(respelled[folder], chosen, spelled, scratch / f"{folder.name}.fair")
        ]
        corrected = pooled(fair)
        return {
            "fidelity": pooled(row for rows in given.values() for row in rows),
            "corrected": {"images": corrected["images"], "overall": corrected["overall"]},
            "by_staging": {folder.name: pooled(rows) for folder, rows in given.items()},
        }

    with ThreadPoolExecutor(machine_cores()) as pool:
        yield from pool.map(one, names)


def machine_cores() -> int:
    """The number of processors that this process may use."""
    return len(os.sched_getaffinity(0))


def table(report: Mapping[str, Any]) -> str:
    """The figures as markdown, the most faithful first."""
    results = sorted(report["results"].items(), key=lambda item: -item[1]["corrected"]["overall"])
    machine_, versions = report["machine"], ", ".join(f"{name} {of}" for name, of in report["versions"].items())
    heads = [name.replace("no_html", "no HTML") for name in MEASURES]
    columns = [*heads, "overall", "images corrected", "overall corrected", "pages/s", "CPU ms a page", "MB", "given up"]
    lines = [
        "# Conversion",
        "",
        f"{sum(report['articles'].values())} pages ({_counted(report['articles'])}), {machine_['cpus']} cores "
        f"({machine_['processor']}), Python {machine_['python']}, {report['at'][:10]}. {versions}.",
        "",
        "| converter | " + " | ".join(columns) + " |",
        "|---" * (len(columns) + 1) + "|",
    ]
    for name, row in results:
        shares = [row["fidelity"].get(measure) for measure in (*MEASURES, "overall")]
        shares += [row["corrected"]["images"], row["corrected"]["overall"]]
        cells = ["–" if share is None else f"{share:.3f}" for share in shares]
        cells += [f"{row[key]:,}" for key in ("pages_per_s", "cpu_ms_a_page", "peak_mb", "failures")]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join([*lines, "", *_NOTES])


_NOTES = (
    "Share kept, as the scorer says it; overall is the mean of the nine. Corrected: without two misreadings of the",
    "scorer (`benchmarks/converters/scoring.py`), for all converters alike. `clean` is the share of navigation left",
    "out: converters that keep whatever a page has score low there, as they do not look for the main content.",
    "One process and one page at a time, but for `ours, served`: all cores, from the start to articles as served.",
    "",
)


def _counted(articles: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in articles.items())


def _versions(python: Path) -> dict[str, str]:
    command = [str(python), "-m", "benchmarks.converters.others", "--versions"]
    told: dict[str, str] = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)
    return told


def _sample(folder: Path, limit: int) -> list[str]:
    ids = sorted(page.parent.name for page in folder.glob("*/index.html"))
    return sorted(random.Random(1).sample(ids, limit)) if 0 < limit < len(ids) else ids


def _slug(name: str) -> str:
    return "".join(letter if letter.isalnum() else "-" for letter in name)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("staging", nargs="+", type=Path)
    parser.add_argument("--scorer", type=Path, required=True, help="fidelity.py")
    parser.add_argument("--python", type=Path, default=Path(".venv-converters/bin/python"), help="from setup.sh")
    parser.add_argument("--limit", type=int, default=0, help="articles of each staging folder, at random; 0: all")
    parser.add_argument("--quick", dest="limit", action="store_const", const=20, help="20 articles of each")
    parser.add_argument("--only", nargs="+", choices=[ALONE, SERVED, *OTHERS], help="only these converters")
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/conversion.json"))
    parser.add_argument("--work", type=Path, default=None, help="where the temporary data goes")
    return parser.parse_args()


if __name__ == "__main__":
    main()
