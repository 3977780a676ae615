"""The fake refuses what the service refuses, so that a test against it can fail."""

import json
from typing import Any

import pytest

from kb_pipeline_tests.search_service.definitions import Refused
from kb_pipeline_tests.search_service.service import ETAG, FakeSearchService
from kb_pipeline_tests.search_service.words import analyze

FIELDS = [
    {"name": "id", "type": "Edm.String", "key": True, "filterable": True, "sortable": True},
    {"name": "text", "type": "Edm.String", "searchable": True},
    {"name": "tag", "type": "Edm.String", "filterable": True},
    {"name": "tags", "type": "Collection(Edm.String)", "filterable": True},
    {"name": "hidden", "type": "Edm.String", "retrievable": False},
    {"name": "day", "type": "Edm.DateTimeOffset", "filterable": True, "sortable": True},
    {
        "name": "vector",
        "type": "Collection(Edm.Single)",
        "searchable": True,
        "dimensions": 2,
        "vectorSearchProfile": "p",
    },
]
VECTORS = {"algorithms": [{"name": "h", "kind": "hnsw"}], "profiles": [{"name": "p", "algorithm": "h"}]}


def definition(**changed: object) -> dict[str, Any]:
    return {"name": "index", "fields": FIELDS, "vectorSearch": VECTORS, **changed}


@pytest.fixture
def service() -> FakeSearchService:
    service = FakeSearchService()
    service.put("indexes", "index", definition(), None, None)
    return service


def send(service: FakeSearchService, *documents: dict[str, object], action: str = "upload") -> list[int]:
    body = json.dumps({"value": [{"@search.action": action, **each} for each in documents]}).encode()
    return [result["statusCode"] for result in service.index("index", body)[1]["value"]]


@pytest.mark.parametrize("key", ["", "a b", "a/b", "_a", "ü", "a.b", "x" * 1025, None])
def test_illegal_keys(service: FakeSearchService, key: str | None) -> None:
    with pytest.raises(Refused, match="Invalid document key"):
        send(service, {"id": "good"}, {"id": key})
    assert service.count("index") == 0


@pytest.mark.parametrize(
    ("document", "statuses"),
    [
        ({"vector": [1.0]}, [400]),
        ({"tag": "x" * 32_767}, [400]),
        ({"tags": ["ok", "x" * 32_767]}, [400]),
        ({"tags": "ok"}, [400]),
        ({"tag": 1}, [400]),
        ({"text": "x" * 40_000, "tag": None, "vector": [1.0, 0]}, [201]),
    ],
)
def test_documents_that_do_not_fit_the_definition(
    service: FakeSearchService, document: dict[str, object], statuses: list[int]
) -> None:
    assert send(service, {"id": "a", **document}) == statuses


def test_unknown_fields_and_batches_that_are_too_large(service: FakeSearchService) -> None:
    with pytest.raises(Refused, match="does not exist"):
        send(service, {"id": "a", "colour": "red"})
    with pytest.raises(Refused, match="1001 actions"):
        send(service, *({"id": str(number)} for number in range(1001)))
    with pytest.raises(Refused) as caught:
        send(service, {"id": "a", "text": "x" * (16 * 1024 * 1024)})
    assert caught.value.status == 413


@pytest.mark.parametrize(
    "request_body",
    [
        {"filter": "text eq 'a'"},
        {"filter": "colour eq 'a'"},
        {"filter": "tag eq"},
        {"filter": "tags eq 'a'"},
        {"filter": "tag/any()"},
        {"select": "hidden"},
        {"select": "colour"},
        {"orderby": "tag asc"},
        {"searchFields": "tag", "search": "a"},
        {"skip": 100_001},
        {"vectorQueries": [{"kind": "vector", "vector": [1.0], "fields": "vector"}]},
        {"vectorQueries": [{"kind": "vector", "vector": [1.0, 0], "fields": "text"}]},
        {"vectorQueries": [{"kind": "text", "text": "a", "fields": "vector"}]},
        {"search": "a", "queryType": "semantic", "semanticConfiguration": "x"},
        {"filter": "tag eq 1"},
        {"filter": "day ge '2024-05-31'"},
        {"filter": "day ge 2024-05-31"},
        {"filter": "tag ge 2024-05-31T00:00:00Z"},
    ],
)
def test_requests_that_ask_what_the_index_cannot(service: FakeSearchService, request_body: dict[str, object]) -> None:
    send(service, {"id": "a", "text": "a", "vector": [1.0, 0]})
    with pytest.raises(Refused) as caught:
        service.search("index", request_body)
    assert caught.value.status == 400


