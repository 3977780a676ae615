"""How requests to Azure AI Search are repeated."""

from kb_pipeline.azure_policies import BoundedRetries

_RETRIES = 3
_LONGEST_PAUSE = 10.0


class SearchRetries(BoundedRetries):
    """Repeats every request that we send: documents have keys, definitions have ETags."""

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
