"""Which sentences state something that another article can contradict."""

import pytest

from kb_pipeline.steps.agreement.statements import Statement, statements_of
from kb_pipeline_tests.steps.agreement.articles import section


def only(text: str, title: str = "Passwords") -> Statement:
    (statement,) = statements_of([section(text, title)])
    return statement


def test_a_statement_keeps_its_words_as_stems_and_its_values_apart() -> None:
    statement = only("The passwords of all agents expire after 90 days.")
    assert statement.words == ("password", "agent", "expir")
    assert [(fact.kind, fact.text) for fact in statement.facts] == [("number", "90 days")]
    assert statement.chunk_id == "alpha-0"


def test_the_title_and_the_headings_are_around_it() -> None:
    (statement,) = statements_of([section("Old sessions close after 20 minutes.", "Web portal", heading="Sessions")])
    assert statement.title == {"web", "portal"}
    assert statement.around == {"web", "portal", "session"}


def test_names_are_words_with_capital_letters_side_by_side_and_what_is_quoted() -> None:
    statement = only('The help desk in Copenhagen Street is led by "Northern Star" on working days.')
    assert [(name.kind, name.text) for name in statement.names] == [
        ("name", "Copenhagen Street"),
        ("quoted", "Northern Star"),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "Do the passwords of agents expire after 90 days?",
        "For example, the passwords of agents expire after 90 days.",
        "The passwords of agents expire some day.",
        "It takes 90 days.",
        "Passwords of agents after 90 days",
        "| Plan | Days |\n|---|---|\n| The passwords of agents expire after | 90 days |",
        "```\nthe passwords of agents expire after 90 days.\n```",
        "> **[Image: clock](images/clock.png)**\n> The passwords of agents expire after 90 days.",
    ],
    ids=["question", "example", "no value", "too short", "label", "table", "code", "picture"],
)
def test_what_states_nothing_of_its_own_is_left_out(text: str) -> None:
    assert statements_of([section(text)]) == []


@pytest.mark.parametrize(
    "text",
    [
        "The import of contacts follows the rules of Figure 2.",
        "Run the program tune2fs(8) with the disk of the server.",
        "The server was built with the option SAFE=1 of the compiler.",
        "The clients of the portal need Windows 11 on their machines.",
    ],
)
def test_a_number_that_belongs_to_a_name_is_no_value(text: str) -> None:
    assert all(not statement.facts for statement in statements_of([section(text)]))
