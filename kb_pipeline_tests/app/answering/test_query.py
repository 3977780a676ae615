"""What is searched for when no model rewords a follow-up."""

import pytest

from app.answering.base import Message, Question
from app.answering.query import continued_questions, is_about_picture, questions_in, search_queries
from app.callers.picture import Picture
from app.callers.principal import Principal
from kb_pipeline.pasted import asked_in
from kb_pipeline_tests.app.grounding.hits import covering

CROP = "How do I crop a layer?"


def queries(text: str, *before: str) -> list[str]:
    return search_queries(after(text, *before))


def after(text: str, *before: str) -> Question:
    history = [turn for asked in before for turn in (Message("user", asked), Message("assistant", "An answer."))]
    return Question(text, Principal(), 5, tuple(history))


@pytest.mark.parametrize(
    "text",
    [
        "And how do I undo it?",
        "Why?",
        "what about ellipses",
        "Where is that dialog?",
        "How do I get there?",
        "How do I undo the last one?",
        "Can I do this with the keyboard?",
        "?",
        "Und unter Windows?",
        "Was kostet das?",
        "Wo finde ich dieses Menü?",
    ],
)
def test_a_follow_up_borrows_the_words_of_the_question_before(text: str) -> None:
    assert queries(text, CROP) == [f"{text}\n{CROP}"]


@pytest.mark.parametrize(
    "text",
    [
        "How do I print on both sides?",
        "Wie schneide ich eine Ebene zu?",
        "Welche Handbücher gibt es?",
        "Which key makes some dimensions fixed?",
        "How do I change the radius?",
        "Can I speak to a human?",
        "Is there a limit of layers?",
        "How do I change one layer?",
    ],
)
def test_a_question_that_makes_sense_alone_is_asked_by_itself(text: str) -> None:
    assert queries(text, CROP) == [text]


def test_what_makes_no_sense_alone_continues_the_questions_that_it_borrows() -> None:
    assert continued_questions(after("And on Windows?", "Is it white?", CROP)) == (CROP,)
    assert continued_questions(after("Why?", CROP, "And how do I undo it?")) == (CROP, "And how do I undo it?")
    assert continued_questions(after("How do I change the radius?", CROP)) == ()
    assert continued_questions(after("Why?")) == ()
    pictured = Question("Why?", Principal(), 5, after("", CROP).history, picture=Picture(b"", "image/png", 1, 1, "410"))
    assert continued_questions(pictured) == ()


def test_a_question_borrows_what_was_read_on_its_picture_rather_than_earlier_questions() -> None:
    picture = Picture(b"", "image/png", 1, 1, "Error 410\nIt is gone.")
    history = (Message("user", CROP), Message("assistant", "An answer."))
    asked = [
        Question(text, Principal(), 5, history, picture=picture) for text in ("What is this?", "Who deletes a hook?")
    ]
    assert search_queries(asked[0]) == ["What is this?\nError 410 It is gone."]
    assert search_queries(asked[1]) == ["Who deletes a hook?", "Who deletes a hook?\nError 410 It is gone."]
    blank = Question("What is this?", Principal(), 5, history, picture=Picture(b"", "image/png", 1, 1))
    assert search_queries(blank) == [f"What is this?\n{CROP}"]


def test_a_question_and_its_picture_belong_together_unless_the_hits_cover_the_question_better() -> None:
    assert is_about_picture([covering(0.5)], [covering(0.51)])
    assert not is_about_picture([covering(0.6)], [covering(0.5)])
    assert is_about_picture([covering(None)], [covering(None)])
    assert is_about_picture([], [covering(0.6)])
    assert not is_about_picture([covering(0.36)], [])


def test_the_first_question_has_nothing_to_borrow() -> None:
    assert queries("Why?") == ["Why?"]
    assert queries(CROP) == [CROP]


def test_the_same_question_again_is_looked_up_once() -> None:
    assert queries("Why?", "Why?") == ["Why?\nWhy?"]


def test_follow_ups_of_follow_ups_reach_back_to_the_subject_but_not_far() -> None:
    assert queries("Why?", "Set up a printer.", CROP, "And how do I undo it?") == [
        f"Why?\nAnd how do I undo it?\n{CROP}"
    ]
    assert queries("Why?", CROP, "How?", "When?") == ["Why?\nWhen?\nHow?"]


@pytest.mark.parametrize(
    ("text", "questions"),
    [
        (
            "How do I create a canned response and how long are webhook deliveries kept?",
            ("How do I create a canned response", "how long are webhook deliveries kept?"),
        ),
        (
            "How do I reset a password? Where are the backups stored?",
            ("How do I reset a password?", "Where are the backups stored?"),
        ),
        (
            "Wie lege ich einen Webhook an und wo finde ich die SLA-Einstellungen?",
            ("Wie lege ich einen Webhook an", "wo finde ich die SLA-Einstellungen?"),
        ),
    ],
)
def test_two_questions_in_one_message(text: str, questions: tuple[str, ...]) -> None:
    assert questions_in(text) == questions


@pytest.mark.parametrize(
    "text",
    [
        CROP,
        "What is a trigger and how is it used?",
        "Tell me how and when to use a macro",
        "How do I find out what a rule does and undo it?",
        "What does status 429 mean and when may I try again?",
        "Is it white? Why?",
        "How do I crop?\nWhere are the backups stored?",
    ],
)
def test_what_belongs_together_is_one_question(text: str) -> None:
    assert questions_in(text) == (text,)


MAIL = """Hi team,

this is Maria from Alderpine. Since the upgrade our replies go to spam, and some bounce with "550 5.7.26".
I attach the bounce. Could you please tell me which DNS records we need? Is the domain verified?

Best regards
Maria Example
This message is confidential.
"""


def test_a_pasted_mail_is_looked_up_by_its_questions_and_what_stands_around_them() -> None:
    asked, around = asked_in(MAIL).split("\n")
    assert asked == "Could you please tell me which DNS records we need? Is the domain verified?"
    assert "replies go to spam" in around
    assert "Hi team" not in around and "confidential" not in around and "Example" not in around
    assert queries(MAIL, CROP) == [asked_in(MAIL)]


def test_each_question_of_a_pasted_mail_is_one_that_can_be_answered() -> None:
    assert questions_in(MAIL) == ("Could you please tell me which DNS records we need?", "Is the domain verified?")


@pytest.mark.parametrize(
    "asked",
    [
        "Is the domain verified?",
        "What could be the reason? Can you please check?",
        "Is the domain verified? And how do I undo it?",
        "Is it white? Is it black? How do I crop it? Where are the backups stored?",
    ],
    ids=["one", "says nothing alone", "points back", "many"],
)
def test_a_mail_whose_questions_belong_together_is_one_question(asked: str) -> None:
    mail = f"Hi team,\nour replies go to spam.\n{asked}\nBest regards\nMaria Example\n"
    assert questions_in(mail) == (mail,)


@pytest.mark.parametrize("text", ["Who are you?", "Can you do that?", "Wer bist du?"])
def test_who_is_addressed_is_no_subject_of_the_question_before(text: str) -> None:
    assert queries(text, CROP)[0] == (f"{text}\n{CROP}" if "that" in text else text)
