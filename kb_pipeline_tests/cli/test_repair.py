"""Repairing from the command line: reconcile, verify, remove."""

import shutil
from pathlib import Path

import pytest

from kb_pipeline.settings import Settings
from kb_pipeline_tests.building import made_once, stage
from kb_pipeline_tests.cli.conftest import Run, ingest, page
from kb_pipeline_tests.conftest import Article

pytestmark = pytest.mark.slow("runs whole commands")


@pytest.fixture
def two(settings: Settings) -> None:
    made_once(ingest_two, settings)


def ingest_two(settings: Settings) -> None:
    for name in ("one", "two"):
        stage(settings, name, page(name, f"Some text about {name}."))
    ingest(settings)


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


def test_verify_says_how_to_verify_all_if_it_is_the_turn_of_none(
    run: Run, two: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kb_pipeline.defs.maintenance.sample", lambda *_: [])
    assert "0 articles verified" in (said := run("verify")).words
    assert "verify them all: kb verify --all" in said.words


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
    assert "removed only after confirmation" in guarded.words
    assert len(run("remove", *names, "--yes", "--json").json["removed"]) == 12


def test_a_damaged_index_is_told_by_status_check_and_ingest_and_mended_by_reconcile(
    run: Run, two: None, settings: Settings
) -> None:
    for path in Path(settings.home).glob("index/*/data/*.lance"):
        path.write_bytes(b"noise")
    for command in ("status", "check", "ingest"):
        said = run(command)
        assert said.code == 1
        assert "kb reconcile" in said.words
    said = run("reconcile", "--json")
    assert said.code == 0
    assert "the search index" in " ".join(said.json["repaired"]["mended"])
    assert said.json["built"]["chunks_embedded"] == 0
    for command in ("status", "check", "ingest"):
        assert run(command).code == 0


def test_a_damaged_state_is_told_by_status_and_mended_by_reconcile(run: Run, two: None, settings: Settings) -> None:
    path = Path(settings.home) / "state" / "one.json"
    path.write_text("{ torn")
    said = run("status")
    assert (said.code, str(path) in said.words) == (1, True)
    assert "kb reconcile" in said.words
    assert str(path) in run("reconcile").err
    assert run("status").code == 0


def test_what_cannot_be_mended_is_named_with_what_to_do(
    run: Run, two: None, article: Article, settings: Settings
) -> None:
    article("one", b"%PDF-1.7")  # the source does not say any more what is published
    assert run("ingest").code == 1
    home = Path(settings.home)
    for path in [*home.glob("versions/one/*/article.md"), home / "serving" / "one" / "article.md"]:
        path.write_text("# Defaced\n")
    said = run("reconcile")
    assert said.code == 1
    assert "article.md" in said.words
    assert "kb failures" in said.words


def test_what_is_left_of_an_article_goes_with_remove(run: Run, two: None, settings: Settings) -> None:
    shutil.rmtree(Path(settings.staging) / "one")
    home = Path(settings.home)
    for folder in ("state", "copies/state"):
        (home / folder / "one.json").write_text("{ torn")
    assert run("remove", "one", "--json").json["removed"] == ["one"]
    (home / "converted" / "one").mkdir()
    (home / "copies" / "state" / "one.json").write_text("{ torn")
    assert run("remove", "one", "--json").json["removed"] == ["one"]
    left = [path for path in home.rglob("*") if path.name in ("one", "one.json")]
    assert left == []


@pytest.mark.parametrize("name", ["history/runs.db", "history/runs/index.db", "schedules/schedules.db"])
def test_a_damaged_history_of_dagster_is_named_with_what_to_do(
    run: Run, two: None, settings: Settings, name: str
) -> None:
    path = Path(settings.home) / "dagster" / name
    path.write_bytes(b"noise" * 1000)
    for command in ("ingest", "check"):
        said = run(command)
        assert said.code != 0
        assert str(path) in said.words
        assert "move them away" in said.words
    path.unlink()
    assert run("ingest").code == 0
    assert run("status").code == 0
