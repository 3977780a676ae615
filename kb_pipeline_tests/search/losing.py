"""Loses the index of a generation, as when somebody deletes it by hand."""

from kb_pipeline.search.azure.index import AzureSearchIndex
from kb_pipeline.search.base import SearchIndex
from kb_pipeline.search.lance.index import LanceDBIndex


def lose(index: SearchIndex) -> None:
    """Delete the index, whichever model it was built with; one that an alias names is emptied."""
    match index:
        case LanceDBIndex():
            index._database.drop(index._store.name)
        case AzureSearchIndex():
            if not index._service.delete_index(index._store.name):
                index.remove(index.entries())
            index._store.forget()
        case _:
            raise TypeError(index)
