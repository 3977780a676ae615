"""What runs into limits: functions for workers, as hostile files make of ours."""

import re
import time
from pathlib import Path

from kb_pipeline.limited import doing, waiting
from kb_pipeline.limited.process import ProcessLimits

SHORT = ProcessLimits(2.0, 4000, "raise THE_LIMIT")
SMALL = ProcessLimits(120.0, 200, "raise THE_LIMIT")
MB = 1 << 20


def endless(item: str) -> str:
    """Never ends at ``slow``, in a library call that lets no other thread of the process run."""
    if item == "slow":
        doing("reading slow.svg")
        re.match("(a*)*b", "a" * 60)
    return item


def greedy(item: str) -> int:
    """Takes memory without end at ``large``."""
    taken: list[bytes] = []
    doing(f"drawing {item}.svg")
    while item == "large":
        taken.append(bytes(range(256)) * (10 * MB // 256))
    return len(taken)


def patient(folder: Path, item: str) -> str:
    """Waits for somebody else, longer than it may work itself."""
    with waiting():
        time.sleep(SHORT.seconds + 1)
    (folder / item).touch()
    return item


def hoarding(item: str) -> int:
    """Leaves behind what no single call needs: half of what a process may have."""
    _hoard.append(bytes(range(256)) * (100 * MB // 256))
    return len(_hoard)


_hoard: list[bytes] = []
