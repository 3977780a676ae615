""".env.example names every setting once, in its own words, and is valid when it is uncommented."""

import re

import pytest
from dotenv import dotenv_values

from app.settings import AppSettings, load_app_settings
from kb_pipeline.settings import Settings, load_settings
from kb_pipeline_tests.deploy.files import ROOT, SECRET_SETTINGS, SETTINGS

EXAMPLE = ROOT / ".env.example"
LINES = EXAMPLE.read_text().splitlines()
NAMED = {match[1]: at for at, line in enumerate(LINES) if (match := re.match(r"# (KB_\w+)=", line))}
FIELDS = {
    f"KB_{name}".upper(): field for model in (Settings, AppSettings) for name, field in model.model_fields.items()
}
NEEDED_WITH = {
    "KB_AGENT_SCOPE": ["KB_AGENT_ENDPOINT"],
    "KB_ANSWERING": ["KB_CHAT_MODEL"],
    "KB_CONVERSATIONS": ["KB_COSMOS_ENDPOINT"],
    "KB_TOKEN_ISSUER": ["KB_TOKEN_AUDIENCE"],
}
ONE_OF = [{"KB_CHAT_BASE_URL", "KB_CHAT_AZURE_ENDPOINT"}, {"KB_OPENAI_BASE_URL", "KB_OPENAI_AZURE_ENDPOINT"}]


def set_from_example(monkeypatch: pytest.MonkeyPatch, tmp_path, names: set[str]) -> dict[str, str | None]:
    file = tmp_path / ".env"
    file.write_text("\n".join(LINES[NAMED[name]].removeprefix("# ") for name in sorted(names)) + "\n")
    values = dotenv_values(file)
    monkeypatch.chdir(tmp_path)
    for name, value in values.items():
        monkeypatch.setenv(name, value or "")
    return values


def test_it_names_every_setting_and_nothing_else() -> None:
    assert set(NAMED) == SETTINGS


@pytest.mark.parametrize("name", sorted(SETTINGS))
def test_each_is_described_as_in_the_code(name: str) -> None:
    assert LINES[NAMED[name] - 1] == f"# {FIELDS[name].description}"


@pytest.mark.parametrize("name", sorted(SETTINGS))
def test_each_is_valid_when_it_is_uncommented(monkeypatch: pytest.MonkeyPatch, tmp_path, name: str) -> None:
    set_from_example(monkeypatch, tmp_path, {name, *NEEDED_WITH.get(name, [])})
    load_settings()
    load_app_settings()


def test_all_are_valid_together(monkeypatch: pytest.MonkeyPatch, tmp_path) -> None:
    alternatives = {sorted(names)[-1] for names in ONE_OF}
    values = set_from_example(monkeypatch, tmp_path, set(NAMED) - alternatives)
    assert load_settings().prices[0].model == "gpt-4.1"  # JSON in quotes came through
    assert load_app_settings().chat_model == values["KB_CHAT_MODEL"]


def test_what_is_given_is_the_default_where_there_is_one(monkeypatch: pytest.MonkeyPatch, tmp_path) -> None:
    plain = {name for name, field in FIELDS.items() if field.default not in (None, (), "")}
    set_from_example(monkeypatch, tmp_path, plain)
    given = {**load_settings().model_dump(), **load_app_settings().model_dump()}
    for name in plain:
        monkeypatch.delenv(name)
    (tmp_path / ".env").unlink()
    expected = {**load_settings().model_dump(), **load_app_settings().model_dump()}
    assert given == expected


def test_it_holds_no_secret() -> None:
    for name in SECRET_SETTINGS:
        assert LINES[NAMED[name]] == f"# {name}="
