"""Finished articles are published together, but none waits long for the others."""

from collections.abc import Iterator

import pytest

from kb_pipeline.defs import materialize
from kb_pipeline.defs.materialize import _batches
from kb_pipeline.flow.build import ArticleResult

SIZE, SECONDS = 50, 30.0


class Clock:
    """Time that passes only when a test says so."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(materialize, "time", clock)
    return clock


def results(*numbers: int) -> list[ArticleResult]:
    return [ArticleResult(f"article-{number}", ()) for number in numbers]


def every_second(clock: Clock, seconds: int, per_second: int) -> Iterator[list[ArticleResult]]:
    for second in range(seconds):
        clock.now += 1
        yield results(*range(second * per_second, (second + 1) * per_second))


def sizes(batches: Iterator[list[ArticleResult]]) -> list[int]:
    return [len(batch) for batch in batches]


def test_many_articles_are_published_in_batches_of_one_size(clock: Clock) -> None:
    assert sizes(_batches(every_second(clock, 20, 10), SIZE, SECONDS)) == [50, 50, 50, 50]


def test_what_one_slow_article_keeps_company_is_published_while_nothing_else_is_done(clock: Clock) -> None:
    def arrivals() -> Iterator[list[ArticleResult]]:
        yield results(1, 2, 3)
        while clock.now < 600:
            clock.now += 1
            yield []
        yield results(4)

    batches = _batches(arrivals(), SIZE, SECONDS)
    assert next(batches) == results(1, 2, 3)
    assert clock.now == SECONDS
    assert next(batches) == results(4)
    assert clock.now == 600


def test_slow_articles_do_not_make_a_commit_each(clock: Clock) -> None:
    assert sizes(_batches(every_second(clock, 310, 1), SIZE, SECONDS)) == [31] * 10


def test_no_result_is_lost_or_doubled_between_batches(clock: Clock) -> None:
    arrivals = [results(*range(start, start + 17)) for start in range(0, 170, 17)]
    batches = list(_batches(iter(arrivals), 10, SECONDS))
    assert [result for batch in batches for result in batch] == results(*range(170))


def test_nothing_done_is_nothing_published(clock: Clock) -> None:
    assert sizes(_batches(every_second(clock, 100, 0), SIZE, SECONDS)) == []
