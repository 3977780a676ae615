"""The garbage collector of short-lived processes, where nearly everything that is made stays until the end."""

import atexit
import gc

_NEW_OBJECTS = 10_000


def collect_seldom() -> None:
    """Collect after 10,000 new objects instead of 700, and not once more when the process ends.

    Without it, the collector took a fifth of the time of importing Dagster and LanceDB, and almost a second at the end.
    """
    gc.set_threshold(_NEW_OBJECTS)
    atexit.register(gc.freeze)
