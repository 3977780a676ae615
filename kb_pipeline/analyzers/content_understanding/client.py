"""The client of Content Understanding in Foundry Tools: starts operations, waits for them, and reads their results.

It polls by itself, because the SDK's poller for analyses loses failures. What to analyze is in ``analyzer``, how
analyzers are deployed in ``deploy``.
"""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from importlib.util import find_spec
from typing import Any
from urllib.parse import urlsplit

from azure.ai.contentunderstanding import ContentUnderstandingClient
from azure.core.credentials import AzureKeyCredential
from azure.core.pipeline import PipelineRequest
from azure.core.pipeline.policies import SansIOHTTPPolicy
from azure.core.rest import HttpRequest

from kb_pipeline.analyzers.content_understanding.results import (
    AnalyzedContent,
    Operation,
    read_analysis,
    read_operation,
)
from kb_pipeline.errors import MissingExtraError, ServiceError, ServiceRefusedError, SettingsError
from kb_pipeline.limited import waiting
from kb_pipeline.services.azure import BoundedRetries, TokensOverLoopback
from kb_pipeline.services.service import Service, azure_credential, retry_after
from kb_pipeline.services.urls import azure_url
from kb_pipeline.services.usage import record_usage
from kb_pipeline.settings import Settings

NAME = "Content Understanding"
API_VERSION = "2025-11-01"

_ENDPOINT = "KB_CONTENT_UNDERSTANDING_ENDPOINT"
_KEY = "KB_CONTENT_UNDERSTANDING_API_KEY"
_PAUSE = 1.0
"""Seconds between two polls, unless the service names another pause; if it names 0, pauses grow up to this."""
_FIRST_PAUSE = 0.05
"""Seconds before it is asked whether an operation ended; pauses grow from here."""
_RETRIES = 2
"""A request is repeated twice at once; the run repeats the article later."""
_LONGEST_PAUSE = 30.0
"""Longest wait for a busy service in seconds; if it asks for more, only the build tries again."""


