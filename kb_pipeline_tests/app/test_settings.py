"""The settings of the service and the page."""

from pathlib import Path

import pytest

from app.settings import AppSettings, load_app_settings
from kb_pipeline.errors import SettingsError

DOCUMENTED = (Path(__file__).parents[2] / "docs" / "settings.md").read_text()


def test_every_setting_is_described_in_the_reference() -> None:
    for name, field in AppSettings.model_fields.items():
        assert field.description
        assert f"| `KB_{name.upper()}` |" in DOCUMENTED
        assert field.description in DOCUMENTED


def test_without_a_model_answers_are_extractive_and_with_one_it_searches() -> None:
    assert AppSettings().mode == "extractive"
    assert AppSettings(chat_model="m").mode == "agent"
    assert AppSettings(chat_model="m", answering="retrieve-first").mode == "retrieve-first"


@pytest.mark.parametrize(
    ("variables", "said"),
    [
        ({"KB_ANSWERING": "agent"}, "KB_CHAT_MODEL"),
        ({"KB_ANSWERING": "magic"}, "KB_ANSWERING"),
        ({"KB_CONVERSATIONS": "cosmos"}, "KB_COSMOS_ENDPOINT"),
        ({"KB_CHAT_BASE_URL": "http://x", "KB_CHAT_AZURE_ENDPOINT": "https://y"}, "two endpoints"),
        ({"KB_OPENAI_BASE_URL": "http://x", "KB_OPENAI_AZURE_ENDPOINT": "https://y"}, "two endpoints"),
        ({"KB_APP_PORT": "99999"}, "KB_APP_PORT"),
        ({"KB_TOKEN_ISSUER": "https://issuer.example"}, "KB_TOKEN_AUDIENCE"),
        ({"KB_TOKEN_ISSUER": "http://issuer.example", "KB_TOKEN_AUDIENCE": "kb"}, "https"),
        ({"KB_TOKEN_ISSUER": "https://issuer.example", "KB_TOKEN_AUDIENCE": "kb", "KB_EASY_AUTH": "true"}, "set one"),
        ({"KB_APP_SCOPE": "api://kb/.default", "KB_APP_URL": "http://kb.example.com"}, "KB_APP_URL is not https"),
        ({"KB_ONE_PORT": "true", "KB_APP_URL": "http://127.0.0.1:8088"}, "unset KB_APP_URL"),
        (
            {"KB_ONE_PORT": "true", "KB_TOKEN_ISSUER": "https://issuer.example", "KB_TOKEN_AUDIENCE": "kb"},
            "without KB_ONE_PORT",
        ),
        ({"KB_CORS_ORIGINS": "portal.example.com"}, "KB_CORS_ORIGINS"),
        ({"KB_CORS_ORIGINS": "*"}, "KB_CORS_ORIGINS"),
    ],
)
def test_what_does_not_go_together_is_named(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], said: str
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(SettingsError, match=said):
        load_app_settings()


def test_where_tokens_are_needed_nobody_is_the_user_of_this_machine() -> None:
    assert AppSettings(local_user="ann").is_only_local
    guarded = AppSettings(local_user="ann", token_issuer="https://issuer.example", token_audience="kb")
    assert not guarded.is_only_local
    assert not guarded.local_principal.names


def test_no_secret_is_shown() -> None:
    assert "s3cret" not in repr(AppSettings(chat_api_key="s3cret", cosmos_key="s3cret", openai_api_key="s3cret"))


def test_the_page_reaches_a_service_that_listens_everywhere_on_loopback() -> None:
    assert AppSettings(app_host="0.0.0.0").service_url == "http://127.0.0.1:8088"
    assert AppSettings(app_url="https://kb.example.com/").service_url == "https://kb.example.com"


HOSTED = "https://name.services.ai.azure.com/api/projects/kb/agents/a/endpoint/protocols/openai"


@pytest.mark.parametrize(
    ("endpoint", "scope", "sent"),
    [
        (HOSTED, None, "https://ai.azure.com/.default"),
        (HOSTED, "api://mine/.default", "api://mine/.default"),
        ("https://agent.example.com/v1", None, ""),
        ("https://services.ai.azure.com.example.com/v1", None, ""),
        ("http://127.0.0.1:8088/v1", None, ""),
        (None, None, ""),
    ],
)
def test_a_token_goes_to_agents_on_azure_and_where_a_scope_is_set(
    endpoint: str | None, scope: str | None, sent: str
) -> None:
    assert AppSettings(agent_endpoint=endpoint, agent_scope=scope).agent_token_scope == sent


def test_an_agent_elsewhere_is_a_web_address_and_gets_tokens_by_https_only(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match="must begin with https"):
        AppSettings(agent_endpoint="ftp://agent")
    with pytest.raises(ValueError, match="KB_AGENT_ENDPOINT is not https"):
        AppSettings(agent_endpoint="http://127.0.0.1:8088/v1", agent_scope="api://mine/.default")
    monkeypatch.setenv("AGENT_ENDPOINT", "http://127.0.0.1:8088/v1")
    assert AppSettings().agent_endpoint == "http://127.0.0.1:8088/v1"
