"""Measurements against their past."""

import numpy as np
import pytest

from app.network.baselines import beyond_rhythm, lives, onset, surprise, worst_metric

PAST = np.random.default_rng(3).normal(10, 1, 600)
TIMES = 300.0 * np.arange(606)


@pytest.mark.parametrize(("value", "direction", "least", "most"), [
    (30.0, "up", 4, 20), (30.0, "down", 0, 0), (-10.0, "down", 4, 20), (30.0, "both", 4, 20), (10.0, "both", 0, 1),
])  # fmt: skip
def test_surprise_counts_only_in_the_direction_in_which_a_metric_gets_worse(
    value: float, direction: str, least: float, most: float
) -> None:
    assert least <= surprise(PAST, np.full(6, value), direction) <= most


def test_a_gap_or_a_short_past_is_no_surprise() -> None:
    assert surprise(PAST, np.full(6, np.nan), "up") == 0
    assert surprise(PAST[:10], np.full(6, 99.0), "up") == 0


def test_a_fault_that_comes_a_second_time_is_as_surprising_as_the_first_time() -> None:
    before = PAST.copy()
    before[100:130] = 30.0
    assert surprise(before, np.full(6, 30.0), "up") > 4


def test_what_came_again_and_again_is_usual() -> None:
    busy = PAST.copy()
    for day in range(4):
        busy[100 + 120 * day : 130 + 120 * day] = 30.0
    assert surprise(busy, np.full(6, 30.0), "up") < 1


def test_of_a_window_that_is_long_against_the_past_the_newest_part_is_compared() -> None:
    ended, goes_on = np.full(300, 10.0), np.full(300, 10.0)
    ended[:100] = 30.0
    goes_on[-100:] = 30.0
    assert surprise(PAST, ended, "up") < 1
    assert surprise(PAST, goes_on, "up") > 4


def test_one_spike_is_no_onset_and_two_in_a_row_are() -> None:
    now = np.array([10, 40, 10, 10, 40, 40.0])
    assert onset(TIMES[600:], PAST, now, "up") == TIMES[604]
    assert onset(TIMES[600:604], PAST, now[:4], "up") is None


def test_the_worst_metric_is_told_with_its_value_and_what_is_usual() -> None:
    loss = np.append(np.zeros(600), np.full(6, 50.0))
    load = np.append(PAST, PAST[:6])
    worst = worst_metric(TIMES, {"load": load, "loss": loss}, {"load": "up", "loss": "up"}, TIMES[600], TIMES[-1])
    assert worst is not None
    assert (worst.metric, worst.value, worst.usual, worst.onset) == ("loss", 50.0, 0.0, TIMES[600])


USUAL = PAST[:6]
LOSS = np.abs(np.random.default_rng(4).normal(0.02, 0.01, 600))


@pytest.mark.parametrize(
    ("metrics", "told"),
    [
        ([(PAST, np.array([10.1, 0, 0])), (LOSS, np.full(3, 100.0))], False),
        ([(PAST, np.array([10.1, 9.9, 0]))], False),
        ([(PAST, USUAL), (LOSS, np.zeros(6))], None),
        ([(np.zeros(600), np.zeros(6)), (PAST, USUAL)], True),
        ([(PAST, np.full(6, 97.0))], None),
        ([(PAST, np.full(6, np.nan))], None),
        ([(PAST[:10], np.zeros(6))], None),
        ([(PAST, USUAL)], True),
    ],
    ids=[
        "no traffic and all is lost",
        "one metric that has become zero",
        "nothing is lost, and the traffic goes on",
        "a counter that always is zero",
        "values that stand still",
        "a gap",
        "a short past",
        "values as usual",
    ],
)
def test_an_element_that_carries_nothing_any_more_is_told_from_one_that_goes_on(
    metrics: list[tuple[np.ndarray, np.ndarray]], told: bool | None
) -> None:
    assert lives(metrics) is told


