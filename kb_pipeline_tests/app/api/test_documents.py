"""The documents of the knowledge base: a list with filters and sorting, and one with its summaries."""

from datetime import date

import httpx
import pytest

from app.client import Client, ClientError
from app.schema.documents import DocumentListParameters


def test_every_document_is_listed_with_what_it_is_about(service: httpx.Client) -> None:
    listed = service.get("/api/documents", params={"sort": "title"}).json()
    assert [document["article_id"] for document in listed["documents"]] == ["layers", "printing", "hostile"]
    assert listed["total"] == 3
    first = listed["documents"][0]
    assert (first["title"], first["filename"], first["page_count"]) == ("Layers", "index.html", 0)
    assert first["summary_brief"]


def test_a_page_of_the_list_says_how_many_there_are(service: httpx.Client) -> None:
    page = service.get("/api/documents", params={"sort": "title", "limit": 1, "offset": 1}).json()
    assert (page["total"], [document["article_id"] for document in page["documents"]]) == (3, ["printing"])


def test_a_document_is_shown_with_its_summaries_and_headings(service: httpx.Client) -> None:
    document = service.get("/api/documents/layers").json()
    assert document["summary_brief"] == " ".join(sentence["text"] for sentence in document["brief"])
    assert document["summary_brief"] in document["summary_standard"]
    assert [heading["text"] for heading in document["headings"]] == ["Crop a layer", "Undo a crop"]


@pytest.mark.parametrize(
    ("filters", "total"),
    [
        ({"type": "Manual"}, 0),
        ({"filename": "INDEX.html"}, 3),
        ({"since": "2000-01-01", "until": "2999-12-31"}, 3),
        ({"until": "2000-01-01"}, 0),
        ({"department": "' OR '1'='1"}, 0),
    ],
)
def test_filters_limit_the_list(service: httpx.Client, filters: dict[str, str], total: int) -> None:
    assert service.get("/api/documents", params=filters).json()["total"] == total


@pytest.mark.parametrize(
    "wrong",
    [{"since": "yesterday"}, {"sort": "content"}, {"limit": 0}, {"limit": 501}, {"offset": -1}, {"colour": "red"}],
)
def test_a_list_that_cannot_be_made_is_422(service: httpx.Client, wrong: dict[str, object]) -> None:
    assert service.get("/api/documents", params=wrong).status_code == 422  # type: ignore[arg-type]


@pytest.mark.parametrize("article_id", ["secret", "nothing", "..", "x' OR '1'='1"])
def test_a_document_that_is_not_for_them_is_not_there(service: httpx.Client, article_id: str) -> None:
    reply = service.get(f"/api/documents/{article_id}")
    assert reply.status_code == 404


def test_a_client_lists_and_opens_documents(service: httpx.Client) -> None:
    client = Client(str(service.base_url))
    found = client.documents(DocumentListParameters(sort="title", since=date(2000, 1, 1), filename=("index.html",)))
    assert [document.article_id for document in found.documents] == ["layers", "printing", "hostile"]
    assert client.document("layers").headings[0].text == "Crop a layer"
    with pytest.raises(ClientError):
        client.document("nothing")
