"""``kb init`` makes a folder that works at once, and overwrites nothing."""

import os
import stat
from pathlib import Path

import pytest
from dotenv import dotenv_values

from kb_pipeline.cli.init import SAMPLES
from kb_pipeline_tests.cli.conftest import Run
from kb_pipeline_tests.deploy.files import ROOT


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def here(tmp_path: Path) -> Path:
    """The folder of somebody who begins."""
    (tmp_path / "here").mkdir()
    return tmp_path / "here"


@pytest.fixture
def begin(run: Run, here: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a command there, with no settings in the environment."""
    for name in [name for name in os.environ if name.startswith("KB_")]:
        monkeypatch.delenv(name)
    monkeypatch.chdir(here)
    return run


@pytest.mark.slow("runs whole commands")
def test_a_new_folder_gets_settings_samples_and_the_network(begin: Run, here: Path) -> None:
    said = begin("init", "my articles")
    assert (said.code, said.out) == (0, "cd 'my articles'\nkb ingest\nkb serve\n")
    for name in SAMPLES:
        assert files(here / "my articles/samples" / name) == files(ROOT / "samples" / name)
    settings = dotenv_values(here / "my articles/.env")
    assert settings == {"KB_STAGING": "samples/staging", "KB_EVALUATION": "samples/evaluation"}
    assert "# KB_EMBEDDER=minilm\n" in (here / "my articles/.env").read_text()
    assert stat.S_IMODE((here / "my articles/.env").stat().st_mode) == 0o600
    assert {path.name for path in (here / "my articles").iterdir()} == {".env", ".kb", "samples"}


@pytest.mark.slow("runs whole commands")
def test_what_it_says_to_do_next_finds_articles_and_network(
    begin: Run, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin("init", "mine")
    monkeypatch.chdir(here / "mine")
    assert begin("status", "--json").json["staged"] == 15 + 6  # runbooks and tickets of the network
    assert begin("scenario", "list", "--json").json[0]["loaded"]
    monkeypatch.setenv("KB_EMBEDDER", "hashing")
    assert begin("ingest", "--article", "rest-api", "--article", "telco-runbook-fibre-cut").code == 0


@pytest.mark.slow("runs whole commands")
def test_this_folder_is_the_default(begin: Run, here: Path) -> None:
    (here / "notes.txt").write_text("mine")
    assert begin("init").out == "kb ingest\nkb serve\n"
    assert (here / "samples/staging/rest-api/index.html").is_file()
    assert (here / "notes.txt").read_text() == "mine"


@pytest.mark.parametrize("name", [".env", "samples"])
@pytest.mark.parametrize("kind", ["file", "folder", "broken link"])
def test_nothing_is_overwritten(begin: Run, here: Path, name: str, kind: str) -> None:
    there = here / name
    match kind:
        case "file":
            there.write_text("mine")
        case "folder":
            there.mkdir()
        case _:
            there.symlink_to("nowhere")
    said = begin("init")
    assert said.code == 2
    assert said.err == f"error: {name} would be overwritten; name another folder: kb init FOLDER\n"
    assert [path.name for path in here.iterdir()] == [name]
    assert kind != "file" or there.read_text() == "mine"


def test_a_second_time_is_refused(begin: Run, here: Path) -> None:
    (here / "mine/samples").mkdir(parents=True)
    (here / "mine/.env").touch()
    assert "mine/.env and mine/samples would be overwritten" in begin("init", "mine").err


def test_a_place_that_cannot_be_written_is_named(begin: Run, here: Path) -> None:
    (here / "file").write_text("")
    said = begin("init", "file/mine")
    assert (said.code, said.err.strip()) == (
        2,
        "error: cannot write file/mine (Not a directory); name another folder: kb init FOLDER",
    )


def test_an_interrupted_start_leaves_no_half_samples(begin: Run, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("shutil.copytree", full)
    assert "cannot write mine (No space left on device)" in begin("init", "mine").err
    assert list((here / "mine").iterdir()) == []


@pytest.mark.parametrize("command", ["ingest", "serve"])
def test_without_articles_the_other_commands_say_that_it_makes_some(begin: Run, command: str) -> None:
    said = begin(command)
    assert said.code == 2
    assert "cannot list the staging folder" in said.err
    assert "kb init makes a folder with samples" in said.err
