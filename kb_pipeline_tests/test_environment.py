"""Settings that cannot be right are refused in one sentence: the variable, the problem, an example, and no secret."""

import subprocess
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from app.settings import AppSettings, load_app_settings
from kb_pipeline.errors import SettingsError
from kb_pipeline.settings import Address, Settings, load_settings

SECRET = "planted-secret"
KINDS: dict[type[Any], Callable[..., Any]] = {Settings: load_settings, AppSettings: load_app_settings}
NO_ADDRESSES = {
    *("analyzer", "embedder", "index", "engine", "openai_api_version", "vision_model", "search_alias", "search_index"),
    *("search_documents_index", "judge"),
    *("mistral_model", "transcription_model", "chat_model", "chat_api_version", "answering", "conversations"),
    *("gremlin_database", "gremlin_graph", "telemetry_database"),
    *("cosmos_database", "cosmos_container", "local_user", "local_department", "local_org", "web_search"),
}
"""Settings of text that name something else than a place. A new setting is one of them, or refuses credentials."""
ADDRESSES = [
    (kind, name)
    for kind in KINDS
    for name, field in kind.model_fields.items()
    if field.annotation in (str, str | None, Address | None) and name not in NO_ADDRESSES
]


def refusal(kind: type[Any], monkeypatch: pytest.MonkeyPatch, **variables: str) -> str:
    """What is said of these variables, with all that a traceback shows."""
    for name, value in variables.items():
        monkeypatch.setenv(f"KB_{name.upper()}", value)
    with pytest.raises(SettingsError) as refused:
        KINDS[kind]()
    return "".join(traceback.format_exception(refused.value))


@pytest.mark.parametrize(
    "address",
    [
        f"http://me:{SECRET}@host/v1",
        f"https://{SECRET}@host/v1",
        f"me:{SECRET}@host",
        f"http%3A%2F%2Fme%3A{SECRET}%40host",
        f"abfs://c:{SECRET}@account.dfs.core.windows.net/kb",
        f"abfs://c@me:{SECRET}@account/kb",
        f"az://c/kb?sv=2026&sig={SECRET}",
        f"az://c/kb%3Fsv=2026%26sig%3D{SECRET}",
        f"postgresql://kb:pass/{SECRET}@host/kb",
        f"https://host/v1?code={SECRET}",
        f"https://host/v1#{SECRET}",
    ],
)
@pytest.mark.parametrize(("kind", "name"), ADDRESSES)
def test_no_address_may_hold_credentials(
    monkeypatch: pytest.MonkeyPatch, kind: type[Any], name: str, address: str
) -> None:
    said = refusal(kind, monkeypatch, **{name: address})
    assert f"KB_{name.upper()}: the address holds" in said
    assert SECRET not in said


def test_under_another_name_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AZURE_SEARCH_ENDPOINT", f"https://me:{SECRET}@host")
    said = refusal(Settings, monkeypatch)
    assert "KB_SEARCH_ENDPOINT: the address holds" in said
    assert SECRET not in said


def test_a_name_that_is_too_long_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAG_USER_ID", "x" * 300)
    assert "KB_LOCAL_USER: String should have at most 200 characters" in refusal(AppSettings, monkeypatch)


@pytest.mark.parametrize(
    ("name", "instead"),
    [
        ("staging", "KB_STAGING_SAS_TOKEN"),
        ("serving", "KB_SERVING_SAS_TOKEN"),
        ("index_uri", "AZURE_STORAGE_SAS_TOKEN"),
        ("search_endpoint", "KB_SEARCH_API_KEY"),
        ("openai_base_url", "KB_OPENAI_API_KEY"),
        ("ray_address", "RAY_AUTH_TOKEN"),
    ],
)
def test_where_they_belong_is_said(monkeypatch: pytest.MonkeyPatch, name: str, instead: str) -> None:
    assert instead in refusal(Settings, monkeypatch, **{name: f"https://me:{SECRET}@host"})


JSON = [
    (kind, name)
    for kind in KINDS
    for name, field in kind.model_fields.items()
    if "as JSON" in (field.description or "")
]


BAD_JSON = [
    f'{{"a": {SECRET}',
    SECRET,
    f"['{SECRET}']",
    f'"{SECRET}"',
    f'{{"a": {{"b": "{SECRET}"}}}}',
    "[" * 99_999,
]
NO_JSON = [(kind, name, "") for kind, name in JSON if not name.endswith("_passwords")]


@pytest.mark.parametrize(
    ("kind", "name", "value"), [(*setting, value) for setting in JSON for value in BAD_JSON] + NO_JSON
)
def test_bad_json_is_one_sentence_with_the_variable_and_an_example(
    monkeypatch: pytest.MonkeyPatch, kind: type[Any], name: str, value: str
) -> None:
    said = refusal(kind, monkeypatch, **{name: value})
    variable = f"KB_{name.upper()}"
    assert f"{variable}: " in said
    assert f"; for example {variable}='" in said
    assert SECRET not in said


