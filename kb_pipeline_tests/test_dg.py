"""Dagster's own command line works on a checkout without any setting, on the history that ``kb`` writes."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import dagster as dg
import pytest

from kb_pipeline_tests.deploy.files import ROOT

Command = Callable[..., str]
pytestmark = pytest.mark.slow("starts dg, which loads everything")


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """What a clone has of Dagster's files."""
    for name in ("pyproject.toml", "dagster.yaml", "workspace.yaml", "kb_pipeline", "app", "samples"):
        (tmp_path / name).symlink_to(ROOT / name)
    return tmp_path


@pytest.fixture
def run(checkout: Path) -> Command:
    """Run a command there; returns what it prints."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("KB_", "DAGSTER_"))}

    def run(*command: str) -> str:
        programs = Path(sys.executable).parent
        result = subprocess.run(
            [programs / command[0], *command[1:]],
            cwd=checkout,
            env=clean | {"PATH": f"{programs}:{os.environ['PATH']}", "KB_EMBEDDER": "hashing"},
            capture_output=True,
            text=True,
            check=False,
            timeout=200,
        )
        assert result.returncode == 0, result.stdout + result.stderr
        return result.stdout

    return run


@pytest.mark.rare("further commands of dg, each of which loads what a launch loads")
def test_the_definitions_are_checked_and_listed(run: Command) -> None:
    assert "All definitions loaded successfully" in run("dg", "check", "defs")
    listed = json.loads(run("dg", "list", "defs", "--json"))
    assert {"converted_markdown", "chunks", "search_index"} <= {each["asset_key"] for each in listed["assets"]}


def test_a_job_is_launched_into_the_history_that_kb_has(run: Command, checkout: Path) -> None:
    config = {"ops": {"ingest": {"config": {"articles": ["rest-api"]}}}}
    run("dg", "launch", "--job", "ingest_articles", "--config-json", json.dumps(config))
    with dg.DagsterInstance.from_config(str(checkout / ".kb/dagster"), "dagster.yaml") as instance:
        assert [each.job_name for each in instance.get_runs()] == ["ingest_articles"]
