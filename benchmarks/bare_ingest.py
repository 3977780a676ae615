"""The same layers without Dagster: the floor that `benchmarks.ingest` and `benchmarks.control_room` compare with.

Prints seconds of work by layer (summed over the worker processes) as JSON.
"""

import argparse
import json
import sys
from collections import defaultdict
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path

from kb_pipeline.build import build_articles
from kb_pipeline.layers import LAYER_NAMES, Run
from kb_pipeline.publication import publish
from kb_pipeline.reconcile import put_right
from kb_pipeline.removal import gone_from_staging, remove_all
from kb_pipeline.settings import load_settings
from kb_pipeline.state import known_articles
from kb_pipeline.workspace import open_workspace


def main() -> None:
    """Do what the command line asks for: build and publish, remove, or reconcile."""
    arguments = _arguments()
    workspace = open_workspace(load_settings())
    if arguments.remove:
        gone, _ = gone_from_staging(workspace, known_articles(workspace.layout))
        print(json.dumps({"removed": len(remove_all(workspace, gone))}))
    elif arguments.reconcile:
        repairs = put_right(workspace)
        print(json.dumps({"restored": len(repairs.restored), "to_build": len(repairs.to_build)}))
    else:
        staged = workspace.staging.list_articles().article_ids
        _ingest(arguments.only.read_text().split() if arguments.only else staged, arguments.layers.split(","))


def _ingest(article_ids: list[str] | tuple[str, ...], wanted: list[str]) -> None:
    settings = load_settings()
    run = Run("bare", datetime.now(UTC).isoformat(timespec="seconds"))
    seconds: defaultdict[str, float] = defaultdict(float)
    failed = 0
    results = build_articles(settings, article_ids, wanted, run)
    while batch := list(islice(results, settings.publish_every)):
        for result in publish(settings, batch, wanted, run):
            failed += result.error is not None
            for layer in result.layers:
                seconds[layer.name] += layer.seconds
    if "search_index" in wanted:
        open_workspace(settings).index.optimise()
    print(json.dumps({"failed": failed, "seconds_by_layer": {k: round(v, 2) for k, v in seconds.items()}}))
    sys.exit(1 if failed else 0)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--layers", default=",".join(LAYER_NAMES))
    parser.add_argument("--only", type=Path, help="file with article ids; default: everything that is staged")
    parser.add_argument("--remove", action="store_true", help="remove what is gone from staging")
    parser.add_argument("--reconcile", action="store_true", help="repair the index")
    return parser.parse_args()


if __name__ == "__main__":
    main()
