"""Generations on Azure AI Search: an index for each (``<alias>-<id>``), and the alias that names the live one.

An index's description says how its generation was made, so that the service is the only list of them. What is live is
told by the alias's definition and not by asking through the alias, which takes some seconds to follow a switch.
"""

import random
import time
from collections.abc import Iterator

from kb_pipeline.errors import SearchError
from kb_pipeline.search.azure_alias import AliasPointer, Pointer
from kb_pipeline.search.azure_errors import SearchBusyError
from kb_pipeline.search.azure_index import AzureSearchIndex
from kb_pipeline.search.azure_schema import notes_of
from kb_pipeline.search.azure_service import SearchService
from kb_pipeline.search.azure_settings import checked_vectorizer
from kb_pipeline.search.azure_store import IndexStore
from kb_pipeline.search.catalog import Generation, IndexCatalog, LiveIndex, check_droppable, index_name, switched
from kb_pipeline.settings import Settings

_ATTEMPTS = 20


class AzureSearchCatalog(IndexCatalog):
    """The generations in the service of the settings, by the names that begin with KB_SEARCH_ALIAS."""

    look_again_seconds = 5.0
    """Asking takes two requests, of which the service takes a few a second."""

    def __init__(self, settings: Settings) -> None:
        """Check what is needed; nothing is sent yet.

        Raises:
            SettingsError: a setting is missing or cannot be right.
            MissingExtraError: the SDK is not installed.
        """
        if settings.search_vectorizer:
            checked_vectorizer(settings, settings.embedder)
        self._service = SearchService(settings)
        self._pointer = AliasPointer(self._service)

    def open(self, generation: Generation) -> AzureSearchIndex:
        """The index ``<alias>-<id>``."""
        return AzureSearchIndex(self._service, generation)

    def live(self) -> LiveIndex | None:
        """Read anew each time: the alias, and the description of its index."""
        return self._pointer.read().live

    def switch(self, generation: Generation, *, held: str | None = None, at: str) -> LiveIndex:
        """Described first, then one change of the alias."""
        for _ in self._attempts():
            pointer = self._pointer.read()
            store = IndexStore(self._service, generation)
            ready = self._ready(store, pointer)
            live = switched(pointer.live, ready, held, at)
            if live == pointer.live or self._is_switched(store, pointer, live):
                return live
        raise self._contested()

    def generations(self) -> list[Generation]:
        """What the indexes' own descriptions say."""
        with self._service.explained():
            found = [(index.name, notes_of(index)) for index in self._service.definitions.list_indexes()]
        made = [notes.generation for name, notes in found if notes and name == self._name(notes.generation.id)]
        return sorted(made, key=lambda generation: (generation.created_at, generation.id))

    def drop(self, generation_id: str) -> None:
        """The live index forgets it as a way back, then it is deleted; the service keeps what the alias names."""
        name = self._name(generation_id)
        for _ in self._attempts():
            pointer = self._pointer.read()
            check_droppable(pointer.live, generation_id)
            if not self._is_forgotten(pointer, generation_id):
                continue
            if self._service.delete_index(name):
                return
            check_droppable(self.live(), generation_id)  # it may have become so meanwhile
            raise SearchError(f"{self._service.place} keeps the index {name}, because an alias names it; remove that")
        raise self._contested()

    def _name(self, generation_id: str) -> str:
        return index_name(generation_id, self._pointer.name)

    def _ready(self, store: IndexStore, pointer: Pointer) -> Generation:
        """The generation as its index tells it.

        Raises:
            SearchError: readers would find nothing in it.
        """
        found = store.open() if pointer.live else store.open_or_create()
        notes = notes_of(found) if found else None
        is_live = pointer.live is not None and pointer.live.generation.id == store.generation.id
        if notes is None or (pointer.live and not is_live and not self.open(notes.generation).count()):
            raise SearchError(f"generation {store.generation.id} has no entries; fill it before readers use it")
        return notes.generation

    def _is_switched(self, store: IndexStore, pointer: Pointer, live: LiveIndex) -> bool:
        """Do it, unless others changed something since it was read."""
        definition = store.open()
        if definition is None or not self._pointer.note(definition, live):
            return False
        if pointer.live and pointer.live.generation.id == live.generation.id:
            return True
        try:
            return self._pointer.move(pointer, store.name)
        except SearchError:
            if store.read() is not None:
                raise
            return False  # it was dropped meanwhile

    def _is_forgotten(self, pointer: Pointer, generation_id: str) -> bool:
        if pointer.live is None or pointer.definition is None:
            return True
        without = pointer.live.without(generation_id)
        return without == pointer.live or self._pointer.note(pointer.definition, without)

    def _contested(self) -> SearchBusyError:
        return SearchBusyError(f"{self._service.place}: the alias {self._pointer.name} is being changed by others")

    @staticmethod
    def _attempts() -> Iterator[int]:
        """Numbers of tries, with random pauses between them in which others come to an end."""
        for attempt in range(_ATTEMPTS):
            yield attempt
            time.sleep(random.uniform(0, min(1.0, 0.02 * 2**attempt)))  # noqa: S311
