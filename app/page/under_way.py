"""What is received in the background for readers, by reader and id: it survives a click elsewhere and a reload."""

import threading
from collections import OrderedDict
from typing import Generic, Protocol, TypeVar

from app.page.session import Who

_KEPT = 100
"""What was received, for all readers together; those that end are forgotten first."""


class Receiving(Protocol):
    """Something that arrives piece by piece, until it is done."""

    @property
    def done(self) -> bool: ...


_Received = TypeVar("_Received", bound=Receiving)


class UnderWay(Generic[_Received]):
    """What is under way; the oldest that are done are forgotten once there are more than a hundred."""

    def __init__(self) -> None:
        self._all: OrderedDict[tuple[Who, str], _Received] = OrderedDict()
        self._lock = threading.Lock()

    def keep(self, who: Who, key: str, receiving: _Received) -> None:
        """Keep something under a reader and an id, in place of what was there."""
        with self._lock:
            self._all[who, key] = receiving
            while len(self._all) > _KEPT and next(iter(self._all.values())).done:
                self._all.popitem(last=False)

    def find(self, who: Who, key: str) -> _Received | None:
        """What a reader has under an id, unless it was forgotten."""
        with self._lock:
            return self._all.get((who, key))

    def forget(self, who: Who, key: str) -> None:
        """Forget what the service has stored by now."""
        with self._lock:
            self._all.pop((who, key), None)
