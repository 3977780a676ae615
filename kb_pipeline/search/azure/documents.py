"""Chunks as documents of Azure AI Search: fields, filters (OData), legal keys, and hits made of search results.

Sending documents and requests does not belong here.
"""

import base64
import hashlib
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any
from urllib.parse import quote

import numpy as np

from kb_pipeline.errors import SearchError
from kb_pipeline.records import Chunk, SearchHit
from kb_pipeline.search.azure.foreign_rows import CAPTION, of_block, of_document
from kb_pipeline.search.base import FACTS, IndexedChunk, IndexEntry, SearchFilter, folded, literal, pages_of
from kb_pipeline.search.catalog import Generation
from kb_pipeline.steps.chunk import embedding_text
from kb_pipeline.wording import counted

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
"""Fields of the chunk itself."""
BLOCK = "block_type"
REST = "rest"
"""The fields of a chunk that only some have (pages, the facts of a document), as JSON."""
BESIDE = "search_text_beside"
"""The words of rows that are no sections: in a field of their own, they change no score of a section."""
TITLE_ORDER = "title_order"
"""The beginning of the title in lower case, by which documents are sorted."""
DEFERRED = "deferred"
"""Whether a section is left for later; null if it is not."""
FACT_FIELDS = (BLOCK, *FACTS, "upload_date", "page_start", "page_end")
"""Fields by which every row can be filtered; they are those of its document."""
ADDRESSES = "image_addresses"
"""The images of a chunk as addresses that can be opened; for those who read nothing but the index."""
READ_FIELDS = (*CHUNK_FIELDS, "embedding_model", REVISION, OVERLONG, REST)
"""Fields to read back."""


@dataclass(frozen=True)
class Fields:
    """The fields of an index: our name of each field, mapped to its name in the index.

    ``moments`` are those of our names whose fields hold points in time, where ours hold days as text. Every row of an
    index ``of_documents`` is a document as a whole.
    """

    names: Mapping[str, str]
    moments: frozenset[str] = frozenset()
    of_documents: bool = False

    def __contains__(self, ours: str) -> bool:
        return ours in self.names

    def __getitem__(self, ours: str) -> str:
        return self.names[ours]

    def present(self, ours: Iterable[str]) -> list[str]:
        """Return the index's names of those of our fields that it has."""
        return list(dict.fromkeys(self.names[name] for name in ours if name in self.names))

    def ours(self, document: Mapping[str, object]) -> dict[str, object]:
        """Return a document of the index under our field names."""
        return {ours: document[name] for ours, name in self.names.items() if name in document}


OUR_FIELDS = Fields(
    {name: name for name in (*READ_FIELDS, *FACT_FIELDS, DEFERRED, SEARCHED, BESIDE, TITLE_ORDER, VECTOR)}
)


def selected(fields: Fields) -> list[str]:
    """Return the index's names of the fields to read back."""
    if fields.of_documents:
        return fields.present(fields.names)
    of_others = () if REVISION in fields else (BLOCK, CAPTION, "filename", "page_start")
    return fields.present([*READ_FIELDS, *of_others])


LONGEST_TERM = 32_766
"""Most bytes (UTF-8) of a string to filter by: Lucene's limit of a term."""
_DELIMITERS = (",", "|", ";", *map(chr, range(0xE000, 0xE100)))


def term(value: str) -> str:
    """Return the value to filter by: the value itself, or its hash if it is too long."""
    whole = value.encode("utf-8", "replace")
    return value if len(whole) <= LONGEST_TERM else f"sha256:{hashlib.sha256(whole).hexdigest()}"


def odata(filters: SearchFilter, fields: Fields) -> str | None:
    """Return the condition that a document must meet, or ``None`` if every document does.

    Conditions on fields that the index lacks are left out; the caller must check them on the hits.
    """
    conditions = _of_facts(filters, fields)
    if filters.deferred is not None and DEFERRED in fields:
        conditions.append(f"{fields[DEFERRED]} {'eq' if filters.deferred else 'ne'} true")
    if filters.article_ids is not None and "article_id" in fields:
        conditions.append(in_list(fields["article_id"], filters.article_ids))
    if filters.section_header is not None and "section_header" in fields:
        conditions.append(in_list(fields["section_header"], [filters.section_header]))
    if filters.key_topics is not None and "key_topics" in fields:
        conditions.append(_overlaps(fields["key_topics"], filters.key_topics))
    if filters.principals is not None and ACCESS in fields:
        public = f"not {fields[ACCESS]}/any()"
        named = _overlaps(fields[ACCESS], filters.principals)
        allowed = public if named == "false" else f"({public} or {named})"
        if filters.denied_articles and "article_id" in fields:
            allowed = f"({allowed} and not ({in_list(fields['article_id'], filters.denied_articles)}))"
        if filters.granted_articles and "article_id" in fields:
            allowed = f"({allowed} or {in_list(fields['article_id'], filters.granted_articles)})"
        conditions.append(allowed)
    return " and ".join(conditions) or None


