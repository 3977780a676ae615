"""Search requests against the documents of one index: checking, filtering, ranking, paging."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from kb_pipeline_tests.search_service.definitions import Definition, Refused
from kb_pipeline_tests.search_service.documents import Document, Documents
from kb_pipeline_tests.search_service.odata import Filter, FilterError, parse
from kb_pipeline_tests.search_service.words import analyze, bm25, parse_query

Request = Mapping[str, Any]
Scores = dict[str, float]
Vectorize = Callable[[str], Sequence[float]]
_PAGE = 1000
_MOST_SKIPPED = 100_000
_LITERALS = {
    "Edm.String": "string",
    "Edm.Int32": "number",
    "Edm.Int64": "number",
    "Edm.Double": "number",
    "Edm.DateTimeOffset": "moment",
}


@dataclass
class Ranking:
    """Scores by key, best first, and those of the halves that they were made of: words, and each vector field."""

    scores: Scores
    words: Scores = field(default_factory=dict)
    vectors: dict[str, Scores] = field(default_factory=dict)
    reranked: Scores = field(default_factory=dict)


def search(documents: Documents, definition: Definition, request: Request, vectorize: Vectorize) -> dict[str, Any]:
    """The answer to a search request, one page of it."""
    _check(documents, request)
    candidates = _candidates(documents, request)
    ranking = _rank(documents, definition, request, candidates, vectorize)
    order = list(ranking.scores)
    skip, top = request.get("skip") or 0, request["top"] if request.get("top") is not None else 50
    page = order[skip : skip + min(top, _PAGE)]
    answer: dict[str, Any] = {"value": [_result(documents, request, ranking, key) for key in page]}
    if request.get("count"):
        answer["@odata.count"] = len(order)
    if len(page) == _PAGE and top > _PAGE:
        rest = {**request, "skip": skip + _PAGE, "top": top - _PAGE}
        answer |= {"@search.nextPageParameters": rest, "@odata.nextLink": "docs/search.post.search"}
    return answer


def _check(documents: Documents, request: Request) -> None:
    for wanted, use in (("select", "retrievable"), ("searchFields", "searchable"), ("orderby", "sortable")):
        for name in _names(request.get(wanted)):
            known = documents.fields.get(name.split(" ")[0])
            if known is None:
                raise Refused(400, f"Invalid expression: Could not find a property named '{name}'")
            if known.get(use) is False or (use != "retrievable" and not known.get(use)):
                raise Refused(400, f"The field '{name}' is not {use}")
    if (request.get("skip") or 0) > _MOST_SKIPPED:
        raise Refused(400, f"$skip must be at most {_MOST_SKIPPED}")


def _names(value: str | None) -> list[str]:
    return [name.strip() for name in (value or "").split(",") if name.strip()]


def _filter(documents: Documents, text: str | None) -> Filter | None:
    if not text:
        return None
    try:
        parsed = parse(text)
    except FilterError as exc:
        raise Refused(400, f"Invalid expression: {exc} in '{text[:100]}'") from exc
    for name in parsed.fields | parsed.collections:
        if not documents.fields.get(name, {}).get("filterable"):
            raise Refused(400, f"Invalid expression: '{name}' is not a filterable field")
        if documents.fields[name]["type"].startswith("Collection") != (name in parsed.collections):
            raise Refused(400, f"Invalid expression: '{name}' is used as what it is not")
    for name, kind in parsed.compared:
        if kind != "word" and kind != _LITERALS.get(documents.fields[name]["type"], kind):
            raise Refused(400, f"Invalid expression: a binary operator with incompatible types compares '{name}'")
    return parsed


def _candidates(documents: Documents, request: Request) -> dict[str, Document]:
    """The documents that meet the filter."""
    condition = _filter(documents, request.get("filter"))
    shown = documents.shown
    if condition is None:
        return dict(shown)
    keys: Iterable[str] | None = None
    for name, values in condition.one_of.items():
        keys = documents.having(name, values) if keys is None else keys
    if keys is None and documents.key in condition.above:
        keys = documents.keys_above(condition.above[documents.key])
        if request.get("orderby") == f"{documents.key} asc" and not request.get("count"):
            return _first(shown, keys, condition, (request.get("skip") or 0) + (request.get("top") or _PAGE))
    return {key: shown[key] for key in (shown if keys is None else keys) if condition.test(shown[key])}


def _first(shown: Mapping[str, Document], keys: Iterable[str], condition: Filter, most: int) -> dict[str, Document]:
    found: dict[str, Document] = {}
    for key in keys:
        if condition.test(shown[key]):
            found[key] = shown[key]
            if len(found) == most:
                break
    return found


def _rank(
    documents: Documents,
    definition: Definition,
    request: Request,
    candidates: dict[str, Document],
    vectorize: Vectorize,
) -> Ranking:
    text = request.get("search")
    vectors = request.get("vectorQueries") or []
    if text in (None, "", "*") and not vectors:
        return Ranking(dict.fromkeys(_ordered(documents, request, candidates), 1.0))
    words = _by_words(documents, request, candidates, text) if text not in (None, "", "*") else {}
    nearest = {
        name: _by_vector(documents, definition, candidates, query, name, vectorize)
        for query in vectors
        for name in _names(query.get("fields")) or [""]
    }
    if vectors and text not in (None, "", "*"):
        ranking = Ranking(_fused(words, *nearest.values()), words, nearest)
    elif len(nearest) > 1:
        ranking = Ranking(_fused(*nearest.values()), {}, nearest)
    elif vectors:
        (cosines,) = nearest.values()
        ranking = Ranking(_best({key: 1 / (2 - cosine) for key, cosine in cosines.items()}), {}, nearest)
    else:
        ranking = Ranking(_best(words), words)
    return _reranked(definition, request, candidates, ranking) if request.get("queryType") == "semantic" else ranking


def _ordered(documents: Documents, request: Request, candidates: dict[str, Document]) -> list[str]:
    keys = list(candidates)
    for clause in reversed(_names(request.get("orderby"))):
        name, _, direction = clause.partition(" ")
        keys.sort(key=partial(_place, candidates, name), reverse=direction == "desc")
    return keys


def _place(candidates: dict[str, Document], name: str, key: str) -> tuple[bool, Any]:
    """Nulls come before all values."""
    value = candidates[key][name]
    return (value is not None, value if value is not None else "")


def _by_words(documents: Documents, request: Request, candidates: dict[str, Document], text: str) -> Scores:
    searchable = [name for name, known in documents.fields.items() if known.get("searchable")]
    chosen = _names(request.get("searchFields")) or [
        name for name in searchable if not documents.fields[name].get("dimensions")
    ]
    said = {key: analyze(" ".join(_text(document[name]) for name in chosen)) for key, document in candidates.items()}
    return bm25(parse_query(text), said)


def _text(value: object) -> str:
    return " ".join(map(str, value)) if isinstance(value, list) else str(value or "")


def _by_vector(
    documents: Documents,
    definition: Definition,
    candidates: dict[str, Document],
    query: Request,
    name: str,
    vectorize: Vectorize,
) -> Scores:
    known = documents.fields.get(name)
    if not known or not known.get("dimensions"):
        raise Refused(400, f"The field '{name}' is no vector field")
    if query["kind"] == "text":
        if not _has_vectorizer(definition, known["vectorSearchProfile"]):
            raise Refused(400, f"The vector profile of '{name}' has no vectorizer")
        asked = np.asarray(vectorize(query["text"]), np.float32)
    else:
        asked = np.asarray(query["vector"], np.float32)
    if asked.shape != (known["dimensions"],):
        raise Refused(400, f"The vector field '{name}' has {known['dimensions']} dimensions, the query {asked.size}")
    keys = [key for key, document in candidates.items() if isinstance(document[name], np.ndarray)]
    if not keys:
        return {}
    matrix = np.stack([candidates[key][name] for key in keys])
    norms = np.linalg.norm(matrix, axis=1) * np.linalg.norm(asked)
    cosines = matrix @ asked / np.where(norms == 0, 1, norms)
    best = _best(dict(zip(keys, map(float, cosines), strict=True)))
    return dict(list(best.items())[: query.get("k") or 50])


def _has_vectorizer(definition: Definition, profile: str) -> bool:
    return any(each["name"] == profile and each.get("vectorizer") for each in definition["vectorSearch"]["profiles"])


def _fused(*rankings: Scores) -> Scores:
    scores: Scores = {}
    for ranking in rankings:
        for rank, key in enumerate(_best(ranking), 1):
            scores[key] = scores.get(key, 0.0) + 1 / (60 + rank)
    return _best(scores)


def _best(scores: Scores) -> Scores:
    return dict(sorted(scores.items(), key=lambda item: -item[1]))


def _reranked(definition: Definition, request: Request, candidates: dict[str, Document], ranking: Ranking) -> Ranking:
    """By the share of the question's words that title and content hold: not how the service does it."""
    semantic = definition.get("semantic") or {}
    name = request.get("semanticConfiguration") or semantic.get("defaultConfiguration")
    known = {each["name"]: each["prioritizedFields"] for each in semantic.get("configurations") or []}
    if name not in known:
        raise Refused(400, f"There is no semantic configuration '{name}'")
    fields = [known[name].get("titleField"), *(known[name].get("prioritizedContentFields") or [])]
    asked = set(analyze(request.get("semanticQuery") or request["search"]))
    shares = {}
    for key in list(ranking.scores)[:50]:
        said = analyze(" ".join(_text(candidates[key][each["fieldName"]]) for each in fields if each))
        shares[key] = 4 * len(asked & set(said)) / (len(asked) or 1)
    rest = {key: score for key, score in ranking.scores.items() if key not in shares}
    order = {key: ranking.scores[key] for key in _best(shares)} | rest
    return Ranking(order, ranking.words, ranking.vectors, shares)


def _result(documents: Documents, request: Request, ranking: Ranking, key: str) -> dict[str, Any]:
    document = documents.shown[key]
    shown = _names(request.get("select")) or [
        name for name, known in documents.fields.items() if known.get("retrievable", True)
    ]
    result: dict[str, Any] = {"@search.score": ranking.scores[key], **{name: _plain(document[name]) for name in shown}}
    if key in ranking.reranked:
        result["@search.rerankerScore"] = ranking.reranked[key]
    if request.get("debug") in ("vector", "all"):
        result["@search.documentDebugInfo"] = {"vectors": {"subscores": _subscores(ranking, key)}}
    return result


def _subscores(ranking: Ranking, key: str) -> dict[str, Any]:
    subscores: dict[str, Any] = {}
    if key in ranking.words:
        subscores["text"] = {"searchScore": ranking.words[key]}
    cosines = {name: scores[key] for name, scores in ranking.vectors.items() if key in scores}
    if cosines:
        subscores["vectors"] = [
            {name: {"searchScore": 1 / (2 - cosine), "vectorSimilarity": cosine}} for name, cosine in cosines.items()
        ]
    return subscores


def _plain(value: object) -> object:
    return value.tolist() if isinstance(value, np.ndarray) else value
