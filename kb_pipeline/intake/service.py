"""Asks a service on the internet, politely: it waits when the service says so, and takes only whole answers."""

from typing import Any, BinaryIO

import httpx

from kb_pipeline.errors import IntakeError, TransientError
from kb_pipeline.services.retry import after_transient_errors
from kb_pipeline.services.service import retry_after

_USER_AGENT = "kb-pipeline (knowledge base; takes in what changed)"
_SECONDS = 60
"""Seconds for an answer: a wiki may have to render a long page first."""
_LONGEST_PAUSE = 60.0
"""Seconds that it waits at most when the service asks for more."""


class DeniedError(IntakeError):
    """The service does not let this user read what was asked for, or has it no more."""


class ServiceClient:
    """Asks one service. Several threads may ask. No answer has more than ``largest`` bytes."""

    def __init__(self, largest: int, attempts: int) -> None:
        self._largest = largest
        self._patiently = after_transient_errors(attempts, _LONGEST_PAUSE)
        self._client = httpx.Client(timeout=_SECONDS, headers={"User-Agent": _USER_AGENT})

    def _answer(
        self, request: httpx.Request, auth: httpx.Auth | None = None, into: BinaryIO | None = None
    ) -> tuple[int, httpx.Headers, bytes]:
        """The status, headers and body of an answer; redirects are not followed.

        A file is written ``into`` another one instead, so that it is not in memory.

        Raises:
            IntakeError: it is too large.
            TransientError: the service is busy, or did not answer completely.
        """
        place, body, size = place_of(request), bytearray(), 0
        try:
            response = self._client.send(request, auth=auth, stream=True, follow_redirects=False)
            try:
                for piece in response.iter_bytes():
                    size += len(piece)
                    if size > self._largest:
                        raise IntakeError(f"{place} has more than {self._largest:,} bytes; raise KB_DOCUMENT_BYTES")
                    if into and response.status_code == 200:
                        into.write(piece)
                    else:
                        body += piece
            finally:
                response.close()
        except httpx.HTTPError as exc:
            raise TransientError(f"{place} did not answer completely ({type(exc).__name__})") from exc
        if response.status_code == 429 or response.status_code >= 500:
            raise TransientError(f"{place} answered with status {response.status_code}", retry_after(response.headers))
        return response.status_code, response.headers, bytes(body)


def place_of(request: httpx.Request) -> str:
    """Where a request goes, without what it asks for."""
    return str(request.url.copy_with(query=None))


def json_of(body: bytes, place: str, otherwise: str = "gave an answer of another kind") -> dict[str, Any]:
    """The JSON object in an answer; ``otherwise`` is said of a place that answers with something else.

    Raises:
        IntakeError: it is something else.
        TransientError: it is no JSON, or not all of it.
    """
    try:
        answer = httpx.Response(200, content=body).json()
    except ValueError as exc:
        raise TransientError(f"{place} gave half an answer, or one that is no JSON") from exc
    if not isinstance(answer, dict):
        raise IntakeError(f"{place} {otherwise}")
    return answer
