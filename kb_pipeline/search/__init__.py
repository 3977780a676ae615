"""The search index role: where chunks and their vectors live and are found.

Here: opening a backend by name. A new backend is a file beside base.py and a line in ``OPENERS``.
"""

from collections.abc import Callable

from kb_pipeline.plugins import find_opener
from kb_pipeline.search.base import SearchIndex


def open_index(kind: str, uri: str, *, embedding_model: str, dimensions: int) -> SearchIndex:
    """The index of that kind at ``uri``, for vectors of that model and width; nothing is read or made yet.

    Raises:
        SettingsError: there is no such kind.
    """
    opener = find_opener("KB_INDEX", kind, OPENERS, SearchIndex)  # type: ignore[type-abstract]
    return opener(uri, embedding_model, dimensions)


def _lancedb(uri: str, embedding_model: str, dimensions: int) -> SearchIndex:
    from kb_pipeline.search.lancedb import LanceDBIndex

    return LanceDBIndex(uri, embedding_model, dimensions)


OPENERS: dict[str, Callable[[str, str, int], SearchIndex]] = {"lancedb": _lancedb}
