"""Progress where no bar can move: a line every half minute, by a clock that the test sets."""

from io import StringIO

import pytest
from rich.console import Console

from kb_pipeline.cli.progress import ResultCounter
from kb_pipeline.flow.build import ArticleResult


class Watch:
    """A clock that shows what it is set to."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def result(error: str | None = None) -> ArticleResult:
    return ArticleResult("page", (), error=error)


def lines(*arrivals: tuple[float, int], terminal: bool = False) -> list[str]:
    """What is printed when at each time (seconds) so many articles arrive, of 100."""
    watch, said = Watch(), StringIO()
    tally = ResultCounter("ingesting", 100, clock=watch, console=Console(file=said, force_terminal=terminal, width=20))
    for watch.now, count in arrivals:
        tally.advance([result()] * count, 100)
    return said.getvalue().splitlines()


def test_a_file_gets_a_line_every_half_minute() -> None:
    assert lines((10, 5), (29, 5), (31, 10), (45, 10), (60, 10), (61, 10)) == [
        "ingesting: 20 of 100 articles, about 0:01:52 left",
        "ingesting: 50 of 100 articles, about 0:00:57 left",
    ]


def test_the_time_until_the_first_article_in_which_models_are_loaded_says_nothing_of_the_rest() -> None:
    assert lines((90, 1), (130, 4)) == [
        "ingesting: 1 of 100 articles",
        "ingesting: 5 of 100 articles, about 0:15:50 left",
    ]


@pytest.mark.parametrize("arrivals", [((29.0, 100),), ((1.0, 1), (2.0, 99))])
def test_a_short_run_says_nothing_before_its_summary(arrivals: tuple[tuple[float, int], ...]) -> None:
    assert lines(*arrivals) == []


def test_a_terminal_has_its_bar_instead() -> None:
    assert lines((31, 10), terminal=True) == []


def test_a_long_article_is_told_of_while_it_is_being_made() -> None:
    watch, said = Watch(), StringIO()
    doing = ["guide: describing [a].png", "two: reading", "one: x", "four: y"]
    tally = ResultCounter("ingesting", 3, watch, Console(file=said, width=20), lambda: doing)
    for watch.now in (29.0, 31.0, 60.0):
        tally.tell()
    tally.advance([result()], 3)
    watch.now = 62.0
    tally.tell()
    assert said.getvalue().splitlines() == [
        "ingesting: 0 of 3 articles; guide: describing [a].png; two: reading; one: x",
        "ingesting: 1 of 3 articles; guide: describing [a].png; two: reading; one: x",
    ]


def test_without_a_number_of_articles_none_is_told() -> None:
    watch, said = Watch(), StringIO()
    tally = ResultCounter("repairing", None, watch, Console(file=said, width=20), list)
    watch.now = 30.0
    tally.tell()
    assert said.getvalue() == "repairing: no article is finished yet\n"


def test_failures_are_counted() -> None:
    watch, said = Watch(), StringIO()
    tally = ResultCounter("retrying", 4, clock=watch, console=Console(file=said, width=20))
    watch.now = 3600.0
    tally.advance([result("broken"), result()], 4)
    assert said.getvalue() == "retrying: 2 of 4 articles, 1 failed\n"
