"""``kb ask``: an answer and where it comes from."""

from pathlib import Path

import pytest

from kb_pipeline.settings import Settings
from kb_pipeline_tests.app.collections import publish_collections
from kb_pipeline_tests.building import made_once
from kb_pipeline_tests.cli.conftest import Run, publish_two_articles
from kb_pipeline_tests.pictures import screenshot

SAMPLES = Path(__file__).parents[2] / "samples/web"


@pytest.fixture
def built(settings: Settings) -> Settings:
    made_once(publish_two_articles, settings)
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


def test_a_misspelt_question_is_answered_as_it_was_meant(run: Run, built: Settings) -> None:
    assert "Understood as: reset a password" in run("ask", "rseet a pasword").words
    answer = run("ask", "rseet a pasword", "--json").json
    assert (answer["refused"], answer["searches"][-1]) == (False, "reset a password")


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


@pytest.mark.slow("runs whole commands")
def test_a_screenshot_is_asked_about_with_and_without_words(run: Run, built: Settings, tmp_path: Path) -> None:
    picture = tmp_path / "menu.png"
    picture.write_bytes(screenshot("Profile", "Reset password", size=(700, 220)))
    answer = run("ask", "How do I do this?", "--picture", str(picture), "--json").json
    assert answer["citations"][0]["article_id"] == "passwords"
    assert "Reset password" in answer["searches"][0]
    assert run("ask", "--picture", str(picture), "--json").json["citations"][0]["article_id"] == "passwords"


@pytest.mark.slow("runs whole commands")
def test_what_is_no_picture_is_refused_by_name(
    run: Run, built: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = tmp_path / "page.html"
    page.write_text("<p>no picture</p>")
    for file, reason in ((page, "the picture cannot be read"), (tmp_path / "gone.png", "cannot be opened")):
        said = run("ask", "What is this?", "--picture", str(file))
        assert (said.code, reason in said.words) == (2, True)
    monkeypatch.setenv("KB_PICTURE_BYTES", "5")
    assert "larger than the limit of 5 bytes" in run("ask", "--picture", str(page)).words
    monkeypatch.setenv("KB_PICTURE_BYTES", "0")
    assert "pictures cannot be sent here" in run("ask", "--picture", str(page)).words


@pytest.fixture
def collections(own_environment: dict[str, str], tmp_path: Path) -> None:
    published = publish_collections(tmp_path)
    own_environment |= {"KB_STAGING": published.staging, "KB_HOME": published.home}


def test_a_scope_limits_where_is_searched(collections: None, run: Run) -> None:
    asked = "How do I start the pump?"
    answer = run("ask", asked, "--type", "Report", "--type", "Payroll", "--department", "Works", "--json").json
    assert {citation["article_id"] for citation in answer["citations"]} == {"pump-report"}
    assert answer["scope"] == {"type": ["Report", "Payroll"], "department": ["Works"]}
    answer = run("ask", asked, "--topic", "pumps", "--json").json
    assert {citation["article_id"] for citation in answer["citations"]} == {"pump-manual", "pump-report"}
    refused = run("ask", "How do I start the pump?", "--department", "Kitchen")
    assert "Only documents of department Kitchen were searched" in refused.words
    said = run("ask", asked, "--type", "")
    assert (said.code, "--type takes names of 1 to 200 characters" in said.words) == (2, True)


@pytest.mark.parametrize("option", ["--type", "--department", "--topic", "--picture"])
def test_a_stored_question_keeps_its_own_scope_and_picture(run: Run, built: Settings, option: str) -> None:
    said = run("ask", "--as-of", "resp_1", option, "other")
    assert (said.code, f"leave out {option}" in said.words) == (2, True)
