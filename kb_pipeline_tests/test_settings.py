"""Settings come from ``KB_*`` variables; a wrong one is named."""

import traceback
from pathlib import Path

import pytest

from kb_pipeline.errors import SettingsError
from kb_pipeline.settings import Settings, load_settings


def test_the_defaults_need_no_environment() -> None:
    settings = load_settings()
    assert (settings.analyzer, settings.embedder, settings.index) == ("local", "minilm", "lancedb")
    assert settings.worker_count >= 1


def test_the_environment_wins_over_defaults_and_arguments_over_both(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KB_EMBEDDER", "wordllama")
    monkeypatch.setenv("KB_WORKERS", "3")
    assert load_settings().embedder == "wordllama"
    assert load_settings(workers=5).worker_count == 5


@pytest.mark.parametrize(
    ("name", "value"), [("KB_WORKERS", "many"), ("KB_CHUNK_MAX_TOKENS", "0"), ("KB_DAGSTER_PORT", "-1")]
)
def test_a_wrong_value_names_its_variable(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(SettingsError, match=name):
        load_settings()


def test_what_stands_around_a_value_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KB_OPENAI_API_KEY", "0123456789abcdef\n")
    key = load_settings().openai_api_key
    assert key
    assert key.get_secret_value() == "0123456789abcdef"


def test_names_of_azure_are_taken_for_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AZURE_SEARCH_ENDPOINT", "https://theirs.search.windows.net")
    monkeypatch.setenv("AZURE_SEARCH_API_KEY", "0123456789abcdef")
    monkeypatch.setenv("AZURE_SEARCH_CONTENT_INDEX", "blocks")
    monkeypatch.setenv("AZURE_SEARCH_DOCUMENTS_INDEX", "documents")
    settings = load_settings()
    assert settings.search_endpoint == "https://theirs.search.windows.net"
    assert settings.search_api_key
    assert settings.search_api_key.get_secret_value() == "0123456789abcdef"
    assert (settings.search_index, settings.search_documents_index) == ("blocks", "documents")
    monkeypatch.setenv("KB_SEARCH_INDEX", "ours")
    assert load_settings().search_index == "ours"


def test_a_layout_names_the_indexes_that_have_no_name(monkeypatch: pytest.MonkeyPatch) -> None:
    assert (load_settings().search_index, load_settings().search_documents_index) == (None, None)
    monkeypatch.setenv("KB_SEARCH_LAYOUT", "content-blocks")
    settings = load_settings()
    assert (settings.search_index, settings.search_documents_index) == ("content-blocks", "documents-metadata")
    monkeypatch.setenv("AZURE_SEARCH_DOCUMENTS_INDEX", "theirs")
    assert load_settings().search_documents_index == "theirs"
    monkeypatch.setenv("KB_SEARCH_LAYOUT", "content")
    with pytest.raises(SettingsError, match=r"^KB_SEARCH_LAYOUT: Input should be 'content-blocks'$"):
        load_settings()


def test_the_home_folder_is_absolute(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    assert load_settings(home="data").home_path == tmp_path / "data"


def test_every_setting_is_described() -> None:
    assert [name for name, field in Settings.model_fields.items() if not field.description] == []


def test_every_setting_is_in_the_reference() -> None:
    reference = (Path(__file__).parents[1] / "docs" / "settings.md").read_text()
    assert [name for name in Settings.model_fields if f"| `KB_{name.upper()}` |" not in reference] == []


@pytest.mark.parametrize("name", ["staging", "home", "serving", "index_uri"])
def test_local_paths_become_absolute_and_urls_stay(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "me"))
    given = {"here": tmp_path / "here", "~/there": tmp_path / "me" / "there", f"file://{tmp_path}/x": tmp_path / "x"}
    for value, path in given.items():
        assert getattr(load_settings(**{name: value}), name) == str(path)
    assert getattr(load_settings(**{name: "memory://bucket/x"}), name) == "memory://bucket/x"


def test_the_smallest_chunk_is_not_larger_than_the_largest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KB_CHUNK_MIN_TOKENS", "5000")
    with pytest.raises(SettingsError, match="KB_CHUNK_MIN_TOKENS is larger"):
        load_settings()


def test_what_is_wrong_is_said_without_a_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KB_SEARCH_API_KEY", "planted-secret")
    monkeypatch.setenv("KB_OPENAI_DEPLOYMENTS", '["planted-secret"]')
    with pytest.raises(SettingsError, match="KB_OPENAI_DEPLOYMENTS") as refused:
        load_settings()
    assert "planted" not in "".join(traceback.format_exception(refused.value))
