"""Where OpenAI's protocol is spoken, as the settings say it, and what is wrong with them."""

from typing import Any

import pytest

from kb_pipeline.errors import SettingsError
from kb_pipeline.models.openai_client import openai_endpoint
from kb_pipeline.settings import Settings

AZURE = "https://kb.openai.azure.com"


@pytest.mark.parametrize(
    ("given", "base_url", "name"),
    [
        ({"openai_api_key": "k"}, "https://api.openai.com/v1", "OpenAI"),
        ({"openai_base_url": "http://ollama:11434/v1/"}, "http://ollama:11434/v1", "the OpenAI-compatible service"),
        ({"openai_azure_endpoint": f"{AZURE}/"}, f"{AZURE}/openai/v1/", "Azure OpenAI"),
        ({"openai_azure_endpoint": f"{AZURE}/openai/v1/"}, f"{AZURE}/openai/v1/", "Azure OpenAI"),
        ({"openai_azure_endpoint": f"{AZURE}/openai"}, f"{AZURE}/openai/v1/", "Azure OpenAI"),
        ({"openai_azure_endpoint": "http://127.0.0.1:8080"}, "http://127.0.0.1:8080/openai/v1/", "Azure OpenAI"),
    ],
)
def test_the_settings_name_one_endpoint(given: dict[str, Any], base_url: str, name: str) -> None:
    endpoint = openai_endpoint(Settings(embedder="openai", **given))
    assert (endpoint.base_url, endpoint.service.name) == (base_url, name)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "set KB_OPENAI_AZURE_ENDPOINT, or KB_OPENAI_BASE_URL, or KB_OPENAI_API_KEY"),
        ({"openai_azure_endpoint": AZURE, "openai_base_url": "http://x"}, "two endpoints"),
        ({"openai_azure_endpoint": "kb.openai.azure.com"}, "KB_OPENAI_AZURE_ENDPOINT .* must begin with https://"),
        ({"openai_base_url": "ftp://x"}, "KB_OPENAI_BASE_URL .* must begin with https://"),
        ({"openai_azure_endpoint": "http://kb.openai.azure.com"}, "must begin with https://, because credentials"),
    ],
)
def test_settings_that_name_none_say_what_is_wrong(given: dict[str, Any], said: str) -> None:
    with pytest.raises(SettingsError, match=said):
        openai_endpoint(Settings(embedder="openai", **given))


def test_deployments_are_named_like_their_model_unless_said_otherwise() -> None:
    endpoint = openai_endpoint(Settings(openai_api_key="k", openai_deployments={"gpt-4.1": "eyes"}))
    assert (endpoint.deployment("gpt-4.1"), endpoint.deployment("gpt-5")) == ("eyes", "gpt-5")