def _of_facts(filters: SearchFilter, fields: Fields) -> list[str]:
    conditions = []
    if filters.block_type is not None and BLOCK in fields:
        listed = in_list(fields[BLOCK], filters.block_type)
        # Rows of another program may name no kind: they are sections.
        conditions.append(f"({listed} or {fields[BLOCK]} eq null)" if "text" in filters.block_type else listed)
    for name, values in filters.facts.items():
        if name in fields:  # our own indexes hold folded values, those of other programs hold their own
            conditions.append(in_list(fields[name], [*values, *getattr(filters, name)]))
    if filters.upload_date is not None and "upload_date" in fields:
        conditions += _within(filters.upload_date, fields)
    if filters.page_start is not None and "page_end" in fields:
        conditions.append(f"{fields['page_end']} ge {filters.page_start}")
    if filters.page_end is not None and "page_start" in fields:
        conditions.append(f"{fields['page_start']} le {filters.page_end}")
    return conditions


def _within(days: tuple[str, str], fields: Fields) -> list[str]:
    (first, last), field = days, fields["upload_date"]
    if "upload_date" not in fields.moments:
        return [f"{field} ge {literal(first or '0')}", *([f"{field} le {literal(last)}"] if last else [])]
    begins = [f"{field} ge {first}T00:00:00Z"] if first else []  # they are ISO 8601 days, and moments have no quotes
    return begins + ([f"{field} le {last}T23:59:59.999Z"] if last else [])


def in_list(field: str, values: Iterable[str]) -> str:
    """Test whether the field is one of ``values``; "false" if there are none."""
    return _any_of(values, lambda test: test(field))


def after(key: str, condition: str | None, fields: Fields) -> str | None:
    """Restrict the condition to documents with a key after ``key``; "" comes before all keys."""
    later = f"{fields[KEY]} gt {literal(key)}" if key else None
    return " and ".join(part for part in (later, condition) if part) or None


Test = Callable[[str], str]
"""Maps an operand to a condition on it."""


def _overlaps(field: str, values: Iterable[str]) -> str:
    # One "any" for each test, because OData allows only some combinations of tests within one.
    return _any_of(values, lambda test: f"{field}/any(each: {test('each')})")


def _any_of(values: Iterable[str], apply: Callable[[Test], str]) -> str:
    conditions = [apply(test) for test in _tests(list(dict.fromkeys(map(term, values))))]
    return conditions[0] if len(conditions) == 1 else f"({' or '.join(conditions)})" if conditions else "false"


def _tests(values: Sequence[str]) -> list[Test]:
    """Compare with as many values as possible in one ``search.in``, which takes thousands where ``or`` takes hundreds.

    Values that ``search.in`` would trim or drop are compared on their own, as are all if every delimiter occurs in one.
    """
    listable = [value for value in values if value and value == value.strip()]
    delimiter = next((mark for mark in _DELIMITERS if not any(mark in value for value in listable)), None)
    if delimiter is None or len(listable) < 2:
        return list(map(_equals, values))
    listed = f"{literal(delimiter.join(listable))}, {literal(delimiter)}"
    alone = [value for value in values if not value or value != value.strip()]
    return [lambda operand: f"search.in({operand}, {listed})", *map(_equals, alone)]


def _equals(value: str) -> Test:
    return lambda operand: f"{operand} eq {literal(value)}"


Document = dict[str, Any]

LONGEST_KEY = 1024
"""The service's limit for a key."""
_LEGAL_KEY = re.compile(r"[A-Za-z0-9-][A-Za-z0-9_=-]*")
_ENCODED = "="
_LISTS = ("heading_path", "image_urls", "key_topics", ACCESS)
_FILTERED = ("section_header", "key_topics", ACCESS)
_DECIMALS = 7
"""Decimals of a vector's components, which are at most 1: this halves their text and loses little of their 32 bits."""
_COMPONENT_BYTES = 13
"""A component of a vector as JSON: about ten digits, sign, point and comma."""
_LONGEST_ORDER = 200
"""Characters of a title that decide its place in a list."""


