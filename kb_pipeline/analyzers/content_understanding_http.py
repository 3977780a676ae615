"""How requests to Content Understanding leave this machine: signed in, with few retries, to one host only.

Imported at the first use, because it needs the SDK. Not here: what is asked.
"""

from typing import Any
from urllib.parse import urlsplit

from azure.ai.contentunderstanding import ContentUnderstandingClient
from azure.core.credentials import AzureKeyCredential
from azure.core.pipeline import PipelineRequest
from azure.core.pipeline.policies import SansIOHTTPPolicy
from azure.core.rest import HttpRequest

from kb_pipeline.azure_policies import BoundedRetries, TokensOverLoopback
from kb_pipeline.services import Service, azure_credential

API_VERSION = "2025-11-01"

_RETRIES = 2
_LONGEST_PAUSE = 30.0
"""Seconds to wait here for a busy service; one that asks for more is left alone until the build tries again."""


class StayHome(SansIOHTTPPolicy[Any, Any]):
    """Sends every request to our endpoint, whatever host an answer named for the next one: the key stays there.

    A resource has several host names, and may well answer with another than it was asked by.
    """

    def __init__(self, endpoint: str) -> None:
        self._home = urlsplit(endpoint)

    def on_request(self, request: PipelineRequest[Any]) -> None:
        """Put our scheme and host in place of what the URL has."""
        asked = urlsplit(request.http_request.url)
        request.http_request.url = asked._replace(scheme=self._home.scheme, netloc=self._home.netloc).geturl()


def new_client(service: Service, timeout: float) -> ContentUnderstandingClient:
    """A client whose single requests end within ``timeout`` seconds; redirects are not followed."""
    key = service.key.get_secret_value() if service.key else ""
    by_token_here = not key and service.endpoint.startswith("http:")
    return ContentUnderstandingClient(
        service.endpoint,
        AzureKeyCredential(key) if key else azure_credential(),
        api_version=API_VERSION,
        retry_policy=BoundedRetries(longest_pause=_LONGEST_PAUSE, retry_total=_RETRIES, retry_read=0),
        per_call_policies=[StayHome(service.endpoint), *([TokensOverLoopback()] if by_token_here else [])],
        permit_redirects=False,
        connection_timeout=min(timeout, 10),
        read_timeout=timeout,
    )


def status_request(path: str) -> HttpRequest:
    """Asks for the status of an operation."""
    return HttpRequest("GET", path, params={"api-version": API_VERSION})
