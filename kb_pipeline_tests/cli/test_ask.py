"""``kb ask``: an answer and where it comes from."""

from pathlib import Path

import pytest

from kb_pipeline.settings import Settings
from kb_pipeline_tests.building import build_here
from kb_pipeline_tests.cli.conftest import Run

SAMPLES = Path(__file__).parents[2] / "samples/web"


@pytest.fixture
def built(two_articles: None, settings: Settings) -> Settings:
    build_here(settings)
    return settings


def test_an_answer_names_its_source_its_image_and_how_to_trace_it(run: Run, built: Settings) -> None:
    said = run("ask", "How do I reset a password?")
    assert said.code == 0
    assert "Reset a password" in said.words and "[Ref #1]" in said.words
    assert f"{built.home}/serving/passwords/images/menu.png" in said.out
    assert "kb trace passwords-" in said.out


def test_a_question_needs_no_quotes(run: Run, built: Settings) -> None:
    assert "Reset a password" in run("ask", "How", "do", "I", "reset", "a", "password?").words


def test_a_program_gets_one_object_with_all_citations(run: Run, built: Settings) -> None:
    answer = run("ask", "How do I reset a password?", "--json").json
    assert answer["answered_by"] == "extractive"
    assert answer["citations"][0]["article_id"] == "passwords"


def test_sources_stand_in_the_text_where_they_are_asked_for(run: Run, built: Settings) -> None:
    said = run("ask", "How do I reset a password?", "--sources")
    assert "(Source: Passwords)" in said.words
    assert "(Source: Passwords)" in run("ask", "How do I reset a password?", "--sources", "--json").json["answer"]


def test_a_misspelt_question_is_offered_as_it_was_meant(run: Run, built: Settings) -> None:
    assert "Did you mean: reset a password" in run("ask", "rseet a pasword").words
    answer = run("ask", "rseet a pasword", "--json").json
    assert (answer["refused"], answer["did_you_mean"]) == (True, "reset a password")


@pytest.mark.parametrize("question", ["", "   ", "x" * 9000])
def test_a_question_that_cannot_be_asked_is_explained(run: Run, built: Settings, question: str) -> None:
    said = run("ask", question)
    assert said.code == 2
    assert "question" in said.err


def test_without_an_index_it_says_how_to_make_one(run: Run) -> None:
    said = run("ask", "anything")
    assert (said.code, "kb ingest" in said.err) == (2, True)


def test_a_document_that_cannot_be_one_is_refused(run: Run, built: Settings) -> None:
    said = run("ask", "How do I reset a password?", "--document", "../passwords")
    assert (said.code, "cannot be the id of a document" in said.words) == (2, True)


def test_a_stored_question_is_asked_again_as_it_was(run: Run, built: Settings) -> None:
    said = run("ask", "--as-of", "resp_1", "--document", "passwords")
    assert (said.code, "leave out --document" in said.words) == (2, True)


def test_the_web_is_offered_and_asked_where_it_is_on(
    run: Run, built: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = run("ask", "What does code 9 of the Splunk collector mean?", "--web")
    assert said.code != 0
    assert "KB_WEB_SEARCH" in said.words
    monkeypatch.setenv("KB_WEB_SEARCH", "local")
    monkeypatch.setenv("KB_WEB_FOLDER", str(SAMPLES))
    said = run("ask", "What does code 9 of the Splunk collector mean?")
    assert "To search the saved pages for this: kb ask --web 'What does code 9" in said.words
    said = run("ask", "What does code 9 of the Splunk collector mean?", "--web")
    assert "The collector is busy" in said.words
    assert "https://docs.example.com/splunk-http-event-collector from the web, fetched " in said.words
    assert "kb trace" not in said.words
