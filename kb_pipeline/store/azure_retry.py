"""The retry policy of blob clients, which pass options that only policies of Azure Storage take out of a request."""

from typing import Any

from azure.core.exceptions import AzureError, ClientAuthenticationError
from azure.core.pipeline import PipelineRequest, PipelineResponse
from azure.storage.blob import ExponentialRetry

from kb_pipeline.services.service import retry_after

_LONGEST_PAUSE = 10.0
"""Seconds. The build retries an article later without holding a connection."""


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
