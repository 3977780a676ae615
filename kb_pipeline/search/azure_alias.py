"""Which generation is live: the index that the alias names, whose description says what was before it.

Alias and descriptions are changed only as they were read (ETag, If-Match). A switch first writes into the description
of the index that is to become live, then moves the alias; what it wrote counts from that moment on.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kb_pipeline.errors import IndexMismatchError
from kb_pipeline.search.azure_schema import Notes, notes_of
from kb_pipeline.search.azure_service import SearchService
from kb_pipeline.search.catalog import LiveIndex, index_name

if TYPE_CHECKING:
    from azure.search.documents.indexes.models import SearchAlias, SearchIndex


@dataclass(frozen=True)
class Pointer:
    """The alias and the index that it names, as they were read together; ``None`` where there is none."""

    alias: "SearchAlias | None" = None
    definition: "SearchIndex | None" = None
    live: LiveIndex | None = None


class AliasPointer:
    """The alias that readers search, and nothing but our own indexes behind it."""

    def __init__(self, service: SearchService) -> None:
        """Say where it is; nothing is sent yet."""
        self._service = service
        self.name = service.settings.search_alias

    def read(self) -> Pointer:
        """As it is now; an alias whose index is gone names nothing.

        Raises:
            IndexMismatchError: it names another program's index.
        """
        alias = self._service.read_alias(self.name)
        definition = self._service.read_index(alias.indexes[0]) if alias and alias.indexes else None
        return Pointer(alias, definition, self._live(definition) if definition else None)

    def move(self, pointer: Pointer, index: str) -> bool:
        """Have it name that index, unless somebody changed it since it was read."""
        from azure.search.documents.indexes.models import SearchAlias

        alias = SearchAlias(name=self.name, indexes=[index], e_tag=pointer.alias.e_tag if pointer.alias else None)
        return self._service.put_alias(alias)

    def note(self, definition: "SearchIndex", live: LiveIndex) -> bool:
        """Write into the description what holds once it is live, unless somebody changed it since it was read."""
        definition.description = Notes.model_validate(live.model_dump()).model_dump_json()
        return self._service.put_index(definition)

    def _live(self, definition: "SearchIndex") -> LiveIndex:
        notes = notes_of(definition)
        if notes is None or index_name(notes.generation.id, self.name) != definition.name:
            raise IndexMismatchError(
                f"the alias {self.name} in {self._service.place} names the index {definition.name}, which another "
                "program made; choose another KB_SEARCH_ALIAS"
            )
        return LiveIndex(**{**notes.model_dump(), "switched_at": notes.switched_at or ""})
