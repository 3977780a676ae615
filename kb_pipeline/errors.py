"""The exceptions of this package, as one tree.

A message says what happened, where, and what to do. Errors of SDKs are wrapped where the SDK is called, with
``raise OurError(...) from exc``. Passwords and signatures of addresses are removed from every message. The tree, with
the module of each error that is not defined here::

    KnowledgeBaseError
        SettingsError
            MissingExtraError
            AlreadyServedError              cli.processes
        TransientError
            LostRaceError                   store.azure_account
            SearchBusyError                 search.azure.service; a SearchError as well
                ContestedError              search.azure.service
        ServiceError
            ServiceRefusedError
                SearchRefusedError          search.azure.service; a SearchError as well
            ContentFilteredError            analyzers.content_understanding.results
        ArticleError
            WorkerLostError, LimitExceededError, QualityError, UnknownVersionError, InvalidArticleIdError,
            UnreadableArticleError, EmptyArticleError, MissingLayerError, DamagedLayerError
                VanishedArticleError        an UnreadableArticleError
        ImageError, StorageError, ModelError, QuestionSetError
        ScenarioError, WebError, IntakeError
            DeniedError                     intake.service; an IntakeError
        QueryError
            QueryRefusedError, QueryFailedError
                TooLargeError                   network.local.answers; a QueryFailedError
        ContributionError
            ContributionNotFoundError, ContributionDecidedError
        GapNotFoundError
        SearchError
            IndexMissingError, IndexDamagedError, IndexMismatchError
                IndexNotThereError          an IndexMissingError
        ImageNotFoundError                  app.library.images
        DocumentNotFoundError               app.library.originals.files
        PageNotDrawnError                   app.library.originals.pictures
        ArticleNotFoundError                app.library.articles
        RunNotFoundError                    app.library.quality
        NotAReviewerError                   app.contributing.contributing
            OwnContributionError            app.contributing.contributing
        NotAnUploaderError                  app.contributing.contributing
        NotAnAdministratorError             app.answering.chosen_model
        NetworkNotFoundError                app.network.networks
        InvestigationNotFoundError          app.network.running
        AnswerError                         app.errors
            BadQuestionError, NotSignedInError, NotPermittedError, UpstreamRefusedError, UpstreamMissingError,
            UpstreamBusyError, UpstreamTimeoutError, UpstreamCutShortError, IndexUnavailableError,
            StoreUnavailableError, NetworkUnavailableError, NotAcceptedError
            TooManyRunsError                app.network.running
            NoAnswerError                   app.model.calls
            BadModelError                   app.answering.chosen_model
            UnknownConversationError        app.conversations.base
            UnknownAnswerError              app.application.asking_again
            UnknownShareError               app.conversations.base
            InvalidRequestError             app.conversations.base
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Literal

from kb_pipeline.secrets import without_credentials

_FULL = "its disk is full: make room on it, then run this again"
_FILE_IN_THE_WAY = "a file stands where a folder is needed: move it away, then run this again"
_REMEDIES = {
    "No space left on device": _FULL,
    "Disk quota exceeded": _FULL,
    "disk is full": _FULL,
    "Read-only file system": "its file system is read-only: make it writable, then run this again",
    "File exists": _FILE_IN_THE_WAY,
    "Not a directory": _FILE_IN_THE_WAY,
    "Is a directory": "a folder stands where a file is needed: move it away, then run this again",
}
"""What to do, by words of a message. They are compared because not all libraries pass on the error number."""


def remedy(problem: object, otherwise: str) -> str:
    """The advice for a store that cannot be used: ``otherwise``, unless the problem says what is wrong with it.

    A setting that ``otherwise`` names may be what is wrong, unless the disk is full.
    """
    advice = next((advice for words, advice in _REMEDIES.items() if words in str(problem)), "")
    if not advice:
        return otherwise
    return f"{advice}; or {otherwise}" if "KB_" in otherwise and advice != _FULL else advice


class KnowledgeBaseError(Exception):
    """Root of the tree. Catch this to catch every error that this package raises on purpose."""

    def __init__(self, message: str = "") -> None:
        super().__init__(without_credentials(message))

    def __reduce__(self) -> tuple[Callable[..., "KnowledgeBaseError"], tuple[Any, ...]]:
        # by default an exception is unpickled with its message as the only argument
        return _rebuilt, (type(self), self.args, vars(self))


def _rebuilt(kind: type[KnowledgeBaseError], args: tuple[Any, ...], fields: Mapping[str, Any]) -> KnowledgeBaseError:
    error = kind.__new__(kind, *args)
    vars(error).update(fields)
    return error


class SettingsError(KnowledgeBaseError):
    """A setting is missing, malformed, or names something that does not exist."""


class MissingExtraError(SettingsError):
    """A backend was chosen whose optional packages are not installed."""

    def __init__(self, backend: str, extra: str) -> None:
        super().__init__(f"{backend} needs packages that are not installed; run: pip install 'kb-pipeline[{extra}]'")


class TransientError(KnowledgeBaseError):
    """A service is busy or cannot be reached; a retry may work. ``retry_after``: the seconds that it asked to wait."""

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class ServiceError(KnowledgeBaseError):
    """A service did not accept a request, and a retry would not help."""


class ServiceRefusedError(ServiceError):
    """A service refused our credentials, or lacks something that the settings name. A person must change that.

    Work that failed with this error is retried in the next run, because the change cannot be noticed here.
    """


class ArticleError(KnowledgeBaseError):
    """One article cannot be processed; the others of its batch are not affected."""


class WorkerLostError(ArticleError):
    """The process that worked on an article died. ``activity`` is what it was doing, if that is known.

    ``note`` is the last note that it left (see :func:`kb_pipeline.limited.leave_note`).
    """

    def __init__(self, article_id: str, activity: str = "", note: str = "") -> None:
        super().__init__(article_id)
        self.article_id = article_id
        self.activity = activity
        self.note = note

    def __str__(self) -> str:
        when = f" while {self.activity}" if self.activity else ""
        why = "out of memory, a crash in a native library, or killed from outside"
        return f"{self.article_id}: the process that built it died{when} ({why})"


class LimitExceededError(ArticleError):
    """A call exceeded its limit of time or memory, and its process was killed. ``note`` is the last note it left."""

    def __init__(self, message: str, note: str = "") -> None:
        super().__init__(message)
        self.note = note


class QualityError(ArticleError):
    """A new version of an article failed a blocking check, and is not published."""


class UnknownVersionError(ArticleError):
    """An article has no such version."""


class InvalidArticleIdError(ArticleError):
    """A folder's name cannot serve as an article id."""


