"""Dagster's storage is down: a restriction applies all the same, and each command that starts a run says what to do."""

import shutil
import socket
from collections.abc import Callable
from pathlib import Path

import psycopg2
import pytest

from kb_pipeline.cli.instance import dagster_environment
from kb_pipeline.defs import jobs
from kb_pipeline.flow.access import Access
from kb_pipeline.flow.workspace import Workspace
from kb_pipeline.settings import Settings
from kb_pipeline_tests.building import made_once, stage
from kb_pipeline_tests.cli.conftest import Run, ingest, page
from kb_pipeline_tests.conftest import Article
from kb_pipeline_tests.ports import free_port

POSTGRES = Path(__file__).parents[2] / "deploy/postgres/dagster.yaml"
APPLIED = "changed access lists apply all the same"


@pytest.fixture
def dagster(settings: Settings) -> Path:
    """The folder of Dagster's files, after an ingest."""
    made_once(ingest_pay, settings)
    return Path(settings.home) / "dagster"


def ingest_pay(settings: Settings) -> None:
    stage(settings, "pay", page("Pay", "The director is paid in gold coins."))
    ingest(settings)


def replace_by_a_file(path: Path) -> None:
    shutil.rmtree(path)
    path.write_text("in the way")


WAYS: dict[str, tuple[Callable[[Path], object], str]] = {
    "its folder is a file": (replace_by_a_file, "cannot write"),
    "the folder of its files is a file": (lambda home: replace_by_a_file(home / "history"), "cannot be used"),
    "a file is a folder": (
        lambda home: ((home / "history/runs.db").unlink(), (home / "history/runs.db").mkdir()),
        "unable to open database file; check that it can be reached and written",
    ),
    "a file is damaged": (
        lambda home: (home / "history/runs.db").write_bytes(b"rubbish" * 900),
        "history are damaged: ",
    ),
    "its settings are no YAML": (
        lambda home: ((home / "dagster.yaml").unlink(), (home / "dagster.yaml").write_text("storage: [")),
        "dagster.yaml is not valid: ",
    ),
    "its settings are wrong": (
        lambda home: ((home / "dagster.yaml").unlink(), (home / "dagster.yaml").write_text("storrage: {}")),
        "dagster.yaml is not valid: ",
    ),
}


@pytest.mark.slow("runs whole commands")
def test_a_restriction_applies_whatever_is_wrong_with_the_storage(
    run: Run, dagster: Path, settings: Settings, tmp_path: Path
) -> None:
    whole, metadata = tmp_path / "whole", Path(settings.staging) / "pay" / "metadata.json"
    shutil.copytree(dagster, whole, symlinks=True)
    for number, (spoil, told) in enumerate(WAYS.values()):
        spoil(dagster)
        metadata.write_text(f'{{"access_control_list": ["group {number}"]}}')
        said = run(("ingest", "verify", "reconcile")[number % 3])
        assert said.code == 2
        assert told in said.words
        assert said.words.endswith(APPLIED)
        assert "Traceback" not in said.err
        assert Workspace(settings).access.get("pay") == Access(readers=(f"group {number}",))
        shutil.rmtree(dagster) if dagster.is_dir() else dagster.unlink()
        shutil.copytree(whole, dagster, symlinks=True)
    assert run("ingest").code == 0
    assert not Workspace(settings).access.pending()


@pytest.mark.slow("runs whole commands")
def test_a_restriction_applies_while_postgresql_cannot_be_reached(
    run: Run, dagster: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    from dagster_postgres import utils

    monkeypatch.setattr(utils.time, "sleep", lambda _: None)
    monkeypatch.setenv("KB_POSTGRES_URL", f"postgresql://kb:hunter2@127.0.0.1:{free_port()}/kb")
    (dagster / "dagster.yaml").unlink()
    shutil.copy(POSTGRES, dagster / "dagster.yaml")
    (Path(settings.staging) / "pay" / "metadata.json").write_text('{"access_control_list": ["hr"]}')
    said = run("ingest", "--json")
    assert (said.code, said.json["error"].endswith(APPLIED)) == (2, True)
    assert "Connection refused; check that it can be reached and written" in said.json["error"]
    assert "Retrying" not in said.err
    assert "hunter2" not in said.out + said.err
    served = run("serve")
    assert served.code == 2
    assert "Connection refused; check that it can be reached and written" in served.words
    assert "Traceback" not in served.err
    checked = run("check")
    assert checked.code == 1
    assert "history: " in checked.words and "Connection refused; check that it can be reached" in checked.words
    assert Workspace(settings).access.get("pay") == Access(readers=("hr",))


@pytest.mark.slow("waits five seconds for a database that says nothing")
def test_a_postgresql_that_accepts_and_does_not_answer_is_not_waited_for_without_end(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PGCONNECT_TIMEOUT", raising=False)
    for name, value in dagster_environment(settings).items():
        monkeypatch.setenv(name, value)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"postgresql://kb@127.0.0.1:{silent.getsockname()[1]}/kb"
        with pytest.raises(psycopg2.OperationalError, match="timeout expired"):
            psycopg2.connect(url)
    monkeypatch.setenv("PGCONNECT_TIMEOUT", "7")
    assert dagster_environment(settings)["PGCONNECT_TIMEOUT"] == "7"


@pytest.mark.slow("runs whole commands")
def test_a_storage_that_fails_in_the_middle_of_a_run_is_a_sentence(
    run: Run, dagster: Path, article: Article, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    build = jobs.materialize

    def spoil_and_build(*arguments: object) -> object:
        replace_by_a_file(dagster / "history")
        return build(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(jobs, "materialize", spoil_and_build)
    article(
        "pay",
        page("Pay", "The director is paid in silver coins."),
        {"metadata.json": b'{"access_control_list": ["hr"]}'},
    )
    said = run("ingest")
    assert said.code == 2
    assert "Dagster's storage (see" in said.words
    assert said.words.endswith(APPLIED)
    assert "Traceback" not in said.err
    assert Workspace(settings).access.get("pay") == Access(readers=("hr",))


@pytest.mark.slow("runs whole commands")
def test_a_list_that_cannot_be_applied_is_named(
    run: Run, dagster: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    replace_by_a_file(dagster)
    locks = Path(settings.home) / "locks" / "access"
    shutil.rmtree(locks, ignore_errors=True)
    locks.write_text("in the way")
    (Path(settings.staging) / "pay" / "metadata.json").write_text('{"access_control_list": ["hr"]}')
    said = run("ingest")
    assert said.code == 2
    assert f"{APPLIED}, but not those of pay: cannot lock" in said.words
