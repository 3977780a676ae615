"""``kb`` as a process of its own, where start and exit count; ``run`` in this one, where only the command does."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from kb_pipeline.cli import console, main
from kb_pipeline.settings import Settings
from kb_pipeline_tests.building import build_here, stage
from kb_pipeline_tests.defs.conftest import (
    _migrations_read_once,
    _no_output_is_kept,
    _tables_made_once,
    _unsafe_and_fast,
)
from kb_pipeline_tests.pictures import screenshot

__all__ = ["_migrations_read_once", "_no_output_is_kept", "_tables_made_once", "_unsafe_and_fast"]

KB = str(Path(sys.executable).parent / "kb")
HERE = "kb_pipeline_tests.doubles:WorkersHere"


@dataclass(frozen=True)
class Said:
    """What a command wrote, and its exit code."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def words(self) -> str:
        """All that it wrote, on one line."""
        return " ".join(f"{self.out} {self.err}".split())


Run = Callable[..., Said]


@pytest.fixture
def own_environment(settings: Settings) -> dict[str, str]:
    return environment_of(settings)


def environment_of(settings: Settings) -> dict[str, str]:
    return {
        "KB_STAGING": settings.staging,
        "KB_HOME": settings.home,
        "KB_EMBEDDER": "hashing",
        "KB_WORKERS": "1",
        "KB_CHUNK_MIN_TOKENS": "4",
        "COLUMNS": "160",
    }


@pytest.fixture
def kb(own_environment: dict[str, str], tmp_path: Path):
    """Run ``kb`` in an empty folder with the test's own home."""

    def run(*arguments: str, **own: str) -> subprocess.CompletedProcess[str]:
        clean = {key: value for key, value in os.environ.items() if not key.startswith(("KB_", "DAGSTER_"))}
        return subprocess.run(
            [KB, *arguments],
            env=clean | own_environment | own,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=120,
        )

    return run


@pytest.fixture
def run(
    own_environment: dict[str, str], monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> Run:
    """Run a command line as ``kb`` does, and return what it said."""
    for name, value in {"KB_ENGINE": HERE, **own_environment}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)
    for printer in (console.out, console.err):  # made before the environment was set
        monkeypatch.setattr(printer, "width", int(own_environment["COLUMNS"]))

    def call(*arguments: str) -> Said:
        monkeypatch.setattr(sys, "argv", ["kb", *arguments])
        capfd.readouterr()
        with pytest.raises(SystemExit) as left:
            main()
        out, err = capfd.readouterr()
        return Said(int(left.value.code or 0), out, err)

    return call


def ingest(settings: Settings) -> None:
    """``kb ingest`` of what is staged, Dagster's history of it included: for :func:`.building.made_once`."""
    own, command = {"KB_ENGINE": HERE, **environment_of(settings)}, patch.object(sys, "argv", ["kb", "ingest"])
    with patch.dict(os.environ, own), command, pytest.raises(SystemExit) as left:
        main()
    assert not left.value.code


@pytest.fixture
def two_articles(settings: Settings) -> None:
    stage_two_articles(settings)


def stage_two_articles(settings: Settings) -> None:
    stage(
        settings,
        "passwords",
        "<body><h1>Passwords</h1><h2>Reset a password</h2><p>Open the profile menu and choose Reset password.</p>"
        "<img src='menu.image' alt='The profile menu'></body>",
        {"menu.image": screenshot("Profile", "Reset password")},
    )
    stage(
        settings, "invoices", page("Invoices", "An invoice is sent by mail at the end of the month. Keep the invoice.")
    )


def publish_two_articles(settings: Settings) -> None:
    """Without Dagster: for :func:`.building.made_once`."""
    stage_two_articles(settings)
    build_here(settings)


def page(title: str, text: str) -> str:
    """A small article without images."""
    return f"<body><h1>{title}</h1><p>{text}</p></body>"
