"""Repairing from the command line: reconcile, verify, remove."""

import shutil
from pathlib import Path

import pytest

from kb_pipeline.settings import Settings
from kb_pipeline_tests.cli.conftest import Run, page
from kb_pipeline_tests.conftest import Article


@pytest.fixture
def two(run: Run, article: Article) -> None:
    for name in ("one", "two"):
        article(name, page(name, f"Some text about {name}."))
    assert run("ingest").code == 0


def test_reconcile_says_what_was_wrong_and_what_it_did(run: Run, two: None, settings: Settings) -> None:
    shutil.rmtree(Path(settings.home) / "index")
    shutil.rmtree(Path(settings.home) / "serving" / "one")
    said = run("reconcile", "--json")
    assert said.code == 0
    assert said.json["before"]["missing"] == ["one", "two"]
    assert said.json["repaired"]["published_again"] == ["one", "two"]
    assert said.json["after"]["missing"] == []
    assert said.json["built"]["chunks_embedded"] == 0
    assert "wrong: 2 published, but not in the index" in said.err
    assert run("status").code == 0


def test_reconcile_is_not_good_while_articles_are_gone_from_staging(run: Run, two: None, settings: Settings) -> None:
    shutil.rmtree(Path(settings.staging) / "one")
    said = run("reconcile")
    assert said.code == 1
    assert "kb remove --missing" in said.words


def test_verify_finds_what_was_changed_behind_our_back(run: Run, two: None, settings: Settings) -> None:
    good = run("verify", "--all", "--json")
    assert (good.code, len(good.json["articles"])) == (0, 2)
    served = Path(settings.home) / "serving" / "one" / "article.md"
    served.unlink()  # it may share its file with the version
    served.write_text("# Defaced\n")
    said = run("verify", "--article", "one", "--json")
    assert said.code == 1
    assert "article.md" in said.json["articles"][0]["problems"][0]
    assert run("verify", "--article", "two").code == 0
    assert run("reconcile", "--article", "one").code == 0
    assert run("verify", "--article", "one").code == 0
    assert run("verify", "--article", "unknown").code == 2
    assert run("reconcile", "--article", "unknown").code == 2


def test_an_article_that_is_gone_from_staging_is_removed(run: Run, two: None, settings: Settings) -> None:
    shutil.rmtree(Path(settings.staging) / "one")
    said = run("remove", "one", "--json")
    assert (said.code, said.json["removed"]) == (0, ["one"])
    assert run("status", "--json").json["overview"]["articles"] == 1


def test_what_is_not_removed_says_why_and_starts_no_run(run: Run, two: None) -> None:
    for arguments in (("one",), ("unknown",), (), ("one", "--missing")):
        said = run("remove", *arguments)
        assert said.code == 2
        assert "error:" in said.err
    assert run("status").code == 0


def test_missing_articles_are_removed_only_when_somebody_says_yes(run: Run, two: None, settings: Settings) -> None:
    shutil.rmtree(Path(settings.staging) / "two")
    asked = run("remove", "--missing")
    assert asked.code == 2
    assert "two" in asked.err
    assert "--yes" in asked.err
    assert run("remove", "--missing", "--yes", "--json").json["removed"] == ["two"]
    assert "nothing to remove" in run("remove", "--missing").err


def test_a_mass_removal_needs_a_yes_even_by_name(run: Run, article: Article, settings: Settings) -> None:
    names = [f"article-{number}" for number in range(12)]
    for name in names:
        article(name, page(name, "Some text."))
    run("ingest")
    for name in names:
        shutil.rmtree(Path(settings.staging) / name)
    guarded = run("remove", *names)
    assert guarded.code == 2
    assert "not removed unasked" in guarded.words
    assert len(run("remove", *names, "--yes", "--json").json["removed"]) == 12
