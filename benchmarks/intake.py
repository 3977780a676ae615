"""Measures `kb intake run` of a folder of many pages: the first run, one without a change, and one with a few.

    python -m benchmarks.intake [--pages 10000 100000] [--work FOLDER]

Each page has words of its own, a picture that many share, and links to others. A hundred lie in a folder. What is taken
in is not ingested. Writes ``results/intake.{json,md}``.
"""

import argparse
import json
import random
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks.measure import Cost, as_dict, machine, run
from kb_pipeline_tests.pictures import screenshot

_RESULTS = Path(__file__).parent / "results"
_IN_A_FOLDER = 100
_CHANGED = 100
_WORDS = tuple(
    f"{a}{b}{c}" for a in ("re", "in", "con", "per") for b in ("fi", "la", "mo", "tu") for c in ("gur", "tes")
)


def write_pages(tree: Path, number: int) -> None:
    """Write a tree of so many pages; the same number makes the same bytes."""
    for at in range(number):
        folder = tree / f"part{at // _IN_A_FOLDER:04}"
        if at % _IN_A_FOLDER == 0:
            folder.mkdir(parents=True)
            (folder / "menu.png").write_bytes(screenshot(f"Part {at // _IN_A_FOLDER}"))
        (folder / f"page{at:06}.html").write_text(_page(at, number))


def _page(at: int, number: int, said: str = "") -> str:
    chosen = random.Random(at)
    words = [" ".join(chosen.choices(_WORDS, k=60)) for _ in range(3)]
    links = "".join(
        f'<li><a href="../part{other // _IN_A_FOLDER:04}/page{other:06}.html">Page {other}</a>'
        for other in chosen.sample(range(number), 3)
    )
    return (
        f"<title>Page {at}</title><main><h1>Page {at}</h1><p>{said} {words[0]}.</p><h2>Steps</h2><p>{words[1]}.</p>"
        f'<img src="menu.png" alt="The menu"><p>{words[2]}.</p><ul>{links}</ul></main>'
    )


def measure(number: int, work: Path) -> dict[str, Cost]:
    """What each run cost over a tree of so many pages, which is made below ``work``.

    Raises:
        RuntimeError: a run failed, or took in something else than what was to be done.
    """
    tree = work / "tree"
    write_pages(tree, number)
    environment = {"KB_HOME": str(work / "kb"), "KB_STAGING": str(work / "staging"), "KB_INTAKE": str(work / "in.yaml")}
    (work / "in.yaml").write_text(f"pages:\n  kind: folder\n  path: {tree}\n")
    costs = {"first run": _run(environment, new=number), "nothing changed": _run(environment, unchanged=number)}
    for at in random.Random(1).sample(range(number), min(_CHANGED, number)):
        (tree / f"part{at // _IN_A_FOLDER:04}" / f"page{at:06}.html").write_text(_page(at, number, "Changed:"))
    costs[f"{_CHANGED} changed"] = _run(environment, changed=min(_CHANGED, number))
    return costs


def _run(environment: dict[str, str], **expected: int) -> Cost:
    command = [sys.executable, "-m", "kb_pipeline", "intake", "run", "--no-ingest", "--json"]
    cost, output = run(command, environment)
    taken = json.loads(output)["sources"][0] if cost.exit_code == 0 else {}
    counts = {name: taken[name] if isinstance(taken[name], int) else len(taken[name]) for name in expected if taken}
    if counts != expected:
        raise RuntimeError(f"exit code {cost.exit_code}, {counts} instead of {expected}")
    return cost


def table(measured: dict[int, dict[str, Cost]]) -> str:
    """The figures as markdown."""
    lines = [
        "# Taking in a folder of pages",
        "",
        "`kb intake run --no-ingest` (`benchmarks/intake.py`): small pages with a shared picture and links.",
        "",
        "| pages | run | CPU seconds | ms a page | seconds | peak MB |",
        "|---|---|---|---|---|---|",
    ]
    for number, costs in measured.items():
        for name, cost in costs.items():
            figures = (
                f"{cost.cpu_s:.1f}",
                f"{1000 * cost.cpu_s / number:.2f}",
                f"{cost.wall_s:.1f}",
                f"{cost.peak_mb:.0f}",
            )
            lines.append(f"| {number:,} | {name} | {' | '.join(figures)} |")
    return "\n".join(lines) + "\n"


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, print and write the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument(
        "--work", type=Path, help="where trees and homes are made; default: the folder for temporary files"
    )
    parser.add_argument("--out", type=Path, default=_RESULTS)
    options = parser.parse_args(arguments)
    measured: dict[int, dict[str, Cost]] = {}
    for number in options.pages:
        with tempfile.TemporaryDirectory(dir=options.work) as folder:
            measured[number] = measure(number, Path(folder))
        print(table({number: measured[number]}), flush=True)
    rows = {str(number): {name: as_dict(cost) for name, cost in costs.items()} for number, costs in measured.items()}
    (options.out / "intake.json").write_text(json.dumps({"machine": machine(), "pages": rows}, indent=1) + "\n")
    (options.out / "intake.md").write_text(table(measured))


if __name__ == "__main__":
    main()
