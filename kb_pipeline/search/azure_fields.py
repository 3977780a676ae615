"""Names of an index's fields, ours and those of an index that somebody else built.

Here: which field is which. Not here: how our own are made (azure_schema.py).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

KEY = "id"
VECTOR = "content_vector"
SEARCHED = "search_text"
REVISION = "revision"
OVERLONG = "overlong"
ACCESS = "access_control_list"
CHUNK_FIELDS = (
    *(KEY, "article_id", "chunk_index", "title", "section_header", "heading_path", "content", "image_urls"),
    *("source_url", "key_topics", ACCESS, "content_hash", "converter", "run_id"),
)
"""Fields that hold what a chunk holds."""
READ_FIELDS = (*CHUNK_FIELDS, "embedding_model", REVISION, OVERLONG)
"""Fields that are read back."""


@dataclass(frozen=True)
class Fields:
    """The fields that an index has: our name for each, and the name it bears there."""

    names: Mapping[str, str]

    def __contains__(self, ours: str) -> bool:
        """Whether there is such a field."""
        return ours in self.names

    def __getitem__(self, ours: str) -> str:
        """Its name there."""
        return self.names[ours]

    def present(self, ours: Iterable[str]) -> list[str]:
        """Names there of those of our fields that there are."""
        return [self.names[name] for name in ours if name in self.names]

    def ours(self, document: Mapping[str, object]) -> dict[str, object]:
        """A document of that index under our names."""
        return {name: document[there] for name, there in self.names.items() if there in document}


OUR_FIELDS = Fields({name: name for name in (*READ_FIELDS, SEARCHED, VECTOR)})
