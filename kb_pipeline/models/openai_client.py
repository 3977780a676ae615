"""The connection to an endpoint that speaks OpenAI's protocol, and what can go wrong between us, in one place.

Not here: what is asked (``openai_embeddings``, ``openai_vision``), and the conversation with readers (``app``).
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any

from kb_pipeline.errors import KnowledgeBaseError, ServiceError, ServiceRefusedError
from kb_pipeline.models.openai_endpoint import AZURE_SCOPE, OpenAIEndpoint
from kb_pipeline.services import retry_after

if TYPE_CHECKING:
    import httpx2  # the SDK's own
    import openai

NO_KEY = "none"
"""Local servers want no key, but the protocol wants one sent."""

_RETRIES = 1
"""Of the SDK; whoever asks tries again as well, and each try may last as long as the settings allow."""
_LONGEST_WAIT = 2.0
_CONNECT_SECONDS = 10.0


class OpenAIConnection:
    """Asks one endpoint. Picklable at any time; each process opens its own client at its first question."""

    def __init__(self, endpoint: OpenAIEndpoint) -> None:
        """Say which endpoint; nothing is sent yet."""
        self.endpoint = endpoint

    @contextmanager
    def asking(self, model: str, model_setting: str) -> Iterator["openai.OpenAI"]:
        """The SDK's client, to ask ``model``, which ``model_setting`` names.

        Raises:
            TransientError: the endpoint is busy, away or silent; a short wait it asked for is over already.
            ServiceRefusedError: it refuses our credentials, or knows no such model.
            ServiceError: it does not accept the question.
        """
        import openai

        service = self.endpoint.service
        try:
            yield self._client
        except openai.APITimeoutError as exc:
            raise service.silent(self.endpoint.timeout) from exc
        except openai.APIStatusError as exc:
            raise self._refusal(exc, model, model_setting) from service.told(exc)
        except openai.APIConnectionError as exc:
            raise service.unreachable(exc.__cause__ or exc) from service.told(exc)
        except openai.OpenAIError as exc:
            raise ServiceError(f"{service.place} did not answer as OpenAI does ({type(exc).__name__})") from exc

    @cached_property
    def _client(self) -> "openai.OpenAI":
        """Everything is said, so that no ``OPENAI_*`` variable of the machine says something else."""
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

    def _refusal(self, refusal: "openai.APIStatusError", model: str, model_setting: str) -> KnowledgeBaseError:
        endpoint, service, status = self.endpoint, self.endpoint.service, refusal.status_code
        if status == 404:
            kind, also = ("deployment", ", KB_OPENAI_DEPLOYMENTS") if endpoint.azure else ("model", "")
            return ServiceRefusedError(
                f"{service.place} knows no {kind} {endpoint.deployment(model)!r} (404); "
                f"check {model_setting}{also} and {endpoint.url_setting}"
            )
        if refusal.code == "insufficient_quota":
            return ServiceRefusedError(
                f"the quota at {service.place} is used up ({status}); raise it where the key was issued, "
                f"or set another {endpoint.key_setting}"
            )
        return service.refused(status, _words(refusal), retry_after(refusal.response.headers))

    def __getstate__(self) -> dict[str, Any]:
        """Pickle the endpoint only."""
        return {"endpoint": self.endpoint}


def _words(refusal: "openai.APIStatusError") -> str:
    said = refusal.body.get("message") if isinstance(refusal.body, dict) else None
    return str(said or refusal.message)


def no_long_waits(response: "httpx2.Response") -> None:
    """Let the SDK try again at once or in a moment only; whoever asks decides about longer waits."""
    if (retry_after(response.headers) or 0) > _LONGEST_WAIT:
        response.headers["x-should-retry"] = "false"
