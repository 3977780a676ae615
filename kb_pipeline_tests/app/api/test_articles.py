"""The knowledge base to browse."""

from pathlib import Path

import httpx
import pytest

from kb_pipeline.settings import Settings
from kb_pipeline_tests.app.api.conftest import Serve


def test_articles_are_listed_by_title_and_found_by_it(service: httpx.Client) -> None:
    listed = service.get("/api/articles").json()
    assert [article["title"] for article in listed["articles"]] == ["Layers", "Printing", "Toner"]
    assert listed["articles"][0]["images"] == 1 and listed["articles"][0]["chunks"] > 1
    found = service.get("/api/articles", params={"search": "PRINT", "limit": 1}).json()
    assert (found["total"], found["articles"][0]["article_id"]) == (1, "printing")


@pytest.mark.slow("builds a whole knowledge base")
def test_an_article_is_shown_with_its_images_chunks_and_origin(service: httpx.Client) -> None:
    article = service.get("/api/articles/layers").json()
    (image,) = article["images"]
    assert f"]({image['url']})" in article["markdown"]
    assert service.get(image["url"]).headers["content-type"] == "image/png"
    assert [chunk["heading_path"][-1] for chunk in article["chunks"]] == ["Crop a layer", "Undo a crop"]
    assert article["run_url"].endswith("/runs/11111111-2222-3333-4444-555555555555")


def test_a_search_shows_what_each_half_thinks(service: httpx.Client) -> None:
    hits = service.get("/api/search", params={"q": "paper jam", "top": 3}).json()["results"]
    assert hits[0]["article_id"] == "printing"
    assert hits[0]["keyword_score"] > 0 and hits[0]["vector_score"] is not None
    words = service.get("/api/search", params={"q": "paper jam", "mode": "keyword"}).json()["results"]
    assert all(hit["vector_score"] is None for hit in words)


@pytest.mark.parametrize("params", [{}, {"q": ""}, {"q": "x", "mode": "magic"}, {"q": "x", "top": 0}])
def test_a_search_that_cannot_be_done_is_422(service: httpx.Client, params: dict[str, str]) -> None:
    assert service.get("/api/search", params=params).status_code == 422


def test_suggested_questions_come_from_the_articles(service: httpx.Client) -> None:
    questions = service.get("/api/suggestions").json()["questions"]
    assert "How do I crop a layer?" in questions
    assert not any("salar" in question.lower() for question in questions)


def test_a_damaged_article_hides_no_other(serve: Serve, own: Settings) -> None:
    (Path(own.home) / "serving" / "printing" / "manifest.json").write_text("{")
    listed = serve().get("/api/articles").json()["articles"]
    assert [article["article_id"] for article in listed] == ["layers", "hostile"]
