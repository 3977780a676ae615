"""The kills of a soak, and the authors who change articles meanwhile.

Not here: the checks at the end (:mod:`benchmarks.soundness`).
"""

import logging
import random
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from benchmarks.changes import add, delete, edit
from benchmarks.generate import Recipe
from benchmarks.material import Material
from benchmarks.stack import Process, Stack

TARGETS = ("everything", "run", "worker", "daemon")

log = logging.getLogger("crash_soak")

_START_SECONDS = 180
_LOOK_SECONDS = 0.1


@dataclass(frozen=True)
class Plan:
    """The plan of a soak.

    ``longest_wait``: most seconds from the appearance of a process to its kill. ``early``: share of the kills that may
    hit a run before it has begun, which Dagster detects by a timeout. ``pause``: average seconds between two changes by
    authors.
    """

    articles: int = 500
    kills: int = 50
    seed: int = 1
    longest_wait: float = 10.0
    early: float = 0.3
    latency: float = 0.1
    images: int = 2
    batch: int = 50
    pause: float = 1.2
    quiet_seconds: float = 1800.0


class Soak:
    """One soak: kills processes while authors change articles."""

    def __init__(self, stack: Stack, plan: Plan, material: Material) -> None:
        self._stack, self._plan, self._material = stack, plan, material
        self._chance = random.Random(plan.seed)
        self._kills: Counter[str] = Counter()
        self._changes: Counter[str] = Counter()
        self._hit: dict[str, float] = {}

    def run(self) -> tuple[Counter[str], Counter[str], dict[str, float]]:
        """Kill as planned; return counts of kills and of changes, and the runs that were hit, with the time."""
        targets = [TARGETS[number % len(TARGETS)] for number in range(self._plan.kills)]
        self._chance.shuffle(targets)
        self._stack.start()
        with self._authors():
            for target in targets:
                self._kill(target)
                time.sleep(self._chance.random())
                self._stack.start()
        return self._kills, self._changes, self._hit

    def _kill(self, target: str) -> None:
        """Wait until the target runs and for a random time, then kill it."""
        deadline = time.monotonic() + _START_SECONDS
        kind = "run" if self._chance.random() < self._plan.early and target != "worker" else "worker"
        while time.monotonic() < deadline:
            if self._alive(kind):
                time.sleep(self._chance.uniform(0, self._plan.longest_wait))
                if self._alive(kind) and self._hit_now(target):
                    self._kills[target] += 1
                    log.info("kill %d of %d: %s", self._kills.total(), self._plan.kills, target)
                    return
            time.sleep(_LOOK_SECONDS)
        raise TimeoutError(f"no {kind} within {_START_SECONDS} s; see {self._stack.folder / 'daemon.log'}")

    def _alive(self, kind: str) -> list[Process]:
        return [process for process in self._stack.processes() if process.kind == kind]

    def _hit_now(self, target: str) -> bool:
        if target in ("run", "everything"):
            with self._stack.instance() as instance:
                under_way = [run.run_id for run in instance.get_runs() if run.status.value == "STARTED"]
            self._hit.update(dict.fromkeys(under_way, time.time()))
        if target == "everything":
            self._stack.kill_all()
            return True
        alive = self._alive(target)
        return bool(alive) and self._stack.kill(self._chance.choice(alive))

    @contextmanager
    def _authors(self) -> Iterator[None]:
        """Edit, delete and add articles during the block, about one every second."""
        done = threading.Event()
        author = threading.Thread(target=self._write, args=(done,))
        author.start()
        try:
            yield
        finally:
            done.set()
            author.join()

    def _write(self, done: threading.Event) -> None:
        chance = random.Random(-self._plan.seed)
        number = 0
        while not done.wait(2 * self._plan.pause * chance.random()):
            number += 1
            kind = chance.choices(("edited", "deleted", "added"), (8, 1, 1))[0]
            if kind == "edited":
                edit(self._stack.staging, 1e-9, seed=number)
            elif kind == "deleted":
                delete(self._stack.staging, 1e-9, seed=number)
            else:
                add(self._stack.staging, 1, self._material, Recipe(self._plan.seed, self._plan.images))
            self._changes[kind] += 1
