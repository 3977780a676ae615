"""Documents with their facts and summaries."""

from datetime import date
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from app.schema.wire import Wire
from kb_pipeline.records import DocumentSort

_Values = Annotated[tuple[Annotated[str, StringConstraints(min_length=1, max_length=200)], ...], Field(max_length=50)]


class DocumentListParameters(BaseModel):
    """The parameters of a list of documents. The newest come first, everything else in ascending order."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    type: _Values = ()
    department: _Values = ()
    author: _Values = ()
    language: _Values = ()
    filename: _Values = ()
    since: date | None = None
    until: date | None = None
    sort: DocumentSort = "upload_date"
    descending: bool | None = None
    limit: Annotated[int, Field(ge=1, le=500)] = 20
    offset: Annotated[int, Field(ge=0, le=100_000)] = 0


class DocumentItem(Wire):
    """A document in a list; ``page_count`` is 0 if it has no pages, dates are ISO 8601."""

    article_id: str
    title: str
    filename: str
    document_type: str = ""
    department: str = ""
    author: str = ""
    language: str = ""
    upload_date: str = ""
    page_count: int = 0
    summary_brief: str = ""


class DocumentList(Wire):
    """A page of the documents that meet the filters; ``total`` counts all of them."""

    total: int
    documents: tuple[DocumentItem, ...]


class DocumentPassage(Wire):
    """Words of a document, and the page on which they stand, if it has pages."""

    text: str
    page: int | None = None


class DocumentDetails(DocumentItem):
    """A document: ``brief`` and ``standard`` are the sentences of its summaries, the latter in paragraphs."""

    summary_standard: str = ""
    brief: tuple[DocumentPassage, ...] = ()
    standard: tuple[tuple[DocumentPassage, ...], ...] = ()
    headings: tuple[DocumentPassage, ...] = ()
    source_url: str | None = None
    created: str = ""
    changed: str = ""
