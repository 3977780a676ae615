"""Looking back and going back: versions, diff, rollback, trace."""

import json
from pathlib import Path

import pytest

from kb_pipeline.settings import Settings
from kb_pipeline_tests.cli.conftest import Run, page
from kb_pipeline_tests.conftest import Article


@pytest.fixture
def changed(run: Run, article: Article) -> None:
    """An article that was published, and published again after a change."""
    article("one", page("One", "The first sentence."))
    run("ingest")
    article("one", page("One", "Another sentence."))
    assert run("ingest").code == 0


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


def test_a_trace_says_when_the_source_was_changed_since(run: Run, article: Article, settings: Settings) -> None:
    article("one", page("One", "The first sentence."))
    run("ingest")
    chunk_id = json.loads(run("search", "sentence", "--json").out)[0]["chunk_id"]
    article("one", page("One", "Changed."))
    assert run("trace", chunk_id, "--json").json["source_now"] == "changed since"
    (Path(settings.staging) / "one" / "index.html").unlink()
    assert run("trace", chunk_id, "--json").json["source_now"].startswith("gone")


@pytest.mark.parametrize("chunk_id", ["no-such-chunk", "[Ref #3]"])
def test_what_cannot_be_traced_says_what_to_give(run: Run, article: Article, chunk_id: str) -> None:
    article("one", page("One", "Some text."))
    run("ingest")
    said = run("trace", chunk_id)
    assert said.code == 2
    assert "chunk id" in said.err


def test_show_is_the_published_version_while_a_newer_one_fails(run: Run, article: Article) -> None:
    article("one", page("One", "The first sentence."))
    run("ingest")
    article("one", b"%PDF-1.7")
    run("ingest")
    shown = run("show", "one").out
    assert "The first sentence." in shown
    assert "chunks" in shown
