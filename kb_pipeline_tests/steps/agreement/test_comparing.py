"""When two statements contradict one another, and when they rightly differ."""

import pytest

from kb_pipeline.steps.agreement.comparing import Difference, Met, Weights, compared, contradicting
from kb_pipeline.steps.agreement.statements import Statement, statements_of
from kb_pipeline_tests.steps.agreement.articles import section

EXPIRY = "The passwords of all agents expire after 90 days."
LATER = "As a rule, passwords of agents expire after 60 days."


def stated(text: str, title: str = "Passwords") -> Statement:
    (statement,) = statements_of([section(text, title)])
    return statement


def difference(one: str, other: str, title: str = "Passwords", other_title: str = "Onboarding") -> Difference | None:
    return compared(stated(one, title), stated(other, other_title), Weights({}, 1000))


@pytest.mark.parametrize(
    ("one", "other", "kind", "here", "there"),
    [
        (EXPIRY, LATER, "number", "90 days", "60 days"),
        (
            "If a visitor is idle, the portal closes the session after 20 minutes.",
            "The portal closes the session after half an hour if a visitor is idle.",
            "number",
            "20 minutes",
            "half an hour",
        ),
        (
            "The old portal for partners closes on 3 March 2026.",
            "Partners can use the old portal until it closes on 3 May 2026.",
            "date",
            "3 March 2026",
            "3 May 2026",
        ),
        (
            "The escalations of the night shift are handled by Anna Miller.",
            "Note that escalations of the night shift are handled by Tom Becker.",
            "name",
            "Anna Miller",
            "Tom Becker",
        ),
        (
            "Die Passwörter aller Mitarbeiter gelten 90 Tage lang.",
            "Für 60 Tage gelten die Passwörter der Mitarbeiter.",
            "number",
            "90 Tage",
            "60 Tage",
        ),
    ],
)
def test_the_same_with_another_value_in_other_words_is_a_contradiction(
    one: str, other: str, kind: str, here: str, there: str
) -> None:
    assert difference(one, other) == Difference(kind=kind, here=here, there=there)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (EXPIRY, "Passwords of agents expire after 90 days."),
        ("The export of all tickets takes a week at most.", "The export of all tickets takes 7 days at most."),
    ],
)
def test_equal_values_agree_however_they_are_written(one: str, other: str) -> None:
    assert difference(one, other) == Difference(kind="")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (EXPIRY, "The invoices of all customers expire after 60 days."),
        ("Free plans of the portal have 5 projects.", "Large plans of the portal have 50 members and 80 projects."),
        ("The lead of the desk answers 5 tickets.", "The lead of the desk answers 7 phones."),
        (
            "The call sqlite3_open_v2 waits 5 seconds for a lock.",
            "The call sqlite3_open_v3 waits 9 seconds for a lock.",
        ),
        ("The history of SVN keeps 5 changes of a file.", "The history of SVN keeps 5 files of a change."),
        ("Choose the history of Subversion in the side bar.", "Choose the history of SVN in the side bar."),
    ],
    ids=["other subject", "two values", "other nouns", "other codes", "equal", "short for the other"],
)
def test_statements_about_other_things_do_not_contradict(one: str, other: str) -> None:
    found = difference(one, other)
    assert found is None or not found.kind


@pytest.mark.parametrize(
    ("title", "other_title"),
    [("Router X200", "Router X300"), ("Release 3.1 of the portal", "Release 3.2 of the portal")],
)
def test_variants_of_a_product_differ_rightly(title: str, other_title: str) -> None:
    one, other = "The battery of the handset lasts for 20 hours.", "The battery of the handset lasts for 30 hours."
    assert difference(one, other, title, other_title) is None
    assert difference(one, other, "Handsets", "Travel kit") is not None


def met(key: int, article_id: str, there: str) -> Met:
    kind = "number" if there else ""
    return Met(key, article_id, stated(LATER), Difference(kind=kind, here="90 days" if there else "", there=there))


def test_a_statement_contradicts_the_one_that_it_met() -> None:
    other = met(1, "beta", "60 days")
    assert [*contradicting("alpha", [other], lambda _: [met(0, "alpha", "90 days")])] == [other]


@pytest.mark.parametrize(
    ("found", "back"),
    [
        ([met(1, "beta", "60 days"), met(2, "gamma", "30 days")], []),
        ([met(1, "beta", "60 days")], [met(0, "alpha", "90 days"), met(3, "delta", "10 days")]),
        ([met(1, "beta", "60 days"), met(2, "beta", "")], []),
        ([met(1, "beta", "60 days")], [met(3, "alpha", "")]),
        ([met(1, "alpha", "60 days")], []),
    ],
    ids=["several values", "several values of the other", "the other says both", "it says both", "one article"],
)
def test_a_form_that_is_filled_in_several_ways_contradicts_nothing(found: list[Met], back: list[Met]) -> None:
    assert [*contradicting("alpha", found, lambda _: back)] == []
