"""How often a request to Blob Storage is sent again, and after how long. Imported only where the SDK is used."""

from typing import Any

from azure.core.exceptions import AzureError, ClientAuthenticationError
from azure.core.pipeline import PipelineRequest, PipelineResponse
from azure.storage.blob import ExponentialRetry

from kb_pipeline.services import retry_after

_LONGEST_PAUSE = 10.0
"""Seconds. Who has to wait longer does so without a connection: the build tries the article again."""


class BoundedRetry(ExponentialRetry):
    """Two more tries within seconds; the SDK's own policy takes a minute and does not hear ``Retry-After``."""

    def __init__(self) -> None:
        super().__init__(
            initial_backoff=1, increment_base=2, retry_total=2, random_jitter_range=1, retry_connect=1, retry_read=1
        )

    def get_backoff_time(self, settings: dict[str, Any]) -> float:
        """Seconds until the next try: what the service asked for, else a random few."""
        response = settings["history"][-1].http_response if settings["history"] else None
        asked = retry_after(response.headers) if response is not None else None
        return min(super().get_backoff_time(settings) if asked is None else asked, _LONGEST_PAUSE)

    def increment(
        self,
        settings: dict[str, Any],
        request: PipelineRequest[Any],
        response: PipelineResponse[Any, Any] | None = None,
        error: AzureError | None = None,
    ) -> bool:
        """Whether there is a next try; without credentials, another one is no better."""
        return not isinstance(error, ClientAuthenticationError) and super().increment(
            settings, request, response, error
        )
