"""A conversation that is opened again says which of its references are not what they were."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.settings import AppSettings
from kb_pipeline.settings import Settings
from kb_pipeline_tests.app.api.conftest import openai_of, serving, signed_in
from kb_pipeline_tests.app.publishing import Author

QUESTION = "How do I clear a paper jam?"
JAM = "Open the rear tray and pull the paper out slowly to clear a paper jam."
PATH = "/api/conversations/conv_1"
ANN = signed_in("ann", "group-hr")


@pytest.fixture
def author(own: Settings, tmp_path: Path) -> Author:
    return Author(own, tmp_path / "staging")


@pytest.fixture
def service(author: Author) -> Iterator[httpx.Client]:
    """A service that has answered :data:`QUESTION` from the articles as they were."""
    with serving(AppSettings(), author.settings) as url, httpx.Client(base_url=url, timeout=30) as client:
        openai_of(client).responses.create(input=QUESTION, conversation="conv_1")
        yield client


def stale(service: httpx.Client) -> list[dict[str, Any]]:
    conversation = service.get(PATH).raise_for_status().json()
    assert conversation["not_compared"] is None
    return conversation["turns"][0]["stale"]


def test_an_answer_keeps_what_it_rests_on(service: httpx.Client, author: Author) -> None:
    answer = service.get(PATH).json()["turns"][0]["answer"]
    cited, *_ = (citation for citation in answer["citations"] if citation["used"])
    assert cited["chunk_id"].startswith("printing-")
    assert JAM in cited["passage"]
    assert cited["origin"]["content_hash"]
    assert len(cited["origin"]["generation"]) == 12
    assert (answer["answered_by"], answer["model"], answer["prompt_version"]) == ("extractive", None, None)


def test_nothing_is_stale_while_the_articles_stay_as_they_are(service: httpx.Client) -> None:
    assert stale(service) == []


@pytest.mark.slow("builds a whole knowledge base")
def test_a_section_that_was_rewritten_is_shown_with_its_difference(service: httpx.Client, author: Author) -> None:
    author.replaces("printing", "Open the rear tray", "Open the front tray")
    [reference] = stale(service)
    assert (reference["number"], reference["state"]) == (1, "changed")
    changes = [(piece["change"], piece["text"]) for piece in reference["difference"]]
    assert ("removed", "rear") in changes
    assert ("added", "front") in changes


def test_a_change_elsewhere_in_the_article_is_none(service: httpx.Client, author: Author) -> None:
    author.replaces("printing", "<h2>Paper jam", "<h2>Paper sizes</h2><p>Use A4 or A5.</p><h2>Paper jam")
    assert stale(service) == []


def test_a_removed_article_is_gone(service: httpx.Client, author: Author) -> None:
    author.removes("printing")
    assert stale(service) == [{"number": 1, "state": "gone", "difference": []}]


@pytest.mark.slow("builds a whole knowledge base")
def test_renaming_a_conversation_tells_the_same(service: httpx.Client, author: Author) -> None:
    author.removes("printing")
    renamed = service.patch(PATH, json={"title": "Crops"}).json()
    assert renamed == service.get(PATH).json()


def test_a_difference_is_not_kept_with_the_turn(service: httpx.Client, author: Author) -> None:
    author.replaces("printing", "rear", "front")
    assert stale(service)
    author.replaces("printing", "front", "rear")
    assert stale(service) == []


@pytest.mark.slow("builds a whole knowledge base")
def test_what_a_person_may_not_read_any_more_is_in_no_difference(author: Author) -> None:
    with serving(AppSettings(easy_auth=True), author.settings) as url, httpx.Client(base_url=url) as service:
        for who, conversation in ((ANN, "conv_ann"), (signed_in("bob"), "conv_bob")):
            openai_of(service, **who).responses.create(input=QUESTION, conversation=conversation)
        author.restricts("printing", "group-hr")
        author.replaces("printing", "rear tray", "vault named Sesame")
        of_ann = service.get("/api/conversations/conv_ann", headers=ANN).text
        of_bob = service.get("/api/conversations/conv_bob", headers=signed_in("bob")).text
    assert "Sesame" in of_ann
    assert "Sesame" not in of_bob


@pytest.mark.slow("builds a whole knowledge base")
def test_without_an_index_the_conversation_opens_and_says_that_it_was_not_compared(
    service: httpx.Client, author: Author
) -> None:
    shutil.rmtree(Path(author.settings.home) / "index")
    with serving(AppSettings(), author.settings) as url, httpx.Client(base_url=url) as restarted:
        conversation = restarted.get(PATH).raise_for_status().json()
    assert conversation["turns"][0]["answer"]["answer"]
    assert conversation["turns"][0]["stale"] == []
    assert conversation["not_compared"] == "there is no search index yet; build it with: kb ingest"


def test_an_article_that_says_otherwise_contradicts_the_answer_for_who_may_read_it(author: Author) -> None:
    other = "<h1>Printers</h1><p>To clear a paper jam, open the rear tray and pull the paper out within 5 minutes.</p>"
    own = "pull the paper out within 2 minutes to clear a paper jam."
    author.replaces("printing", "pull the paper out slowly to clear a paper jam.", own)
    with serving(AppSettings(easy_auth=True), author.settings) as url, httpx.Client(base_url=url) as service:
        asked = openai_of(service, **ANN).responses.create(input=QUESTION, conversation="conv_ann")
        opened = service.get("/api/conversations/conv_ann", headers=ANN).json()["turns"][0]
        assert (opened["standing"], opened["stale"]) == ("current", [])
        author.adds("printers", f"<body>{other}</body>", "group-hr")
        [turn] = service.get("/api/conversations/conv_ann", headers=ANN).json()["turns"]
        [reference] = turn["stale"]
        [found] = reference["contradictions"]
        assert (turn["standing"], reference["state"]) == ("contradicted", "contradicted")
        assert (found["says"], found["other_says"]) == ("2 minutes", "5 minutes")
        assert (found["other_article_id"], found["other_title"]) == ("printers", "Printers")
        share = service.post(f"/api/conversations/conv_ann/shares/{asked.id}", headers=ANN).json()["id"]
        assert service.get(f"/api/shares/{share}", headers=ANN).json()["turn"]["standing"] == "contradicted"
        of_bob = service.get(f"/api/shares/{share}", headers=signed_in("bob"))
        assert of_bob.json()["turn"]["standing"] == "current"
        assert "5 minutes" not in of_bob.text
        author.removes("printers")
        assert service.get(f"/api/shares/{share}", headers=ANN).json()["turn"]["standing"] == "current"
