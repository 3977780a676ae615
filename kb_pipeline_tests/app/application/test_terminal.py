"""``kb ask`` where the question is asked back: a person chooses, and a program gets the commands to go on with."""

import asyncio
import io
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from rich.console import Console
from rich.text import Text

from app.application import terminal
from app.application.terminal import source_lines
from app.schema.answers import ChatAnswer
from app.service import AgentService, open_service
from app.settings import AppSettings
from kb_pipeline.asking import AskOptions
from kb_pipeline.settings import Settings
from kb_pipeline_tests.app.asking_back import AMBIGUOUS, CLARIFICATION, AskingBack
from kb_pipeline_tests.app.grounding.passages import citation

Ask = Callable[..., tuple[ChatAnswer, str]]


@pytest.fixture
def answerers(monkeypatch: pytest.MonkeyPatch) -> list[AskingBack]:
    """The answerers of the commands that were run."""
    opened: list[AskingBack] = []

    def open_here(settings: AppSettings, knowledge_base: Settings) -> AgentService:
        service = open_service(settings, knowledge_base)
        opened.append(AskingBack(service.retrieval))
        return replace(service, usual_answerer=opened[-1])

    monkeypatch.setattr(terminal, "open_service", open_here)
    return opened


@pytest.fixture
def ask(own: Settings, answerers: list[AskingBack], monkeypatch: pytest.MonkeyPatch) -> Ask:
    def asked(
        question: str, *replies: str, typing: bool = True, documents: tuple[str, ...] = ()
    ) -> tuple[ChatAnswer, str]:
        waiting: Iterator[str] = iter(replies)
        written = io.StringIO()

        def typed(*_: object) -> str:
            try:
                return next(waiting)
            except StopIteration:
                raise EOFError from None

        monkeypatch.setattr("builtins.input", typed)
        monkeypatch.setattr("sys.stdin", _Keyboard(typing))
        console = Console(file=written, force_terminal=typing, width=120, color_system=None)
        answer = asyncio.run(
            terminal.ask(question, AskOptions(top_k=5, document_ids=tuple(documents)), AppSettings(), own, console)
        )
        assert next(waiting, None) is None
        return answer, written.getvalue()

    return asked


class _Keyboard(io.StringIO):
    def __init__(self, typing: bool) -> None:
        super().__init__()
        self._typing = typing

    def isatty(self) -> bool:
        return self._typing


def test_a_person_chooses_by_number_and_gets_the_answer(ask: Ask, answerers: list[AskingBack]) -> None:
    answer, said = ask(AMBIGUOUS, "2")
    assert "Which guide do you mean?" in said and "layers.pdf, Manual, 2026-05-01, 12 pages" in said
    assert "Which one? (1-2, all or none; Enter ends)" in said
    assert {citation.article_id for citation in answer.citations} == {"printing"}
    first, second = answerers[0].questions
    assert (first.clarification, second.clarification, second.text) == (None, CLARIFICATION, "2")
    assert second.history[0].text == AMBIGUOUS


@pytest.mark.parametrize("replies", [(), ("",), ("   ",)])
def test_who_chooses_nothing_ends(ask: Ask, replies: tuple[str, ...]) -> None:
    answer, _ = ask(AMBIGUOUS, *replies)
    assert answer.clarification == CLARIFICATION


def test_a_new_question_can_be_asked_instead(ask: Ask, answerers: list[AskingBack]) -> None:
    answer, _ = ask(AMBIGUOUS, "How do I crop a layer?")
    assert answer.plan is not None
    assert answerers[0].questions[-1].text == "How do I crop a layer?"


def test_without_a_keyboard_the_next_command_is_printed(ask: Ask) -> None:
    _, said = ask(AMBIGUOUS, typing=False)
    assert (
        "1. kb ask 'Summarise the guide' --document layers\n2. kb ask 'Summarise the guide' --document printing" in said
    )
    assert "Which one?" not in said


def test_the_documents_that_are_named_are_not_asked_for(ask: Ask) -> None:
    answer, said = ask(AMBIGUOUS, documents=("printing",))
    assert {citation.article_id for citation in answer.citations} == {"printing"}
    assert "Reading the summary of printing" in said


def test_a_source_names_article_and_section_and_of_a_document_file_and_page() -> None:
    article = citation("Choose Layer.", 1, "Layers", "Crop a layer")
    document = citation("Keep seven.", 2, "Handbook", "Backup")
    pages = {"filename": "handbook.pdf", "pages": (5,), "page_labels": ("3",)}
    unused = citation("Nobody refers to this.", 3)
    cited = [article.model_copy(update={"used": True}), document.model_copy(update={**pages, "used": True}), unused]
    lines = [line for line in source_lines(cited, "/serving") if "Ref" in line]
    assert [Text.from_markup(line).plain for line in lines] == [
        "[Ref #1] Layers › Crop a layer",
        "[Ref #2] Handbook › Backup, handbook.pdf, page 3",
    ]


def test_a_refusal_leads_on_to_what_can_be_asked() -> None:
    written = io.StringIO()
    console = Console(file=written, width=120, color_system=None)
    told = ChatAnswer(answer="Nothing.", citations=(), answered_by="extractive", ask_instead=("How do I crop?",))
    terminal._show_more(told, "crop?", console, "/serving")
    assert written.getvalue() == "\nAsk instead:\nkb ask 'How do I crop?'\n"