_NO_VALUES: Mapping[str, str] = MappingProxyType({})


def document_key(chunk_id: str) -> str | None:
    """Return the key of a chunk's document: the id, or its Base64 form if it has characters that a key may not have.

    ``None`` if the id cannot be a key, so that no document can have it.
    """
    if _LEGAL_KEY.fullmatch(chunk_id):
        return chunk_id if len(chunk_id) <= LONGEST_KEY else None
    # No document has a lone surrogate in its id, but somebody may ask for one.
    letters = base64.urlsafe_b64encode(chunk_id.encode("utf-8", "surrogatepass")).decode()
    key = f"{_ENCODED}{letters}"
    return key if chunk_id and len(key) <= LONGEST_KEY else None


def chunk_id_of(key: str) -> str:
    """Return the chunk id of a document key."""
    if not key.startswith(_ENCODED):
        return key
    return base64.urlsafe_b64decode(key.removeprefix(_ENCODED)).decode("utf-8", "surrogatepass")


def to_document(
    entry: IndexEntry, generation: Generation, revision: str, values: Mapping[str, str] = _NO_VALUES
) -> Document:
    """Turn an entry into a document that belongs to this revision of its article.

    ``values`` are those by which all rows of the article are filtered.

    Raises:
        SearchError: the chunk id cannot be a key, or the chunk has several passages.
    """
    chunk = entry.chunk
    if len(entry.passages) > 1:
        raise SearchError(
            f"chunk {chunk.id} has {counted(len(entry.passages), 'passage')}, but Azure AI Search keeps one vector "
            f"of a chunk; chunk article {chunk.article_id!r} again"
        )
    key = document_key(chunk.id)
    if key is None:
        raise SearchError(f"article {chunk.article_id!r} has a chunk id of {len(chunk.id)} characters; chunk it again")
    is_section = chunk.block_type == "text"
    first, last = pages_of(chunk)
    return _chunk_fields(chunk) | {
        KEY: key,
        (SEARCHED if is_section else BESIDE): embedding_text(chunk),
        BLOCK: chunk.block_type,
        **({DEFERRED: True} if chunk.deferred else {}),
        **{name: term(value) for name, value in values.items() if value},
        "page_start": first,
        "page_end": last,
        TITLE_ORDER: folded(chunk.title)[:_LONGEST_ORDER],
        REST: _rest(chunk),
        ADDRESSES: [f"{generation.image_url}/{quote(path)}" for path in chunk.image_urls if generation.image_url],
        "embedding_model": generation.embedding_model,
        REVISION: revision,
        VECTOR: np.asarray(entry.passages[0].vector, np.float64).round(_DECIMALS).tolist(),
    }


def readers_of(chunk: Chunk, key: str) -> Document:
    """Return the fields to merge into the document of a chunk whose readers changed."""
    fields = _chunk_fields(chunk)
    return {name: fields[name] for name in (ACCESS, OVERLONG, "content_hash")} | {KEY: key}


def _rest(chunk: Chunk) -> str | None:
    rest = chunk.model_dump_json(exclude=set(CHUNK_FIELDS))
    return None if rest == "{}" else rest


def _chunk_fields(chunk: Chunk) -> Document:
    document: Document = chunk.model_dump(mode="json", include=set(CHUNK_FIELDS))
    overlong = {name: document[name] for name in _FILTERED if _terms(document[name]) != document[name]}
    document |= {name: _terms(document[name]) for name in overlong}
    return document | {OVERLONG: json.dumps(overlong) if overlong else None}


def size_of(document: Mapping[str, Any]) -> int:
    """Estimate the bytes of a document in a request, rather too high than too low."""
    rest = {name: value for name, value in document.items() if name != VECTOR}
    return len(json.dumps(rest)) + _COMPONENT_BYTES * len(document.get(VECTOR, ()))


