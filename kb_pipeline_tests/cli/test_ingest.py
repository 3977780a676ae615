"""Ingesting from the command line: what is done, what is told, what programs can read."""

from pathlib import Path

import pytest

from kb_pipeline_tests.cli.conftest import Run, page
from kb_pipeline_tests.conftest import Article

pytestmark = pytest.mark.slow("runs whole commands")


def test_json_is_one_document_on_stdout(run: Run, article: Article) -> None:
    article("good", page("Good", "Some text about tickets."))
    article("broken", b"%PDF-1.7")
    said = run("ingest", "--json")
    assert said.code == 1
    assert (said.json["articles"], said.json["published"]) == (2, 1)
    failed = said.json["failed"][0]
    assert (failed["article_id"], failed["layer"], failed["transient"]) == ("broken", "converted_markdown", False)
    assert "PDF" in said.err


def test_changed_ingests_what_is_new_or_changed_and_says_why(run: Run, article: Article) -> None:
    for name in ("one", "two"):
        article(name, page(name, "Some text about tickets."))
    assert "2 new: one, two" in run("ingest", "--changed").words
    article("two", page("two", "Another text about tickets."))
    article("three", page("three", "A third one."))
    said = run("ingest", "--changed", "--json")
    assert said.code == 0
    assert {(stale["article_id"], stale["reason"]) for stale in said.json["stale"]} == {
        ("three", "new"),
        ("two", "changed in staging"),
    }
    assert said.json["published"] == 2


def test_changed_without_a_change_starts_no_run(run: Run, article: Article) -> None:
    article("one", page("One", "Some text."))
    run("ingest")
    said = run("ingest", "--changed", "--json")
    assert (said.code, said.json["run_id"], said.json["articles"]) == (0, None, 0)
    assert "nothing to ingest" in said.err


def test_what_is_passed_over_in_staging_is_said_and_ends_with_1(run: Run, article: Article) -> None:
    folder = article("one", page("One", "Some text."))
    (folder / "two.html").write_text(page("Two", "Other text."))
    (folder.parent / "notes.log").write_text("words")
    said = run("ingest", "--json")
    assert (said.code, said.json["published"]) == (1, 1)
    assert "notes.log is a log; if people ask for what it says, rename it to .txt" in said.err
    assert "one: index.html is the article, and 1 page beside it is not read ('two.html')" in said.err
    assert said.json["refused"].keys() == run("status", "--json").json["refused"].keys() == {"notes.log", "one/*.html"}


def test_an_article_that_is_not_staged_is_refused_before_anything_runs(run: Run, article: Article) -> None:
    article("one", page("One", "Some text."))
    said = run("ingest", "--article", "one", "--article", "tow")
    assert said.code == 2
    assert "tow" in said.err
    assert run("status", "--json").json["overview"]["articles"] == 0


def test_changed_and_article_contradict_each_other(run: Run, article: Article) -> None:
    assert run("ingest", "--changed", "--article", "one").code == 2


def test_a_part_of_the_flow_publishes_nothing_and_the_rest_of_it_makes_nothing_again(
    run: Run, article: Article
) -> None:
    article("one", page("One", "Some text about tickets."))
    converted = run("ingest", "--until", "serving_article", "--json")
    assert converted.code == 0
    assert (converted.json["articles"], converted.json["published"]) == (1, 0)
    assert "made up to serving_article, not published" in converted.err
    assert "1 staged, 0 published, 0 failing" in run("status").words
    assert run("search", "tickets").code != 0
    indexed = run("ingest", "--from", "chunks", "--json")
    assert (indexed.code, indexed.json["published"], indexed.json["images_described"]) == (0, 1, 0)
    assert "one" in run("search", "tickets").out
    assert "nothing to ingest" in run("ingest", "--changed").err


def test_an_article_whose_earlier_layers_are_missing_fails_alone_and_says_what_to_make(
    run: Run, article: Article
) -> None:
    article("one", page("One", "Some text about tickets."))
    run("ingest", "--until", "serving_article")
    article("two", page("Two", "Another text about tickets."))
    said = run("ingest", "--from", "chunks", "--json")
    assert (said.code, said.json["published"]) == (1, 1)
    (failed,) = said.json["failed"]
    assert (failed["article_id"], failed["layer"]) == ("two", "chunks")
    assert "not made yet; materialize them first" in failed["error"]


def test_a_wrong_layer_is_answered_with_the_list_of_layers(run: Run, article: Article) -> None:
    article("one", page("One", "Some text."))
    for options in (("--until", "serving"), ("--from", "../chunks"), ("--from", "chunks", "--until", "staged_article")):
        said = run("ingest", *options)
        assert said.code == 2
        assert "staged_article, converted_markdown, image_descriptions" in said.words
    assert run("ingest", "--changed", "--from", "chunks").code == 2
    assert run("status", "--json").json["overview"]["articles"] == 0


def test_a_folder_that_another_program_made_is_taken_as_it_is_and_what_is_gone_is_removed(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("one", "two"):
        (tmp_path / "foreign" / name).mkdir(parents=True)
        (tmp_path / "foreign" / name / "article.md").write_text(f"# {name}\n\nSome text about tickets.\n")
    said = run("ingest", "--serving", str(tmp_path / "foreign"), "--json")
    assert (said.code, said.json["articles"], said.json["published"]) == (0, 2, 2)
    (tmp_path / "foreign" / "two" / "article.md").unlink()
    (tmp_path / "foreign" / "two").rmdir()
    monkeypatch.setenv("KB_STAGING", str(tmp_path / "foreign"))
    monkeypatch.setenv("KB_STAGING_HOLDS", "serving")
    assert run("remove", "--missing", "--yes").code == 0
    assert run("status", "--json").json["overview"]["articles"] == 1


def test_sources_and_a_serving_folder_contradict_each_other(run: Run, tmp_path: Path) -> None:
    assert run("ingest", "--staging", str(tmp_path), "--serving", str(tmp_path)).code == 2
