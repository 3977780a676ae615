"""When two statements contradict one another, and when they rightly differ."""

import pytest

from kb_pipeline.steps.agreement.comparing import Difference, Met, Weights, compared, contradicting
from kb_pipeline.steps.agreement.statements import ArticleStatement, statements_of
from kb_pipeline_tests.steps.agreement.articles import section

EXPIRY = "The passwords of all agents expire after 90 days."
LATER = "As a rule, passwords of agents expire after 60 days."


def stated(text: str, title: str = "Passwords") -> ArticleStatement:
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
        (
            "Leihgeräte müssen nach 14 Tagen in der Werkstatt sein.",
            "In der Werkstatt müssen Leihgeräte nach 21 Tagen sein.",
            "number",
            "14 Tagen",
            "21 Tagen",
        ),
        (
            "The help desk of Leeds is open from 8:00 to 18:00.",
            "On working days, the help desk of Leeds is open between 9:00 and 17:00.",
            "date",
            "8:00 to 18:00",
            "9:00 and 17:00",
        ),
        (
            "A seat in the training costs €79 with lunch.",
            "Each seat in the training costs 89 euros with lunch.",
            "number",
            "79",
            "89",
        ),
        (
            "Lost badges are reported to badges@north.example at once.",
            "Report a lost badge to security@north.example at once.",
            "name",
            "badges@north.example",
            "security@north.example",
        ),
        (
            "The agency was founded in 1998 by engineers.",
            "Founded in 1989, the agency of engineers grows.",
            "date",
            "1998",
            "1989",
        ),
        (
            "The scanner of the warehouse listens on port 7421.",
            "Open port 7412 for the scanner of the warehouse, which listens there.",
            "number",
            "7421",
            "7412",
        ),
    ],
)
def test_the_same_with_another_value_in_other_words_is_a_contradiction(
    one: str, other: str, kind: str, here: str, there: str
) -> None:
    found = difference(one, other)
    assert found
    assert (found.kind, found.here, found.there) == (kind, here, there)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (EXPIRY, "Passwords of agents expire after 90 days."),
        ("The export of all tickets takes a week at most.", "The export of all tickets takes 7 days at most."),
        ("The portal for partners closes on 14 May 2026.", "The portal for partners closes in May 2026."),
    ],
)
def test_equal_values_agree_however_they_are_written(one: str, other: str) -> None:
    found = difference(one, other)
    assert found
    assert not found.kind


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
        ("Nicknames of agents have at least 3 letters.", "Nicknames of agents have at most 20 letters."),
        ("Holidays of the agents in Austria last 13 days.", "Holidays of the agents in Ireland last 10 days."),
        ("See the chapter of agents on CREATE TABLE first.", "See the chapter of agents on DROP VIEW first."),
        ("The council of agents is led by Mrs Miller.", "The council of agents is led by Anna Miller."),
    ],
    ids=[
        "other subject",
        "two values",
        "other nouns",
        "other codes",
        "equal",
        "short for the other",
        "bounds",
        "places",
        "commands",
        "a name",
    ],
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


def test_a_row_of_a_table_contradicts_a_sentence() -> None:
    rows = statements_of([section("| Room | Seats |\n|---|---|\n| Ganges | 16 |\n| Danube | 6 |", "Meeting rooms")])
    sentence = stated("The room Ganges seats 12 people.", "Ganges")
    found = [compared(sentence, row, Weights({}, 1000)) for row in rows]
    assert [(each.here, each.there) for each in found if each] == [("12", "16")]


def test_the_number_of_a_figure_is_no_value() -> None:
    one, other = stated("The dialog is explained by Figure 2."), stated("The dialog is explained by Figure 7.")
    assert compared(one, other, Weights({"figur": 900}, 1000)) is None
    assert compared(one, other, Weights({}, 1000)) is not None


def test_words_of_another_clause_than_the_values_count_less() -> None:
    one = stated("Deleted mailboxes are kept for 30 days; afterwards nobody of the desk brings them back.", "Mailboxes")
    other = stated("Deleted mailboxes are kept for two weeks, so export what is needed.")
    assert compared(one, other, Weights({}, 1000)) is not None


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
