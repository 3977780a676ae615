"""What every kind of workers promises.

A backend's test module subclasses the contract and has a fixture ``workers`` with at least two workers, and a fixture
``limited`` that makes such workers with limits.
"""

import os
import signal
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from kb_pipeline.errors import DamagedLayerError, LimitExceededError, MissingExtraError, TransientError, WorkerLostError
from kb_pipeline.limited.process import ProcessLimits
from kb_pipeline.workers.base import Workers
from kb_pipeline_tests.contracts.limits import SHORT, SMALL, endless, greedy, hoarding, patient

LETTERS = "abcdefghij"


def upper(item: str) -> str:
    return item.upper()


def process(_item: str) -> int:
    return os.getpid()


def killed() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def ended() -> None:
    os._exit(0)


def upper_unless(victims: str, fate: Callable[[], object], item: str) -> object:
    return fate() if item in victims else item.upper()


def a_lock() -> object:
    return threading.Lock()


class UnpicklableError(Exception):
    def __init__(self) -> None:
        super().__init__("holds a lock")
        self.lock = threading.Lock()


ERRORS = {
    "plain": ValueError("no page"),
    "transient": TransientError("busy", retry_after=7),
    "damaged": DamagedLayerError("chunks", "page/chunks.jsonl"),
    "extra": MissingExtraError("KB_ENGINE=ray", "ray"),
    "unpicklable": UnpicklableError(),
}


def raising(name: str) -> None:
    raise ERRORS[name]


def marking(folder: Path, item: str) -> None:
    (folder / item).touch()
    time.sleep(0.05)


def waiting_for(file: Path, item: str) -> str:
    deadline = time.monotonic() + 60
    while item == "patient" and not file.exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    return item


