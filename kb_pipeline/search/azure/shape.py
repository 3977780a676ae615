"""How an index of another program can be searched: what the settings say of its fields, compared with what it has.

Its definition says that. Credentials that may not read definitions may still search; then the index itself is asked.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kb_pipeline.errors import SettingsError
from kb_pipeline.search.azure.documents import (
    ACCESS,
    BESIDE,
    BLOCK,
    DEFERRED,
    KEY,
    OVERLONG,
    REST,
    REVISION,
    SEARCHED,
    VECTOR,
    Fields,
    odata,
)
from kb_pipeline.search.azure.foreign_rows import BRIEF, CAPTION, STANDARD
from kb_pipeline.search.azure.mapping import FieldMapping
from kb_pipeline.search.azure.query import SearchOptions
from kb_pipeline.search.azure.schema import notes_of
from kb_pipeline.search.azure.service import SearchRefusedError, SearchService
from kb_pipeline.search.base import FACTS, SearchFilter

if TYPE_CHECKING:
    from azure.search.documents.indexes.models import SearchField
    from azure.search.documents.indexes.models import SearchIndex as IndexDefinition


_OF_OURS = (REVISION, OVERLONG, REST, BESIDE, DEFERRED, "upload_date")
"""In a block of another program, fields with these names mean something else."""
_HIDDEN = (SEARCHED, BESIDE, VECTOR)
"""Fields that are searched and never read back."""
_NO_ACCESS = "the field {} of {} must say who may read a document, but it is not a filterable collection of strings"
_TEXTS = (BLOCK, CAPTION, "content", *FACTS, BRIEF, STANDARD)
_NUMBERS = ("page_start", "page_end")


@dataclass(frozen=True)
class Shape:
    """How to search an index. ``dimensions`` of its vectors is 0 if unknown; ``embeds``: it embeds questions itself.

    ``sortable`` are our names of the fields by which it sorts.
    """

    options: SearchOptions
    dimensions: int
    embeds: bool
    sortable: frozenset[str] = frozenset()

    @property
    def has_access_lists(self) -> bool:
        """Whether the index says who may read a row; if not, everybody may."""
        return ACCESS in self.options.filterable

    @property
    def hides_access_lists(self) -> bool:
        """Whether lists are enforced in queries, but cannot be read."""
        return self.has_access_lists and ACCESS not in self.options.fields


def read_shape(service: SearchService, index: str, mapping: FieldMapping) -> Shape:
    """Read the shape of the index.

    Raises:
        IndexNotThereError: the index does not exist.
        SearchRefusedError: the key is wrong, or the identity may not search the index.
        SettingsError: the settings map to fields that the index lacks or that are unsuitable.
    """
    is_refused = False
    try:
        definition = service.read_index(index)
    except SearchRefusedError:
        is_refused = True  # asked outside this block, so that no later error drags this one along
    if is_refused:
        return _Asking(service, index, mapping).shape()
    if definition is None:
        raise service.missing(index)
    settings = service.settings
    return _defined_shape(definition, mapping, settings.search_semantic, settings.search_vectorizer)


# --- what the definition says ----------------------------------------------------------------------


def _defined_shape(definition: "IndexDefinition", mapping: FieldMapping, semantic: bool, embeds: bool) -> Shape:
    defined = {field.name: field for field in definition.fields}
    for ours, theirs in mapping.names.items():
        for name in _parts(ours, theirs):
            if name not in defined:
                raise mapping.lacking(ours, name, definition.name)
    key = next((field.name for field in definition.fields if field.key), "")
    mapped = _mapped(definition, defined, mapping)
    if mapping.of_documents:
        mapped.setdefault("article_id", key)
    names = {
        ours: name for ours, name in mapped.items() if ours in _HIDDEN or defined[name].retrievable is not False
    } | {KEY: key}
    _require(names, mapping, "it has no field of that name")
    access = defined[mapped[ACCESS]] if ACCESS in mapped else None
    if access and not (access.filterable and str(access.type).startswith("Coll")):
        raise SettingsError(_NO_ACCESS.format(access.name, definition.name))
    single = {ours: defined[name] for ours, name in {**mapped, KEY: key}.items() if "," not in name}
    dates = {ours for ours, field in single.items() if _kind(field) == "Edm.DateTimeOffset"}
    fields = Fields(names, frozenset(dates), mapping.of_documents)
    filterable = Fields({ours: field.name for ours, field in single.items() if field.filterable}, fields.moments)
    vectors = [defined[name] for name in _parts(VECTOR, names.get(VECTOR, "")) if name]
    has_ranker = semantic and not mapping.of_documents
    return Shape(
        SearchOptions(fields, filterable, _semantic(definition) if has_ranker else None),
        _dimensions(vectors, definition.name, mapping),
        embeds and bool(vectors) and all(_embeds(definition, vector) for vector in vectors),
        frozenset(ours for ours, field in single.items() if field.sortable),
    )


def _parts(ours: str, theirs: str) -> list[str]:
    """The names of fields in a value of the settings: only vectors may have two."""
    return theirs.split(",") if ours == VECTOR else [theirs]


def _mapped(
    definition: "IndexDefinition", defined: Mapping[str, "SearchField"], mapping: FieldMapping
) -> dict[str, str]:
    """Return our fields that the index has: those that the settings map, and others of the same name and type."""
    is_ours = not mapping.of_documents and notes_of(definition) is not None
    by_name = mapping.by_name | ({ours: ours for ours in _OF_OURS} if is_ours else {})
    mapped = {**mapping.names, **{ours: name for ours, name in by_name.items() if name in defined}}
    if not is_ours and not mapping.of_documents and BLOCK not in mapping.names:
        mapped.pop(BLOCK, None)  # whatever a field of this name means, not our kinds of rows
    for ours, theirs in list(mapped.items()):
        for name in _parts(ours, theirs):
            if needed := _unmet(ours, defined[name]):
                if ours in mapping.names:
                    raise mapping.unsuitable(ours, name, definition.name, _kind(defined[name]), needed)
                mapped.pop(ours, None)
    return mapped


def _unmet(ours: str, field: "SearchField") -> str:
    """Return what type a field must have, "" if it has it."""
    kind = _kind(field)
    if ours == VECTOR:
        return "" if field.vector_search_dimensions else "a field of vectors"
    if ours in _TEXTS:
        return "" if kind == "Edm.String" else "Edm.String"
    if ours in _NUMBERS:
        return "" if kind in ("Edm.Int32", "Edm.Int64", "Edm.Int16") else "Edm.Int32"
    if ours == "upload_date":
        return "" if kind in ("Edm.DateTimeOffset", "Edm.String") else "Edm.DateTimeOffset"
    return ""


def _kind(field: "SearchField") -> str:
    return str(getattr(field.type, "value", field.type))


def _require(names: Mapping[str, str], mapping: FieldMapping, why: str) -> None:
    for field in (KEY, "article_id") if mapping.of_documents else (KEY, "content"):
        if not names.get(field):
            word = mapping.words.get(field, field)
            raise SettingsError(f"{mapping.setting} must say which field of {mapping.index_setting} is {word}: {why}")


def _dimensions(vectors: "list[SearchField]", index: str, mapping: FieldMapping) -> int:
    widths = {vector.name: vector.vector_search_dimensions or 0 for vector in vectors}
    if len(set(widths.values())) > 1:
        said = " and ".join(f"{name} with {width}" for name, width in widths.items())
        raise SettingsError(
            f"{mapping.setting} maps vectors of different models of the index {index}: {said} dimensions; map those of "
            "KB_EMBEDDER alone"
        )
    return next(iter(widths.values()), 0)


def _semantic(definition: "IndexDefinition") -> str:
    semantic = definition.semantic_search
    if semantic is None or not semantic.configurations:
        raise SettingsError(f"KB_SEARCH_SEMANTIC is set, and the index {definition.name} has no semantic configuration")
    return semantic.default_configuration_name or semantic.configurations[0].name


def _embeds(definition: "IndexDefinition", vector: "SearchField") -> bool:
    profiles = (definition.vector_search and definition.vector_search.profiles) or []
    return any(
        profile.name == vector.vector_search_profile_name and bool(profile.vectorizer_name) for profile in profiles
    )


# --- what the index itself says --------------------------------------------------------------------


class _Asking:
    """Asks an index what its definition would say, by searches for one row."""

    def __init__(self, service: SearchService, index: str, mapping: FieldMapping) -> None:
        self._service = service
        self._index = index
        self._mapping = mapping

    def shape(self) -> Shape:
        """The shape according to the mapping, of which the index takes what it has."""
        mapping, settings = self._mapping, self._service.settings
        names = dict(mapping.names)
        if mapping.of_documents and "article_id" in names:
            names.setdefault(KEY, names["article_id"])
        if not {KEY, "article_id" if mapping.of_documents else "content"} <= names.keys():
            with self._service.translated_errors(self._index):  # credentials are the first thing to change
                self._service.documents(self._index).get_document_count()
        _require(names, mapping, "its definition cannot be read with these credentials")
        access = names.pop(ACCESS, "" if ACCESS in mapping.without else ACCESS)
        enforced = access if access and self._takes_access(access) else ""
        if ACCESS in mapping.names and not enforced:
            raise SettingsError(_NO_ACCESS.format(access, self._index))
        self._check(names)
        dates = frozenset(["upload_date"]) if self._has_moments(names) else frozenset[str]()
        filterable = {ours: name for ours, name in names.items() if self._can_filter(ours, name)}
        if enforced:
            filterable[ACCESS] = enforced
            if self._takes(select=[enforced]):
                names[ACCESS] = enforced
        options = SearchOptions(
            Fields(names, dates, mapping.of_documents),
            Fields(filterable, dates),
            "" if settings.search_semantic and not mapping.of_documents else None,
        )
        return Shape(options, 0, settings.search_vectorizer and VECTOR in names, self._sortable(names))

    def _takes(self, **arguments: object) -> bool:
        return self._service.takes(self._index, **arguments)

    def _takes_access(self, name: str) -> bool:
        return self._takes(filter=odata(SearchFilter(principals=()), Fields({ACCESS: name})))

    def _check(self, names: Mapping[str, str]) -> None:
        shown = {ours: name for ours, name in names.items() if ours not in _HIDDEN}
        if self._takes(select=sorted(set(shown.values()))):
            return
        for ours, name in shown.items():
            if not self._takes(select=[name]):
                raise self._mapping.lacking(ours, name, self._index)

    def _has_moments(self, names: Mapping[str, str]) -> bool:
        return "upload_date" in names and self._takes(filter=f"{names['upload_date']} ge 2000-01-01T00:00:00Z")

    def _can_filter(self, ours: str, name: str) -> bool:
        if ours in _HIDDEN:
            return False
        return self._takes(filter=f"{name}/any()" if ours == "key_topics" else f"{name} ne null")

    def _sortable(self, names: Mapping[str, str]) -> frozenset[str]:
        if not self._mapping.of_documents:
            return frozenset()
        return frozenset(ours for ours, name in names.items() if self._takes(order_by=[f"{name} asc"]))
