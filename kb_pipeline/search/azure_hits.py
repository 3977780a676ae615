"""What a search found, as hits with the scores of each half."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from kb_pipeline.records import SearchHit
from kb_pipeline.search.azure_documents import to_indexed_chunk
from kb_pipeline.search.azure_fields import REVISION, Fields

_SCORE, _RERANKED, _DEBUG = "@search.score", "@search.reranker_score", "@search.document_debug_info"

Result = Mapping[str, Any]


def hits(results: Iterable[Result], fields: Fields, *, words: bool, vector: bool) -> list[SearchHit]:
    """The hits in the order of the results; ``words`` and ``vector`` say what was searched by."""
    return [_hit(result, fields, words, vector) for result in newest(list(results), fields)]


def newest(results: Sequence[Result], fields: Fields) -> list[Result]:
    """The results without those of an article's older revision, while it is replaced or if that was cut short."""
    if REVISION not in fields or "article_id" not in fields:
        return list(results)
    article, revision = fields["article_id"], fields[REVISION]
    latest: dict[str, str] = {}
    for result in results:
        latest[result[article]] = max(latest.get(result[article], ""), result[revision] or "")
    return [result for result in results if (result[revision] or "") == latest[result[article]]]


def _hit(result: Result, fields: Fields, words: bool, vector: bool) -> SearchHit:
    found = to_indexed_chunk(result, fields)
    score = float(result[_SCORE])
    by_words, by_vector = _subscores(result) if vector else (None, None)
    if words != vector:  # the one score there is, is that of the one half
        by_words = score if words else None
        by_vector = _cosine(score) if vector and by_vector is None else by_vector
    return SearchHit(
        chunk=found.chunk,
        score=float(result.get(_RERANKED) or score),
        keyword_score=by_words,
        vector_score=by_vector,
        embedding_model=found.embedding_model,
    )


def _subscores(result: Result) -> tuple[float | None, float | None]:
    """BM25 and cosine, as the service tells them when it is asked to debug vectors."""
    info = result.get(_DEBUG)
    subscores = info.vectors.subscores if info and info.vectors else None
    if subscores is None:
        return None, None
    by_vector = [each.vector_similarity for field in subscores.vectors or [] for each in field.values()]
    known = [similarity for similarity in by_vector if similarity is not None]
    return (subscores.text.search_score if subscores.text else None), (max(known) if known else None)


def _cosine(score: float) -> float:
    """The cosine of which a score was made: 1 / (1 + (1 - cosine)).

    https://learn.microsoft.com/azure/search/vector-search-ranking
    """
    return 2 - 1 / score if score else -1.0
