"""What a reader gets whose question nothing answers, from a knowledge base with hidden articles."""

import asyncio
from dataclasses import replace

import pytest

from app.answering.base import Question
from app.answering.confidence import Evidence
from app.answering.extractive.guidance import Guidance, closest_sections, follow_ups, guide, questions_of
from app.callers.principal import Principal
from app.language.messages import Messages
from app.library.articles import Articles
from app.library.retrieval import Retrieval
from app.schema.passages import Citation
from kb_pipeline_tests.app.grounding.passages import citation


def guided(retrieval: Retrieval, text: str, *names: str, evidence: Evidence | None = "nothing") -> Guidance:
    question = Question(text, Principal("ann", names), 5)
    articles = Articles(retrieval.workspace.layout)
    hits = asyncio.run(retrieval.search(text, question.who, top=5))
    return asyncio.run(guide(question, evidence, hits, retrieval, articles, Messages.of("en")))


@pytest.mark.parametrize(
    ("misspelt", "meant"),
    [("How do I crpo a laeyr?", "How do I crop a layer?"), ("Replcae the tonr", "Replace the toner")],
)
def test_a_misspelt_question_is_offered_as_it_was_meant(retrieval: Retrieval, misspelt: str, meant: str) -> None:
    guidance = guided(retrieval, misspelt)
    assert replace(guidance, leans_on=()) == Guidance(did_you_mean=meant)
    assert guidance.leans_on == ({"layer": "layers", "toner": "hostile"}[meant.rstrip("?").split()[-1]],)


@pytest.mark.parametrize("question", ["Who won the chess tournament?", "zxqv wvut", "", "crop"])
def test_words_that_are_near_nothing_are_left_alone(retrieval: Retrieval, question: str) -> None:
    assert guided(retrieval, question) == Guidance()


@pytest.mark.parametrize(
    ("question", "meant"),
    [
        ("Does the raer tray clear dusty surfaces?", "Does the rear tray clear dusty surfaces?"),
        ("Does the rear tray clear dusty surfaces?", None),
        ("Does the tray claer dusty boring white surfaces?", None),
    ],
)
def test_a_weak_answer_gets_another_spelling_only_if_that_is_answered_better(
    retrieval: Retrieval, question: str, meant: str | None
) -> None:
    assert guided(retrieval, question, evidence="closest").did_you_mean == meant


@pytest.mark.parametrize(
    ("question", "offered"),
    [
        ("How do I crop a layer?", ("Undo a crop", "How do I crop a layer?", "Paper jam")),
        ("Why is the sky blue?", ()),
    ],
)
def test_what_a_model_refuses_is_offered_the_closest_unless_the_search_finds_nothing_near(
    retrieval: Retrieval, question: str, offered: tuple[str, ...]
) -> None:
    assert guided(retrieval, question, evidence=None).ask_instead == offered


def test_a_correction_reveals_no_word_of_a_hidden_article(retrieval: Retrieval) -> None:
    assert guided(retrieval, "sallary of the directr").did_you_mean is None
    assert guided(retrieval, "sallary of the directr", "group-hr").did_you_mean == "salary of the director"


def test_a_question_in_another_language_gets_a_word_about_that_instead(retrieval: Retrieval) -> None:
    said = guided(retrieval, "Wie kann ich eine Ebene zuschneiden?")
    assert said == Guidance("Die Artikel sind auf Englisch. Bitte fragen Sie auf Englisch.")


def test_each_of_the_closest_sections_becomes_a_question_where_its_heading_makes_one() -> None:
    passages = [
        citation("Text.", 1, "7.2. Layers", "7.2.1. Crop a layer"),
        citation("Text.", 2, "7.2. Layers", "7.2.1. Crop a layer"),
        citation("Text.", 3, "7.2. Layers", "Options"),
        citation("Text.", 4, "Layers", "The scale dialog"),
        citation("Text.", 5, "Layers", "Undo"),
    ]
    assert questions_of(closest_sections(passages)) == (
        "How do I crop a layer?",
        "Layers: Options",
        "The scale dialog",
    )


def test_what_was_found_in_the_cited_articles_but_not_cited_is_asked_next() -> None:
    def found(number: int, *headings: str, used: bool = False) -> Citation:
        return citation("Text.", number, *headings, article_id=headings[0]).model_copy(update={"used": used})

    passages = [
        found(1, "Reports", "Export a report", used=True),
        found(2, "Invoices", "Send an invoice"),
        found(3, "Reports", "Share a report"),
        found(4, "Reports", "Limits"),
        found(5, "Reports"),
        found(6, "Reports", "Export a report", used=True),
    ]
    assert follow_ups("How are reports exported?", passages) == ("How do I share a report?", "Reports: Limits")
    assert follow_ups("how do i share a report", passages) == ("Reports: Limits",)


def test_a_procedure_answers_what_its_article_is_about() -> None:
    assert questions_of([citation("Text.", 1, "Share a report", "Procedure")]) == ("How do I share a report?",)
