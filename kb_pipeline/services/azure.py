"""Retry and authentication policies for clients built on ``azure.core``. Imported only where such an SDK is used."""

from typing import Any

from azure.core.pipeline import PipelineRequest, PipelineResponse
from azure.core.pipeline.policies import RetryPolicy, SansIOHTTPPolicy

from kb_pipeline.services.service import retry_after


class BoundedRetries(RetryPolicy[Any, Any]):
    """A few retries within seconds, after the pause that the service asked for. Azure Storage needs one of its own.

    A request is not retried if that pause is longer than ``longest_pause`` seconds: it fails, and the build retries the
    article without holding a connection. POST is retried only if it is ``repeatable``.
    """

    def __init__(
        self, *, retries: int = 3, read_retries: int = 1, longest_pause: float = 10.0, repeatable: bool = True
    ) -> None:
        super().__init__(
            retry_total=retries,
            retry_connect=1,
            retry_read=read_retries,
            retry_status=retries,
            retry_backoff_factor=0.2,
            retry_backoff_max=longest_pause,
        )
        self._longest_pause = longest_pause
        if repeatable:
            self._method_whitelist = frozenset({*self._method_whitelist, "POST"})

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
