"""Which sentences state something that another article can contradict."""

import pytest

from kb_pipeline.steps.agreement.statements import ArticleStatement, statements_of
from kb_pipeline_tests.steps.agreement.articles import section


def only(text: str, title: str = "Passwords") -> ArticleStatement:
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
        "```\nthe passwords of agents expire after 90 days.\n```",
        "> **[Image: clock](images/clock.png)**\n> The passwords of agents expire after 90 days.",
    ],
    ids=["question", "example", "no value", "too short", "code", "picture"],
)
def test_what_states_nothing_of_its_own_is_left_out(text: str) -> None:
    assert statements_of([section(text)]) == []


@pytest.mark.parametrize(
    "text",
    [
        "Run the program tune2fs(8) with the disk of the server.",
        "The server was built with the option SAFE=1 of the compiler.",
        "The image of the portal has 32-bit colors in all views.",
    ],
)
def test_a_number_that_is_part_of_a_code_is_no_value(text: str) -> None:
    assert all(not statement.facts for statement in statements_of([section(text)]))


@pytest.mark.parametrize(
    ("text", "before"),
    [
        ("The clients of the portal need Windows 11 on their machines.", "window"),
        ("The scanner of the warehouse listens on port 7421.", "port"),
    ],
)
def test_a_number_that_counts_nothing_belongs_to_the_word_before_it(text: str, before: str) -> None:
    (fact,) = only(text).facts
    assert (fact.kind, fact.before) == ("label", {before})


@pytest.mark.parametrize(
    ("text", "values"),
    [
        (
            "Write to help@north.example or open help.north.example/form now.",
            ["help@north.example", "help.north.example/form"],
        ),
        ("In an emergency of the office call +49 30 5550 1712.", ["+49 30 5550 1712"]),
        ("Press Ctrl+K for the search in all folders.", ["Ctrl+K"]),
        ("The log of the server is /var/log/north/server.log.", ["/var/log/north/server.log"]),
        ("The desk of the office opens from 8:00 to 18:00.", ["8:00 to 18:00"]),
        ("Pictures of the agents have 400 by 400 pixels.", ["400 by 400"]),
        ("The export of tickets serves 20 requests per minute.", ["20", "per minute"]),
    ],
)
def test_addresses_and_ranges_are_one_value(text: str, values: list[str]) -> None:
    assert [fact.text for fact in only(text).facts] == values


def test_each_cell_of_a_row_states_something_of_the_first() -> None:
    text = "| Plan | Storage | Price |\n|---|---|---|\n| Small plan | 5 GB | 9 euros |"
    found = statements_of([section(text)])
    assert [(each.words, [fact.text for fact in each.facts]) for each in found] == [
        (("small", "plan", "storag"), ["5 GB"]),
        (("small", "plan", "price", "euro"), ["9"]),
    ]
    assert {each.text for each in found} == {"Small plan | 5 GB | 9 euros"}


def test_a_short_sentence_is_read_with_the_one_before_it() -> None:
    (found,) = statements_of([section("- How many messages the queue holds. Default: 500")])
    assert "messag" in found.words
    assert [fact.text for fact in found.facts] == ["500"]


def test_the_sentence_before_is_around() -> None:
    found = statements_of([section("Choose a password for the portal. It has 12 characters or more letters.", "Start")])
    assert "password" in found[-1].around


def test_nouns_of_german_are_no_names_unless_several_stand_together() -> None:
    text = "Die Leitung der Abteilung für Verträge in diesem Haus hat heute Sabine Krüger."
    assert [name.text for name in only(text, "Wer leitet was").names] == ["Sabine Krüger"]
