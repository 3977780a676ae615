"""The search index role: where chunks and their vectors live and are found.

Here: opening a backend by name. A new backend is a file beside catalog.py and a line in ``CATALOGS``.
"""

from collections.abc import Callable

from kb_pipeline.plugins import find_opener
from kb_pipeline.search.catalog import IndexCatalog
from kb_pipeline.settings import Settings


def open_catalog(settings: Settings) -> IndexCatalog:
    """The generations of the index of the settings; nothing is read or made yet.

    Raises:
        SettingsError: there is no such kind, or a setting that it needs is missing.
        MissingExtraError: its packages are not installed.
    """
    return find_opener("KB_INDEX", settings.index, CATALOGS, IndexCatalog)(settings)  # type: ignore[type-abstract]


def _lancedb(settings: Settings) -> IndexCatalog:
    from kb_pipeline.search.lancedb_catalog import LanceDBCatalog

    return LanceDBCatalog(settings.index_uri or f"{settings.home}/index")


def _azure_ai_search(settings: Settings) -> IndexCatalog:
    from kb_pipeline.search.azure_catalog import AzureSearchCatalog
    from kb_pipeline.search.azure_somebodys import SomebodysCatalog

    return SomebodysCatalog(settings) if settings.search_index else AzureSearchCatalog(settings)


CATALOGS: dict[str, Callable[[Settings], IndexCatalog]] = {
    "lancedb": _lancedb,
    "azure-ai-search": _azure_ai_search,
}
