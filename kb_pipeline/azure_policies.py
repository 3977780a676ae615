"""How requests of clients built on ``azure.core`` are repeated and signed. Imported only where such an SDK is used."""

from typing import Any

from azure.core.pipeline import PipelineRequest, PipelineResponse
from azure.core.pipeline.policies import RetryPolicy, SansIOHTTPPolicy

from kb_pipeline.services import retry_after


class BoundedRetries(RetryPolicy[Any, Any]):
    """A few repetitions, after the pause that the service asked for, unless that is above ``longest_pause`` seconds:
    a service that asks for more is asked again by who waits for all articles at once.
    """

    def __init__(self, *, longest_pause: float, **options: Any) -> None:
        super().__init__(**options)
        self._longest_pause = longest_pause

    def get_retry_after(self, response: PipelineResponse[Any, Any]) -> float | None:
        """Seconds that the service asks for; the SDK's own reading raises at what is none."""
        return retry_after(response.http_response.headers)

    def is_retry(self, settings: dict[str, Any], response: PipelineResponse[Any, Any]) -> bool:
        """Whether to ask again."""
        asked = self.get_retry_after(response) or 0.0
        return asked <= self._longest_pause and super().is_retry(settings, response)


class TokensOverLoopback(SansIOHTTPPolicy[Any, Any]):
    """Lets tokens go to this machine without TLS: a stand-in for the service, which has no certificate."""

    def on_request(self, request: PipelineRequest[Any]) -> None:
        """Say so to the policy that signs."""
        request.context.options["enforce_https"] = False
