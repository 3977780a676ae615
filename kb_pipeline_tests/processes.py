"""What tests run in processes of their own, some of which are killed.

``python -m kb_pipeline_tests.processes STAGING HOME ANALYZER STEP`` builds and publishes what is staged, and ends
without any clean-up right after a step of the publication.
"""

import os
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack, contextmanager
from multiprocessing import get_context
from multiprocessing.synchronize import Barrier
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch

from kb_pipeline.flow import publish, serving_versions
from kb_pipeline.flow.build import build_article
from kb_pipeline.flow.layers import LAYER_NAMES, Run, search_index
from kb_pipeline.flow.workspace import open_workspace
from kb_pipeline.search.lance.index import LanceDBIndex
from kb_pipeline.settings import Settings

KILLED = 66

_STEPS: dict[str, tuple[object, str]] = {
    "an image was copied": (serving_versions, "copy_file"),
    "the files were placed": (search_index, "publish_to_serving"),
    "the index was committed": (LanceDBIndex, "publish"),
    "old files were tidied up": (search_index, "clean_serving"),
    "the state was saved": (publish, "save_state"),
}
STEPS = tuple(_STEPS)


@contextmanager
def at_once(count: int) -> Iterator[ProcessPoolExecutor]:
    """So many processes, none of which begins before all are there."""
    spawn = get_context("spawn")
    with ProcessPoolExecutor(count, spawn, _meet, (spawn.Barrier(count),)) as pool:
        yield pool


def _meet(barrier: Barrier) -> None:
    barrier.wait(60)


def dawdle_and_publish(settings: Settings, run_id: str, seed: int) -> None:
    """Build and publish with random pauses around every step, so that two who do so get in each other's way."""
    dice = Random(seed)
    with ExitStack() as patches:
        for owner, name in _STEPS.values():
            patches.enter_context(patch.object(owner, name, _dawdling(getattr(owner, name), dice)))
        build_and_publish(settings, run_id)


def _dawdling(function: Callable[..., Any], dice: Random) -> Callable[..., Any]:
    def slow(*arguments: object, **options: object) -> object:
        time.sleep(dice.uniform(0, 0.02))
        result = function(*arguments, **options)
        time.sleep(dice.uniform(0, 0.02))
        return result

    return slow


def build_and_publish(settings: Settings, run_id: str) -> None:
    run = Run(run_id, "2026-01-01T00:00:00+00:00")
    ids = sorted(folder.name for folder in Path(settings.staging).iterdir())
    results = [build_article(settings, article_id, LAYER_NAMES, run) for article_id in ids]
    publish.publish(open_workspace(settings), results, LAYER_NAMES, run)


def _ending(function: Callable[..., Any]) -> Callable[..., None]:
    def last(*arguments: object, **options: object) -> None:
        function(*arguments, **options)
        os._exit(KILLED)

    return last


def main(staging: str, home: str, analyzer: str, step: str) -> None:
    owner, name = _STEPS[step]
    setattr(owner, name, _ending(getattr(owner, name)))
    settings = Settings(staging=staging, home=home, analyzer=analyzer, embedder="hashing", chunk_min_tokens=4)
    build_and_publish(settings, "killed")


if __name__ == "__main__":
    main(*sys.argv[1:])
