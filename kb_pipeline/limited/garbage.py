"""Tunes the garbage collector for short-lived processes, in which nearly all objects live until the end."""

import atexit
import gc

_NEW_OBJECTS = 10_000


def collect_seldom() -> None:
    """Collect after 10,000 new objects instead of 700, and not at all when the process ends.

    Otherwise the collector takes a fifth of the time to import Dagster and LanceDB, and almost a second at the end.
    """
    gc.set_threshold(_NEW_OBJECTS)
    atexit.register(gc.freeze)
