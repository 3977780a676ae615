"""The chat page against the real service: ask, look back, rename, delete, and what is said when something is wrong."""

from typing import cast

import pytest
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Button

from app.client import Client
from app.language.messages import Messages
from app.page.running import runnings
from app.schema.conversations import UNANSWERED, Conversation, Feedback, Turn
from kb_pipeline_tests.app.page.conftest import Open, ask_at, html
from kb_pipeline_tests.app.page.test_running import Service as Answering
from kb_pipeline_tests.app.page.test_running import Stream, until

QUESTION = "How do I crop a layer?"


def ask(page: AppTest, question: str = QUESTION) -> AppTest:
    return page.chat_input[0].set_value(question).run()


def labels(page: AppTest) -> list[str]:
    buttons = (button for button in page.sidebar.button if button.key != "language-model")
    return [button.label.replace("\\", "") for button in buttons]


def test_a_reader_is_greeted_with_questions_of_the_articles(service: Client, open_page: Open) -> None:
    page = open_page()
    assert "What would you like to know?" in html(page)
    suggested = [button.label.replace("\\", "") for button in page.main.button]
    assert suggested == [*service.suggestions().questions]


def test_who_comes_from_an_address_of_no_page_is_told_so_until_they_ask(service: Client, open_page: Open) -> None:
    page = open_page(nowhere="<b>failures")
    assert "There is no page <b>/&lt;b&gt;failures</b>" in html(page)
    assert "What would you like to know?" in html(page)
    assert "There is no page" not in html(ask(page))
    assert "nowhere" not in page.query_params


