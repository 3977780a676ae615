"""Errors of the agent service: the one place that maps causes to HTTP statuses, codes and messages for readers.

Messages for readers contain no path and no address of the server. The log has the full messages.
"""

import re

from kb_pipeline.errors import (
    DamagedLayerError,
    IndexDamagedError,
    IndexMissingError,
    IndexNotThereError,
    KnowledgeBaseError,
    ScenarioError,
    ServiceError,
    ServiceRefusedError,
    SettingsError,
    StorageError,
    TransientError,
)

_REPAIR = "kb reconcile"


class AnswerError(KnowledgeBaseError):
    """A question could not be answered. ``status`` is the HTTP status, ``code`` a stable code for programs."""

    status = 502
    code = "upstream_error"

    def __init__(self, message: str, *, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class BadQuestionError(AnswerError):
    """The question is not valid."""

    status = 422
    code = "invalid_question"


class NotSignedInError(AnswerError):
    """Nobody is signed in."""

    status = 401
    code = "not_signed_in"


class NotPermittedError(AnswerError):
    """Whoever is signed in may not ask."""

    status = 403
    code = "not_permitted"


class UpstreamRefusedError(AnswerError):
    """A service refused our credentials: 401 or 403."""

    code = "upstream_refused"


class UpstreamMissingError(AnswerError):
    """A service does not have the requested model or index: 404."""

    code = "upstream_missing"


class UpstreamBusyError(AnswerError):
    """A service is overloaded: 429 or 503. ``retry_after`` is in seconds."""

    status = 503
    code = "upstream_busy"


class UpstreamTimeoutError(AnswerError):
    """A service did not answer in time."""

    status = 504
    code = "upstream_timeout"


class UpstreamCutShortError(AnswerError):
    """A service ended its answer before it was complete."""

    code = "upstream_cut_short"


class NotAcceptedError(AnswerError):
    """A model's service did not accept the question, or its content filter the answer: asking otherwise may help."""


class IndexUnavailableError(AnswerError):
    """The search index does not exist, or cannot be read."""

    status = 503
    code = "index_unavailable"


class StoreUnavailableError(AnswerError):
    """Conversations cannot be stored or read."""

    status = 503
    code = "store_unavailable"


class NetworkUnavailableError(AnswerError):
    """The scenario of the network cannot be read, or is not loaded."""

    status = 503
    code = "network_unavailable"


_PLACE = re.compile(
    r"""
    (?<!\w) (?P<quote>['"]) [^'"\n]* [/\\] [^'"\n]* (?P=quote) (?!\w)  # a path in quotes may hold spaces
    | (?<!\S) (?!I/O\b) \S* [/\\] \S*? (?= [:;,.)\]]* (?:\s|$) )  # punctuation after it stays
    """,
    re.VERBOSE,
)


def as_answer_error(problem: KnowledgeBaseError) -> AnswerError:
    """The error for readers that a lower error becomes."""
    if isinstance(problem, AnswerError):
        return problem
    if isinstance(problem, IndexNotThereError):
        return IndexUnavailableError(without_places(str(problem)))
    if isinstance(problem, IndexMissingError):
        return IndexUnavailableError("there is no search index yet; build it with: kb ingest")
    if isinstance(problem, IndexDamagedError):
        return IndexUnavailableError(f"the search index is damaged; an administrator can repair it with: {_REPAIR}")
    if isinstance(problem, DamagedLayerError):
        return IndexUnavailableError(
            f"an article's files are damaged; an administrator can repair them with: {_REPAIR}"
        )
    message = without_places(str(problem))
    if isinstance(problem, ScenarioError):
        return NetworkUnavailableError(message)
    if isinstance(problem, TransientError):
        return UpstreamBusyError(message, retry_after=problem.retry_after)
    if isinstance(problem, ServiceRefusedError):
        return UpstreamRefusedError(message)
    if isinstance(problem, SettingsError | ServiceError):
        return AnswerError(message)
    if isinstance(problem, StorageError):
        return StoreUnavailableError(message)
    return IndexUnavailableError(message)


def without_places(text: str) -> str:
    """The text without paths and addresses: every word with a slash is removed, with a hint to the log."""
    stripped, places = _PLACE.subn("…", text)
    return f"{stripped}; the service's log says where" if places else stripped
