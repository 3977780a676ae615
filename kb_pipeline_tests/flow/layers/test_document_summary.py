"""Each article has an entry in the list of documents: its facts and what it is about, beside what people read."""

import json
from pathlib import Path

import pytest

from kb_pipeline.flow.layers import LAYER_NAMES, Run
from kb_pipeline.flow.layers.serving_article import load_manifest
from kb_pipeline.flow.workspace import Workspace
from kb_pipeline.records import Chunk, DocumentEntry, Quoted
from kb_pipeline.search.base import SearchFilter
from kb_pipeline.settings import Settings
from kb_pipeline.steps.chunk import seen_hash
from kb_pipeline.store.state import load_state, save_state
from kb_pipeline.upkeep.reconcile import compare
from kb_pipeline.upkeep.verify import verify
from kb_pipeline.upkeep.versions import pin
from kb_pipeline_tests.conftest import Article, Build
from kb_pipeline_tests.pictures import screenshot
from kb_pipeline_tests.served import assert_consistent

PAGE = """<html lang="de"><body><h1>Tickets</h1>
<p>Tickets hold what customers ask, from the first mail to the last word.</p>
<p><img src="list.png" alt="The list of tickets"></p>
<h2>Merge</h2><p>Merge tickets that ask the same, so that one answer serves all of them.</p>
<h2>Close</h2><p>Closed tickets open again when the customer writes once more.</p></body></html>"""


def document_row(settings: Settings, article_id: str) -> Chunk:
    (row,) = Workspace(settings).index.documents(SearchFilter(article_ids=(article_id,))).documents
    return row


def entry(settings: Settings, article_id: str) -> DocumentEntry:
    found = document_row(settings, article_id).document
    assert found
    return found


def rows(settings: Settings, article_id: str) -> list[Chunk]:
    index = Workspace(settings).index
    return [row.chunk for row in index.find(index.entries([article_id])[article_id])]


@pytest.fixture
def tickets(article: Article) -> Path:
    return article("tickets", PAGE, {"list.png": screenshot("Open tickets")})


@pytest.mark.slow("builds a whole knowledge base")
def test_an_article_says_what_it_is_about_in_its_own_words(tickets: Path, build: Build, settings: Settings) -> None:
    assert build()["tickets"].error is None
    found = entry(settings, "tickets")
    assert Quoted(text="Tickets hold what customers ask, from the first mail to the last word.") in found.summary.brief
    assert [heading.text for heading in found.headings] == ["Merge", "Close"]
    assert (found.filename, found.language, found.upload_date) == ("index.html", "de", "2026-01-01")
    assert found.summary.brief_text in document_row(settings, "tickets").content.replace("\\", "")


def test_a_picture_has_a_row_that_knows_its_section(tickets: Path, build: Build, settings: Settings) -> None:
    build()
    (image,) = [row for row in rows(settings, "tickets") if row.block_type == "image"]
    section = next(row for row in rows(settings, "tickets") if row.id == image.part_of)
    assert image.image_urls == section.image_urls == ("tickets/images/list.png",)
    assert (image.title, image.section_header) == ("Tickets", "Tickets")
    assert image.content.startswith("The list of tickets")
    assert image.content_hash == seen_hash(image)


@pytest.mark.slow("builds a whole knowledge base")
def test_facts_come_from_the_metadata_and_then_from_the_document(
    tickets: Path, build: Build, settings: Settings
) -> None:
    guide = tickets.parent / "guide"
    guide.mkdir()
    (guide / "guide.md").write_text(
        "---\nauthors: [Ann, Bo]\ndocument_type: Guide\nupload_date: 2024-02-03\n---\n# Guide\n\nA guide to guides.\n"
    )
    (guide / "metadata.json").write_text(json.dumps({"document_type": "Manual", "department": "Support"}))
    assert build()["guide"].error is None
    found = entry(settings, "guide")
    assert (found.document_type, found.department, found.author) == ("Manual", "Support", "Ann, Bo")
    assert (found.filename, found.upload_date) == ("guide.md", "2024-02-03")
    page = Workspace(settings).index.documents(SearchFilter(department=("SUPPORT",)))
    assert [row.article_id for row in page.documents] == ["guide"]