def test_what_was_read_stays_and_a_question_is_kept_while_the_service_does_not_answer(
    service: Client, open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.page.running._AGAIN_SECONDS", 0.0)
    page = ask(open_page())
    ask_at("http://127.0.0.1:9", monkeypatch)
    shown = html(page.run())
    assert "does not answer at the moment" in shown and "kb serve" in shown
    assert "Crop to Content" in shown, "what was read"
    shown = html(ask(page, "How do I undo a crop?"))
    assert "Your question is kept" in shown and "How do I undo a crop?" in shown and "Crop to Content" in shown
    assert page.chat_input[0].disabled
    ask_at(service.url, monkeypatch)
    shown = html(page.run())
    assert "does not answer" not in shown
    assert shown.count("How do I undo a crop?</p>") == 1
    (conversation,) = service.conversations().conversations
    assert [turn.question for turn in service.conversation(conversation.id).turns] == [
        QUESTION,
        "How do I undo a crop?",
    ]


def test_a_question_that_is_kept_can_be_taken_back(
    service: Client, open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = ask(open_page())
    ask_at("http://127.0.0.1:9", monkeypatch)
    ask(page, "How do I undo a crop?")
    shown = html(page.button(key="take-back").click().run())
    assert "How do I undo a crop?" not in shown and "Crop to Content" in shown
    assert not page.chat_input[0].disabled


def test_an_answer_comes_with_references_sources_and_images(service: Client, open_page: Open) -> None:
    shown = html(ask(open_page()))
    assert f'<div class="kb-question"><p>{QUESTION}</p></div>' in shown
    assert 'data-kb="source:0.1"' in shown
    assert '<img src="/api/images/layers/images/crop.png"' in shown


def test_that_an_answer_is_current_is_said_once_it_is_opened_again(service: Client, open_page: Open) -> None:
    page = ask(open_page())
    assert "Crop to Content" in html(page) and "Still current" not in html(page.run())
    again = open_page(conversation=page.query_params["conversation"])
    assert "Still current" in html(again)


def test_a_stopped_answer_stays_until_the_service_has_stored_that(
    open_page: Open, service: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    times = {"created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-01T00:00:00Z"}
    begun = Turn(response_id="resp_1", asked_at=times["created_at"], question=QUESTION, problem=UNANSWERED)
    conversation = Conversation(id="conv_1", title=QUESTION, turns=(begun,), **times)
    monkeypatch.setattr(Client, "conversation", lambda *_: conversation)
    answering = cast(Client, Answering(Stream("Crop to ", silent=True)))
    running = runnings().ask(answering, (), conversation.id, QUESTION)
    until(lambda: running.text == "Crop to ")
    running.stop()
    shown = html(open_page(conversation=conversation.id))
    assert "You stopped this answer" in shown
    assert "There is no answer" not in shown
    assert shown.count('class="kb-question"') == 1


def test_a_suggested_question_is_asked(service: Client, open_page: Open) -> None:
    page = open_page()
    question = service.suggestions().questions[0]
    shown = html(page.main.button[0].click().run())
    assert question.replace("'", "&#x27;") in shown
    assert "What would you like" not in shown


def test_a_misspelt_question_is_answered_as_it_was_meant(service: Client, open_page: Open) -> None:
    page = ask(open_page(), "Hwo do I crpo a laeyr?")
    assert "Understood as" in html(page) and "Crop to Content" in html(page)
    assert not any("crop a layer" in button.label for button in page.main.button)


def test_what_else_the_article_says_stands_below_the_answer_where_there_is_room(
    service: Client, open_page: Open
) -> None:
    shown = html(ask(open_page(), "How do I undo the last crop?"))
    assert "Crop a layer" in shown and "Show more" not in shown


def test_an_answer_is_proposed_where_there_is_none(service: Client, open_page: Open) -> None:
    assert not proposals(ask(open_page()))
    page = ask(open_page(), "Who won the football championship of 1954?")
    page = proposals(page)[0].click().run()
    assert page.query_params["question"] == "Who won the football championship of 1954?"


def test_an_answer_is_proposed_where_only_something_close_is_quoted(service: Client, open_page: Open) -> None:
    page = ask(open_page(), "How do I crop a layer in batch with a script at night?")
    assert Messages.of("en")("closest") in html(page)
    assert proposals(page)


def proposals(page: AppTest) -> list[Button]:
    return [button for button in page.main.button if button.label == "Propose an answer"]


def test_below_a_courtesy_there_is_nothing_to_do(service: Client, open_page: Open) -> None:
    page = ask(open_page(), "Thanks a lot!")
    assert "You're welcome." in html(page).replace("&#x27;", "'")
    assert "Copy" not in html(page)
    assert [button.label for button in page.main.button] == []


def test_a_follow_up_stays_in_its_conversation(service: Client, open_page: Open) -> None:
    page = ask(ask(open_page()), "And how do I undo that?")
    [summary] = service.conversations().conversations
    assert summary.turns == 2
    assert html(page).count('class="kb-question"') == 2
    assert labels(page) == ["New conversation", QUESTION]


def test_a_conversation_is_resumed_by_its_address_and_from_the_side(service: Client, open_page: Open) -> None:
    ask(open_page())
    [summary] = service.conversations().conversations
    assert QUESTION in html(open_page(conversation=summary.id))
    page = open_page()
    assert QUESTION not in html(page)
    assert QUESTION in html(page.button(key=f"open-{summary.id}").click().run())


def test_a_source_is_a_place_that_can_be_opened_again(service: Client, open_page: Open) -> None:
    ask(open_page())
    [summary] = service.conversations().conversations
    [turn] = service.conversation(summary.id).turns
    shown = html(open_page(conversation=summary.id, source=f"{turn.response_id}.1"))
    assert 'class="kb-passage kb-chosen"' in shown
    assert f"source={turn.response_id}.1" in shown
    for nothing in (f"{turn.response_id}.99", "caresp_0.1", "<b>"):
        assert "kb-chosen" not in html(open_page(conversation=summary.id, source=nothing))


def test_a_conversation_is_renamed(service: Client, open_page: Open) -> None:
    page = ask(open_page())
    [summary] = service.conversations().conversations
    menu(page, summary.id).click("Rename").run()
    page.text_input[0].set_value("Cropping")
    page = next(button for button in page.button if button.label == "Rename").click().run()
    assert labels(page) == ["New conversation", "Cropping"]


def test_conversations_are_searched_once_there_are_many(service: Client, open_page: Open) -> None:
    ask(open_page())
    assert not open_page().sidebar.text_input
    for number in range(5):
        ask(open_page(), f"Where is the paper tray {number}?")
    page = open_page()
    page = page.sidebar.text_input[0].set_value("TRAY 3").run()
    assert labels(page) == ["New conversation", "Where is the paper tray 3?"]
    page = page.sidebar.text_input[0].set_value("zebra").run()
    assert labels(page) == ["New conversation"]
    assert "No title or question has these words." in [each.value for each in page.caption]
    page = page.sidebar.text_input[0].set_value("").run()
    assert len(labels(page)) == 7


def test_a_conversation_is_exported_with_its_sources(service: Client, open_page: Open) -> None:
    page = ask(open_page())
    [summary] = service.conversations().conversations
    menu(page, summary.id).click("Export").run()
    [download] = page.get("download_button")
    assert download.label == "Download"
    assert "**Sources**" in service.conversation_as_markdown(summary.id)


def test_a_conversation_is_deleted_only_when_that_is_confirmed(service: Client, open_page: Open) -> None:
    page = ask(open_page())
    [summary] = service.conversations().conversations
    menu(page, summary.id).click("Delete").run()
    assert service.conversations().conversations
    page = page.button(key="really-delete").click().run()
    assert service.conversations().conversations == ()
    assert labels(page) == ["New conversation"]


def menu(page: AppTest, conversation_id: str):
    return next(each for each in page.sidebar.get("menu_button") if each.key == f"menu-{conversation_id}")


def test_the_last_question_can_be_worded_differently(service: Client, open_page: Open) -> None:
    ask(page := open_page(), "Hwo crp?")
    page = ask(page, QUESTION)
    first, last = service.conversation(service.conversations().conversations[0].id).turns
    assert f"edit-{first.response_id}" not in [button.key for button in page.button]
    page = page.button(key=f"edit-{last.response_id}").click().run()
    assert page.text_area(key="reworded").value == QUESTION
    page.text_area(key="reworded").set_value("How do I undo it?")
    page.button(key="ask-reworded").click().run()
    turns = service.conversation(service.conversations().conversations[0].id).turns
    assert [turn.question for turn in turns] == ["Hwo crp?", QUESTION, "How do I undo it?"]


def test_what_a_reader_thinks_of_an_answer_is_stored(service: Client, open_page: Open) -> None:
    page = ask(open_page())
    [summary] = service.conversations().conversations
    page = page.feedback[0].set_value(1).run()
    page.text_area[0].set_value("clear")
    next(button for button in page.button if button.label == "Send").click().run()
    assert service.conversation(summary.id).turns[0].feedback == Feedback(rating="up", comment="clear")


def test_a_conversation_of_somebody_else_is_not_there(service: Client, open_page: Open) -> None:
    assert "This conversation was not found" in html(open_page(conversation="conv_" + "0" * 32))


def test_without_a_service_the_page_says_how_to_start_it(open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    ask_at("http://127.0.0.1:9", monkeypatch)
    page = open_page()
    assert ">kb serve<" in html(page)
    assert not page.exception


def test_words_of_readers_stay_words(service: Client, open_page: Open) -> None:
    shown = html(ask(open_page(), "<script>alert(1)</script> layer"))
    assert "<script" not in shown
    assert "&lt;script&gt;" in shown
