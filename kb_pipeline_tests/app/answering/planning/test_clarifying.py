"""Which document is meant: the question that is asked back, and the replies to it."""

import pytest

from app.answering.planning.clarifying import Reply, clarification_of, is_name, read_reply
from app.answering.planning.nouns import Nouns
from app.answering.planning.references import DocumentReference, reference_of
from app.language.messages import Messages
from app.schema.answers import Clarification
from kb_pipeline.records import Chunk
from kb_pipeline_tests.app.made_library import Made, rows_of

REPORTS = (
    Made("annual-2023.pdf", "Annual report 2023", "Report", "Finance", upload_date="2024-02-01", page_count=30),
    Made("annual-2024.pdf", "Annual report 2024", "Report", "Finance", upload_date="2025-02-01", page_count=40),
    Made("market.pptx", "Market study", "Report", "Marketing", upload_date="2024-05-01"),
)
ROWS: list[Chunk] = [rows_of(made)[-1] for made in REPORTS]


def report() -> DocumentReference:
    found = reference_of("the report", Nouns.of(ROWS))
    assert found
    return found


def asked(question: str = "Summarise the report", rows: list[Chunk] = ROWS, language: str = "en") -> Clarification:
    return clarification_of(question, "DOCUMENT_SUMMARY", report(), rows, Messages.of(language))


def test_the_options_say_what_tells_them_apart() -> None:
    clarification = asked()
    assert clarification.question == "Which document do you mean?"
    assert clarification.asked == "Summarise the report"
    first = clarification.options[0]
    assert (first.number, first.article_id, first.title) == (1, "annual-2023.pdf", "Annual report 2023")
    assert (first.filename, first.document_type, first.department) == ("annual-2023.pdf", "Report", "Finance")
    assert (first.upload_date, first.page_count) == ("2024-02-01", 30)


def test_it_is_asked_in_the_language_of_the_question() -> None:
    assert asked("Fasse den Bericht zusammen", language="de").question == "Welches Dokument meinen Sie?"


def test_there_are_seven_options_at_most() -> None:
    clarification = asked(rows=ROWS * 3)
    assert [option.number for option in clarification.options] == [1, 2, 3, 4, 5, 6, 7]
    assert clarification.question.startswith("Several documents fit")


def test_all_of_them_are_an_answer_unless_passages_of_one_are_wanted() -> None:
    assert asked().allows_all
    assert not clarification_of(
        "What does the report say about it?", "CONTENT_SEARCH", report(), ROWS, Messages.of("en")
    ).allows_all


@pytest.mark.parametrize(
    ("reply", "numbers"),
    [
        ("2", (2,)),
        ("#2", (2,)),
        ("2.", (2,)),
        ("option 2", (2,)),
        ("Nummer 2", (2,)),
        ("zwei", (2,)),
        ("second", (2,)),
        ("the second one", (2,)),
        ("die zweite", (2,)),
        ("the last one", (3,)),
        ("2 and 3", (2, 3)),
        ("1, 3", (1, 3)),
        ("erste und dritte", (1, 3)),
        ("the first and the last", (1, 3)),
        ("all", (1, 2, 3)),
        ("all of them", (1, 2, 3)),
        ("alle", (1, 2, 3)),
        ("none", ()),
        ("none of these", ()),
        ("keine davon", ()),
        ("nein", ()),
        ("Annual report 2024", (2,)),
        ("annual-2023.pdf", (1,)),
        ("market", (3,)),
        ("the market study", (3,)),
        ("the one from marketing", (3,)),
        ("I mean the 2023 report", (1,)),
        ("der Bericht von 2023", (1,)),
    ],
)
def test_replies(reply: str, numbers: tuple[int, ...]) -> None:
    read = read_reply(reply, asked())
    assert read is not None
    assert read.numbers == numbers


@pytest.mark.parametrize(
    "text",
    [
        "How do I write a report?",
        "annual",
        "9",
        "0",
        "yes",
        "Who wrote the annual report 2023",
        "reset my password",
        "",
        "2" * 300,
    ],
)
def test_anything_else_is_a_new_question(text: str) -> None:
    assert read_reply(text, asked()) is None


def test_all_is_no_answer_where_one_is_wanted() -> None:
    clarification = asked().model_copy(update={"allows_all": False})
    assert read_reply("both", clarification) is None


def test_who_clicks_says_the_title_where_that_is_clear() -> None:
    made = (
        *REPORTS,
        Made("copy.pdf", "Market study"),
        Made("how.pdf", "How are we doing?"),
        Made("all.pdf", "all", upload_date="2020-01-01"),
    )
    clarification = asked(rows=[rows_of(each)[-1] for each in made])
    replies = [option.reply for option in clarification.options]
    assert replies == [
        "Annual report 2023",
        "Annual report 2024",
        "market.pptx",
        "copy.pdf",
        "How are we doing?",
        "all",
    ]
    assert [read_reply(reply, clarification) for reply in replies] == [Reply((n,)) for n in range(1, 7)]


def test_a_short_text_without_a_question_may_be_a_name() -> None:
    assert is_name("the contract with Contoso")
    assert not is_name("Who signed it?")
    assert not is_name("What is new")