def test_an_anomaly_says_until_when_an_element_was_measured() -> None:
    load = np.append(PAST, [*USUAL[:4], np.nan, np.nan])
    worst = worst_metric(TIMES, {"load": load}, {"load": "up"}, TIMES[600], TIMES[-1])
    assert worst is not None
    assert (worst.lives, worst.newest) == (True, TIMES[603])


def weeks(count: int, seed: int = 5) -> np.ndarray:
    """A metric of some weeks, every five minutes, that is high once a week, when something is copied."""
    values = np.random.default_rng(seed).normal(10, 1, count * 2016)
    for week in range(count):
        values[week * 2016 + 500 : week * 2016 + 512] += 20
    return values


def test_what_happens_every_week_is_usual_where_weeks_are_compared() -> None:
    copying = np.full(6, 30.0)
    assert surprise(weeks(1)[600:], copying, "up") > 4, "nobody has seen it"
    assert surprise(weeks(4), copying, "up") < 3


def test_spikes_of_the_past_make_a_spike_less_surprising() -> None:
    spiky = PAST.copy()
    spiky[::40] += 50
    value = np.full(1, 70.0)
    assert surprise(PAST, value, "up") - surprise(spiky, value, "up") > 1


def days(count: int, seed: int = 6) -> tuple[np.ndarray, np.ndarray]:
    """Times, every five minutes, and values that are 30 at noon and 10 at midnight, and a little different each day."""
    times = 300.0 * np.arange(count * 288)
    noise = np.random.default_rng(seed).normal(0, 1, len(times))
    return times, 20 - 10 * np.cos(times / 86400 * 2 * np.pi) + noise


def surprise_at_noon(times: np.ndarray, values: np.ndarray, value: float) -> float:
    """The surprise when the last half hour before noon of the last day has a value."""
    until = times[-1] - 43200
    values = np.where((times > until - 1800) & (times <= until), value, values)
    seen = times <= until
    worst = worst_metric(times[seen], {"load": values[seen]}, {"load": "both"}, until - 1799, until)
    assert worst is not None
    return worst.surprise


def test_what_is_usual_at_night_is_surprising_at_noon() -> None:
    times, values = days(8)
    assert surprise_at_noon(times, values, 10.0) > 2
    assert surprise_at_noon(times, values, 30.0) < 1


def test_a_rhythm_is_known_from_three_days_on() -> None:
    times, values = days(8)
    assert beyond_rhythm(times, values, since=times[0] + 2 * 86400) is None
    beyond = beyond_rhythm(times, values, since=times[0] + 3 * 86400)
    assert beyond is not None
    assert np.abs(beyond).mean() < 2


def test_a_day_unlike_the_others_and_gaps_do_not_change_the_rhythm() -> None:
    times, values = days(8)
    values[288:576] = 0.0
    values[600:700] = np.nan
    beyond = beyond_rhythm(times, values, since=times[-288])
    assert beyond is not None
    assert np.abs(beyond[-288:]).max() < 6


def test_times_that_are_a_little_late_have_the_rhythm_as_well() -> None:
    times, values = days(8)
    late = times + np.random.default_rng(7).uniform(0, 60, len(times))
    assert surprise_at_noon(late, values, 10.0) > 2


def test_days_that_are_not_alike_have_no_rhythm() -> None:
    walk = np.cumsum(np.random.default_rng(8).normal(0, 1, 8 * 288))
    assert beyond_rhythm(300.0 * np.arange(len(walk)), walk, since=300.0 * 7 * 288) is None


def test_a_spike_that_is_over_is_less_surprising_than_one_that_goes_on() -> None:
    def told(now: list[float]) -> float:
        values = np.append(PAST, now)
        worst = worst_metric(TIMES, {"load": values}, {"load": "up"}, TIMES[600], TIMES[-1])
        return worst.surprise if worst else 0.0

    assert told([10, 10, 10, 30, 30, 30]) > told([30, 30, 30, 10, 10, 10]) + 1
