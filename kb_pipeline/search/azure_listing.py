"""Lists the documents of an index, however many: ordered by key, each page begins behind the last one's end.

The service skips at most 100,000 documents; behind a key there is no such limit, and what is written meanwhile
moves no document to another page.
"""

from collections.abc import Collection, Iterator, Sequence
from typing import Any

from kb_pipeline.search.azure_fields import KEY, Fields
from kb_pipeline.search.azure_filters import after, in_list
from kb_pipeline.search.azure_service import SearchService

PAGE = 1000
"""Documents of one answer: the service's limit."""
_VALUES = 500
"""Values in one filter."""

Row = dict[str, Any]


class Listing:
    """The documents of one index, under our names."""

    def __init__(self, service: SearchService, index: str, fields: Fields) -> None:
        """Name the index; nothing is sent yet."""
        self._service = service
        self._index = index
        self._fields = fields

    def all(self, select: Sequence[str]) -> Iterator[Row]:
        """Every document, with these of our fields."""
        return self._pages(None, select)

    def where(self, field: str, values: Collection[str], select: Sequence[str]) -> Iterator[Row]:
        """The documents that have one of these values in a field, with these of our fields."""
        distinct = list(dict.fromkeys(values))
        for start in range(0, len(distinct), _VALUES):
            yield from self._pages(in_list(self._fields[field], distinct[start : start + _VALUES]), select)

    def _pages(self, condition: str | None, select: Sequence[str]) -> Iterator[Row]:
        last = ""
        while True:
            page = self._page(after(last, condition, self._fields), select)
            yield from page
            if len(page) < PAGE:
                return
            last = page[-1][KEY]

    def _page(self, condition: str | None, select: Sequence[str]) -> list[Row]:
        with self._service.explained(self._index):
            found = self._service.documents(self._index).search(
                search_text="*",
                filter=condition,
                select=self._fields.present([KEY, *select]),
                order_by=[f"{self._fields[KEY]} asc"],
                top=PAGE,
            )
            return [self._fields.ours(document) for document in found]