class ContentUnderstanding:
    """The service of the settings; each process creates its own connection on first use."""

    def __init__(self, settings: Settings) -> None:
        """Read endpoint and key from the settings; nothing is sent yet.

        Raises:
            SettingsError: the endpoint is missing, or is not a URL to which a key may be sent.
            MissingExtraError: the SDK is not installed.
        """
        self._settings = settings
        endpoint = (settings.content_understanding_endpoint or "").strip()
        if not endpoint:
            raise SettingsError(
                f"{_ENDPOINT} is not set; the analyzer content-understanding needs it: "
                "https://NAME.services.ai.azure.com"
            )
        url, key = azure_url(_ENDPOINT, endpoint), settings.content_understanding_api_key
        self.service = Service(NAME, url, _ENDPOINT, _KEY, "Cognitive Services User", key)
        self.timeout = settings.service_timeout_seconds
        if not _is_installed():
            raise MissingExtraError("the analyzer content-understanding", "azure")

    def __reduce__(self) -> tuple[type["ContentUnderstanding"], tuple[Settings]]:
        return type(self), (self._settings,)

    @cached_property
    def sdk(self) -> ContentUnderstandingClient:
        """The SDK's client; single requests end within the timeout, and redirects are not followed."""
        endpoint = self.service.endpoint
        key = self.service.key.get_secret_value() if self.service.key else ""
        is_token_over_http = not key and endpoint.startswith("http:")
        return ContentUnderstandingClient(
            endpoint,
            AzureKeyCredential(key) if key else azure_credential(),
            api_version=API_VERSION,
            retry_policy=BoundedRetries(
                retries=_RETRIES, read_retries=0, longest_pause=_LONGEST_PAUSE, repeatable=False
            ),
            per_call_policies=[PinHost(endpoint), *([TokensOverLoopback()] if is_token_over_http else [])],
            permit_redirects=False,
            connection_timeout=min(self.timeout, 10),
            read_timeout=self.timeout,
        )

    @contextmanager
    def translated_errors(self) -> Iterator[None]:
        """Turn the SDK's errors into ours.

        Raises:
            KnowledgeBaseError: the service refused, is busy, did not answer in time, or cannot be reached.
        """
        from azure.core.exceptions import ServiceResponseTimeoutError

        with self.service.translated_errors():
            try:
                yield
            except ServiceResponseTimeoutError as exc:
                raise self.service.silent(self.timeout) from exc

    def analyze(self, analyzer_id: str, data: bytes, content_type: str) -> tuple[AnalyzedContent, ...]:
        """Analyze a file; usage is recorded even if the analysis fails.

        Raises:
            KnowledgeBaseError: the service is busy, refuses, fails, or finds nothing.
        """
        deadline = self.deadline()
        with waiting():
            path = self._start(self.sdk.begin_analyze_binary, analyzer_id, data, content_type=content_type)
            if not path:
                raise ServiceError(f"{self.service.place} took an analysis but did not say where its result will be")
            operation = self.wait(path, deadline)
        for usage in operation.usage.usages() if operation.usage else ():
            record_usage(usage)
        return read_analysis(self.service, operation).contents

    def create_analyzer(self, analyzer_id: str, definition: Mapping[str, Any], deadline: float) -> Operation | None:
        """Create or replace an analyzer and wait for the end; ``None`` if the service names no operation.

        Raises:
            KnowledgeBaseError: the service is busy, refuses, or does not finish in time.
        """
        path = self._start(self.sdk.begin_create_analyzer, analyzer_id, dict(definition), allow_replace=True)
        return self.wait(path, deadline) if path else None

    def deadline(self) -> float:
        """Return the deadline of an operation that starts now, on the monotonic clock."""
        return time.monotonic() + self.timeout

    def pause(self, seconds: float, deadline: float) -> None:
        """Sleep for some seconds.

        Raises:
            TransientError: the deadline would pass meanwhile.
        """
        if time.monotonic() + seconds >= deadline:
            raise self.service.silent(self.timeout)
        time.sleep(seconds)

    def wait(self, path: str, deadline: float) -> Operation:
        """Poll an operation until it ends.

        Raises:
            KnowledgeBaseError: it does not end in time, or the service is busy, refuses, or gives an invalid
                answer.
        """
        shortest = _FIRST_PAUSE
        while True:
            operation, seconds = self._poll(path, deadline)
            if not operation.is_running:
                return operation
            self.pause(max(seconds, shortest), deadline)
            shortest = min(2 * shortest, _PAUSE)

    def _poll(self, path: str, deadline: float) -> tuple[Operation, float]:
        """Return the status of an operation, and the seconds to wait before polling again."""
        from azure.core.exceptions import HttpResponseError

        remaining = max(0.1, deadline - time.monotonic())
        request = HttpRequest("GET", path, params={"api-version": API_VERSION})
        with self.translated_errors():
            response = self.sdk.send_request(request, read_timeout=remaining)
            if response.status_code != 200:  # including redirects, which would lead to another host
                raise HttpResponseError(response=response)
            body = response.content
        seconds = retry_after(response.headers)
        return read_operation(self.service, body), _PAUSE if seconds is None else seconds

    def _start(self, begin: Callable[..., object], analyzer_id: str, *arguments: object, **options: object) -> str:
        """Start an operation; return its path below our endpoint, whatever host the service names."""
        from azure.core.exceptions import ResourceNotFoundError

        answers: list[Any] = []
        with self.translated_errors():
            try:
                begin(analyzer_id, *arguments, polling=False, raw_response_hook=answers.append, **options)
            except ResourceNotFoundError as exc:
                advice = (
                    f"check that {_ENDPOINT} is a Foundry resource in a region that has the service"
                    if analyzer_id.startswith("prebuilt-")
                    else "run: kb analyzers deploy"
                )
                message = f"{self.service.place} has no analyzer {analyzer_id} (404); {advice}"
                raise ServiceRefusedError(message) from self.service.safe_cause(exc)
        location: str = answers[-1].http_response.headers.get("Operation-Location", "")
        return urlsplit(location).path.partition("/contentunderstanding")[2]


def _is_installed() -> bool:
    try:
        return find_spec("azure.ai.contentunderstanding") is not None
    except ModuleNotFoundError:  # its parent package is missing too
        return False


class PinHost(SansIOHTTPPolicy[Any, Any]):
    """Sends every request to our endpoint, even if an answer named another host for it: so the key stays there.

    A resource has several host names, and may answer with another than the one that was asked.
    """

    def __init__(self, endpoint: str) -> None:
        self._home = urlsplit(endpoint)

    def on_request(self, request: PipelineRequest[Any]) -> None:
        url = urlsplit(request.http_request.url)
        request.http_request.url = url._replace(scheme=self._home.scheme, netloc=self._home.netloc).geturl()
