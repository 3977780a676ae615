"""The contract of workers, which call a function for each article on all cores or on a cluster."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")

Outcome = tuple[str, T | Exception]
"""An item with the result of the function, or with the exception that was raised instead."""


class Workers(ABC):
    """Calls functions in other processes, which keep their models loaded between calls.

    Functions, arguments and results must be picklable.
    """

    @abstractmethod
    def arrivals(
        self, function: Callable[[str], T], items: Iterable[str], patience: float = math.inf
    ) -> Iterator[list[Outcome[T]]]:
        """Call ``function`` for each distinct item, and yield exactly one outcome for each as they arrive.

        An empty list is yielded after ``patience`` seconds without an outcome. If a worker dies, the outcome of its
        item is a ``WorkerLostError``. If an item exceeds the limits, its worker is killed and replaced, and the
        outcome is a ``LimitExceededError``. Items are taken as workers become free: if the iterator is closed early,
        the rest is not done.
        """

    def map_unordered(self, function: Callable[[str], T], items: Iterable[str]) -> Iterator[Outcome[T]]:
        """As :meth:`arrivals`, one outcome at a time."""
        for outcomes in self.arrivals(function, items):
            yield from outcomes

    def warm_up(self, function: Callable[[], object]) -> None:  # noqa: B027  (a cluster's workers are there already)
        """Call ``function`` in one worker without waiting; its result or exception is dropped."""

    @abstractmethod
    def call(self, function: Callable[[], T]) -> T:
        """Call ``function`` in one worker and wait for it; its exceptions are raised here.

        Raises:
            WorkerLostError: the worker died.
        """