class UnreadableArticleError(ArticleError):
    """The staged folder has no HTML, or a file in it cannot be read."""


class VanishedArticleError(UnreadableArticleError):
    """An article was staged a moment ago, and its folder is not there now; it may come back as it was."""


class EmptyArticleError(ArticleError):
    """The HTML has no main content: no text and no image."""


class MissingLayerError(ArticleError):
    """A layer cannot be made, because a layer that it is made from is missing."""


class DamagedLayerError(ArticleError):
    """A file of a layer is not as it was written. Making the layer again repairs it."""

    def __init__(self, layer: str, path: object) -> None:
        super().__init__(f"{path} is damaged; materialize {layer} again")
        self.layer = layer


class ImageError(KnowledgeBaseError):
    """An image cannot be decoded or is refused; its article fails a check."""


class StorageError(KnowledgeBaseError):
    """A file or folder cannot be read or written."""


class ModelError(KnowledgeBaseError):
    """A model cannot be loaded, or returned something unusable."""


class QuestionSetError(KnowledgeBaseError):
    """A file of evaluation questions cannot be used."""


class ScenarioError(KnowledgeBaseError):
    """A scenario of a network cannot be used: its folder, its manifest, or a file of it is not as it must be."""


class IntakeError(KnowledgeBaseError):
    """A source of articles cannot be used: its declaration, the place it names, or one item of it."""


WebReason = Literal["refused", "unreachable", "timeout", "status", "too large", "not a page", "malformed", "unexpected"]
"""Why a search of the web or a page failed, for logs and counters."""


class WebError(KnowledgeBaseError):
    """A search of the web, or a page of it, failed. ``reason`` is counted."""

    def __init__(self, message: str, reason: WebReason) -> None:
        super().__init__(message)
        self.reason = reason


class QueryError(KnowledgeBaseError):
    """A query of a network has no answer. The message says how to ask instead, so that whoever asked can repair it."""


class QueryRefusedError(QueryError):
    """A query asks for what no query may have."""


class QueryFailedError(QueryError):
    """The store could not answer a query that may be asked."""


class ContributionError(KnowledgeBaseError):
    """A contribution cannot be handed in, accepted or rejected as it is; nothing was written."""


class ContributionNotFoundError(ContributionError):
    """There is no such contribution."""


class ContributionDecidedError(ContributionError):
    """A contribution was accepted or rejected before."""


class GapNotFoundError(KnowledgeBaseError):
    """There is no such knowledge gap, or not any more."""


class SearchError(KnowledgeBaseError):
    """The search index cannot answer or cannot be written."""


class IndexMissingError(SearchError):
    """There is no index yet."""


class IndexNotThereError(IndexMissingError):
    """There is no index where a setting says that there is one: the setting is wrong, or another program fills it.

    Ingesting may be of no use, so the message advises to check the setting first.
    """


class IndexDamagedError(SearchError):
    """The files of the index are damaged. It can be made again from the layers, which keep the vectors."""


class IndexMismatchError(SearchError):
    """The index was built with another embedding model or vector width."""


@contextmanager
def storage_errors(action: str, place: object, advice: str) -> Iterator[None]:
    """Turn errors of the file system into a :class:`StorageError`: what cannot be done with what, and what to do.

    Raises:
        StorageError: an ``OSError`` was raised inside the block.
    """
    try:
        yield
    except OSError as exc:
        raise StorageError(f"cannot {action} {place}: {exc.strerror or exc}; {remedy(exc, advice)}") from exc
