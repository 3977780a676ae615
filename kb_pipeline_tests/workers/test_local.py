"""Worker processes on this machine."""

import multiprocessing
import os
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import psutil
import pytest

from kb_pipeline.errors import SettingsError
from kb_pipeline.limited.process import ProcessLimits
from kb_pipeline.settings import Settings
from kb_pipeline.workers import open_workers
from kb_pipeline.workers.local import _IDLE_SECONDS, LocalWorkers
from kb_pipeline_tests.contracts.workers_contract import LETTERS, WorkersContract, killed, process, upper_unless


@pytest.mark.slow("starts processes and kills them")
class TestLocalWorkers(WorkersContract):
    @pytest.fixture
    def workers(self) -> LocalWorkers:
        return LocalWorkers(2)

    @pytest.fixture
    def limited(self) -> Callable[[ProcessLimits], LocalWorkers]:
        return partial(LocalWorkers, 2)


def mark_and_die_at(victim: str, folder: Path, item: str) -> object:
    with (folder / item).open("a") as mark:
        mark.write("x")
    return upper_unless(victim, killed, item)


def test_processes_stay_warm_from_batch_to_batch() -> None:
    workers = LocalWorkers(2)
    batches = [{pid for _, pid in workers.map_unordered(process, LETTERS * 3)} for _ in range(3)]
    assert len(set().union(*batches)) <= 2


def children() -> list[psutil.Process]:
    return [child for child in psutil.Process().children() if "kb_pipeline.limited.child" in " ".join(child.cmdline())]


def slowly(_item: str) -> None:
    time.sleep(0.5)


def start_few() -> None:
    workers = LocalWorkers(4)
    workers.warm_up(os.getpid)
    assert workers.call(os.getpid)
    assert len(children()) == 1
    list(workers.map_unordered(process, "ab"))
    assert len(children()) == 2
    list(workers.map_unordered(slowly, LETTERS))
    assert len(children()) == 4
    list(workers.map_unordered(process, "a"))
    assert len(children()) == 4  # none is ended while it is warm


@pytest.mark.slow("starts processes and kills them")
def test_a_few_items_start_few_processes() -> None:
    starter = multiprocessing.get_context("spawn").Process(target=start_few)
    starter.start()
    starter.join(_IDLE_SECONDS)
    assert starter.exitcode == 0


def use_workers() -> None:
    assert LocalWorkers(1).call(os.getpid) != os.getpid()


def test_a_process_that_used_workers_does_not_stay_because_they_are_idle() -> None:
    user = multiprocessing.get_context("spawn").Process(target=use_workers)
    user.start()
    user.join(_IDLE_SECONDS / 2)
    assert user.exitcode == 0


def test_no_item_is_begun_more_than_twice_because_another_killed_its_process(tmp_path: Path) -> None:
    list(LocalWorkers(2).map_unordered(partial(mark_and_die_at, "c", tmp_path), LETTERS))
    assert max(len(path.read_text()) for path in tmp_path.iterdir()) <= 2


def test_workers_are_one_for_each_core_unless_told_otherwise(settings: Settings) -> None:
    opened = open_workers(settings.model_copy(update={"workers": 0}))
    assert isinstance(opened, LocalWorkers)
    assert opened.processes >= 1
    assert open_workers(settings.model_copy(update={"workers": 3})).processes == 3  # type: ignore[attr-defined]


@pytest.mark.slow("starts processes and kills them")
def test_an_unknown_engine_is_named_with_the_choices(settings: Settings) -> None:
    with pytest.raises(SettingsError, match="KB_ENGINE is 'steam'; it must be one of local"):
        open_workers(settings.model_copy(update={"engine": "steam"}))
