"""The page where a question is asked back: its options are buttons as long as they can be chosen."""

from collections.abc import Iterator

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from app.client import Client
from app.page import scope
from app.page.markup import answer_blocks
from app.settings import AppSettings
from kb_pipeline.settings import Settings
from kb_pipeline_tests.app.asking_back import AMBIGUOUS, CLARIFICATION, asking_back
from kb_pipeline_tests.app.page.conftest import Open, ask_at, html
from kb_pipeline_tests.app.page.test_chat import ask
from kb_pipeline_tests.app.serving import serving_app

OPTIONS = ["**Layers**  \nlayers.pdf, Manual, 2026-05-01, 12 pages", "**Printing**  \nprinting.docx"]


@pytest.fixture
def service(own: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[Client]:
    with serving_app(asking_back(AppSettings(), own)[0]) as url:
        yield ask_at(url, monkeypatch)


def options(page: AppTest) -> list[str]:
    """Their labels, without what keeps Streamlit from reading more than markdown in them."""
    return [
        button.label.replace("\\", "").replace("\u2060", "")
        for button in page.main.button
        if str(button.key).startswith("option-")
    ]


def test_the_options_are_buttons_and_not_said_twice(service: Client, open_page: Open) -> None:
    page = ask(open_page(), AMBIGUOUS)
    assert options(page) == [*OPTIONS, "All of them", "None of these"]
    shown = html(page)
    assert "Which guide do you mean?" in shown
    assert "layers.pdf" not in shown


def test_a_click_is_the_reply_and_then_the_options_are_text(service: Client, open_page: Open) -> None:
    page = ask(open_page(), AMBIGUOUS)
    page = page.button(key="option-2").click().run()
    shown = html(page)
    assert '<div class="kb-question"><p>Printing</p></div>' in shown
    assert "Paper jam" in shown
    assert "".join(answer_blocks("1. **Layers**: layers.pdf, Manual, 2026-05-01, 12 pages")).split(">")[2] in shown
    assert options(page) == []
    [summary] = service.conversations().conversations
    [asked, answered] = service.conversation(summary.id).turns
    assert (asked.answer.clarification, answered.answer.clarification) == (CLARIFICATION, None)


@pytest.mark.parametrize(("key", "reply"), [("option-all", "All of them"), ("option-none", "None of these")])
def test_all_and_none_can_be_chosen(service: Client, open_page: Open, key: str, reply: str) -> None:
    page = ask(open_page(), AMBIGUOUS).button(key=key).click().run()
    assert f'<div class="kb-question"><p>{reply}</p></div>' in html(page)


@pytest.mark.parametrize("sent", ["typed", "clicked"])
def test_what_is_sent_is_asked_by_the_next_drawing_if_this_one_is_ended(
    service: Client, open_page: Open, monkeypatch: pytest.MonkeyPatch, sent: str
) -> None:
    page, choose = open_page() if sent == "typed" else ask(open_page(), AMBIGUOUS), scope.choose
    monkeypatch.setattr(scope, "choose", lambda *_: st.stop())  # as Streamlit ends it when the browser reports more
    (page.chat_input[0].set_value("Printing") if sent == "typed" else page.button(key="option-2").click()).run()
    monkeypatch.setattr(scope, "choose", choose)
    assert '<div class="kb-question"><p>Printing</p></div>' in html(page.run())
    assert html(page.run()).count('<div class="kb-question"><p>Printing</p></div>') == 1


def test_a_conversation_that_is_opened_again_can_go_on(service: Client, open_page: Open) -> None:
    ask(open_page(), AMBIGUOUS)
    [summary] = service.conversations().conversations
    page = open_page(conversation=summary.id)
    assert len(options(page)) == 4
    ask(page, "How do I crop a layer?")
    assert options(open_page(conversation=summary.id)) == []


def test_a_plan_is_folded_under_its_answer(service: Client, open_page: Open) -> None:
    shown = html(ask(open_page(), "How do I crop a layer?"))
    assert "<summary>Plan · Summary · 2 of 2 steps done</summary>" in shown
    assert "Say what it holds" in shown
