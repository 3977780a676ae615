"""The overhead of Dagster: the steps alone and the same steps through Dagster, at several sizes.

    python -m benchmarks.control_room [--sizes 1000,10000] [--from STAGING ...] [--minilm 1000]
        [--out benchmarks/results/control_room.json]

Uses generated articles, descriptions by a fake that answers at once, and the embedder without a model, so that there is
as little work as possible and Dagster's share is as large as possible. `--minilm N` adds the first ingest of N articles
with the default embedder. Shares are also given in CPU seconds, because wall seconds depend on the other load of the
machine.
"""

import argparse
import json
import shutil
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.changes import delete, edit
from benchmarks.generate import SAMPLES, Recipe, generate
from benchmarks.material import Material, load_material
from benchmarks.measure import as_dict, machine, run
from benchmarks.paid import ANALYZER
from benchmarks.ui_time import time_partitions_page

_BARE = [sys.executable, "-m", "benchmarks.bare_ingest"]
_DAGSTER = [sys.executable, "-m", "benchmarks.dagster_steps"]
_CHANGED = 0.01
_MB = 1_000_000
_HEAD = "| step | bare: wall s | CPU s | MB | Dagster: wall s | CPU s | MB | share of wall | of CPU | without start |"

STEPS = {
    "first": "first ingest",
    "tick": "sensor, nothing changed",
    "unchanged": "ingest, nothing changed",
    "changed": "1 % changed",
    "deleted": "1 % deleted",
    "dropped": "reconcile after the index was dropped",
    "first_minilm": "first ingest, default embedder",
}
"""By key, as they are called in the table."""

Figures = dict[str, Any]


def main() -> None:
    """Measure all sizes, print and store the figures."""
    arguments = _arguments()
    work = Path(tempfile.mkdtemp(prefix="kb-control-room-", dir=arguments.work))
    material = load_material(arguments.sources or [SAMPLES])
    sizes: dict[str, Figures] = {}
    for size in arguments.sizes:
        sizes[str(size)] = _Size(work / str(size), size, material).measure(browser=not arguments.no_browser)
    if arguments.minilm:
        figures = _Size(work / "minilm", arguments.minilm, material, embedder="minilm").first()
        sizes.setdefault(str(arguments.minilm), {})["first_minilm"] = figures
    report = {"machine": machine(), "sizes": sizes}
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    arguments.out.write_text(json.dumps(report, indent=1) + "\n")
    arguments.out.with_suffix(".md").write_text(table(report))
    print(table(report))
    shutil.rmtree(work)


