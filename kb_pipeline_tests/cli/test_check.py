"""``kb check``: what the settings name is asked once, and what is wrong is said with the setting to look at."""

import re
from pathlib import Path

import pytest

from kb_pipeline.sources.base import SourceDocument
from kb_pipeline.sources.pdf.source import PdfSource
from kb_pipeline_tests.cli.conftest import Run

CONTRIBUTION = ("--service", "key-vault", "--description", "Certificates need a restart")


def test_a_laptop_without_services_is_good(run: Run) -> None:
    said = run("check")
    assert said.code == 0
    roles = ("staging", "serving", "PDF", "analyzer", "embedder", "index", "home", "contributions", "model")
    for role in (*roles, "conversations", "history"):
        assert role in said.words
    assert "none: answers are quotations" in said.words


@pytest.mark.slow("runs whole commands")
def test_what_cannot_be_reached_is_named_with_its_setting(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KB_CHAT_MODEL", "gpt")
    monkeypatch.setenv("KB_CHAT_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("KB_CHAT_API_KEY", "planted-secret")
    said = run("check")
    assert said.code == 1
    assert "KB_CHAT_BASE_URL" in said.err
    assert "planted-secret" not in said.words


def test_the_queue_of_contributions_and_the_reader_of_pdfs_are_tried(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KB_CONTRIBUTIONS", str(tmp_path / "queue"))
    (tmp_path / "note.md").write_text("Restart the service after a change of its certificate.")
    assert run("contribute", *CONTRIBUTION, "--file", str(tmp_path / "note.md")).code == 0
    found = {each["role"]: each["found"] for each in run("check", "--json").json["connections"]}
    assert found["contributions"] == "1 contribution waits for a reviewer"
    assert re.fullmatch(r"pdf-\d+\+pdfium-[\d.]+ reads a page", found["PDF"])
    (contribution,) = (tmp_path / "queue").iterdir()
    (contribution / "contribution.json").write_text("{")
    said = run("check")
    assert said.code == 1
    assert f"{contribution} is damaged" in said.err.replace("\n", "")


def test_a_reader_of_pdfs_that_finds_no_words_fails(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PdfSource, "read", lambda *_: SourceDocument("<html></html>"))
    said = run("check")
    assert said.code == 1
    assert "reads no words of a PDF" in said.err


def test_programs_get_one_document(run: Run) -> None:
    connections = run("check", "--json").json["connections"]
    assert {connection["role"]: connection["problem"] for connection in connections}["index"] == ""


def test_a_misspelt_setting_is_found_and_a_variable_of_somebody_else_is_not(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KB_TEAM_CHANNEL", "#help")
    assert run("check").code == 0
    monkeypatch.setenv("KB_ANALIZER", "local")
    said = run("check")
    assert said.code == 1
    assert "KB_ANALIZER is not a setting and has no effect; did you mean KB_ANALYZER?" in said.err


def test_the_web_is_asked_where_it_is_on(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "web" not in [connection["role"] for connection in run("check", "--json").json["connections"]]
    monkeypatch.setenv("KB_WEB_SEARCH", "local")
    monkeypatch.setenv("KB_WEB_FOLDER", str(Path(__file__).parents[2] / "samples/web"))
    assert "4 saved pages" in run("check").words
    monkeypatch.setenv("KB_WEB_SEARCH", "learn")
    monkeypatch.setenv("KB_WEB_URL", "http://127.0.0.1:9/api/search")
    said = run("check")
    assert said.code == 1
    assert "127.0.0.1 cannot be reached" in said.err
