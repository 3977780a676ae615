"""Retry and authentication policies for clients built on ``azure.core``. Imported only where such an SDK is used."""

from typing import Any

from azure.core.exceptions import AzureError, ClientAuthenticationError
from azure.core.pipeline import PipelineRequest, PipelineResponse
from azure.core.pipeline.policies import RetryPolicy, SansIOHTTPPolicy
from azure.storage.blob import ExponentialRetry

from kb_pipeline.services.service import retry_after


class BoundedRetries(RetryPolicy[Any, Any]):
    """A few retries, after the pause that the service asked for.

    A request is not retried if that pause is longer than ``longest_pause`` seconds. The build retries the article then.
    """

    def __init__(self, *, longest_pause: float, **options: Any) -> None:
        super().__init__(**options)
        self._longest_pause = longest_pause

    def get_retry_after(self, response: PipelineResponse[Any, Any]) -> float | None:
        # the SDK's own parser raises for a malformed header
        return retry_after(response.http_response.headers)

    def is_retry(self, settings: dict[str, Any], response: PipelineResponse[Any, Any]) -> bool:
        pause = self.get_retry_after(response) or 0.0
        return pause <= self._longest_pause and super().is_retry(settings, response)


class TokensOverLoopback(SansIOHTTPPolicy[Any, Any]):
    """Allows tokens to be sent without TLS to this machine, for a stand-in of the service without a certificate."""

    def on_request(self, request: PipelineRequest[Any]) -> None:
        request.context.options["enforce_https"] = False


_LONGEST_PAUSE = 10.0
"""Seconds. For a longer pause the request fails, and the build retries the article without holding a connection."""


class BoundedRetry(ExponentialRetry):
    """Two retries within seconds. The SDK's own policy takes a minute, and ignores ``Retry-After``."""

    def __init__(self) -> None:
        super().__init__(
            initial_backoff=1, increment_base=2, retry_total=2, random_jitter_range=1, retry_connect=1, retry_read=1
        )

    def get_backoff_time(self, settings: dict[str, Any]) -> float:
        response = settings["history"][-1].http_response if settings["history"] else None
        pause = retry_after(response.headers) if response is not None else None
        return min(super().get_backoff_time(settings) if pause is None else pause, _LONGEST_PAUSE)

    def increment(
        self,
        settings: dict[str, Any],
        request: PipelineRequest[Any],
        response: PipelineResponse[Any, Any] | None = None,
        error: AzureError | None = None,
    ) -> bool:
        # a request that failed for its credentials would fail again
        return not isinstance(error, ClientAuthenticationError) and super().increment(
            settings, request, response, error
        )


_RETRIES = 3


class SearchRetries(BoundedRetries):
    """Retries of requests to Azure AI Search, POST included: documents have keys, so repeating one is safe."""

    def __init__(self) -> None:
        super().__init__(
            longest_pause=_LONGEST_PAUSE,
            retry_total=_RETRIES,
            retry_connect=1,
            retry_read=1,
            retry_status=_RETRIES,
            retry_backoff_factor=0.2,
            retry_backoff_max=_LONGEST_PAUSE,
        )
        self._method_whitelist = frozenset({*self._method_whitelist, "POST"})
