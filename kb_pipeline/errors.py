"""Every exception this package raises on purpose, as one tree.

A message says what happened, where, and what to do; SDK errors are wrapped at the boundary
with ``raise OurError(...) from exc``.
"""


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


class ArticleError(KnowledgeBaseError):
    """One article cannot be processed; the others of its batch are not affected."""


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


class SearchError(KnowledgeBaseError):
    """The search index cannot answer or cannot be written."""


class IndexMissingError(SearchError):
    """There is no index yet."""


class IndexMismatchError(SearchError):
    """The index was built with another embedding model or vector width."""
