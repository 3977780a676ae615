"""The knowledge base to browse."""

import json
from pathlib import Path

import httpx
import pytest

from kb_pipeline.settings import Settings
from kb_pipeline_tests.app.api.conftest import Serve, signed_in
from kb_pipeline_tests.app.publishing import Author


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


# --- for authors ---------------------------------------------------------------------------------


@pytest.fixture
def author(own: Settings, tmp_path: Path) -> Author:
    return Author(own, tmp_path / "staging")


_CROP = '<img src="crop.png" alt="the crop menu">'
_GONE = '<img src="gone.png" alt="gone">'


def test_a_failing_article_opens_with_its_last_good_version_and_says_why_and_what_to_do(
    serve: Serve, author: Author
) -> None:
    author.replaces("layers", _CROP, _GONE, fails=True)
    service = serve(author.settings)
    article = service.get("/api/articles/layers").json()
    assert "Crop to Content" in article["markdown"]
    assert article["failure"]["reason"].startswith("1 image cannot be shown: image file missing")
    assert article["failure"]["remedy"] == "fix it in staging; it is then ingested again"
    assert article["failure"]["failed_at"] > article["published_at"]
    listed = service.get("/api/articles", params={"status": "failing"}).json()
    assert [each["article_id"] for each in listed["articles"]] == ["layers"]
    assert listed["statuses"] == ["published", "failing", "waiting", "withheld"]
    assert service.get("/api/articles", params={"status": "published"}).json()["total"] == 2
    author.replaces("layers", _GONE, _CROP)
    assert "failure" not in service.get("/api/articles/layers").json()


def test_an_article_that_was_never_published_is_told_to_those_who_review_it_and_to_nobody_else(
    serve: Serve, author: Author
) -> None:
    author.adds_failing("new", f"<h1>New</h1><p>What is new here, with a picture.</p>{_GONE}")
    author.adds_failing("pay", f"<h1>Pay</h1><p>What the director earns, with a picture.</p>{_GONE}", "group-hr")
    service = serve(author.settings.model_copy(update={"reviewers": ("rita", "hugo")}), easy_auth=True)
    told = {"rita": {"new"}, "hugo": {"new", "pay"}, "ann": set()}
    for name, expected in told.items():
        who = signed_in(name, *(["group-hr"] if name == "hugo" else []))
        listed = service.get("/api/articles", params={"status": "failing"}, headers=who).json()["articles"]
        assert {each["article_id"] for each in listed} == expected, name
        for article_id in ("new", "pay"):
            reply = service.get(f"/api/articles/{article_id}", headers=who)
            assert reply.is_success == (article_id in expected), (name, article_id)
            if reply.is_success:
                article = reply.json()
                assert article["failure"]["reason"].startswith("1 image cannot be shown: image file missing")
                assert article["failure"]["remedy"] and not article["markdown"] and article["published_at"] is None


def test_who_is_not_named_for_the_articles_gets_nothing_that_is_for_authors(serve: Serve, author: Author) -> None:
    author.replaces("layers", _CROP, _GONE, fails=True)
    service = serve(author.settings, easy_auth=True)
    reader = signed_in("ann")
    article = service.get("/api/articles/layers", headers=reader).json()
    assert "Crop to Content" in article["markdown"]
    assert not {"failure", "pictures"} & article.keys()
    assert "statuses" not in service.get("/api/articles", headers=reader).json()


def test_what_a_picture_was_read_as_is_told_beside_what_its_author_says(serve: Serve, author: Author) -> None:
    service = serve(author.settings)
    (before,) = service.get("/api/articles/layers").json()["pictures"]
    assert before["file"] == "crop.png" and before["said"] == ""
    assert before["read_as"].startswith("the crop menu.")
    metadata = Path(author.settings.staging) / "layers" / "metadata.json"
    metadata.write_text(json.dumps({"images": {"crop.png": "The menu with the entry for cropping."}}))
    author.publishes("layers")
    article = service.get("/api/articles/layers").json()
    (after,) = article["pictures"]
    assert after["said"] == "The menu with the entry for cropping."
    assert after["read_as"] == before["read_as"]
    assert "> The menu with the entry for cropping." in article["markdown"]
    found = service.get("/api/search", params={"q": "entry for cropping", "mode": "keyword"}).json()["results"]
    assert found[0]["article_id"] == "layers"
    assert after["url"] in [image["url"] for image in found[0]["images"]]


@pytest.mark.parametrize("status", ["magic", "", "published,failing"])
def test_a_status_that_there_is_not_is_422(service: httpx.Client, status: str) -> None:
    assert service.get("/api/articles", params={"status": status}).status_code == 422
