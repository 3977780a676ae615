"""A fake of Microsoft Learn's search on loopback: https://learn.microsoft.com/api/search.

It is made by hand: parameters ``search``, ``locale`` and ``$top``; an object with ``results`` and ``count``, where each
result has ``title``, ``url``, ``description`` and more. No answer of the real service was recorded.
"""

from collections.abc import Sequence
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from kb_pipeline_tests.app.model_servers import OwnModel

RESULTS: Sequence[dict[str, Any]] = [
    {
        "title": f"Partitioning and horizontal scaling, part {number}",
        "url": f"https://learn.microsoft.com/en-us/azure/cosmos-db/partitioning-{number}",
        "displayUrl": {"content": "learn.microsoft.com/azure/cosmos-db", "hitHighlights": []},
        "description": f"Learn about\npartitioning, part {number}.",
        "descriptions": [{"content": "Learn about partitioning", "hitHighlights": [{"start": 12, "length": 12}]}],
        "lastUpdatedDate": "2026-01-05T00:00:00+00:00",
        "breadcrumbs": [],
        "category": "Documentation",
    }
    for number in range(1, 6)
]


def results(_: dict[str, Any], request: Request) -> Response:
    """What a search answers: the first ``$top`` results."""
    top = int(request.query_params["$top"])
    return JSONResponse({"facets": {}, "results": RESULTS[:top], "count": len(RESULTS), "srchEng": "fake"})


def learn(answer: Any = results) -> OwnModel:
    """The fake, which answers as it is told."""
    return OwnModel(answer)
