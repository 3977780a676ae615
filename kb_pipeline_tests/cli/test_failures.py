"""Failing articles: listed with what to do, tried again without touching the others."""

import json
from pathlib import Path

import pytest

from kb_pipeline.settings import Settings
from kb_pipeline_tests.cli.conftest import Run, page
from kb_pipeline_tests.conftest import Article


@pytest.mark.slow("runs whole commands")
def test_failures_say_where_why_and_what_to_do(run: Run, article: Article) -> None:
    article("good", page("Good", "Some text."))
    article("broken", b"%PDF-1.7")
    run("ingest")
    said = run("failures", "--json")
    assert said.code == 1
    (failure,) = said.json
    assert (failure["article_id"], failure["kind"], failure["attempts"]) == ("broken", "permanent", 1)
    assert "PDF" in failure["error"]
    assert "fix it in staging" in run("failures").words


@pytest.mark.slow("runs whole commands")
def test_each_kind_of_failure_is_told_what_mends_it(run: Run, settings: Settings, tmp_path: Path) -> None:
    manual, talk = tmp_path / "manual", Path(settings.staging) / "talk"
    for folder in (manual, talk):
        folder.mkdir(parents=True)
    (manual / "broken.html").write_bytes(page("Broken", "Some text.").encode() + b'<p><img src="damaged.png"></p>')
    (manual / "damaged.png").write_bytes(b"no picture")
    (talk / "talk.mp3").write_bytes(b"ID3" + bytes(99))
    run("intake", "add", "folder", str(manual), "--no-ingest")
    run("ingest")
    assert {failure["article_id"]: failure["what_to_do"] for failure in run("failures", "--json").json} == {
        "manual-broken": "fix it in the source manual, then: kb intake run",
        "talk": "change KB_TRANSCRIPTION_MODEL, then: kb retry; or fix it in staging; it is then ingested again",
    }


@pytest.mark.slow("runs whole commands")
def test_no_failure_is_good(run: Run, article: Article) -> None:
    article("good", page("Good", "Some text."))
    run("ingest")
    assert (run("failures").code, run("failures", "--json").json) == (0, [])


@pytest.mark.slow("runs whole commands")
def test_files_that_are_refused_are_named_with_what_to_do(run: Run, article: Article, settings: Settings) -> None:
    article("good", page("Good", "Some text."))
    run("ingest")
    for name in ("old.doc", "figures.numbers"):
        (Path(settings.staging) / name).write_bytes(b"\xd0\xcf\x11\xe0")
    said = run("failures")
    assert "2 files or folders are not articles" in said.words
    assert "old.doc" in said.words
    assert "figures.numbers" in said.words
    assert "2 files or folders are not articles: rename or fix them" in run("status").words


@pytest.mark.slow("runs whole commands")
def test_retry_touches_only_the_failing_ones(run: Run, article: Article) -> None:
    article("good", page("Good", "Some text."))
    article("broken", b"%PDF-1.7")
    article("worse", b"%PDF-1.7")
    run("ingest")
    article("broken", page("Mended", "Some text."))
    again = run("retry", "--json")
    assert (again.code, again.json["articles"], again.json["published"]) == (1, 2, 1)
    assert [failed["article_id"] for failed in json.loads(run("failures", "--json").out)] == ["worse"]


@pytest.mark.slow("runs whole commands")
def test_retry_of_one_article(run: Run, article: Article) -> None:
    article("good", page("Good", "Some text."))
    for name in ("broken", "worse"):
        article(name, b"%PDF-1.7")
    run("ingest")
    article("broken", page("Mended", "Some text."))
    again = run("retry", "--article", "broken", "--article", "good", "--json")
    assert (again.code, again.json["articles"]) == (0, 1)
    assert "not failing, skipped: good" in again.err
    assert run("retry", "--article", "unknown").code == 2


def test_nothing_to_retry_is_good(run: Run) -> None:
    said = run("retry", "--json")
    assert (said.code, said.json["run_id"]) == (0, None)
