"""The workers role: something is done for each article, on all cores or on a cluster.

Here: the contract. Not here: what is done.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")

Outcome = tuple[str, T | Exception]
"""An item with what came of it: the function's result, or the exception that kept it from one."""


class Workers(ABC):
    """Runs functions elsewhere. What travels must be picklable; workers keep their models warm between calls."""

    @abstractmethod
    def map_unordered(self, function: Callable[[str], T], items: Iterable[str]) -> Iterator[Outcome[T]]:
        """Call ``function`` for each distinct item; outcomes come as they are done, exactly one for each item.

        A worker that dies loses only its own item, whose outcome is then a ``WorkerLostError``. Items are taken
        as workers become free, so that closing the iterator early leaves the rest undone.
        """

    def warm_up(self, function: Callable[[], object]) -> None:  # noqa: B027  (a cluster's workers are there already)
        """Begin to call ``function`` in one worker, and don't wait for it; whatever comes of it is forgotten."""

    @abstractmethod
    def call(self, function: Callable[[], T]) -> T:
        """Call ``function`` in one worker and wait for it; its exceptions are raised here.

        Raises:
            WorkerLostError: the worker died.
        """
