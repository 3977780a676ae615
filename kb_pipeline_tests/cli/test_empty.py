"""``kb empty``: everything that was made is gone, nothing that people put in is, and an ingest starts from nothing."""

import io
import os
import re
import signal
import subprocess
from collections.abc import Collection
from pathlib import Path

import dagster as dg
import pytest

from app.callers.principal import Principal
from app.library.articles import Articles
from kb_pipeline.errors import StorageError
from kb_pipeline.flow.access import Access, AccessLists
from kb_pipeline.flow.workspace import Workspace
from kb_pipeline.settings import Settings
from kb_pipeline.store.home import HOME_CONTENTS
from kb_pipeline.upkeep import empty as emptying
from kb_pipeline_tests.building import listing, made_once
from kb_pipeline_tests.cli.conftest import KB, Run, ingest, page, stage_two_articles
from kb_pipeline_tests.conftest import Article

pytestmark = pytest.mark.slow("whole runs against the services' doubles")

PARTS = ["search index", "serving articles", "layers, states and caches", "partitions of Dagster"]
KEPT = {"access", "audit", "contributions", "dagster", "evaluation", "index", "locks", "notes.txt"}


@pytest.fixture
def environment(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The home folder after an ingest and a question, with things of people and of other programs in it."""
    home = Path(settings.home)
    made_once(ingest_two, settings)
    monkeypatch.setenv("DAGSTER_HOME", str(home / "dagster"))
    (home / "evaluation").mkdir(exist_ok=True)
    (home / "evaluation/mine.jsonl").write_text("")
    (home / "contributions").mkdir(exist_ok=True)
    (home / "contributions/mine.md").write_text("")
    (home / "notes.txt").write_text("of somebody else")
    (home / "serving/notes").mkdir()
    (home / "serving/notes/theirs.txt").write_text("of somebody else")
    return home


def ingest_two(settings: Settings) -> None:
    stage_two_articles(settings)
    ingest(settings)


class Terminal(io.StringIO):
    """A standard input at which somebody sits."""

    def isatty(self) -> bool:
        return True


def partitions(home: Path) -> Collection[str]:
    with dg.DagsterInstance.from_config(str(home / "dagster")) as instance:
        return instance.get_dynamic_partitions("articles")


def removed(said: object) -> dict[str, list[str]]:
    return {part["name"]: part["items"] for part in said["parts"]}  # type: ignore[index]


def test_what_was_made_goes_and_what_people_put_in_stays(
    run: Run, environment: Path, settings: Settings, capfd: pytest.CaptureFixture[str]
) -> None:
    staged = listing(Path(settings.staging))
    said = run("empty", "--yes", "--json")
    assert said.code == 0
    assert list(removed(said.json)) == PARTS
    assert removed(said.json)["serving articles"] == ["invoices", "passwords"]
    assert removed(said.json)["partitions of Dagster"] == ["invoices", "passwords"]
    assert "removed serving articles: 2 articles (invoices, passwords)" in said.words
    assert listing(Path(settings.staging)) == staged
    assert {entry.name for entry in environment.iterdir()} - {"serving"} <= KEPT
    assert (environment / "evaluation/mine.jsonl").exists()
    assert (environment / "contributions/mine.md").exists()
    assert [path.name for path in (environment / "serving").iterdir()] == ["notes"]
    assert not partitions(environment)
    assert run("search", "invoice").code == 2  # there is no index


def test_an_ingest_starts_from_nothing(run: Run, environment: Path) -> None:
    run("empty", "--yes")
    ingested = run("ingest")
    assert "2 articles published (0 unchanged)" in ingested.words
    assert "1 image described" in ingested.words
    assert run("search", "invoice", "--json").json


def test_what_would_be_removed_is_shown_and_nothing_is(run: Run, environment: Path) -> None:
    before = {name: data for name, data in listing(environment).items() if not name.startswith("dagster")}
    shown = run("empty", "--dry-run")
    assert "2 articles: invoices, passwords" in shown.words
    document = run("empty", "--dry-run", "--json").json
    assert (document["environment"], document["dry_run"]) == (environment.name, True)
    assert [len(part["items"]) for part in document["parts"]][1] == 2
    assert {name: data for name, data in listing(environment).items() if not name.startswith("dagster")} == before


def test_it_asks_for_the_name_of_the_environment(run: Run, environment: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "add --yes" in run("empty").words
    monkeypatch.setattr("sys.stdin", Terminal())
    for typed, code in (("another", 2), (environment.name, 0)):
        monkeypatch.setattr("typer.prompt", lambda *_, typed=typed, **__: typed)
        assert run("empty").code == code
        assert bool(partitions(environment)) == bool(code)


def test_nothing_left_is_said(run: Run, environment: Path) -> None:
    run("empty", "--yes")
    again = run("empty", "--yes")
    assert (again.code, again.words.endswith("there was nothing to remove")) == (0, True)


def test_staging_is_emptied_only_where_that_is_asked_for(
    run: Run, environment: Path, article: Article, settings: Settings
) -> None:
    staging = Path(settings.staging)
    (staging / "guide.md").write_text("# Guide")
    (staging / "guide.md.metadata.json").write_text("{}")
    (staging / "tour.html").write_text("<h1>Tour</h1>")
    for picture in ("a.png", "tour_files/b.png"):
        (staging / picture).parent.mkdir(exist_ok=True)
        (staging / picture).write_bytes(b"x")
    (staging / "README.md").write_text("not an article")
    assert removed(run("empty", "--yes", "--staging", "--json").json)["staging"] == [
        "guide.md",
        "invoices",
        "passwords",
        "tour.html",
    ]
    assert [path.name for path in staging.iterdir()] == ["README.md"]


def test_conversations_are_deleted_only_where_that_is_asked_for(run: Run, environment: Path) -> None:
    from app.application import AgentApplication
    from kb_pipeline.settings import load_settings

    application = AgentApplication(load_settings())
    application._with_conversations(lambda store: store.begin_turn("ann", "c1", "r1", "How?"))
    kept = environment / "investigations" / "20260101-000000000-0123456789abcdef.jsonl"
    kept.parent.mkdir()
    kept.write_text("{}\n")
    run("empty", "--yes")
    assert (application.count_conversations(), kept.exists()) == (1, True)
    gone = removed(run("empty", "--yes", "--conversations", "--json").json)
    assert (gone["conversations"], gone["investigations"]) == (["1 conversations"], ["1 investigations"])
    assert (application.count_conversations(), kept.exists()) == (0, False)


def test_what_was_restricted_stays_so_for_the_answers_that_are_kept(
    run: Run, environment: Path, settings: Settings
) -> None:
    articles = Articles(Workspace(settings).layout)
    AccessLists(articles.layout).record("invoices", Access(readers=("hr",)), pending=True)
    run("empty", "--yes")
    assert not articles.may_read("invoices", Principal("bob"))
    assert articles.may_read("passwords", Principal("bob"))
    run("ingest")  # it is not restricted where it is staged
    assert articles.may_read("invoices", Principal("bob"))


def test_it_refuses_while_a_run_is_going_on(run: Run, environment: Path) -> None:
    with dg.DagsterInstance.from_config(str(environment / "dagster")) as instance:
        going = dg.DagsterRun(job_name="ingest_articles", status=dg.DagsterRunStatus.STARTED)
        instance.add_run(going)
    refused = run("empty", "--yes")
    assert refused.code == 2
    assert f"ingest_articles {going.run_id}; nothing was removed" in refused.words
    assert len(partitions(environment)) == 2


def test_a_part_that_fails_is_named_and_the_others_are_emptied(
    run: Run, environment: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise StorageError("the container cannot be written; check KB_SERVING")

    monkeypatch.setattr(emptying, "remove_from_serving", fail)
    said = run("empty", "--yes", "--json")
    assert said.code == 1
    assert "failed: serving articles: the container cannot be written; check KB_SERVING" in said.words
    errors = {part["name"]: part["error"] for part in said.json["parts"]}
    assert [name for name, error in errors.items() if error] == ["serving articles"]
    assert not partitions(environment)
    monkeypatch.undo()


@pytest.mark.rare("kills")
def test_it_can_be_killed_and_run_again(environment: Path, own_environment: dict[str, str], run: Run) -> None:
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("KB_", "DAGSTER_"))}
    command = [KB, "empty", "--yes"]
    killed = subprocess.Popen(command, env=clean | own_environment, stderr=subprocess.PIPE, text=True)
    assert killed.stderr
    for line in killed.stderr:  # as soon as the first part is gone
        if re.match("removed search index", line):
            killed.send_signal(signal.SIGKILL)
    killed.wait()
    assert run("empty", "--yes").code == 0
    assert not partitions(environment)
    assert not (HOME_CONTENTS - KEPT - {"serving"}) & {entry.name for entry in environment.iterdir()}
    assert "2 articles published (0 unchanged)" in run("ingest").words


def test_an_index_of_another_program_is_not_even_listed(
    run: Run, environment: Path, own_environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {
        "KB_INDEX": "azure-ai-search",
        "KB_SEARCH_INDEX": "theirs",
        "KB_SEARCH_ENDPOINT": "http://127.0.0.1:9",
        "KB_SEARCH_API_KEY": "key",
    }.items():
        monkeypatch.setenv(name, value)
    assert removed(run("empty", "--yes", "--json").json)["search index"] == []


def test_the_page_and_the_articles_are_named_by_their_place(run: Run, environment: Path, article: Article) -> None:
    article("third", page("Third", "Some text."))
    shown = run("empty", "--dry-run", "--json").json
    assert {part["place"] for part in shown["parts"]} >= {str(environment), str(environment / "serving")}
