"""Which alert types come before which, by counting: no model, no constants but a window and a number of deviations."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

Floats = NDArray[np.float64]
WINDOW = 60.0
"""A type comes before another if it was raised at most so many seconds before, in the same second included."""
DEVIATIONS = 3.0
"""It does so regularly if it does more often than by chance, by more than so many standard deviations."""


def deviations(alarms: pd.DataFrame, near: Mapping[int, Sequence[int]], types: int) -> Floats:
    """For each pair of types: how much more often the first comes before the second than by chance.

    ``alarms`` has the columns device, type and at; ``near`` the devices near to each, itself included. By chance: if
    the alarms of the second type had come at any other time of the period.
    """
    period = max(float(alarms["at"].max() - alarms["at"].min()), WINDOW)
    times: dict[int, dict[int, Floats]] = {}
    for (device, kind), group in alarms.groupby(["device", "type"])["at"]:
        times.setdefault(int(device), {})[int(kind)] = np.sort(group.to_numpy(float))
    seen, expected, variance = (np.zeros((types, types)) for _ in range(3))
    for device, raised in times.items():
        for first, before in _before(times, near[device]).items():
            covered = min(float(np.minimum(np.diff(before, append=np.inf), WINDOW).sum()) / period, 1.0)
            for second, at in raised.items():
                last = np.searchsorted(before, at, "right") - 1
                seen[first, second] += ((last >= 0) & (at - before[last] <= WINDOW)).sum()
                expected[first, second] += len(at) * covered
                variance[first, second] += len(at) * covered * (1 - covered)
    return (seen - expected) / np.sqrt(np.maximum(variance, 1e-9))


def _before(times: Mapping[int, Mapping[int, Floats]], devices: Sequence[int]) -> dict[int, Floats]:
    """When each type was raised on any of the devices, in order."""
    found: dict[int, list[Floats]] = {}
    for device in devices:
        for kind, at in times.get(device, {}).items():
            found.setdefault(kind, []).append(at)
    return {kind: np.unique(np.concatenate(several)) for kind, several in found.items()}