@pytest.mark.slow("builds a whole knowledge base")
def test_the_day_on_which_it_came_in_stays(tickets: Path, build: Build, build_here: Build, settings: Settings) -> None:
    build()
    workspace = Workspace(settings)
    state = load_state(workspace.layout, "tickets")
    save_state(workspace.layout, state.model_copy(update={"arrived_at": "2025-12-24T10:00:00+00:00"}))
    (tickets / "index.html").write_text(PAGE.replace("Merge tickets", "Join tickets"))
    build_here()
    assert entry(settings, "tickets").upload_date == "2025-12-24"


def test_what_people_read_is_no_other_version_for_it(
    tickets: Path, build: Build, settings: Settings, monkeypatch: pytest.MonkeyPatch, build_here: Build
) -> None:
    build_here()
    layout = Workspace(settings).layout
    before = load_state(layout, "tickets")
    manifest = (layout.serving("tickets") / "manifest.json").read_bytes()
    monkeypatch.setattr(type(Workspace(settings).analyzer), "summarizer", "another")
    results = build_here()["tickets"]
    assert results.error is None
    made = [layer.name for layer in results.layers if not layer.reused]
    assert made[0] == "document_summary"
    assert "serving_article" not in made
    assert load_state(layout, "tickets").version == before.version
    assert (layout.serving("tickets") / "manifest.json").read_bytes() == manifest
    assert b"facts" not in manifest


def test_a_verification_makes_the_same_rows(tickets: Path, build: Build, settings: Settings) -> None:
    build()
    assert (verify(Workspace(settings), "tickets").problems, compare(Workspace(settings)).is_good) == ((), True)


def test_a_version_that_was_put_back_has_the_summary_that_it_had(
    tickets: Path, build: Build, build_here: Build, settings: Settings
) -> None:
    build()
    before = entry(settings, "tickets")
    (tickets / "index.html").write_text(PAGE.replace("Tickets hold what customers ask", "Tickets are something new"))
    build(run_id="run-2")
    assert entry(settings, "tickets") != before
    pin(Workspace(settings), "tickets", None, Run("rollback", "2026-02-01T00:00:00+00:00"))
    assert build(run_id="rollback")["tickets"].error is None
    assert entry(settings, "tickets") == before
    assert_consistent(settings, "tickets")
    assert all(layer.reused for layer in build()["tickets"].layers)


def test_a_rollback_whose_rows_are_gone_is_summarised_from_its_text(
    tickets: Path, build_here: Build, settings: Settings
) -> None:
    build_here()
    (tickets / "index.html").write_text(PAGE.replace("Merge tickets", "Join tickets"))
    build_here(run_id="run-2")
    workspace = Workspace(settings)
    pin(workspace, "tickets", None, Run("rollback", "2026-02-01T00:00:00+00:00"))
    build_here(run_id="rollback")
    state = load_state(workspace.layout, "tickets")
    path = workspace.layout.chunks("tickets", state.version)
    lines = [line for line in path.read_bytes().splitlines(keepends=True) if b'"block_type"' not in line]
    path.write_bytes(b"".join(lines))
    assert build_here(layers=LAYER_NAMES)["tickets"].error is None
    found = entry(settings, "tickets")
    assert "Merge tickets that ask the same, so that one answer serves all of them." in found.summary.standard_text
    assert load_manifest(workspace.layout.serving("tickets")).title == document_row(settings, "tickets").title


@pytest.mark.slow("builds a whole knowledge base")
def test_topics_come_from_the_author_or_else_from_the_text(tickets: Path, build: Build, settings: Settings) -> None:
    (tickets.parent / "webhooks").mkdir()
    text = "# Webhooks\n\nA webhook calls an address. Test the webhook first.\n"
    (tickets.parent / "webhooks" / "webhooks.md").write_text(text)
    build()
    found = rows(settings, "webhooks")
    assert {row.key_topics for row in found} == {("webhook",)}
    assert all(row.content_hash == seen_hash(row) for row in found)
    (tickets.parent / "webhooks" / "metadata.json").write_text(json.dumps({"key_topics": ["Integration"]}))
    build()
    assert {row.key_topics for row in rows(settings, "webhooks")} == {("Integration",)}
