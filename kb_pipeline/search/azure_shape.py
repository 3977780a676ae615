"""What somebody else's index looks like: which of our fields it has, under which names, and what can be done with them.

Its definition is read where that is allowed (an admin key, or the role Search Service Contributor); otherwise the
mapping of KB_SEARCH_FIELDS is all that is known, and whether it can be filtered by who may see what is tried.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kb_pipeline.errors import IndexMissingError, SettingsError
from kb_pipeline.search.azure_errors import SearchRefusedError
from kb_pipeline.search.azure_fields import (
    ACCESS,
    CHUNK_FIELDS,
    KEY,
    OVERLONG,
    REVISION,
    SEARCHED,
    VECTOR,
    Fields,
)
from kb_pipeline.search.azure_filters import odata
from kb_pipeline.search.azure_queries import Searching
from kb_pipeline.search.azure_schema import notes_of
from kb_pipeline.search.azure_service import SearchService
from kb_pipeline.search.base import SearchFilter

if TYPE_CHECKING:
    from azure.search.documents.indexes.models import SearchField, SearchIndex

_KNOWN = (*CHUNK_FIELDS, "embedding_model", SEARCHED, VECTOR)
_OF_OURS = (REVISION, OVERLONG)
"""What another program means by fields of these names is something else."""
_NO_ACCESS = "the field {} of {} is to say who may see what, but it is no filterable collection of strings"


@dataclass(frozen=True)
class Shape:
    """How an index is searched; ``dimensions`` of its vectors, 0 where nobody tells; whether it embeds questions."""

    searching: Searching
    dimensions: int
    embeds: bool


def read_shape(service: SearchService, index: str) -> Shape:
    """The shape of that index.

    Raises:
        IndexMissingError: there is none of that name.
        SettingsError: the mapping names fields that it does not have, or that cannot be what they are to be.
    """
    settings = service.settings
    mapping = dict(settings.search_fields)
    if unknown := sorted(mapping.keys() - set(_KNOWN)):
        raise SettingsError(f"KB_SEARCH_FIELDS maps {unknown[0]!r}; our fields are: {', '.join(_KNOWN)}")
    try:
        definition = service.read_index(index)
    except SearchRefusedError:
        return _told(service, index, mapping)
    if definition is None:
        raise IndexMissingError(f"there is no search index {index} in {service.place}; check KB_SEARCH_INDEX")
    return _seen(definition, mapping, settings.search_semantic, settings.search_vectorizer)


def _told(service: SearchService, index: str, mapping: Mapping[str, str]) -> Shape:
    _require(mapping, "its definition cannot be read with these credentials")
    access = mapping.get(ACCESS, ACCESS)
    enforced = service.takes_filter(index, odata(SearchFilter(principals=()), Fields({ACCESS: access})) or "")
    if ACCESS in mapping and not enforced:
        raise SettingsError(_NO_ACCESS.format(access, index))
    fields = Fields({ours: name for ours, name in mapping.items() if ours != ACCESS})  # not all may be read
    filterable = Fields({**mapping, ACCESS: access}) if enforced else fields
    semantic = "" if service.settings.search_semantic else None
    return Shape(Searching(fields, filterable, semantic), 0, service.settings.search_vectorizer)


def _seen(definition: "SearchIndex", mapping: Mapping[str, str], semantic: bool, embeds: bool) -> Shape:
    there = {field.name: field for field in definition.fields}
    if gone := [f"{ours} as {name}" for ours, name in mapping.items() if name not in there]:
        raise SettingsError(f"KB_SEARCH_FIELDS maps {gone[0]}, and the index {definition.name} has no such field")
    known = (*_KNOWN, *_OF_OURS) if notes_of(definition) else _KNOWN
    named = {ours: mapping.get(ours, ours) for ours in known if mapping.get(ours, ours) in there}
    asked_for = (SEARCHED, VECTOR)
    names = {ours: name for ours, name in named.items() if ours in asked_for or there[name].retrievable is not False}
    names[KEY] = next((field.name for field in definition.fields if field.key), "")
    _require(names, "it has no field of that name")
    if ACCESS in named and not (there[named[ACCESS]].filterable and str(there[named[ACCESS]].type).startswith("Coll")):
        raise SettingsError(_NO_ACCESS.format(named[ACCESS], definition.name))
    filterable = {ours: name for ours, name in named.items() if there[name].filterable}
    vector = there.get(names.get(VECTOR, ""))
    searching = Searching(Fields(names), Fields(filterable), _semantic(definition) if semantic else None)
    return Shape(searching, (vector and vector.vector_search_dimensions) or 0, embeds and _embeds(definition, vector))


def _require(names: Mapping[str, str], why: str) -> None:
    for field in (KEY, "content"):
        if field not in names:
            raise SettingsError(f"KB_SEARCH_FIELDS must say which field of KB_SEARCH_INDEX is {field}: {why}")


def _semantic(definition: "SearchIndex") -> str:
    found = definition.semantic_search
    if found is None or not found.configurations:
        raise SettingsError(f"KB_SEARCH_SEMANTIC is set, and the index {definition.name} has no semantic configuration")
    return found.default_configuration_name or found.configurations[0].name


def _embeds(definition: "SearchIndex", vector: "SearchField | None") -> bool:
    profiles = (definition.vector_search and definition.vector_search.profiles) or []
    return any(
        vector is not None and profile.name == vector.vector_search_profile_name and bool(profile.vectorizer_name)
        for profile in profiles
    )
