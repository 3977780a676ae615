"""The connection to an endpoint that speaks OpenAI's protocol, and its errors.

Requests are in ``openai_embeddings`` and ``openai_vision``, the conversation with readers is in ``app``.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from pydantic import SecretStr

from kb_pipeline.errors import KnowledgeBaseError, ServiceError, ServiceRefusedError, SettingsError
from kb_pipeline.limited import waiting
from kb_pipeline.services.service import Service, retry_after
from kb_pipeline.services.urls import azure_url, web_url
from kb_pipeline.settings import Settings

if TYPE_CHECKING:
    import httpx2  # the SDK's own
    import openai


OPENAI_URL = "https://api.openai.com/v1"
AZURE_SCOPE = "https://cognitiveservices.azure.com/.default"
ROLE = "Cognitive Services OpenAI User"


@dataclass(frozen=True)
class OpenAIEndpoint:
    """An Azure OpenAI resource (its v1 API, or a dated ``version`` of the older API), or any other endpoint.

    ``url_setting`` and ``key_setting`` are the variables to name in messages. Without a ``key``, Azure gets a token,
    and other endpoints are used as if they need no key.
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
        """Check that the key can be sent.

        Raises:
            SettingsError: it cannot.
        """
        _ = self.service

    @property
    def base_url(self) -> str:
        """The URL to which paths of the protocol are appended; not used with a ``version``."""
        return f"{self.url}/openai/v1/" if self.azure else self.url

    @property
    def service(self) -> Service:
        """The endpoint for messages."""
        name = "Azure OpenAI" if self.azure else "OpenAI" if self.url == OPENAI_URL else "the OpenAI-compatible service"
        role = ROLE if self.azure else ""
        return Service(name, self.url, self.url_setting, self.key_setting, role, self.key)

    def deployment(self, model: str) -> str:
        """Return the endpoint's name of a model."""
        return dict(self.deployments).get(model, model)


def openai_endpoint(settings: Settings, needed_by: str = "") -> OpenAIEndpoint:
    """Return the endpoint of the ``KB_OPENAI_*`` settings; OpenAI's own by default.

    Raises:
        SettingsError: two endpoints are set, or none and no key for OpenAI's own, or the URL is invalid.
    """
    azure, other, key = settings.openai_azure_endpoint, settings.openai_base_url, settings.openai_api_key
    if azure and other:
        raise SettingsError("KB_OPENAI_AZURE_ENDPOINT and KB_OPENAI_BASE_URL name two endpoints; set one of them")
    if not (azure or other or key):
        own = settings.embedder if settings.embedder.startswith("openai") else settings.analyzer
        raise SettingsError(
            f"{needed_by or own} needs an endpoint: "
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


NO_KEY = "none"
"""Local servers need no key, but the protocol demands one."""

_RETRIES = 1
"""Retries by the SDK; the caller retries too, and each attempt may take as long as the settings allow."""
_LONGEST_WAIT = 2.0
"""Seconds; who waits longer can do something else, or give up."""
_CONNECT_SECONDS = 10.0
"""Seconds to connect; an endpoint that takes longer is down."""


class OpenAIConnection:
    """Sends requests to one endpoint. It can be pickled; each process creates its own client on first use."""

    def __init__(self, endpoint: OpenAIEndpoint) -> None:
        self.endpoint = endpoint

    @contextmanager
    def asking(self, model: str, model_setting: str) -> Iterator["openai.OpenAI"]:
        """Provide the SDK's client to ask ``model``, which the setting ``model_setting`` names.

        Raises:
            TransientError: the endpoint is busy, cannot be reached or did not answer in time; short waits that it
                asked for are over.
            ServiceRefusedError: it refuses the credentials, or does not have the model.
            ServiceError: it does not accept the request.
        """
        import openai

        service = self.endpoint.service
        try:
            with waiting():
                yield self._client
        except openai.APITimeoutError as exc:
            raise service.silent(self.endpoint.timeout) from exc
        except openai.APIStatusError as exc:
            raise self._refusal(exc, model, model_setting) from service.safe_cause(exc)
        except openai.APIConnectionError as exc:
            raise service.unreachable(exc.__cause__ or exc) from service.safe_cause(exc)
        except openai.OpenAIError as exc:
            raise ServiceError(f"{service.place} did not answer as OpenAI does ({type(exc).__name__})") from exc

    @cached_property
    def _client(self) -> "openai.OpenAI":
        """All options are set here, so that no ``OPENAI_*`` variable of the machine has an effect."""
        import openai

        endpoint = self.endpoint
        key = endpoint.key.get_secret_value() if endpoint.key else None
        shared: dict[str, Any] = {
            "max_retries": _RETRIES,
            "timeout": openai.Timeout(endpoint.timeout, connect=min(endpoint.timeout, _CONNECT_SECONDS)),
            "http_client": openai.DefaultHttpx2Client(
                follow_redirects=False, event_hooks={"response": [no_long_waits]}
            ),
        }
        if not endpoint.azure:
            return openai.OpenAI(base_url=endpoint.base_url, api_key=key or NO_KEY, **shared)
        if not endpoint.version:
            return openai.OpenAI(
                base_url=endpoint.base_url, api_key=key or endpoint.service.tokens(AZURE_SCOPE), **shared
            )
        secret = {"api_key": key} if key else {"azure_ad_token_provider": endpoint.service.tokens(AZURE_SCOPE)}
        return openai.AzureOpenAI(azure_endpoint=endpoint.url, api_version=endpoint.version, **secret, **shared)

    def _refusal(self, error: "openai.APIStatusError", model: str, model_setting: str) -> KnowledgeBaseError:
        endpoint, service, status = self.endpoint, self.endpoint.service, error.status_code
        if status == 404:
            kind, also = ("deployment", ", KB_OPENAI_DEPLOYMENTS") if endpoint.azure else ("model", "")
            return ServiceRefusedError(
                f"{service.place} knows no {kind} {endpoint.deployment(model)!r} (404); "
                f"check {model_setting}{also} and {endpoint.url_setting}"
            )
        if error.code == "insufficient_quota":
            return ServiceRefusedError(
                f"the quota at {service.place} is used up ({status}); raise it where the key was issued, "
                f"or set another {endpoint.key_setting}"
            )
        message = error.body.get("message") if isinstance(error.body, dict) else None
        return service.refused(status, str(message or error.message), retry_after(error.response.headers))

    def __getstate__(self) -> dict[str, Any]:
        return {"endpoint": self.endpoint}


def no_long_waits(response: "httpx2.Response") -> None:
    """Let the SDK retry only after short waits; the caller decides about longer ones."""
    if (retry_after(response.headers) or 0) > _LONGEST_WAIT:
        response.headers["x-should-retry"] = "false"
