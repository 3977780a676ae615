"""The filters that callers of tools may give, by an allow-list, and what they mean to the index."""

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import Field, StringConstraints, field_validator

from app.tools.base import Arguments
from kb_pipeline.search.base import SearchFilter

_Word = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]
_Words = _Word | Annotated[list[_Word], Field(min_length=1, max_length=50)]
_Day = Annotated[str, StringConstraints(strip_whitespace=True, max_length=40)]


class Days(Arguments):
    """From a day to a day, both included; one may be left out."""

    from_: _Day = Field(default="", alias="from")
    to: _Day = ""


class Pages(Arguments):
    """From a page to a page, both included."""

    from_: int = Field(default=1, ge=1, alias="from")
    to: int = Field(default=10_000_000, ge=1)


class DocumentFilters(Arguments):
    """Facts about documents. Several values of one mean any of them; different ones must all be met."""

    doc_id: _Words = Field(default=[], description="ids of documents, as a search or a list returned them")
    filename: _Words = Field(default=[], description="names of files, such as manual.pdf")
    document_type: _Words = Field(default=[], description="kinds of documents, such as Manual or Report")
    department: _Words = Field(default=[], description="departments that own the documents")
    author: _Words = Field(default=[], description="authors")
    language: _Words = Field(default=[], description="languages, such as en")
    upload_date: _Day | Days = Field(
        default="",
        description='the day on which it came in, such as 2024-05-31, or {"from": "2024-05-01", "to": "2024-05-31"}',
    )

    @field_validator("upload_date")
    @classmethod
    def _are_days(cls, days: str | Days) -> str | Days:
        SearchFilter(upload_date=_period(days))
        return days

    def limits(self) -> SearchFilter:
        """The same as a filter of the index; who may read what is added by :class:`app.library.retrieval.Retrieval`."""
        return SearchFilter(
            article_ids=_values(self.doc_id),
            filename=_values(self.filename),
            document_type=_values(self.document_type),
            department=_values(self.department),
            author=_values(self.author),
            language=_values(self.language),
            upload_date=_period(self.upload_date),
        )


class BlockFilters(DocumentFilters):
    """Facts about blocks of documents."""

    block_type: Literal["text", "image"] | Annotated[list[Literal["text", "image"]], Field(min_length=1)] = Field(
        default=[], description="text or image; default: both"
    )
    page_number: Annotated[int, Field(ge=1, le=10_000_000)] | Pages = Field(
        default_factory=Pages, description='a page, such as 12, or {"from": 12, "to": 14}'
    )

    def limits(self) -> SearchFilter:
        pages = self.page_number
        first, last = (pages, pages) if isinstance(pages, int) else (pages.from_, pages.to)
        paged = "page_number" in self.model_fields_set
        return (
            super()
            .limits()
            .model_copy(
                update={
                    "block_type": _values(self.block_type) or ("text", "image"),
                    "page_start": first if paged else None,
                    "page_end": last if paged else None,
                }
            )
        )


def _values(given: str | Sequence[str]) -> tuple[str, ...] | None:
    """Return the wanted values; ``None`` if any will do."""
    return ((given,) if isinstance(given, str) else tuple(given)) or None


def _period(days: str | Days) -> tuple[str, str] | None:
    first, last = (days, days) if isinstance(days, str) else (days.from_, days.to)
    return (first, last) if first or last else None
