"""Every exception this package raises on purpose, as one tree.

A message says what happened, where, and what to do; SDK errors are wrapped at the boundary
with ``raise OurError(...) from exc``.
"""

_FULL = ("No space left on device", "Disk quota exceeded", "disk is full")
"""How the operating system and the libraries that use it say so; not all of them pass the number on."""


def remedy(problem: object, otherwise: str) -> str:
    """What to do about a store that could not be used: ``otherwise``, unless its disk is full."""
    if any(words in str(problem) for words in _FULL):
        return "its disk is full: make room on it, then run this again"
    return otherwise


class KnowledgeBaseError(Exception):
    """Root of the tree: catch this to catch everything we raise on purpose."""


class SettingsError(KnowledgeBaseError):
    """A setting is missing, malformed, or names something that does not exist."""


class MissingExtraError(SettingsError):
    """A backend was chosen whose optional packages are not installed."""

    def __init__(self, backend: str, extra: str) -> None:
        super().__init__(f"{backend} needs packages that are not installed; run: pip install 'kb-pipeline[{extra}]'")
        self._arguments = (backend, extra)

    def __reduce__(self) -> tuple[type["MissingExtraError"], tuple[str, str]]:
        """Travel between processes: an exception is otherwise made again from its message alone."""
        return type(self), self._arguments


class TransientError(KnowledgeBaseError):
    """It may work when tried again: a busy or unreachable service. ``retry_after``: seconds it asked to wait."""

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after

    def __reduce__(self) -> tuple[type["TransientError"], tuple[str, float | None]]:
        """Travel between processes."""
        return type(self), (str(self), self.retry_after)


class ServiceError(KnowledgeBaseError):
    """A service on the network did not do what it was asked, and would not if asked again."""


class ServiceRefusedError(ServiceError):
    """A service does not let us in, or does not have what the settings name: a person must change something there.

    What failed for it is tried again without being asked, because nothing here tells when that was done.
    """


class ArticleError(KnowledgeBaseError):
    """One article cannot be processed; the others of its batch are not affected."""


class WorkerLostError(ArticleError):
    """The process that worked on an article is gone."""

    def __init__(self, article_id: str) -> None:
        super().__init__(article_id)
        self.article_id = article_id

    def __str__(self) -> str:
        """Which article, and why a process dies."""
        return f"{self.article_id}: the process that built it died (out of memory, or a crash in a native library)"


class QualityError(ArticleError):
    """A new version of an article was made and is not good enough to be published."""


class UnknownVersionError(ArticleError):
    """An article has no such version."""


class InvalidArticleIdError(ArticleError):
    """A folder's name cannot serve as an article id."""


class UnreadableArticleError(ArticleError):
    """The staged folder holds no HTML that can be read."""


class EmptyArticleError(ArticleError):
    """The HTML holds no main content: no text and no image."""


class MissingLayerError(ArticleError):
    """A layer was asked for before the one it is made from exists."""


class DamagedLayerError(ArticleError):
    """A layer's file is not what was written; forgetting the layer and making it again mends it."""

    def __init__(self, layer: str, path: object) -> None:
        super().__init__(f"{path} is damaged; materialise {layer} again")
        self.layer = layer
        self.path = path

    def __reduce__(self) -> tuple[type["DamagedLayerError"], tuple[str, str]]:
        """Travel between processes."""
        return type(self), (self.layer, str(self.path))


class ImageError(KnowledgeBaseError):
    """An image cannot be decoded or is refused; counted as a warning of its article."""


class StorageError(KnowledgeBaseError):
    """A layer's folder cannot be read or written."""


class ModelError(KnowledgeBaseError):
    """A model cannot be loaded, or what it returned is unusable."""


class QuestionSetError(KnowledgeBaseError):
    """A file of questions that measure the knowledge base cannot be used."""


class SearchError(KnowledgeBaseError):
    """The search index cannot answer or cannot be written."""


class IndexMissingError(SearchError):
    """There is no index yet."""


class IndexMismatchError(SearchError):
    """The index was built with another embedding model or vector width."""
