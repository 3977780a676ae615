"""``kb status``: good and quiet, or what needs attention and which command helps."""

import shutil
from pathlib import Path

import pytest

from kb_pipeline.settings import Settings
from kb_pipeline_tests.cli.conftest import Run, page
from kb_pipeline_tests.conftest import Article


def test_an_empty_knowledge_base_needs_nothing(run: Run) -> None:
    said = run("status")
    assert said.code == 0
    assert "nothing needs attention" in said.words


@pytest.mark.slow("runs whole commands")
def test_all_published_is_good(run: Run, article: Article) -> None:
    article("one", page("One", "Some text."))
    ingested = run("ingest", "--json").json
    said = run("status", "--json")
    assert said.code == 0
    assert (said.json["staged"], said.json["overview"]["published"], said.json["needs_attention"]) == (1, 1, {})
    assert said.json["last_run"]["id"] == ingested["run_id"]
    assert "1 staged, 1 published, 0 failing" in run("status").words


@pytest.mark.slow("runs whole commands")
def test_what_needs_attention_is_named_with_the_command_that_helps(
    run: Run, article: Article, settings: Settings
) -> None:
    article("gone", page("Gone", "Some text."))
    article("torn", page("Torn", "Some text."))
    article("broken", b"%PDF-1.7")
    run("ingest")
    article("new", page("New", "Some text."))
    shutil.rmtree(Path(settings.staging) / "gone")
    shutil.rmtree(Path(settings.home) / "serving" / "torn")
    (Path(settings.staging) / "a...b").mkdir()
    said = run("status")
    assert said.code == 1
    for help_ in ("kb failures", "kb ingest --changed", "kb reconcile", "kb remove --missing", "a...b"):
        assert help_ in said.words


@pytest.mark.slow("runs whole commands")
def test_an_older_version_that_keeps_serving_is_told(run: Run, article: Article) -> None:
    article("one", page("One", "Some text."))
    run("ingest")
    article("one", b"%PDF-1.7")
    run("ingest")
    assert "1 of them published in an older version" in run("status").words


@pytest.mark.slow("runs whole commands")
def test_a_folder_without_a_page_fails_and_is_not_called_gone(run: Run, article: Article, settings: Settings) -> None:
    article("one", page("One", "Some text."))
    run("ingest")
    (Path(settings.staging) / "one" / "index.html").unlink()
    said = run("status", "--json")
    assert "one" in said.json["refused"]
    assert said.json["index"]["unstaged"] == []


@pytest.mark.slow("runs whole commands")
def test_a_failed_advisory_check_warns_with_its_reason(run: Run, article: Article) -> None:
    article("one", page("One", "Some text with {{ page.title }} in it."))
    reason = "no_page_code_in_text"
    for command in (("ingest",), ("status",), ("show", "one")):
        said = run(*command)
        assert said.code == 0
        assert reason in said.words
        assert "page.title" in said.words


@pytest.mark.slow("runs whole commands")
def test_status_estimate_and_failures_count_the_same_articles_alike(
    run: Run, article: Article, settings: Settings
) -> None:
    for name in ("good", "edited", "behind", "gone"):
        article(name, page(name.title(), "Some text."))
    article("broken", b"%PDF-1.7")
    run("ingest")
    for name in ("behind", "gone"):
        article(name, b"%PDF-1.7")
    run("ingest", "--changed")
    shutil.rmtree(Path(settings.staging) / "gone")
    article("edited", page("Edited", "Other text."))
    article("new", page("New", "Some text."))
    article("no\tarticle", page("Refused", "Some text."))
    status, estimate, failures = (run(command, "--json").json for command in ("status", "estimate", "failures"))
    failing = {failure["article_id"] for failure in failures}
    assert failing == set(status["overview"]["failures"]) == {"behind", "broken", "gone"}
    assert (status["staged"], estimate["articles"], estimate["up_to_date"], estimate["failing"]) == (5, 2, 1, 2)
    assert {stale["article_id"] for stale in status["stale"]} == {"edited", "new"}
    assert len(status["refused"]) == estimate["refused"] == 1
    assert "articles to ingest: 2, up to date: 1, failing until they change: 2" in run("estimate").words
    assert "1 file or folder is not an article" in run("failures").words


def test_an_index_that_was_never_filled_is_told(run: Run) -> None:
    assert "there is no search index yet; run: kb ingest" in run("status").words


def test_an_empty_index_elsewhere_is_not_taken_for_ours(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("KB_INDEX_URI", str(tmp_path / "theirs"))
    said = run("status").words
    assert f"there is no search index at {tmp_path}/theirs; check KB_INDEX_URI; kb ingest fills it, if" in said
    assert "run: kb ingest" not in said