def to_chunk(document: Mapping[str, Any], fields: Fields) -> Chunk:
    """Turn a document into a chunk; fields that the index lacks get defaults."""
    ours = fields.ours(document)
    chunk: dict[str, Any] = {name: _as_field(name, ours[name]) for name in CHUNK_FIELDS if ours.get(name) is not None}
    if REVISION in fields:  # one of our own indexes
        chunk |= json.loads(str(ours.get(OVERLONG) or "{}")) | {KEY: chunk_id_of(chunk[KEY])}
        chunk |= json.loads(str(ours.get(REST) or "{}"))
    else:
        chunk |= of_document(ours) if fields.of_documents else of_block(ours)
    title = chunk.get("title", "")
    defaults: dict[str, Any] = {
        "article_id": chunk[KEY],
        "chunk_index": 0,
        "title": title,
        "section_header": title,
        "heading_path": (title,) if title else (),
        "content": "",
        "content_hash": "",
    }
    return Chunk.model_validate(defaults | chunk)


def to_indexed_chunk(document: Mapping[str, Any], fields: Fields) -> IndexedChunk:
    """Turn a document into a chunk with the model of its vector."""
    model = fields.ours(document).get("embedding_model")
    return IndexedChunk(chunk=to_chunk(document, fields), embedding_model=str(model or ""))


def _as_field(name: str, value: object) -> str | int | tuple[str, ...]:
    """Convert a value of a foreign index, which may hold a single value for a list or a number for a text."""
    if name in _LISTS:
        return tuple(map(str, value)) if isinstance(value, list | tuple) else (str(value),)
    if name == "chunk_index":
        return value if isinstance(value, int) else 0
    return str(value)


def _terms(value: str | list[str]) -> str | list[str]:
    return [term(item) for item in value] if isinstance(value, list) else term(value)


_SCORE, _RERANKED, _DEBUG = "@search.score", "@search.reranker_score", "@search.document_debug_info"

Result = Mapping[str, Any]


def hits(results: Iterable[Result], fields: Fields, *, words: bool, vector: bool) -> list[SearchHit]:
    """Turn results into hits, in their order; ``words`` and ``vector`` say what the search used.

    Of two vector fields without words, the service alternates between the best of each; their cosines say more.
    """
    found = [_hit(result, fields, words, vector) for result in newest(list(results), fields)]
    if words or not is_ranked_here(fields) or any(hit.vector_score is None for hit in found):
        return found
    by_cosine = sorted(found, key=lambda hit: -(hit.vector_score or 0.0))
    return [hit.model_copy(update={"score": 1 / (2 - (hit.vector_score or 0.0))}) for hit in by_cosine]


def is_ranked_here(fields: Fields) -> bool:
    """Whether hits by vectors alone are ranked by us: the index has two vector fields."""
    return VECTOR in fields and "," in fields[VECTOR]


def newest(results: Sequence[Result], fields: Fields) -> list[Result]:
    """Drop results of older revisions of an article, which exist while it is replaced or after an interruption."""
    if REVISION not in fields or "article_id" not in fields:
        return list(results)
    article, revision = fields["article_id"], fields[REVISION]
    latest: dict[str, str] = {}
    for result in results:
        latest[result[article]] = max(latest.get(result[article], ""), result[revision] or "")
    return [result for result in results if (result[revision] or "") == latest[result[article]]]


def _hit(result: Result, fields: Fields, words: bool, vector: bool) -> SearchHit:
    indexed = to_indexed_chunk(result, fields)
    score = float(result[_SCORE])
    keyword_score, cosine = _subscores(result) if vector else (None, None)
    if words != vector:  # only one half was searched, so the score is its score
        keyword_score = score if words else None
        if vector and cosine is None and not is_ranked_here(fields):
            # score = 1 / (1 + (1 - cosine)): https://learn.microsoft.com/azure/search/vector-search-ranking
            cosine = 2 - 1 / score if score else -1.0
    return SearchHit(
        chunk=indexed.chunk,
        score=float(result.get(_RERANKED) or score),
        keyword_score=keyword_score,
        vector_score=cosine,
        embedding_model=indexed.embedding_model,
    )


def _subscores(result: Result) -> tuple[float | None, float | None]:
    """Return BM25 and the best cosine from the debug information that the request asked for."""
    info = result.get(_DEBUG)
    subscores = info.vectors.subscores if info and info.vectors else None
    if subscores is None:
        return None, None
    results = [result for field in subscores.vectors or [] for result in field.values()]
    cosines = [result.vector_similarity for result in results if result.vector_similarity is not None]
    return (subscores.text.search_score if subscores.text else None), max(cosines, default=None)
