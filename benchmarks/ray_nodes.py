"""Two Ray nodes against one, on articles whose images are described by a slow service.

    python -m benchmarks.ray_nodes [--articles 60] [--rounds 3]

The nodes are real (each has its own raylet and processes), with one logical CPU each, on this machine, next to a head
that only submits. The service is a fake (`fake_service.py`) that answers after 0.4 s. Variants alternate within one
process. Each measurement builds and publishes all articles into an empty KB_HOME, with warm worker processes.
"""

import argparse
import json
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import Any

import ray
from ray.cluster_utils import Cluster

from benchmarks.fake_service import LATENCY_SECONDS
from benchmarks.generate import SAMPLES, Recipe, generate
from benchmarks.material import load_material
from benchmarks.measure import machine
from kb_pipeline.flow.build import ArticleResult, build_articles
from kb_pipeline.flow.layers import LAYER_NAMES, ImageDescriptionsLayer, Run
from kb_pipeline.flow.publish import publish
from kb_pipeline.flow.workspace import open_workspace
from kb_pipeline.settings import Settings

_IMAGES = 2
_WARMING_ARTICLES = 8


@dataclass(frozen=True)
class Variant:
    """The number of nodes, and the logical CPUs that an article reserves."""

    name: str
    nodes: int
    task_cpus: float = 1


VARIANTS = (
    Variant("one node", 1),
    Variant("two nodes", 2),
    Variant("one node, KB_RAY_TASK_CPUS=0.25", 1, 0.25),
)


def main() -> None:
    """Measure, print and store."""
    arguments = _arguments()
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    with tempfile.TemporaryDirectory(prefix="kb-ray-") as work, _cluster() as cluster:
        material, staging = load_material([SAMPLES]), Path(work, "staging")
        article_ids = generate(staging, arguments.articles, material, Recipe(images=_IMAGES))
        runs = [
            {"round": number, "variant": variant.name, **_measure(cluster, variant, staging, article_ids)}
            for number in range(1, arguments.rounds + 1)
            for variant in VARIANTS
        ]
    results = {
        "machine": machine() | {"ray": version("ray")},
        "articles": arguments.articles,
        "images_per_article": _IMAGES,
        "seconds_per_image": LATENCY_SECONDS,
        "times_faster": {variant.name: _times_faster(runs, variant) for variant in VARIANTS[1:]},
        "runs": runs,
    }
    arguments.out.write_text(json.dumps(results, indent=1) + "\n")
    arguments.out.with_suffix(".md").write_text(_table(results))
    print(_table(results))


@contextmanager
def _cluster() -> Iterator[Cluster]:
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
    try:
        yield cluster
    finally:
        ray.shutdown()
        cluster.shutdown()


def _measure(cluster: Cluster, variant: Variant, staging: Path, article_ids: list[str]) -> dict[str, float]:
    _resize(cluster, variant.nodes)
    _build(cluster, variant, staging, article_ids[:_WARMING_ARTICLES])
    started, cpu = time.perf_counter(), _cpu_seconds()
    results = _build(cluster, variant, staging, article_ids)
    wall, cpu = time.perf_counter() - started, _cpu_seconds() - cpu
    layers = [layer for result in results for layer in result.layers]
    described = sum(layer.seconds for layer in layers if layer.name == ImageDescriptionsLayer.name)
    return {
        "wall_s": round(wall, 2),
        "articles_per_s": round(len(results) / wall, 2),
        "cpu_s": round(cpu, 2),
        "cores_busy": round(cpu / wall, 2),
        "waiting_share": round(described / sum(layer.seconds for layer in layers), 3),
    }


def _build(cluster: Cluster, variant: Variant, staging: Path, article_ids: list[str]) -> list[ArticleResult]:
    """Build and publish as a step of a run does, in an empty home."""
    with tempfile.TemporaryDirectory(prefix="kb-ray-") as home:
        settings = Settings(
            staging=str(staging),
            home=home,
            embedder="hashing",
            analyzer="benchmarks.fake_service:FakeServiceAnalyzer",
            engine="ray",
            ray_address=cluster.address,
            ray_task_cpus=variant.task_cpus,
        )
        run = Run("benchmark", "2026-01-01T00:00:00+00:00")
        built = list(build_articles(open_workspace(settings), article_ids, LAYER_NAMES, run))
        results = publish(open_workspace(settings), built, LAYER_NAMES, run)
    failed = [result.error for result in results if result.error]
    if failed or len(results) != len(article_ids):
        raise RuntimeError(f"{len(results)} of {len(article_ids)} articles were built; {failed[:1]}")
    return results


def _resize(cluster: Cluster, nodes: int) -> None:
    while len(cluster.worker_nodes) > nodes:
        cluster.remove_node(next(iter(cluster.worker_nodes)))
    while len(cluster.worker_nodes) < nodes:
        cluster.add_node(num_cpus=1)
    cluster.wait_for_nodes()


def _cpu_seconds() -> float:
    """CPU seconds of this process and its children, the nodes included."""
    fields = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            text = stat.read_text()
        except OSError:
            continue  # it ended while we looked
        fields[int(stat.parent.name)] = text.rpartition(")")[2].split()
    tree: set[int] = set()
    found = {os.getpid()}
    while found:
        tree |= found
        found = {pid for pid, values in fields.items() if int(values[1]) in found} - tree
    ticks = sum(int(value) for pid in tree for value in fields[pid][11:15])
    return ticks / os.sysconf("SC_CLK_TCK")


def _times_faster(runs: list[dict[str, Any]], variant: Variant) -> float:
    one, this = (
        median(run["wall_s"] for run in runs if run["variant"] == name) for name in (VARIANTS[0].name, variant.name)
    )
    return round(one / this, 2)


def _table(results: dict[str, Any]) -> str:
    here = results["machine"]
    lines = [
        f"{results['articles']} articles with {results['images_per_article']} images, {results['seconds_per_image']} s "
        f"of waiting for each; nodes of one logical CPU on {here['cpus']} cores ({here['processor']}), "
        f"Python {here['python']}, Ray {here['ray']}.",
        "",
        "| round | variant | articles/s | wall s | CPU s | cores busy | share of describing in the work |",
        "|---|---|---|---|---|---|---|",
    ]
    columns = ("round", "variant", "articles_per_s", "wall_s", "cpu_s", "cores_busy", "waiting_share")
    lines += ["| " + " | ".join(str(run[column]) for column in columns) + " |" for run in results["runs"]]
    lines += ["", "By the medians of the wall times:", ""]
    lines += [f"- {name}: {times} times as fast as one node" for name, times in results["times_faster"].items()]
    return "\n".join(lines) + "\n"


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--articles", type=int, default=60)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/ray_nodes.json"))
    return parser.parse_args()


if __name__ == "__main__":
    main()
