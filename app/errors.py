"""Why a question could not be answered, as HTTP says it: one place where causes become statuses and advice."""

from kb_pipeline.errors import (
    IndexMissingError,
    KnowledgeBaseError,
    ServiceError,
    ServiceRefusedError,
    SettingsError,
    StorageError,
    TransientError,
)


class AnswerError(KnowledgeBaseError):
    """A question could not be answered. ``status`` is the HTTP status, ``code`` a stable word for programs."""

    status = 502
    code = "upstream_error"

    def __init__(self, message: str, *, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class BadQuestionError(AnswerError):
    """The question cannot be asked like that."""

    status = 422
    code = "invalid_question"


class UpstreamRefusedError(AnswerError):
    """A service refused our credentials: 401 or 403."""

    code = "upstream_refused"


class UpstreamMissingError(AnswerError):
    """A service does not know the model or index that was asked for: 404."""

    code = "upstream_missing"


class UpstreamBusyError(AnswerError):
    """A service has too much to do: 429 or 503. ``retry_after`` is in seconds."""

    status = 503
    code = "upstream_busy"


class UpstreamTimeoutError(AnswerError):
    """A service was silent for too long."""

    status = 504
    code = "upstream_timeout"


class UpstreamCutShortError(AnswerError):
    """A service ended its answer in the middle."""

    code = "upstream_cut_short"


class IndexUnavailableError(AnswerError):
    """The search index is not there, or cannot be read."""

    status = 503
    code = "index_unavailable"


class StoreUnavailableError(AnswerError):
    """Conversations cannot be kept or read."""

    status = 503
    code = "store_unavailable"


def as_answer_error(problem: KnowledgeBaseError) -> AnswerError:
    """What a reader is told about a failure below us."""
    if isinstance(problem, AnswerError):
        return problem
    if isinstance(problem, IndexMissingError):
        return IndexUnavailableError("nothing can be found yet: there is no search index; build it with: kb ingest")
    if isinstance(problem, TransientError):
        return UpstreamBusyError(str(problem), retry_after=problem.retry_after)
    if isinstance(problem, ServiceRefusedError):
        return UpstreamRefusedError(str(problem))
    if isinstance(problem, SettingsError | ServiceError):
        return AnswerError(str(problem))
    if isinstance(problem, StorageError):
        return StoreUnavailableError(str(problem))
    return IndexUnavailableError(str(problem))
