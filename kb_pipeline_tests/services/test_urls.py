"""Addresses as people copy them into settings: what is around them goes, what is none is refused by its setting."""

import pytest

from kb_pipeline.errors import SettingsError
from kb_pipeline.services.urls import azure_url, web_url

FOUNDRY = "https://kb.services.ai.azure.com"


@pytest.mark.parametrize(
    "behind",
    [
        "/",
        "/openai/v1/",
        "/openai/deployments/gpt-4.1/chat/completions?api-version=2025-01-01-preview",
        "/providers/mistral/azure/ocr?api-version=2024-05-01-preview",
        "/contentunderstanding/analyzers?api-version=2025-11-01#top",
        "/api/projects/kb",
        " ",
    ],
)
def test_what_the_portal_shows_behind_the_address_of_a_resource_goes(behind: str) -> None:
    assert azure_url("KB_X", FOUNDRY + behind) == FOUNDRY


@pytest.mark.parametrize("address", ["https://gateway.example/openai-west", "https://openai/kb", "http://[::1]:8080"])
def test_all_else_stays(address: str) -> None:
    assert azure_url("KB_X", address) == web_url("KB_X", f" {address}/ ") == address


@pytest.mark.parametrize(
    "given", ["", "kb", "https://", "https:///kb", "https://[kb", "ftp://localhost", "https://kb:99999", "https://a b"]
)
def test_what_is_no_web_address_names_its_setting(given: str) -> None:
    for read in (azure_url, web_url):
        with pytest.raises(SettingsError, match=r"KB_X is .* must begin with https://"):
            read("KB_X", given)


def test_a_resource_is_asked_in_the_clear_on_this_machine_only() -> None:
    with pytest.raises(SettingsError, match="credentials are sent"):
        azure_url("KB_X", "http://kb.services.ai.azure.com")
    assert web_url("KB_X", "http://ollama:11434/v1") == "http://ollama:11434/v1"


def test_a_password_in_an_address_is_not_told() -> None:
    for scheme in ("http", "https"):
        with pytest.raises(SettingsError) as raised:
            azure_url("KB_X", f"{scheme}://me:secret@kb")
        assert "secret" not in str(raised.value)
