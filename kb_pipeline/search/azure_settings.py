"""What the settings must say before a request goes to Azure AI Search; what is wrong with them quotes no secret."""

import re

from kb_pipeline.addresses import azure_url
from kb_pipeline.errors import SettingsError
from kb_pipeline.settings import Settings

_KEY = re.compile(r"[!-~]+")
_ALIAS = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_LONGEST_ALIAS = 100


def checked_endpoint(settings: Settings) -> str:
    """The service's URL.

    Raises:
        SettingsError: it is missing, no URL, or one to which a key would go readable.
    """
    if not settings.search_endpoint:
        raise SettingsError("KB_INDEX is azure-ai-search, which needs a service; set KB_SEARCH_ENDPOINT")
    return azure_url("KB_SEARCH_ENDPOINT", settings.search_endpoint)


def check_alias(settings: Settings) -> None:
    """Refuse an alias that no index can be named after.

    Raises:
        SettingsError: it is one.
    """
    alias = settings.search_alias
    if not _ALIAS.fullmatch(alias) or len(alias) > _LONGEST_ALIAS:
        raise SettingsError(
            f"KB_SEARCH_ALIAS is {alias!r}; indexes are named after it: up to {_LONGEST_ALIAS} lower-case letters, "
            "digits and single dashes, none of those at an end"
        )


def checked_key(settings: Settings) -> str:
    """The key, ``""`` for none.

    Raises:
        SettingsError: it holds what no header can carry; SDKs would quote it in their error.
    """
    key = settings.search_api_key.get_secret_value().strip() if settings.search_api_key else ""
    if key and not _KEY.fullmatch(key):
        raise SettingsError("KB_SEARCH_API_KEY holds characters that no key has; copy it again")
    return key


def checked_vectorizer(settings: Settings, embedder: str) -> tuple[str, str]:
    """The Azure OpenAI resource and the model by which the service embeds questions as ``embedder`` does.

    Raises:
        SettingsError: it cannot do that.
    """
    kind, _, model = embedder.partition("/")
    if kind != "openai" or not settings.openai_azure_endpoint:
        raise SettingsError(
            "KB_SEARCH_VECTORIZER is set, so the search service embeds questions: that needs "
            f"KB_OPENAI_AZURE_ENDPOINT and KB_EMBEDDER=openai/MODEL, and the embedder is {embedder}"
        )
    return settings.openai_azure_endpoint.rstrip("/"), model.partition("/")[0]
