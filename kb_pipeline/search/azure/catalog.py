"""The generations on Azure AI Search: one index each (``<alias>-<id>``), and an alias that points to the live one.

The description of an index records how its generation was made, so no other list of generations is needed. The live
generation is read from the definition of the alias: requests through the alias follow a switch only some seconds later.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kb_pipeline.errors import IndexMismatchError, SearchError
from kb_pipeline.search.azure.index import AzureSearchIndex
from kb_pipeline.search.azure.schema import IndexStore, Notes, notes_of
from kb_pipeline.search.azure.service import ContestedError, SearchService, checked_vectorizer, until_uncontested
from kb_pipeline.search.catalog import (
    Generation,
    IndexCatalog,
    LiveIndex,
    check_droppable,
    index_name,
    live_after_switch,
)
from kb_pipeline.settings import Settings

if TYPE_CHECKING:
    from azure.search.documents.indexes.models import SearchAlias, SearchIndex


@dataclass(frozen=True)
class AliasState:
    """The alias and its index, as they were read together; ``None`` for what does not exist."""

    alias: "SearchAlias | None" = None
    definition: "SearchIndex | None" = None
    live: LiveIndex | None = None


class AliasPointer:
    """The alias that readers search; it may only point to our own indexes."""

    def __init__(self, service: SearchService) -> None:
        self._service = service
        self.name = service.settings.search_alias

    def read(self) -> AliasState:
        """Read the alias and its index; an alias whose index is gone has no definition.

        Raises:
            IndexMismatchError: it points to an index of another program.
        """
        alias = self._service.read_alias(self.name)
        definition = self._service.read_index(alias.indexes[0]) if alias and alias.indexes else None
        if definition is None:
            return AliasState(alias)
        notes = notes_of(definition)
        if notes is None or index_name(notes.generation.id, self.name) != definition.name:
            raise IndexMismatchError(
                f"the alias {self.name} in {self._service.place} names the index {definition.name}, which another "
                "program made; choose another KB_SEARCH_ALIAS"
            )
        live = LiveIndex(**{**notes.model_dump(), "switched_at": notes.switched_at or ""})
        return AliasState(alias, definition, live)

    def move(self, state: AliasState, index: str) -> bool:
        """Point the alias to the index; return False if the alias was changed since it was read."""
        from azure.search.documents.indexes.models import SearchAlias

        alias = SearchAlias(name=self.name, indexes=[index], e_tag=state.alias.e_tag if state.alias else None)
        return self._service.put_alias(alias)

    def remove(self) -> None:
        """Delete the alias, unless it points to an index of another program.

        Raises:
            IndexMismatchError: it does.
        """
        if self.is_ours():
            self._service.delete_alias(self.name)

    def is_ours(self) -> bool:
        """Whether there is an alias that points to an index of ours, even if that is gone.

        Raises:
            IndexMismatchError: it points to an index of another program.
        """
        state = self.read()
        named = state.alias.indexes if state.alias else []
        return bool(state.definition or (named and all(name.startswith(f"{self.name}-") for name in named)))

    def note(self, definition: "SearchIndex", live: LiveIndex) -> bool:
        """Write ``live`` into the description; return False if the definition was changed since it was read."""
        definition.description = Notes.model_validate(live.model_dump()).model_dump_json()
        return self._service.put_index(definition)


class AzureSearchCatalog(IndexCatalog):
    """The generations in the service of the settings; their index names begin with KB_SEARCH_ALIAS."""

    keeps_addresses = True
    look_again_seconds = 5.0
    """Reading takes two requests, and the service accepts only a few per second."""

    def __init__(self, settings: Settings) -> None:
        if settings.search_vectorizer:
            checked_vectorizer(settings, settings.embedder)
        self._service = SearchService(settings)
        self._pointer = AliasPointer(self._service)

    def open(self, generation: Generation) -> AzureSearchIndex:
        return AzureSearchIndex(self._service, generation)

    def live(self) -> LiveIndex | None:
        return self._pointer.read().live

    def switch(self, generation: Generation, *, held: str | None = None, at: str) -> LiveIndex:
        """Write the description of the index first, then change the alias once."""

        def attempt() -> LiveIndex:
            state = self._pointer.read()
            store = IndexStore(self._service, generation)
            ready = self._ready(store, state)
            live = live_after_switch(state.live, ready, held, at)
            if live == state.live or self._try_switch(store, state, live):
                return live
            raise self._contested()

        return until_uncontested(attempt)

    def generations(self) -> list[Generation]:
        with self._service.translated_errors():
            indexes = [(index.name, notes_of(index)) for index in self._service.definitions.list_indexes()]
        ours = [notes.generation for name, notes in indexes if notes and name == self._name(notes.generation.id)]
        return sorted(ours, key=lambda generation: (generation.created_at, generation.id))

    def drop(self, generation_id: str) -> None:
        """Remove the generation as the previous one of the live index, then delete its index."""

        def forget() -> None:
            state = self._pointer.read()
            check_droppable(state.live, generation_id)
            if not self._try_forget(state, generation_id):
                raise self._contested()

        until_uncontested(forget)
        name = self._name(generation_id)
        if not self._service.delete_index(name):
            check_droppable(self.live(), generation_id)  # it may have gone live meanwhile
            raise SearchError(f"{self._service.place} keeps the index {name}, because an alias names it; remove that")

    def contents(self) -> list[str]:
        alias = [self._pointer.name] if self._pointer.is_ours() else []
        return alias + [self._name(generation.id) for generation in self.generations()]

    def clear(self) -> None:
        self._pointer.remove()  # first, because the service keeps an index that an alias names
        for generation in self.generations():
            name = self._name(generation.id)
            if not self._service.delete_index(name):
                raise SearchError(f"{self._service.place} keeps the index {name}, because an alias names it")

    def _name(self, generation_id: str) -> str:
        return index_name(generation_id, self._pointer.name)

    def _ready(self, store: IndexStore, state: AliasState) -> Generation:
        """Return the generation as the description of its index records it.

        Raises:
            SearchError: readers would find nothing in it.
        """
        definition = store.open() if state.live else store.open_or_create()
        notes = notes_of(definition) if definition else None
        is_live = state.live is not None and state.live.generation.id == store.generation.id
        if notes is None or (state.live and not is_live and not self.open(notes.generation).count()):
            raise SearchError(f"generation {store.generation.id} has no entries; fill it before readers use it")
        return notes.generation

    def _try_switch(self, store: IndexStore, state: AliasState, live: LiveIndex) -> bool:
        """Switch, unless the alias or the index was changed since it was read."""
        definition = store.open()
        if definition is None or not self._pointer.note(definition, live):
            return False
        if state.live and state.live.generation.id == live.generation.id:
            return True
        try:
            return self._pointer.move(state, store.name)
        except SearchError:
            if store.read() is not None:
                raise
            return False  # the index was dropped meanwhile

    def _try_forget(self, state: AliasState, generation_id: str) -> bool:
        if state.live is None or state.definition is None:
            return True
        without = state.live.without(generation_id)
        return without == state.live or self._pointer.note(state.definition, without)

    def _contested(self) -> ContestedError:
        return ContestedError(f"{self._service.place}: the alias {self._pointer.name} is being changed by others")