def test_no_passwords_are_an_empty_variable_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("document_passwords", "intake_passwords"):
        monkeypatch.setenv(f"KB_{name.upper()}", "")
        assert getattr(Settings(), name) is None


@pytest.mark.parametrize(("kind", "name"), JSON)
def test_the_example_is_one_that_is_accepted(monkeypatch: pytest.MonkeyPatch, kind: type[Any], name: str) -> None:
    said = refusal(kind, monkeypatch, **{name: "no JSON"})
    example = said.partition(f"; for example KB_{name.upper()}='")[2].partition("'")[0]
    monkeypatch.setenv(f"KB_{name.upper()}", example)
    assert getattr(KINDS[kind](), name)


OTHERS = [
    (kind, name)
    for kind in KINDS
    for name, field in kind.model_fields.items()
    if field.annotation not in (str, str | None, Address | None, SecretStr | None) and (kind, name) not in JSON
]


@pytest.mark.parametrize(("kind", "name"), OTHERS)
def test_a_malformed_number_switch_or_choice_names_its_variable(
    monkeypatch: pytest.MonkeyPatch, kind: type[Any], name: str
) -> None:
    said = refusal(kind, monkeypatch, **{name: f"http://me:{SECRET}@host"})
    assert f"KB_{name.upper()}: " in said
    assert SECRET not in said


@pytest.mark.parametrize("name", ["HTTP_PROXY", "https_proxy", "ALL_PROXY"])
@pytest.mark.parametrize("sign", ["@", "/", "#", "?", ":"])
def test_a_password_of_a_proxy_that_libraries_would_quote_is_refused(
    monkeypatch: pytest.MonkeyPatch, name: str, sign: str
) -> None:
    monkeypatch.setenv(name, f"http://me:pass{sign}{SECRET}@proxy:3128")
    said = refusal(Settings, monkeypatch)
    assert f"{name} is malformed; in its password" in said
    assert SECRET not in said


@pytest.mark.parametrize("address", ["", "proxy:3128", "http://me:p%40ss@proxy:3128/", "socks5://[::1]:1080"])
def test_other_addresses_of_proxies_are_good(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    monkeypatch.setenv("HTTPS_PROXY", address)
    assert load_settings()


def test_a_home_folder_of_nobody_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "KB_HOME: it begins with the home folder" in refusal(Settings, monkeypatch, home="~no-such-user/kb")


@pytest.mark.slow("starts the program")
@pytest.mark.parametrize(
    ("program", "name", "value"),
    [
        (["-m", "kb_pipeline", "status"], "KB_OPENAI_DEPLOYMENTS", f'{{"a": {SECRET}'),
        (["-m", "app"], "KB_OPENAI_BASE_URL", f"http://me:{SECRET}@host/v1"),
        (["-m", "app.page"], "KB_OPENAI_DEPLOYMENTS", f'{{"a": {SECRET}'),
    ],
)
def test_every_program_says_it_in_one_line_and_ends_with_code_2(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: list[str], name: str, value: str
) -> None:
    monkeypatch.setenv("KB_HOME", str(tmp_path / "home"))
    monkeypatch.setenv(name, value)
    ended = subprocess.run([sys.executable, *program], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert ended.returncode == 2
    (line,) = (ended.stdout + ended.stderr).splitlines()
    assert line.startswith(f"error: {name}: ")
    assert SECRET not in line


@pytest.mark.slow("starts the program")
@pytest.mark.parametrize("content", [b"KB_WORKERS=\xff\xfe2", b"\xff\xfeK\0B\0"])
def test_a_file_of_settings_that_is_no_text_is_named(tmp_path: Path, content: bytes) -> None:
    (tmp_path / ".env").write_bytes(content)
    ended = subprocess.run([sys.executable, "-m", "app"], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert ended.returncode == 2
    assert ended.stderr.startswith("error: the file .env in this folder cannot be read")


def test_dagster_says_it_too_when_it_loads_our_code(monkeypatch: pytest.MonkeyPatch) -> None:
    from kb_pipeline.definitions import defs

    monkeypatch.setenv("KB_SEARCH_FIELDS", f'{{"id": {SECRET}')
    monkeypatch.setenv("KB_INDEX_URI", f"az://c/kb?sv=1&sig={SECRET}")
    defs.load_fn.cache_clear()  # type: ignore[attr-defined]
    with pytest.raises(SettingsError) as refused:
        defs()
    assert "KB_SEARCH_FIELDS: it is not valid JSON" in str(refused.value)
    assert "KB_INDEX_URI: the address holds" in str(refused.value)
    assert SECRET not in "".join(traceback.format_exception(refused.value))
