"""The index of one generation on Azure AI Search: finding, checking, making, updating and dropping its definition.

Not here: what lies in it (azure_index.py), which one is live (azure_alias.py).
"""

from typing import TYPE_CHECKING

from kb_pipeline.errors import IndexMismatchError
from kb_pipeline.search.azure_errors import SearchBusyError
from kb_pipeline.search.azure_schema import index_definition, notes_of
from kb_pipeline.search.azure_service import SearchService
from kb_pipeline.search.catalog import Generation, index_name

if TYPE_CHECKING:
    from azure.search.documents.indexes.models import SearchField, SearchIndex, VectorSearch

_ATTEMPTS = 10


class IndexStore:
    """Where a generation's documents are.

    That the index is of this generation is looked at once: what bears its id was made from the same settings.
    """

    def __init__(self, service: SearchService, generation: Generation) -> None:
        """Name the index and what it must hold; nothing is read or made yet."""
        self.service = service
        self.generation = generation
        self.name = index_name(generation.id, service.settings.search_alias)
        self._found: SearchIndex | None = None

    def open(self) -> "SearchIndex | None":
        """The definition as it was when it was first looked at, ``None`` if there is none yet.

        Raises:
            IndexMismatchError: it was made in another way or by another program.
        """
        if self._found is None:
            self._found = self._checked(self.read())
        return self._found

    def open_or_create(self) -> "SearchIndex":
        """The definition, made if it is missing and updated if the settings want more of it.

        Raises:
            SearchError: others change it all the time.
        """
        for _ in range(_ATTEMPTS):
            wanted = index_definition(self.name, self.generation, self.service.settings)
            found = self.open()
            if found is not None and not _lacks(found, wanted):
                return found
            # others may do the same at the same time: the first wins, all look again
            done = self.service.put_index(wanted if found is None else _updated(found, wanted))
            self._found = self._checked(self.read())
            if done and self._found is not None:
                return self._found
        raise SearchBusyError(f"the search index {self.name} in {self.service.place} is being changed by others")

    def read(self) -> "SearchIndex | None":
        """The definition as it is now, whoever made it."""
        return self.service.read_index(self.name)

    def forget(self) -> None:
        """Look again next time: the index is gone."""
        self._found = None

    def _checked(self, found: "SearchIndex | None") -> "SearchIndex | None":
        if found is None:
            return None
        notes = notes_of(found)
        if notes is None or not notes.generation.made_like(self.generation):
            raise IndexMismatchError(
                f"the search index {self.name} in {self.service.place} holds "
                f"{notes.generation if notes else 'the data of another program'}, but what is asked for is "
                f"{self.generation}; choose another KB_SEARCH_ALIAS, or remove that index"
            )
        return found


def _lacks(found: "SearchIndex", wanted: "SearchIndex") -> bool:
    """Whether the settings want fields or a vectorizer that were not there when it was made."""
    return bool(_new_fields(found, wanted)) or _vectorizers(found) != _vectorizers(wanted)


def _updated(found: "SearchIndex", wanted: "SearchIndex") -> "SearchIndex":
    """The definition with what can be changed without building it anew: compression, for one, cannot."""
    found.fields = [*found.fields, *_new_fields(found, wanted)]
    there, asked = _vectors_of(found), _vectors_of(wanted)
    there.vectorizers = asked.vectorizers
    for profile, like in zip(there.profiles or [], asked.profiles or [], strict=True):
        profile.vectorizer_name = like.vectorizer_name
    return found


def _new_fields(found: "SearchIndex", wanted: "SearchIndex") -> "list[SearchField]":
    known = {field.name for field in found.fields}
    return [field for field in wanted.fields if field.name not in known]


def _vectorizers(index: "SearchIndex") -> list[tuple[object, ...]]:
    """What they ask: the service adds to a definition what it takes for granted."""
    asked = [getattr(vectorizer, "parameters", None) for vectorizer in _vectors_of(index).vectorizers or []]
    return [((each.resource_url or "").rstrip("/"), each.deployment_name, each.model_name) for each in asked if each]


def _vectors_of(index: "SearchIndex") -> "VectorSearch":
    assert index.vector_search is not None  # every index of ours has vectors
    return index.vector_search
