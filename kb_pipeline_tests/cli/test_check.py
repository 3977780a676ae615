"""``kb check``: what the settings name is asked once, and what is wrong is said with the setting to look at."""

from pathlib import Path

import pytest

from kb_pipeline_tests.cli.conftest import Run


def test_a_laptop_without_services_is_good(run: Run) -> None:
    said = run("check")
    assert said.code == 0
    for role in ("staging", "serving", "analyzer", "embedder", "index", "model", "conversations", "history"):
        assert role in said.words
    assert "none: answers are quotations" in said.words


def test_what_cannot_be_reached_is_named_with_its_setting(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KB_CHAT_MODEL", "gpt")
    monkeypatch.setenv("KB_CHAT_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("KB_CHAT_API_KEY", "planted-secret")
    said = run("check")
    assert said.code == 1
    assert "KB_CHAT_BASE_URL" in said.err
    assert "planted-secret" not in said.words


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
