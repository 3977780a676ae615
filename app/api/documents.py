"""Routes about documents: the list of them by facts and dates, and one with its summaries."""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Annotated

from fastapi import APIRouter, Query

from app.api.gate import TheService, Who
from app.library.articles import ArticleNotFoundError
from app.library.documents import document_facts
from app.schema.asking import Collection, CollectionKind, CollectionList
from app.schema.documents import DocumentDetails, DocumentItem, DocumentList, DocumentListParameters, DocumentPassage
from kb_pipeline.records import Chunk, Quoted
from kb_pipeline.search.base import SearchFilter

_MOST_COUNTED = 1000
"""Newest documents whose facts are counted for the choice of collections: one request to the index."""
_MOST_LISTED = 20
"""Collections of each kind: as many as a menu shows without being searched."""
_FEWEST_OF_TOPIC = 2
"""A topic of one document is that document."""
_LONGEST_NAME = 200
"""Characters of a name in a menu; a longer one is no name."""

router = APIRouter(prefix="/api", tags=["documents"])


@router.get("/documents")
async def documents(
    service: TheService,
    who: Who,
    filters: Annotated[DocumentListParameters, Query()],
) -> DocumentList:
    """The documents that the caller may see and that meet the filters. Several values of a filter mean any of them."""
    page = await service.retrieval.documents(
        who,
        _limits(filters),
        sort=filters.sort,
        descending=filters.sort == "upload_date" if filters.descending is None else filters.descending,
        limit=filters.limit,
        offset=filters.offset,
    )
    return DocumentList(total=page.total, documents=tuple(map(_item, page.documents)))


@router.get("/collections")
async def collections(service: TheService, who: Who) -> CollectionList:
    """The types, departments and topics of documents that the caller may see, to which a question can be limited.

    Of very many documents the newest count. What all of them have in common tells none apart, so it is left out.
    """
    page = await service.retrieval.documents(who, SearchFilter(), descending=True, limit=_MOST_COUNTED)
    rows = page.documents
    kinds: dict[CollectionKind, Iterable[Iterable[str]]] = {
        "type": ((row.entry.document_type,) for row in rows),
        "department": ((row.entry.department,) for row in rows),
        "topic": (row.key_topics for row in rows),
    }
    listed = (each for kind, names in kinds.items() for each in _collections(kind, names, len(rows)))
    return CollectionList(collections=tuple(listed))


def _collections(kind: CollectionKind, names: Iterable[Iterable[str]], total: int) -> Iterator[Collection]:
    """Yield what some documents have in common, the most frequent first; a topic of one document is no collection."""
    counted = Counter(name for each in names for name in dict.fromkeys(each) if name)
    fewest = _FEWEST_OF_TOPIC if kind == "topic" else 1
    for name, count in sorted(counted.items(), key=lambda each: (-each[1], each[0].casefold()))[:_MOST_LISTED]:
        if fewest <= count < total and len(name) <= _LONGEST_NAME:
            yield Collection(kind=kind, name=name, documents=count)


@router.get("/documents/{article_id}")
async def document(article_id: str, service: TheService, who: Who) -> DocumentDetails:
    """One document: its facts, its summaries with the pages of their sentences, its headings of the first level."""
    page = await service.retrieval.documents(who, SearchFilter(article_ids=(article_id,)), limit=1)
    if not page.documents:
        raise ArticleNotFoundError(f"there is no document {article_id[:80]!r}")
    row = page.documents[0]
    entry = row.entry
    return DocumentDetails(
        article_id=row.article_id,
        **document_facts(row),
        brief=tuple(map(_passage, entry.summary.brief)),
        standard=tuple(tuple(map(_passage, paragraph)) for paragraph in entry.summary.standard),
        headings=tuple(map(_passage, entry.headings)),
    )


def _limits(filters: DocumentListParameters) -> SearchFilter:
    days = (filters.since.isoformat() if filters.since else "", filters.until.isoformat() if filters.until else "")
    return SearchFilter(
        document_type=filters.type or None,
        department=filters.department or None,
        author=filters.author or None,
        language=filters.language or None,
        filename=filters.filename or None,
        upload_date=days if any(days) else None,
    )


def _item(row: Chunk) -> DocumentItem:
    return DocumentItem(article_id=row.article_id, **document_facts(row))


def _passage(quoted: Quoted) -> DocumentPassage:
    return DocumentPassage(text=quoted.text, page=quoted.page)
