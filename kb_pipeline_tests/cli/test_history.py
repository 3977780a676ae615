"""Looking back and going back: versions, diff, rollback, trace."""

import json
from pathlib import Path

import pytest

from kb_pipeline.settings import Settings
from kb_pipeline_tests.building import made_once, stage
from kb_pipeline_tests.cli.conftest import Run, ingest, page
from kb_pipeline_tests.conftest import Article
from kb_pipeline_tests.sources.decks import presentation, slide

pytestmark = pytest.mark.slow("runs whole commands")


@pytest.fixture
def changed(settings: Settings) -> None:
    """An article that was published, and published again after a change."""
    made_once(ingest_twice, settings)


def ingest_twice(settings: Settings) -> None:
    for words in ("The first sentence.", "Another sentence."):
        stage(settings, "one", page("One", words))
        ingest(settings)


def test_versions_newest_first_and_the_one_in_place(run: Run, changed: None) -> None:
    entries = run("versions", "one", "--json").json
    assert [entry["in_place"] for entry in entries] == [True, False]
    assert "readers see it" in run("versions", "one").words
    assert run("versions", "unknown").code == 2


def test_diff_compares_with_what_readers_see(run: Run, changed: None) -> None:
    old = run("versions", "one", "--json").json[1]["id"]
    said = run("diff", "one", old[:6])
    assert said.code == 0
    assert "-The first sentence." in said.out
    assert "+Another sentence." in said.out
    assert run("diff", "one", old, old).out == ""
    assert run("diff", "one", "ffff").code == 2


def test_rollback_and_release(run: Run, changed: None) -> None:
    new, old = [entry["id"] for entry in run("versions", "one", "--json").json]
    back = run("rollback", "one", "--json")
    assert (back.code, back.json["published_version"], back.json["put_back"]) == (0, old, old)
    assert "The first sentence." in run("show", "one", "--markdown").out
    assert "1 rolled back (one)" in run("status").words
    released = run("rollback", "one", "--release", "--json")
    assert (released.code, released.json["published_version"], released.json["put_back"]) == (0, new, None)
    assert "Another sentence." in run("show", "one", "--markdown").out


def test_rollback_to_what_is_not_there_changes_nothing(run: Run, changed: None) -> None:
    said = run("rollback", "one", "ffff")
    assert said.code == 2
    assert "ffff" in said.err
    assert run("rollback", "unknown").code == 2
    assert run("status").code == 0


@pytest.fixture
def one(settings: Settings) -> None:
    """An article that was published."""
    made_once(ingest_one, settings)


def ingest_one(settings: Settings) -> None:
    stage(settings, "one", page("One", "The first sentence."))
    ingest(settings)


def test_a_trace_leads_from_the_passage_to_source_models_and_runs(run: Run, article: Article) -> None:
    article("one", page("One", "The first sentence."))
    ingested = run("ingest", "--json").json
    chunk_id = run("search", "sentence", "--json").json[0]["chunk_id"]
    said = run("trace", chunk_id, "--json")
    assert said.code == 0
    assert said.json["chunk"]["article_id"] == "one"
    assert said.json["published_by"] == ingested["run_id"]
    assert said.json["source_now"] == "unchanged"
    assert said.json["layers"][0]["layer"] == "staged_article"
    shown = run("trace", f' "{chunk_id}",\n').words
    for part in ("The first sentence.", "index.html", "hashing-256", "prompt version", f"/runs/{ingested['run_id']}"):
        assert part in shown


def test_a_trace_says_when_the_source_was_changed_since(
    run: Run, one: None, article: Article, settings: Settings
) -> None:
    chunk_id = json.loads(run("search", "sentence", "--json").out)[0]["chunk_id"]
    article("one", page("One", "Changed."))
    assert run("trace", chunk_id, "--json").json["source_now"] == "changed since"
    (Path(settings.staging) / "one" / "index.html").unlink()
    assert run("trace", chunk_id, "--json").json["source_now"].startswith("gone")


@pytest.mark.parametrize("chunk_id", ["no-such-chunk", "[Ref #3]"])
def test_what_cannot_be_traced_says_what_to_give(run: Run, one: None, chunk_id: str) -> None:
    said = run("trace", chunk_id)
    assert said.code == 2
    assert "chunk id" in said.err


def test_show_is_the_published_version_while_a_newer_one_fails(run: Run, one: None, article: Article) -> None:
    article("one", b"%PDF-1.7")
    run("ingest")
    shown = run("show", "one").out
    assert "The first sentence." in shown
    assert "chunks" in shown


@pytest.fixture
def presentation_published(settings: Settings) -> None:
    made_once(ingest_presentation, settings)


def ingest_presentation(settings: Settings) -> None:
    folder = Path(settings.staging) / "deck"
    folder.mkdir(parents=True)
    slides = [lambda deck, title=title: slide(deck, 1, title, f"About {title}") for title in ("Tickets", "Invoices")]
    (folder / "Help desk.pptx").write_bytes(presentation(*slides))
    ingest(settings)


def test_show_of_a_document_has_its_text_without_marks_and_its_pages(run: Run, presentation_published: None) -> None:
    shown = run("show", "deck").out
    assert "# Tickets" in shown
    assert "<!--" not in shown
    assert "document/Help desk.pptx" in shown
    assert "text: 2" in shown
    assert "<!--" not in run("show", "deck", "--markdown").out
    assert "<!--" not in run("show", "deck", "--json").json["markdown"]


def test_a_page_of_a_document_is_shown_alone(run: Run, presentation_published: None) -> None:
    assert run("show", "deck", "--page", "2", "--markdown").out == "# Invoices\n\n- About Invoices\n"
    shown = run("show", "deck", "--page", "2").words
    assert shown.startswith("# Invoices - About Invoices page 2, read by its text and layout")
    said = run("show", "deck", "--page", "2", "--json").json
    assert (said["page"]["number"], said["markdown"]) == (2, "# Invoices\n\n- About Invoices\n")


@pytest.mark.parametrize("page", ["0", "-1", "3"])
def test_a_page_that_the_document_does_not_have_is_refused(run: Run, presentation_published: None, page: str) -> None:
    said = run("show", "deck", "--page", page)
    assert (said.code, f"deck has no page {page}; it has the pages 1 to 2" in said.words) == (2, True)


def test_a_page_of_an_article_without_pages_is_refused(run: Run, one: None) -> None:
    assert "one has no page 1; it has no pages" in run("show", "one", "--page", "1").words


def test_a_trace_names_the_file_and_the_page(run: Run, presentation_published: None) -> None:
    chunk_id = run("search", "Invoices", "--json").json[0]["chunk_id"]
    traced = run("trace", chunk_id).words
    assert "Help desk.pptx" in traced
    assert "page 2, read by its text and layout" in traced
    assert run("trace", chunk_id, "--json").json["pages"][-1]["number"] == 2
