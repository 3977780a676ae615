"""Where OpenAI's protocol is spoken, and as whom we ask there, as the settings say. Not here: asking (no SDK)."""

from dataclasses import dataclass

from pydantic import SecretStr

from kb_pipeline.addresses import azure_url, web_url
from kb_pipeline.errors import SettingsError
from kb_pipeline.services import Service
from kb_pipeline.settings import Settings

OPENAI_URL = "https://api.openai.com/v1"
AZURE_SCOPE = "https://cognitiveservices.azure.com/.default"
ROLE = "Cognitive Services OpenAI User"


@dataclass(frozen=True)
class OpenAIEndpoint:
    """An Azure OpenAI resource (by its v1 API, or a dated ``version`` of the older one), or any other endpoint.

    ``url_setting`` and ``key_setting`` are the variables that messages name; without a ``key`` Azure is asked with
    a token, and other endpoints as if they wanted none.
    """

    url: str
    azure: bool
    version: str | None
    key: SecretStr | None
    deployments: tuple[tuple[str, str], ...]
    timeout: float
    """Longest wait for an answer, in seconds."""
    url_setting: str
    key_setting: str

    def __post_init__(self) -> None:
        """Refuse a key that cannot be sent.

        Raises:
            SettingsError: it is one.
        """
        _ = self.service

    @property
    def base_url(self) -> str:
        """What paths of the protocol are appended to (not with a ``version``)."""
        return f"{self.url}/openai/v1/" if self.azure else self.url

    @property
    def service(self) -> Service:
        """The endpoint as messages name it."""
        name = "Azure OpenAI" if self.azure else "OpenAI" if self.url == OPENAI_URL else "the OpenAI-compatible service"
        role = ROLE if self.azure else ""
        return Service(name, self.url, self.url_setting, self.key_setting, role, self.key)

    def deployment(self, model: str) -> str:
        """What the endpoint calls a model."""
        return dict(self.deployments).get(model, model)


def openai_endpoint(settings: Settings) -> OpenAIEndpoint:
    """The endpoint of the ``KB_OPENAI_*`` settings; OpenAI's own where none is named.

    Raises:
        SettingsError: none is named and there is no key for OpenAI's own, two are named, or it is no web address.
    """
    azure, other, key = settings.openai_azure_endpoint, settings.openai_base_url, settings.openai_api_key
    if azure and other:
        raise SettingsError("KB_OPENAI_AZURE_ENDPOINT and KB_OPENAI_BASE_URL name two endpoints; set one of them")
    if not (azure or other or key):
        raise SettingsError(
            f"{settings.embedder if settings.embedder.startswith('openai') else settings.analyzer} needs an endpoint: "
            "set KB_OPENAI_AZURE_ENDPOINT, or KB_OPENAI_BASE_URL, or KB_OPENAI_API_KEY for OpenAI's own"
        )
    setting = "KB_OPENAI_AZURE_ENDPOINT" if azure else "KB_OPENAI_BASE_URL"
    return OpenAIEndpoint(
        url=azure_url(setting, azure) if azure else web_url(setting, other or OPENAI_URL),
        azure=bool(azure),
        version=settings.openai_api_version,
        key=key,
        deployments=settings.openai_deployments,
        timeout=settings.service_timeout_seconds,
        url_setting=setting,
        key_setting="KB_OPENAI_API_KEY",
    )