class _Size:
    """A staging folder and two homes built from it: by the steps alone, and through Dagster."""

    def __init__(self, folder: Path, articles: int, material: Material, embedder: str = "hashing") -> None:
        self._folder, self._articles, self._staging = folder, articles, folder / "staging"
        self._shared = {
            "KB_STAGING": str(self._staging),
            "KB_ANALYZER": ANALYZER,
            "KB_EMBEDDER": embedder,
            "KB_SETTLE_SECONDS": "0",
            "KB_DELETE_GRACE_SECONDS": "0",
        }
        generate(self._staging, articles, material, Recipe(distinct_images=max(100, articles // 10)))

    def first(self) -> Figures:
        """Measure the first ingest, both ways."""
        return {"bare": self._bare(), "dagster": self._dagster("ingest")}

    def measure(self, *, browser: bool) -> Figures:
        """Measure all steps in their natural order."""
        found: Figures = {"first": self.first()}
        found["database_mb"] = round(_size_of(self._folder / "dagster" / "dagster") / _MB, 1)
        found["tick"] = {"dagster": self._dagster("tick")}
        found["unchanged"] = {"bare": self._bare(), "dagster": self._dagster("ingest")}
        changed = self._folder / "changed"
        changed.write_text("\n".join(edit(self._staging, _CHANGED, seed=1)))
        found["changed"] = {"bare": self._bare("--only", str(changed)), "dagster": self._dagster("follow")}
        gone = delete(self._staging, _CHANGED, seed=2)
        found["deleted"] = {"bare": self._bare("--remove"), "dagster": self._dagster("follow")}
        for home in ("bare", "dagster"):
            shutil.rmtree(self._folder / home / "index")
        found["dropped"] = {"bare": self._bare("--reconcile"), "dagster": self._dagster("reconcile")}
        found["database_at_the_end_mb"] = round(_size_of(self._folder / "dagster" / "dagster") / _MB, 1)
        if browser:
            found["partitions_page"] = time_partitions_page(self._environment("dagster"), self._articles - len(gone))
        return found

    def _bare(self, *arguments: str) -> Figures:
        return self._run([*_BARE, *arguments], "bare")

    def _dagster(self, step: str) -> Figures:
        return self._run([*_DAGSTER, step], "dagster")

    def _run(self, command: list[str], home: str) -> Figures:
        cost, output = run(command, self._environment(home))
        if cost.exit_code:
            raise RuntimeError(f"{' '.join(command[1:])} ended with exit code {cost.exit_code}; its output is above")
        figures = {**as_dict(cost), **json.loads(output.strip().splitlines()[-1])}
        print(f"{self._articles} {home} {' '.join(command[3:])}: {json.dumps(figures)}", flush=True)
        return figures

    def _environment(self, home: str) -> dict[str, str]:
        place = self._folder / home
        return self._shared | {"KB_HOME": str(place), "DAGSTER_HOME": str(place / "dagster")}


def _size_of(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def table(report: Mapping[str, Any]) -> str:
    """The figures as markdown: a table for each size, then their growth."""
    on = report["machine"]
    lines = [
        f"{on['cpus']} cores ({on['processor']}), Python {on['python']}, Dagster {on['packages']['dagster']}.",
    ]
    for size, found in report["sizes"].items():
        lines += ["", f"## {int(size):,} articles", ""]
        lines += [_HEAD, "|---" * 10 + "|"]
        lines += [_row(name, found[key]) for key, name in STEPS.items() if key in found]
        lines += ["", *_notes(found)]
    return "\n".join([*lines, *_growth(report["sizes"])]) + "\n"


def _row(name: str, figures: Figures) -> str:
    bare, dagster = figures.get("bare"), figures["dagster"]
    keys = ("wall_s", "cpu_s", "peak_mb")
    cells = [str(bare[key]) if bare else "" for key in keys] + [str(dagster[key]) for key in keys]
    if bare:
        cells += [f"{1 - bare[key] / dagster[key]:.0%}" for key in keys[:2]]
        cells.append(f"{1 - bare['cpu_s'] / (dagster['cpu_s'] - dagster['loading_cpu_s']):.0%}")
    else:
        cells += ["", "", ""]
    return f"| {name} | {' | '.join(cells)} |"


def _notes(found: Figures) -> list[str]:
    notes = []
    if tick := found.get("tick", {}).get("dagster"):
        notes.append(
            f"- The sensor itself: {tick['first_tick_s']} s after an ingest that it did not ask for, "
            f"{tick['tick_s']} s when nothing changed since the last look."
        )
        notes.append(
            f"- Of each step through Dagster, {tick['loading_cpu_s']} CPU s are the import of Dagster and of our "
            "definitions; the last column leaves them out."
        )
    if "database_mb" in found:
        notes.append(
            f"- Dagster's database: {found['database_mb']} MB after the first ingest, "
            f"{found['database_at_the_end_mb']} MB at the end."
        )
    if page := found.get("partitions_page"):
        notes.append(
            f"- Partitions page of an asset: {page['cold_s']} s at first, {page['warm_median_s']} s after (median)."
        )
    return notes


def _growth(sizes: Mapping[str, Figures]) -> list[str]:
    measured = [size for size in sizes if "tick" in sizes[size]]
    if len(measured) < 2:
        return []
    least, most = measured[0], measured[-1]
    factor = int(most) / int(least)
    lines = ["", f"## From {int(least):,} to {int(most):,} articles ({factor:g} times)", ""]
    lines += ["| step | bare, CPU | Dagster, CPU |", "|---|---|---|"]
    for key, name in STEPS.items():
        if key in sizes[least] and key in sizes[most]:
            cells = [
                f"x {sizes[most][key][way]['cpu_s'] / sizes[least][key][way]['cpu_s']:.1f}"
                if way in sizes[least][key]
                else ""
                for way in ("bare", "dagster")
            ]
            lines.append(f"| {name} | {' | '.join(cells)} |")
    return lines


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=lambda text: [int(size) for size in text.split(",")], default=[1000, 10000])
    parser.add_argument("--from", dest="sources", nargs="+", type=Path, help="real articles; default: the samples")
    parser.add_argument("--minilm", type=int, default=1000, help="articles with the default embedder; 0: none")
    parser.add_argument("--no-browser", action="store_true", help="do not time the UI")
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/control_room.json"))
    parser.add_argument("--work", type=Path, default=None, help="where the temporary data goes")
    return parser.parse_args()


if __name__ == "__main__":
    main()
