"""Which endpoint answers: the one of the ``KB_CHAT_*`` settings, or else the one that serves the knowledge base."""

from app.settings import AppSettings
from kb_pipeline.addresses import azure_url, web_url
from kb_pipeline.models.openai_endpoint import OPENAI_URL, OpenAIEndpoint


def chat_endpoint(settings: AppSettings) -> OpenAIEndpoint:
    """Where the chat model is asked, and as whom.

    The two groups of settings are never mixed: a key is only sent to the endpoint that it was given for.

    Raises:
        SettingsError: the address is none.
    """
    shared = _is_shared(settings)
    group = "KB_OPENAI" if shared else "KB_CHAT"
    azure = settings.openai_azure_endpoint if shared else settings.chat_azure_endpoint
    other = settings.openai_base_url if shared else settings.chat_base_url
    url_setting = f"{group}_AZURE_ENDPOINT" if azure else f"{group}_BASE_URL"
    return OpenAIEndpoint(
        url=azure_url(url_setting, azure) if azure else web_url(url_setting, other or OPENAI_URL),
        azure=bool(azure),
        version=settings.openai_api_version if shared else settings.chat_api_version,
        key=settings.openai_api_key if shared else settings.chat_api_key,
        deployments=settings.openai_deployments if shared else (),
        timeout=settings.chat_timeout_seconds,
        url_setting=url_setting,
        key_setting=f"{group}_API_KEY",
    )


def _is_shared(settings: AppSettings) -> bool:
    own = (settings.chat_azure_endpoint, settings.chat_base_url, settings.chat_api_key)
    others = (settings.openai_azure_endpoint, settings.openai_base_url, settings.openai_api_key)
    return not any(own) and any(others)
