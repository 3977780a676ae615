"""Whether work grows with its input only: told by the ratio of two runs in one process, never by seconds."""

import gc
import time
from collections.abc import Callable

_TIMES = 8  # the larger input, in smaller ones: linear work takes 8 times as long, quadratic work 64 times
_MOST = 28  # between the two, nearer in ratio to neither
_TRIES = 6  # a machine that is busy with other things disturbs one comparison, hardly all of them
_SLACK = 0.01  # s: below it, a ratio of clock readings says nothing


def grows_in_proportion(work: Callable[[int], object], size: int) -> bool:
    """Whether ``work(size)`` takes about eight times the CPU time of ``work(size // 8)``, or less."""
    work(max(size // 100, 1))  # what is made once is made now
    return any(_seconds(work, size) < _MOST * _seconds(work, size // _TIMES) + _SLACK for _ in range(_TRIES))


def _seconds(work: Callable[[int], object], size: int) -> float:
    # A collection walks over every object of the process, also those that thousands of other tests left.
    gc.disable()
    try:
        started = time.process_time()
        work(size)
        return time.process_time() - started
    finally:
        gc.enable()
