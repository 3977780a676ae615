"""The search index: stores chunks with their vectors and finds them.

Here: opening a backend by name. To add a backend, write its package and add a line to ``CATALOGS``.
"""

from collections.abc import Callable

from kb_pipeline.errors import SettingsError
from kb_pipeline.plugins import find_opener
from kb_pipeline.search.catalog import IndexCatalog
from kb_pipeline.settings import Settings


def open_catalog(settings: Settings) -> IndexCatalog:
    """Open the catalog of index generations that the settings name; nothing is read or created yet.

    Raises:
        SettingsError: no backend has this name, or a setting that it needs is missing.
        MissingExtraError: the packages of the backend are not installed.
    """
    return find_opener("KB_INDEX", settings.index, CATALOGS, IndexCatalog)(settings)  # type: ignore[type-abstract]


def _lancedb(settings: Settings) -> IndexCatalog:
    from kb_pipeline.search.lance.catalog import LanceDBCatalog

    return LanceDBCatalog(settings.index_uri or f"{settings.home}/index")


def _azure_ai_search(settings: Settings) -> IndexCatalog:
    from kb_pipeline.search.azure.catalog import AzureSearchCatalog
    from kb_pipeline.search.azure.foreign import ForeignCatalog

    if settings.search_documents_index and not settings.search_index:
        raise SettingsError(
            f"KB_SEARCH_DOCUMENTS_INDEX is {settings.search_documents_index}, the documents beside an index of blocks; "
            "name that in KB_SEARCH_INDEX"
        )
    return ForeignCatalog(settings) if settings.search_index else AzureSearchCatalog(settings)


CATALOGS: dict[str, Callable[[Settings], IndexCatalog]] = {
    "lancedb": _lancedb,
    "azure-ai-search": _azure_ai_search,
}
