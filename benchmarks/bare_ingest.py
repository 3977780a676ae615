"""The same layers without Dagster: the floor that `benchmarks.ingest` compares with.

Prints seconds of work by layer (summed over the worker processes) as JSON.
"""

import argparse
import json
import sys
from collections import Counter
from datetime import UTC, datetime
from itertools import islice

from kb_pipeline.build import build_articles, publish
from kb_pipeline.layers import LAYER_NAMES, Run
from kb_pipeline.settings import Settings
from kb_pipeline.workspace import open_workspace


def main() -> None:
    """Build and publish everything that is staged."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--layers", default=",".join(LAYER_NAMES))
    wanted = parser.parse_args().layers.split(",")
    settings = Settings()
    workspace = open_workspace(settings)
    article_ids = workspace.staging.list_articles().article_ids
    run = Run("bare", datetime.now(UTC).isoformat(timespec="seconds"))
    seconds: Counter[str] = Counter()
    failed = 0
    results = build_articles(settings, article_ids, wanted, run)
    while batch := list(islice(results, settings.publish_every)):
        for result in publish(settings, batch, wanted, run):
            failed += result.error is not None
            for layer in result.layers:
                seconds[layer.name] += layer.seconds
    if "search_index" in wanted:
        workspace.index.optimise()
    print(json.dumps({"failed": failed, "seconds_by_layer": {k: round(v, 2) for k, v in seconds.items()}}))
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