class WorkersContract:
    def test_every_distinct_item_has_one_outcome(self, workers: Workers) -> None:
        outcomes = list(workers.map_unordered(upper, [*LETTERS, *LETTERS, "工单"]))
        assert sorted(outcomes) == sorted((item, item.upper()) for item in [*LETTERS, "工单"])

    def test_nothing_to_do_has_no_outcome(self, workers: Workers) -> None:
        assert list(workers.map_unordered(upper, [])) == []

    def test_the_work_is_done_elsewhere(self, workers: Workers) -> None:
        pids = {pid for _, pid in workers.map_unordered(process, LETTERS)}
        assert os.getpid() not in pids
        assert workers.call(os.getpid) != os.getpid()

    def test_warming_up_is_neither_waited_for_nor_told_of(self, workers: Workers) -> None:
        workers.warm_up(partial(raising, "plain"))
        assert workers.call(os.getpid) != os.getpid()

    def test_outcomes_come_as_they_are_done(self, workers: Workers, tmp_path: Path) -> None:
        order = []
        for item, _ in workers.map_unordered(partial(waiting_for, tmp_path / "go"), ["patient", *LETTERS]):
            order.append(item)
            if len(order) == len(LETTERS):
                (tmp_path / "go").touch()
        assert order[-1] == "patient"

    @pytest.mark.parametrize("name", ["plain", "transient", "damaged", "extra"])
    def test_an_exception_is_the_outcome_of_its_item_with_all_it_says(self, workers: Workers, name: str) -> None:
        ((_, outcome),) = workers.map_unordered(raising, [name])
        assert type(outcome) is type(ERRORS[name])
        assert str(outcome) == str(ERRORS[name])
        assert getattr(outcome, "retry_after", None) == getattr(ERRORS[name], "retry_after", None)
        with pytest.raises(type(ERRORS[name])):
            workers.call(partial(raising, name))

    @pytest.mark.parametrize("fate", [a_lock, partial(raising, "unpicklable")], ids=["result", "exception"])
    def test_what_cannot_travel_is_the_failure_of_its_item_alone(
        self, workers: Workers, fate: Callable[[], object]
    ) -> None:
        outcomes = dict(workers.map_unordered(partial(upper_unless, "c", fate), LETTERS))
        assert isinstance(outcomes.pop("c"), Exception)
        assert outcomes == {item: item.upper() for item in LETTERS if item != "c"}

    @pytest.mark.parametrize(
        ("fate", "victims", "items"), [(killed, "a", LETTERS), (ended, "ej", LETTERS), (killed, "abc", "abc")]
    )
    def test_a_worker_that_dies_loses_only_its_own_item(
        self, workers: Workers, fate: Callable[[], object], victims: str, items: str
    ) -> None:
        outcomes = dict(workers.map_unordered(partial(upper_unless, victims, fate), items))
        lost = {item: outcomes.pop(item) for item in victims}
        assert [str(lost[item]).partition(":")[0] for item in victims] == list(victims)
        assert all(type(outcome) is WorkerLostError for outcome in lost.values())
        assert outcomes == {item: item.upper() for item in items if item not in victims}
        assert dict(workers.map_unordered(upper, "xy")) == {"x": "X", "y": "Y"}

    def test_a_call_whose_worker_dies_says_so(self, workers: Workers) -> None:
        with pytest.raises(WorkerLostError):
            workers.call(killed)
        assert workers.call(partial(upper, "x")) == "X"

    def test_closing_early_leaves_the_rest_undone(self, workers: Workers, tmp_path: Path) -> None:
        outcomes = workers.map_unordered(partial(marking, tmp_path), [f"item-{number}" for number in range(200)])
        next(outcomes)
        outcomes.close()  # type: ignore[attr-defined]
        begun, before = len(list(tmp_path.iterdir())), -1
        while begun != before:  # those that were begun come to their end
            time.sleep(0.5)
            begun, before = len(list(tmp_path.iterdir())), begun
        assert begun < 60

    def test_a_call_in_the_middle_of_a_batch_is_answered(self, workers: Workers) -> None:
        outcomes = workers.map_unordered(upper, LETTERS)
        first = next(outcomes)
        assert workers.call(partial(upper, "x")) == "X"
        assert dict([first, *outcomes]) == {item: item.upper() for item in LETTERS}

    def test_an_item_that_never_ends_is_given_up_alone_and_says_what_it_was_doing(
        self, limited: Callable[[ProcessLimits], Workers]
    ) -> None:
        outcomes = dict(limited(SHORT).map_unordered(endless, ["slow", *LETTERS]))
        problem = outcomes.pop("slow")
        assert type(problem) is LimitExceededError
        assert str(problem) == "took longer than 2 s while reading slow.svg; raise THE_LIMIT"
        assert outcomes == {item: item for item in LETTERS}

    def test_an_item_that_takes_too_much_memory_is_given_up_alone(
        self, limited: Callable[[ProcessLimits], Workers]
    ) -> None:
        outcomes = dict(limited(SMALL).map_unordered(greedy, ["large", *LETTERS]))
        problem = outcomes.pop("large")
        assert type(problem) is LimitExceededError
        assert str(problem) == "needed more than 200 MB of memory while drawing large.svg; raise THE_LIMIT"
        assert outcomes == dict.fromkeys(LETTERS, 0)

    def test_waiting_for_others_does_not_count(
        self, limited: Callable[[ProcessLimits], Workers], tmp_path: Path
    ) -> None:
        assert dict(limited(SHORT).map_unordered(partial(patient, tmp_path), "ab")) == {"a": "a", "b": "b"}

    def test_what_earlier_items_left_behind_is_no_items_fault(
        self, limited: Callable[[ProcessLimits], Workers]
    ) -> None:
        outcomes = dict(limited(SMALL).map_unordered(hoarding, LETTERS))
        assert all(isinstance(outcome, int) for outcome in outcomes.values())

    def test_while_nothing_is_done_the_caller_is_not_kept_waiting(self, workers: Workers, tmp_path: Path) -> None:
        done = []
        for outcomes in workers.arrivals(partial(waiting_for, tmp_path / "go"), ["patient"], patience=0.05):
            done += outcomes
            if not outcomes:
                (tmp_path / "go").touch()
        assert done == [("patient", "patient")]
