"""The same layers without Dagster: the baseline for `benchmarks.ingest` and `benchmarks.control_room`.

Prints the seconds of work by layer, summed over the worker processes, as JSON. `--profile FILE` does everything in this
process, writes cProfile's data to the file, and prints the functions that took longest, by themselves and cumulated.
"""

import argparse
import cProfile
import json
import pstats
import sys
import time
from collections import defaultdict
from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import NoReturn

from kb_pipeline.flow.build import build_articles
from kb_pipeline.flow.layers import LAYER_NAMES, Run
from kb_pipeline.flow.publish import publish
from kb_pipeline.flow.workspace import open_workspace
from kb_pipeline.settings import Settings, load_settings
from kb_pipeline.store.state import known_articles
from kb_pipeline.upkeep.reconcile import repair
from kb_pipeline.upkeep.remove import gone_from_staging, remove_all


def main() -> None:
    """Build and publish, remove, or reconcile, as the arguments say."""
    arguments = _arguments()
    workspace = open_workspace(load_settings())
    if arguments.remove:
        gone, _ = gone_from_staging(workspace, known_articles(workspace.layout))
        print(json.dumps({"removed": len(remove_all(workspace, gone))}))
    elif arguments.reconcile:
        repairs = repair(workspace)
        print(json.dumps({"restored": len(repairs.restored), "to_build": len(repairs.to_build)}))
    else:
        staged = workspace.staging.list_articles().article_ids
        article_ids = arguments.only.read_text().split() if arguments.only else staged
        if arguments.profile:
            _profiled(arguments.profile, article_ids, arguments.layers.split(","))
        _ingest(load_settings(), article_ids, arguments.layers.split(","))


def _profiled(file: Path, article_ids: Sequence[str], wanted: list[str]) -> NoReturn:
    settings = load_settings(engine="kb_pipeline_tests.doubles:WorkersHere")
    profile = cProfile.Profile()
    try:
        profile.runcall(_ingest, settings, article_ids, wanted)
    finally:
        profile.dump_stats(file)
        pstats.Stats(profile).sort_stats("tottime").print_stats(25).sort_stats("cumtime").print_stats("kb_pipeline", 40)


def _ingest(settings: Settings, article_ids: Sequence[str], wanted: list[str]) -> NoReturn:
    began = time.perf_counter()
    run = Run("bare", datetime.now(UTC).isoformat(timespec="seconds"))
    seconds: defaultdict[str, float] = defaultdict(float)
    failed = 0
    results = build_articles(open_workspace(settings), article_ids, wanted, run)
    while batch := list(islice(results, settings.publish_every)):
        for result in publish(open_workspace(settings), batch, wanted, run):
            failed += result.error is not None
            for layer in result.layers:
                seconds[layer.name] += layer.seconds
    if "search_index" in wanted:
        open_workspace(settings).index.optimise()
    by_layer = {name: round(spent, 2) for name, spent in seconds.items()}
    work = round(time.perf_counter() - began, 2)  # workers that start and models that are loaded are part of it
    print(json.dumps({"failed": failed, "work_s": work, "seconds_by_layer": by_layer}))
    sys.exit(1 if failed else 0)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--layers", default=",".join(LAYER_NAMES))
    parser.add_argument("--only", type=Path, help="file with article ids; default: everything that is staged")
    parser.add_argument("--profile", type=Path, help="profile it, in one process, into this file")
    parser.add_argument("--remove", action="store_true", help="remove what is gone from staging")
    parser.add_argument("--reconcile", action="store_true", help="repair the index")
    return parser.parse_args()


if __name__ == "__main__":
    main()
