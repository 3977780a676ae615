"""Measurements against their own past: how surprising the newest are, and since when. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
PAST_DAYS = 7
"""What everything measured is compared with."""
RHYTHM_DAYS = 28
"""What the conspicuous is compared with as well: what happens every night or on Mondays was there, several times."""
NOTICED = 1.5
"""Surprise from which a measurement is conspicuous: what is less counts for nothing."""
_LEAST = 24
"""Fewest values of the past, and fewest windows of it, that make a baseline."""
_DAYS = 3
"""Fewest days that make a rhythm: their median forgets one that was unlike the others."""
_DAY = 86400.0
_HARDLY_EVER = 0.005
"""Share of values up to which a metric is hardly ever zero."""
_INCIDENT = 0.1
"""An incident takes no more than this share of the past; what takes more is usual."""
_SPIKY = 0.5
"""Share of the standard deviation below which no distance is far: where a metric has spikes, the middle half of its
values knows nothing of them. Of a metric without, the robust deviation is more."""


@dataclass(frozen=True)
class Anomaly:
    """The most surprising metric of an element. ``surprise`` is −log10 of the chance to see it in normal times.

    ``lives`` says whether the element still carries something, as far as that is measured; ``newest`` until when.
    """

    metric: str
    surprise: float
    value: float
    usual: float
    onset: float | None = None
    lives: bool | None = None
    newest: float = 0.0


def surprise(past: Floats, now: Floats, direction: str) -> float:
    """How rare the mean of ``now`` is among the means of windows of the same length in the past, as −log10.

    Beyond the past's extremes the distance in robust deviations goes on counting, so that a failure outranks a bad day.
    Of a window that is long against the past only the newest part is compared.
    """
    now, past = now[np.isfinite(now)], past[np.isfinite(past)]
    if len(now) == 0 or len(past) < _LEAST:
        return 0.0
    now = now[-(len(past) // _LEAST) :]
    means = past if len(now) == 1 else np.convolve(past, np.ones(len(now)) / len(now), "valid")
    value, middle = float(now.mean()), float(np.median(means))
    side = 1 if value > middle else -1
    if value == middle or direction == ("down" if side > 0 else "up"):
        return 0.0
    usual = _usual(means, side * means >= side * value, len(now))
    beyond = int((side * usual >= side * value).sum())
    tail = -np.log10((beyond + 1) / (len(usual) + 1))
    if beyond == 0:
        edge = float((side * usual).max())
        spread = max(_scatter(means) * 1.4826, 1e-3 * abs(middle), 1e-12, _SPIKY * float(means.std()))
        tail += min(np.log1p(max(side * value - edge, 0.0) / spread), 6.0)
    return float(tail)


def _lasting(past: Floats, now: Floats, direction: str) -> float:
    """How surprising ``now`` is as a whole and at its end: a spike that is over counts half, as does a last value."""
    now = now[np.isfinite(now)]
    return (surprise(past, now, direction) + surprise(past, now[-1:], direction)) / 2


def beyond_rhythm(times: Floats, values: Floats, since: float) -> Floats | None:
    """How far each value is from the median of its time of day on other days before ``since``; ``None`` if no days are
    alike.

    They are if values are nearer to that than to the middle of all. Where a time of day is known of too few days
    nothing is said.
    """
    days, step = np.floor((times - since) / _DAY).astype(int), max(float(np.median(np.diff(times))), 1.0)
    if -days[0] < _DAYS:
        return None
    places = ((times - since) % _DAY // step).astype(int)
    before = days < 0
    table = np.full((-days[0], places.max() + 1), np.nan)
    table[days[before], places[before]] = values[before]
    table.sort(axis=0)
    known = np.isfinite(table).sum(axis=0)[places] - before

    def other(rank: NDArray[np.int_]) -> Floats:
        itself = before & (values <= table[rank, places])
        others: Floats = table[np.minimum(rank + itself, len(table) - 1), places]
        return others

    usual = (other((known - 1) // 2) + other(known // 2)) / 2
    beyond = np.where(known < _DAYS - 1, np.nan, values - usual)
    compared = before & np.isfinite(beyond)
    if compared.sum() < _LEAST or _scatter(beyond[compared]) >= _scatter(values[compared]):
        return None
    return beyond


def _scatter(values: Floats) -> float:
    return float(np.median(np.abs(values - np.median(values))))


def _usual(means: Floats, as_bad: NDArray[np.bool_], length: int) -> Floats:
    """The means without an earlier incident: one stretch, longer than the window, that was as bad as now, and no other.

    Otherwise a fault that comes a second time, or lasts for hours, would soon be called usual.
    """
    edges = np.flatnonzero(np.diff(as_bad, prepend=False, append=False))
    if len(edges) != 2 or not length < edges[1] - edges[0] <= _INCIDENT * len(means):
        return means
    return np.delete(means, np.arange(max(edges[0] - length, 0), min(edges[1] + length, len(means))))


def onset(times: Floats, past: Floats, now: Floats, direction: str, consecutive: int = 2) -> float | None:
    """The time of the first of several consecutive values beyond nearly all of the past."""
    finite = past[np.isfinite(past)]
    if len(finite) < _LEAST or len(now) == 0:
        return None
    low, high = np.quantile(finite, [0.005, 0.995])
    beyond = np.zeros(len(now), bool)
    if direction in ("up", "both"):
        beyond |= now > high
    if direction in ("down", "both"):
        beyond |= now < low
    length = min(consecutive, len(now))
    for start in range(len(now) - length + 1):
        if beyond[start : start + length].all():
            return float(times[start])
    return None


def lives(metrics: Sequence[tuple[Floats, Floats]]) -> bool | None:
    """Whether an element still carries something, by the past and the newest values of its metrics.

    It does not if a metric that hardly ever was zero now is, and no other goes on as usual. It does if its values still
    change; of values that stand still nobody knows, as they may be old ones that are told again and again.
    """
    stopped, goes_on, moves = False, False, False
    for past, now in metrics:
        past, now = past[np.isfinite(past)], now[np.isfinite(now)]
        if len(past) < _LEAST or not len(now):
            continue
        if now[-1] == 0:
            stopped = stopped or bool((past == 0).mean() < _HARDLY_EVER)
        else:
            goes_on = goes_on or bool(past.min() <= now[-1] <= past.max())
        moves = moves or bool(len(now) > 1 and now[-1] != now[-2])
    if stopped and not goes_on:
        return False
    return True if moves and not stopped else None


def worst_metric(
    times: Floats, metrics: Mapping[str, Floats], directions: Mapping[str, str], since: float, until: float
) -> Anomaly | None:
    """The most surprising metric of an element between two times, against everything before; ``None`` if unmeasured."""
    is_now, is_past = (times >= since) & (times <= until), times < since
    anomalies: list[Anomaly] = []
    alive = lives([(values[is_past], values[is_now]) for values in metrics.values()])
    measured = [times[is_now & np.isfinite(values)] for values in metrics.values()]
    newest = max((float(each[-1]) for each in measured if len(each)), default=0.0)
    for name in sorted(metrics):
        past, now = metrics[name][is_past], metrics[name][is_now]
        if not np.isfinite(now).any() or np.isfinite(past).sum() < _LEAST:
            continue
        rare = _lasting(past, now, directions[name])
        beyond = beyond_rhythm(times, metrics[name], since)
        if beyond is not None:
            rare = (rare + _lasting(beyond[is_past], beyond[is_now], directions[name])) / 2
        began = onset(times[is_now], past, now, directions[name])
        value = _mean(now[-max(1, len(now) // 3) :])
        anomalies.append(Anomaly(name, round(rare, 4), value, float(np.nanmedian(past)), began, alive, newest))
    return max(anomalies, key=lambda each: each.surprise) if anomalies else None


def _mean(values: Floats) -> float:
    finite = values[np.isfinite(values)]
    return float(finite.mean()) if len(finite) else float("nan")