def test_moments_are_compared_whatever_their_time_zone(service: FakeSearchService) -> None:
    send(
        service,
        {"id": "a", "day": "2024-05-31T01:00:00+02:00"},
        {"id": "b"},
        {"id": "c", "day": "2024-06-01T00:00:00Z"},
    )
    found = service.search("index", {"filter": "day lt 2024-05-31T00:00:00Z"})["value"]
    assert [each["id"] for each in found] == ["a"]
    ordered = service.search("index", {"search": "*", "orderby": "day desc"})["value"]
    assert [each["id"] for each in ordered] == ["c", "a", "b"], "nothing comes before everything"


def test_changes_of_what_somebody_changed_meanwhile(service: FakeSearchService) -> None:
    etag = service.get("indexes", "index")[ETAG]
    service.put("indexes", "index", definition(description="1"), etag, None)
    for match, none_match in ((etag, None), (None, "*")):
        with pytest.raises(Refused) as caught:
            service.put("indexes", "index", definition(description="2"), match, none_match)
        assert caught.value.status == 412
    assert service.get("indexes", "index")["description"] == "1"


@pytest.mark.parametrize(
    "changed",
    [
        {"fields": FIELDS[:-1]},
        {"fields": [{**FIELDS[0], "filterable": False}, *FIELDS[1:]]},
        {"fields": [*FIELDS, FIELDS[1]]},
        {"fields": [*FIELDS, {"name": "more", "type": "Edm.String", "searchable": True, "analyzer": "unknown"}]},
        {"vectorSearch": {"profiles": [{"name": "p", "algorithm": "unknown"}]}},
        {"description": "x" * 4001},
    ],
)
def test_definitions_that_cannot_be_or_cannot_become(service: FakeSearchService, changed: dict[str, object]) -> None:
    with pytest.raises(Refused, match="The request is invalid"):
        service.put("indexes", "index", definition(**changed), None, None)


def test_an_alias_keeps_its_index_and_its_name(service: FakeSearchService) -> None:
    service.put("aliases", "alias", {"name": "alias", "indexes": ["index"]}, None, None)
    send(service, {"id": "a"})
    assert service.count("alias") == 1
    with pytest.raises(Refused, match="mapped to another index first"):
        service.delete("indexes", "index", None)
    with pytest.raises(Refused, match="must name one index"):
        service.put("aliases", "alias", {"name": "alias", "indexes": ["gone"]}, None, None)
    with pytest.raises(Refused, match="There is an alias"):
        service.put("indexes", "alias", definition(name="alias"), None, None)


def test_answers_have_pages(service: FakeSearchService) -> None:
    for start in range(0, 2000, 1000):
        send(service, *({"id": f"k{number:04}"} for number in range(start, start + 1000)))
    page = service.search("index", {"search": "*", "top": 1500, "orderby": "id asc", "count": True})
    assert (len(page["value"]), page["@odata.count"]) == (1000, 2000)
    rest = service.search("index", page["@search.nextPageParameters"])
    assert [rest["value"][0]["id"], rest["value"][-1]["id"]] == ["k1000", "k1499"]
    behind = service.search("index", {"filter": "id gt 'k1998'", "orderby": "id asc", "top": 10})
    assert [each["id"] for each in behind["value"]] == ["k1999"]


def test_words_are_stemmed_without_accents_and_stop_words() -> None:
    assert analyze("Selecting the LAYÉRS of a layer's edge") == ["select", "layer", "layer", "edge"]
