"""Which stored questions count as not answered."""

import pytest

from app.conversations.gaps import cited, unanswered
from app.language.messages import Messages
from app.schema.answers import ChatAnswer, Clarification
from app.schema.asking import AskedPicture
from app.schema.conversations import Feedback, Turn
from kb_pipeline_tests.app.grounding.passages import citation

DOWN, UP = Feedback(rating="down"), Feedback(rating="up")


def answer(text: str = "It is so. [Ref #1]", **facts: object) -> ChatAnswer:
    return ChatAnswer.model_validate({"answer": text, "citations": (), "answered_by": "extractive", **facts})


def reason_of(**parts: object) -> str | None:
    turn = Turn.model_validate({"response_id": "r", "asked_at": "2026-02-01", "question": "Why?", **parts})
    found = list(unanswered([turn]))
    assert all((each.question, each.asked_at) == ("Why?", "2026-02-01") for each in found)
    return found[0].reason if found else None


def test_in_how_many_answers_an_article_is_cited() -> None:
    found = [citation("Text.", number, article_id="guide").model_copy(update={"used": True}) for number in (1, 2)]
    other = citation("Text.", 3, article_id="other")
    turns = [
        Turn(
            response_id=str(at),
            asked_at="2026-02-01",
            question="Why?",
            answer=answer(citations=(*found, other), **facts),
        )
        for at, facts in enumerate(({}, {}, {"refused": True}))
    ]
    assert cited(turns) == {"guide": 2}


def test_which_were_asked_where_nobody_signs_in() -> None:
    turns = [
        Turn(response_id=response_id, asked_at="2026-02-01", question="Why?", answer=answer(refused=True))
        for response_id in ("r1", "r2")
    ]
    assert [each.is_unnamed for each in unanswered(turns, {"r2"})] == [False, True]


def test_a_question_that_makes_no_sense_alone_is_a_gap_with_those_that_it_continues() -> None:
    refused = answer(refused=True, continues=("How do I crop?",))
    [found] = unanswered([Turn(response_id="r", asked_at="2026-02-01", question="And on Windows?", answer=refused)])
    assert (found.question, found.continues) == ("And on Windows?", ("How do I crop?",))
    assert found.in_full == "How do I crop? And on Windows?"
    assert found.query == "And on Windows?\nHow do I crop?"


@pytest.mark.parametrize("question", ["?!", "hello", "test test", "xxx"])
def test_what_asks_nothing_is_no_gap(question: str) -> None:
    turn = Turn(response_id="r", asked_at="2026-02-01", question=question, answer=answer(refused=True))
    assert list(unanswered([turn])) == []


def test_a_mail_is_a_gap_by_its_question_and_masked() -> None:
    mail = "Dear Ms Smith,\nour mails bounce.\nWhy does jane@example.com bounce?\nYours\nJane"
    picture = AskedPicture(width=1, height=1, text="Write to jane@example.com")
    turn = Turn(response_id="r", asked_at="2026-02-01", question=mail, answer=answer(refused=True), picture=picture)
    [found] = unanswered([turn])
    assert found.question == "Why does [e-mail address] bounce?\nWrite to [e-mail address]"
    assert found.whole == turn.in_words


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ({"answer": answer(refused=True)}, "refused"),
        ({"answer": answer(is_closest=True)}, "closest"),
        ({"answer": answer(), "feedback": DOWN}, "disliked"),
        ({"answer": answer(refused=True), "feedback": DOWN}, "disliked"),
        ({"answer": answer(Messages.of("en")("greeting"), refused=True)}, None),
        ({"answer": answer(Messages.of("de")("none_of_these"), refused=True)}, None),
        ({"answer": answer()}, None),
        ({"answer": answer(), "feedback": UP}, None),
        ({"problem": "this answer was stopped"}, None),
        ({"answer": answer(refused=True), "problem": "this answer was stopped"}, None),
        ({"answer": answer(clarification=Clarification(question="Which?", asked="Why?", options=()))}, None),
    ],
)
def test_why_a_question_is_a_gap(parts: dict[str, object], expected: str | None) -> None:
    assert reason_of(**parts) == expected
