"""Ingesting from the command line: what is done, what is told, what programs can read."""

from kb_pipeline_tests.cli.conftest import Run, page
from kb_pipeline_tests.conftest import Article


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


def test_an_article_that_is_not_staged_is_refused_before_anything_runs(run: Run, article: Article) -> None:
    article("one", page("One", "Some text."))
    said = run("ingest", "--article", "one", "--article", "tow")
    assert said.code == 2
    assert "tow" in said.err
    assert run("status", "--json").json["overview"]["articles"] == 0


def test_changed_and_article_contradict_each_other(run: Run, article: Article) -> None:
    assert run("ingest", "--changed", "--article", "one").code == 2
