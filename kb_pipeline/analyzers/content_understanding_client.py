"""Content Understanding in Foundry Tools: start an operation, wait for its end, tell what came of it.

The SDK's poller for analyses loses failures, so operations are looked at here. Not here: what is asked of analyzers
(``content_understanding``), and how they are made (``content_understanding_lifecycle``).
"""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from kb_pipeline.addresses import azure_url
from kb_pipeline.analyzers.content_understanding_results import Content, Operation, read_analysis, read_operation
from kb_pipeline.errors import MissingExtraError, ServiceError, ServiceRefusedError, SettingsError
from kb_pipeline.metering import record_usage
from kb_pipeline.services import Service, retry_after
from kb_pipeline.settings import Settings

if TYPE_CHECKING:
    from azure.ai.contentunderstanding import ContentUnderstandingClient

NAME = "Content Understanding"

_ENDPOINT = "KB_CONTENT_UNDERSTANDING_ENDPOINT"
_KEY = "KB_CONTENT_UNDERSTANDING_API_KEY"
_PAUSE = 1.0
"""Seconds between two looks at an operation, unless the service says how many; they grow to it where it says none."""
_FIRST_PAUSE = 0.05


class ContentUnderstanding:
    """The service of the settings; what connects to it is made at the first use, in the process that uses it."""

    def __init__(self, settings: Settings) -> None:
        """Take endpoint and key from the settings; nothing is sent.

        Raises:
            SettingsError: there is no endpoint, or it is no URL that a key may be sent to.
            MissingExtraError: the SDK is not installed.
        """
        key = settings.content_understanding_api_key
        self._settings = settings
        self.service = Service(
            NAME, _endpoint(settings.content_understanding_endpoint), _ENDPOINT, _KEY, "Cognitive Services User", key
        )
        self.timeout = settings.service_timeout_seconds
        if not _is_installed():
            raise MissingExtraError("the analyzer content-understanding", "azure")

    def __reduce__(self) -> tuple[type["ContentUnderstanding"], tuple[Settings]]:
        """Travel between processes without the connection."""
        return type(self), (self._settings,)

    @cached_property
    def sdk(self) -> "ContentUnderstandingClient":
        """The SDK's client."""
        from kb_pipeline.analyzers.content_understanding_http import new_client

        return new_client(self.service, self.timeout)

    @contextmanager
    def explained(self) -> Iterator[None]:
        """Turn what the SDK raises into our errors.

        Raises:
            KnowledgeBaseError: the service refused, is busy, silent, or cannot be reached.
        """
        from azure.core.exceptions import ServiceResponseTimeoutError

        with self.service.explained():
            try:
                yield
            except ServiceResponseTimeoutError as exc:
                raise self.service.silent(self.timeout) from exc

    def analyze(self, analyzer_id: str, data: bytes, content_type: str) -> tuple[Content, ...]:
        """Analyze a file; what the service counts for it is reported as usage, even when it fails.

        Raises:
            KnowledgeBaseError: the service is busy, refuses, fails, or finds nothing.
        """
        deadline = self.deadline()
        path = self._start(self.sdk.begin_analyze_binary, analyzer_id, data, content_type=content_type)
        if not path:
            raise ServiceError(f"{self.service.place} took an analysis but did not say where its result will be")
        operation = self.wait(path, deadline)
        for usage in operation.usage.usages() if operation.usage else ():
            record_usage(usage)
        return read_analysis(self.service, operation).contents

    def create_analyzer(self, analyzer_id: str, definition: Mapping[str, Any], deadline: float) -> Operation | None:
        """Make or replace an analyzer and wait for the end of that; None if the service names no operation.

        Raises:
            KnowledgeBaseError: the service is busy, refuses, or does not come to an end in time.
        """
        path = self._start(self.sdk.begin_create_analyzer, analyzer_id, dict(definition), allow_replace=True)
        return self.wait(path, deadline) if path else None

    def deadline(self) -> float:
        """When patience ends that begins now, as a reading of the monotonic clock."""
        return time.monotonic() + self.timeout

    def pause(self, seconds: float, deadline: float) -> None:
        """Wait a little longer for something.

        Raises:
            TransientError: the deadline would pass meanwhile.
        """
        if time.monotonic() + seconds >= deadline:
            raise self.service.silent(self.timeout)
        time.sleep(seconds)

    def wait(self, path: str, deadline: float) -> Operation:
        """Look at an operation until it ends.

        Raises:
            KnowledgeBaseError: it does not end in time, or the service is busy, refuses, or answers nonsense.
        """
        least = _FIRST_PAUSE
        while True:
            operation, seconds = self._look(path, deadline)
            if not operation.is_running:
                return operation
            self.pause(max(seconds, least), deadline)
            least = min(2 * least, _PAUSE)

    def _look(self, path: str, deadline: float) -> tuple[Operation, float]:
        """An operation's status, and the seconds until the next look."""
        from azure.core.exceptions import HttpResponseError

        from kb_pipeline.analyzers.content_understanding_http import status_request

        left = max(0.1, deadline - time.monotonic())
        with self.explained():
            response = self.sdk.send_request(status_request(path), read_timeout=left)
            if response.status_code != 200:  # a redirect as well, which would lead away
                raise HttpResponseError(response=response)
            body = response.content
        asked = retry_after(response.headers)
        return read_operation(self.service, body), _PAUSE if asked is None else asked

    def _start(self, begin: Callable[..., object], analyzer_id: str, *arguments: object, **options: object) -> str:
        """Start an operation by the SDK; returns its path, which is below ours whatever host the service names."""
        from azure.core.exceptions import ResourceNotFoundError

        answers: list[Any] = []
        with self.explained():
            try:
                begin(analyzer_id, *arguments, polling=False, raw_response_hook=answers.append, **options)
            except ResourceNotFoundError as exc:
                raise self._has_no(analyzer_id) from self.service.told(exc)
        location: str = answers[-1].http_response.headers.get("Operation-Location", "")
        return urlsplit(location).path.partition("/contentunderstanding")[2]

    def _has_no(self, analyzer_id: str) -> ServiceRefusedError:
        advice = (
            f"check that {_ENDPOINT} is a Foundry resource in a region that has the service"
            if analyzer_id.startswith("prebuilt-")
            else "run: kb analyzers deploy"
        )
        return ServiceRefusedError(f"{self.service.place} has no analyzer {analyzer_id} (404); {advice}")


def _endpoint(given: str | None) -> str:
    endpoint = (given or "").strip()
    if not endpoint:
        raise SettingsError(
            f"{_ENDPOINT} is not set; the analyzer content-understanding needs it: https://NAME.services.ai.azure.com"
        )
    return azure_url(_ENDPOINT, endpoint)


def _is_installed() -> bool:
    try:
        return find_spec("azure.ai.contentunderstanding") is not None
    except ModuleNotFoundError:  # not even the package above it
        return False
