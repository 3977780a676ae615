"""The search index role: where chunks and their vectors live and are found.

Here: opening a backend by name. A new backend is a file beside catalog.py and a line in ``CATALOGS``.
"""

from collections.abc import Callable

from kb_pipeline.plugins import find_opener
from kb_pipeline.search.catalog import IndexCatalog


def open_catalog(kind: str, uri: str) -> IndexCatalog:
    """The generations of the index of that kind at ``uri``; nothing is read or made yet.

    Raises:
        SettingsError: there is no such kind.
    """
    return find_opener("KB_INDEX", kind, CATALOGS, IndexCatalog)(uri)  # type: ignore[type-abstract]


def _lancedb(uri: str) -> IndexCatalog:
    from kb_pipeline.search.lancedb_catalog import LanceDBCatalog

    return LanceDBCatalog(uri)


CATALOGS: dict[str, Callable[[str], IndexCatalog]] = {"lancedb": _lancedb}
