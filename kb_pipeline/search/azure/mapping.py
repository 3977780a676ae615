"""Which field of an index of another program is which of ours, as the settings say: one by one, or all by a layout.

What the index really has is compared with this in ``shape``.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from kb_pipeline.errors import SettingsError
from kb_pipeline.search.azure.documents import ACCESS, BLOCK, CHUNK_FIELDS, KEY, SEARCHED, VECTOR
from kb_pipeline.search.azure.foreign_rows import BRIEF, CAPTION, STANDARD
from kb_pipeline.search.base import FACTS
from kb_pipeline.settings import Settings

_BLOCK_FIELDS = (
    *(*CHUNK_FIELDS, "embedding_model", SEARCHED, VECTOR, BLOCK),
    *(*FACTS, "page_start", "page_end", CAPTION),
)
_DOCUMENT_FIELDS = (
    *(KEY, "article_id", "title", *FACTS, "upload_date", "page_end", BRIEF, STANDARD),
    *("source_url", "key_topics", ACCESS),
)
_SAME = {
    "block_id": (KEY,),
    "doc_id": ("article_id",),
    "page_number": ("page_start", "page_end"),
    "page_count": ("page_end",),
    "image_url": ("image_urls",),
}
"""Other words for our fields, in which the layouts are written."""
_LAYOUT_BLOCKS = {
    "content-blocks": {
        **{
            name: name for name in ("block_id", "doc_id", "page_number", BLOCK, "content", "image_url", CAPTION, ACCESS)
        },
        VECTOR: "content_vector,image_caption_vector",
    }
}
_LAYOUT_DOCUMENTS = {
    "content-blocks": {
        name: name
        for name in (
            *("doc_id", "filename", "title", "document_type", "upload_date", "author", "department", "page_count"),
            *(BRIEF, STANDARD, ACCESS),
        )
    }
}


@dataclass(frozen=True)
class FieldMapping:
    """What the settings say about the fields of one index.

    ``names`` maps our fields to those of the index; two vector fields are joined by a comma. The index has no field
    for those in ``without``. ``promised`` are those that only the layout maps. ``words`` are the words of the settings
    for our fields. ``known`` are all that can be mapped.
    """

    setting: str
    index_setting: str
    known: tuple[str, ...]
    names: Mapping[str, str]
    without: frozenset[str]
    promised: frozenset[str]
    words: Mapping[str, str]
    layout: str = ""
    of_documents: bool = False

    @property
    def by_name(self) -> dict[str, str]:
        """Our fields, each with the name by which an index has it if the settings do not map it."""
        as_in_layouts = {"article_id": "doc_id", "page_end": "page_count"} if self.of_documents else {}
        names = {ours: as_in_layouts.get(ours, ours) for ours in self.known}
        return {ours: name for ours, name in names.items() if ours not in self.names and ours not in self.without}

    def lacking(self, ours: str, theirs: str, index: str) -> SettingsError:
        """Make the error for a field that is mapped and that the index does not have."""
        word = self.words[ours]
        if ours not in self.promised:
            return SettingsError(f"{self.setting} maps {word} as {theirs}, and the index {index} has no such field")
        return SettingsError(
            f"KB_SEARCH_LAYOUT is {self.layout}, so {theirs} must be a field of the index {index}, and it has no such "
            f'field; map another one in {self.setting}, or none with {{"{word}": ""}}'
        )

    def unsuitable(self, ours: str, theirs: str, index: str, what: str, needed: str) -> SettingsError:
        """Make the error for a field of the wrong type; ``what`` it is, and what is ``needed``."""
        said = f"KB_SEARCH_LAYOUT is {self.layout}, so" if ours in self.promised else f"{self.setting} says that"
        return SettingsError(
            f"{said} {theirs} of the index {index} is our {self.words[ours]}, which must be {needed}, "
            f"and it is {what}; map another field in {self.setting}"
        )


def block_mapping(settings: Settings) -> FieldMapping:
    """Read what the settings say about the index of KB_SEARCH_INDEX.

    Raises:
        SettingsError: KB_SEARCH_FIELDS maps something that is no field of ours.
    """
    layout = settings.search_layout or ""
    given, known = dict(settings.search_fields), _BLOCK_FIELDS
    return _mapping("KB_SEARCH_FIELDS", "KB_SEARCH_INDEX", known, given, layout, _LAYOUT_BLOCKS.get(layout, {}))


def document_mapping(settings: Settings) -> FieldMapping:
    """Read what the settings say about the index of KB_SEARCH_DOCUMENTS_INDEX.

    Raises:
        SettingsError: KB_SEARCH_DOCUMENT_FIELDS maps something that is no field of ours.
    """
    layout = settings.search_layout or ""
    given, known = dict(settings.search_document_fields), _DOCUMENT_FIELDS
    promised = _LAYOUT_DOCUMENTS.get(layout, {})
    setting, index_setting = "KB_SEARCH_DOCUMENT_FIELDS", "KB_SEARCH_DOCUMENTS_INDEX"
    return _mapping(setting, index_setting, known, given, layout, promised, of_documents=True)


def _mapping(
    setting: str,
    index_setting: str,
    known: tuple[str, ...],
    given: Mapping[str, str],
    layout: str,
    promised: Mapping[str, str],
    *,
    of_documents: bool = False,
) -> FieldMapping:
    words = [word for word, ours in _SAME.items() if set(ours) <= set(known)]
    if unknown := sorted(given.keys() - {*known, *words}):
        raise SettingsError(f"{setting} maps {unknown[0]!r}; our fields are: {', '.join((*known, *words))}")
    by_hand = _as_ours(given)
    names = _as_ours(promised) | by_hand
    return FieldMapping(
        setting,
        index_setting,
        known,
        {ours: theirs for ours, theirs in names.items() if theirs},
        frozenset(ours for ours, theirs in names.items() if not theirs),
        frozenset(names.keys() - by_hand.keys()),
        {ours: word for word in (*given, *promised) for ours in _SAME.get(word, (word,))},
        layout,
        of_documents,
    )


def _as_ours(given: Mapping[str, str]) -> dict[str, str]:
    return {
        ours: ",".join(part.strip() for part in theirs.split(",")) if ours == VECTOR else theirs.strip()
        for word, theirs in given.items()
        for ours in _SAME.get(word, (word,))
    }
