"""The days that a question means, counted from a given day."""

from datetime import date

import pytest

from app.language.dates import period_of

TODAY = date(2026, 11, 23)


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("reports since May", "2026-05-01", ""),
        ("reports since December", "2025-12-01", ""),
        ("reports since 2024-05-17", "2024-05-17", ""),
        ("from May 2024 on", "2024-05-01", ""),
        ("after 1 May 2024", "2024-05-02", ""),
        ("before June 2024", "", "2024-05-31"),
        ("until 2023", "", "2023-12-31"),
        ("in 2023", "2023-01-01", "2023-12-31"),
        ("from Q3", "2026-07-01", "2026-09-30"),
        ("from Q4", "2026-10-01", "2026-12-31"),
        ("Q2 2024", "2024-04-01", "2024-06-30"),
        ("the third quarter of 2025", "2025-07-01", "2025-09-30"),
        ("between March and May 2024", "2024-03-01", "2024-05-31"),
        ("from January to March", "2026-01-01", "2026-03-31"),
        ("between November and January", "2025-11-01", "2026-01-31"),
        ("on March 5, 2024", "2024-03-05", "2024-03-05"),
        ("dated 12.03.2024", "2024-03-12", "2024-03-12"),
        ("last year", "2025-01-01", "2025-12-31"),
        ("this year", "2026-01-01", "2026-12-31"),
        ("last quarter", "2026-07-01", "2026-09-30"),
        ("last month", "2026-10-01", "2026-10-31"),
        ("last week", "2026-11-16", "2026-11-22"),
        ("in the last 30 days", "2026-10-24", ""),
        ("the last two years", "2024-11-23", ""),
        ("yesterday", "2026-11-22", "2026-11-22"),
        ("seit Mai", "2026-05-01", ""),
        ("aus dem dritten Quartal", "2026-07-01", "2026-09-30"),
        ("letztes Jahr", "2025-01-01", "2025-12-31"),
        ("vor Juni 2024", "", "2024-05-31"),
        ("nach dem 1. Mai 2024", "2024-05-02", ""),
        ("zwischen März und Juni", "2026-03-01", "2026-06-30"),
        ("bis Ende 2023", "", "2023-12-31"),
        ("in den letzten 3 Monaten", "2026-08-23", ""),
        ("heute", "2026-11-23", "2026-11-23"),
    ],
)
def test_days(text: str, first: str, last: str) -> None:
    period = period_of(text, TODAY)
    assert period
    assert (period.first, period.last) == (first, last)


@pytest.mark.parametrize("text", ["may I see it?", "the reports", "on 31 February 2024", "version 2.0"])
def test_no_days(text: str) -> None:
    assert period_of(text, TODAY) is None


def test_where_the_question_says_so() -> None:
    text = "all reports since May of finance"
    period = period_of(text, TODAY)
    assert period and text[period.start : period.end] == "since May"
