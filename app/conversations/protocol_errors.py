"""Refusals of our storage, as the Responses protocol's server passes them on: a status, and our words as the body."""

from collections.abc import Iterator
from contextlib import contextmanager

from azure.ai.agentserver.responses import FoundryApiError, FoundryBadRequestError, FoundryResourceNotFoundError

from kb_pipeline.errors import KnowledgeBaseError


class UnknownResponseError(FoundryResourceNotFoundError, KeyError):
    """This user has no such response: HTTP 404."""

    def __init__(self, response_id: str) -> None:
        # past the base classes, which warn in the log that they are new
        Exception.__init__(self, f"there is no response {response_id}; it may have been deleted, or is somebody else's")
        body = _body(self, "previous_response_not_found")
        body["error"]["param"] = "previous_response_id"
        self.response_body = body


class BadReferenceError(FoundryBadRequestError):
    """What was said before cannot be meant like that: HTTP 400."""

    def __init__(self, message: str) -> None:
        Exception.__init__(self, message)
        self.response_body = _body(self, "invalid_request_error")


class StoreFailedError(FoundryApiError):
    """Conversations cannot be read now: HTTP 500."""

    def __init__(self, message: str) -> None:
        Exception.__init__(self, message)
        self.response_body = _body(self, "storage_error", "server_error")


@contextmanager
def passed_on() -> Iterator[None]:
    """Failures of the store become such as the server tells its client, instead of "not found" or nothing."""
    try:
        yield
    except KnowledgeBaseError as exc:
        raise StoreFailedError(str(exc)) from exc


def _body(error: Exception, code: str, kind: str = "invalid_request_error") -> dict[str, dict[str, str]]:
    return {"error": {"message": str(error.args[0]), "type": kind, "code": code}}
