"""GitHub runs what a developer runs, with no rights that it does not need; an audit looks for known weaknesses."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from kb_pipeline_tests.deploy.files import ROOT

WORKFLOWS = sorted((ROOT / ".github/workflows").iterdir())
FORMS = sorted((ROOT / ".github/ISSUE_TEMPLATE").glob("[!c]*.yml"))

each_workflow = pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)


def steps(path: Path) -> list[dict[str, Any]]:
    return [step for job in yaml.safe_load(path.read_text())["jobs"].values() for step in job["steps"]]


@each_workflow
def test_actions_are_pinned_and_leave_no_token(path: Path) -> None:
    used = [step for step in steps(path) if "uses" in step]
    assert all(re.fullmatch(r"actions/[a-z-]+@[0-9a-f]{40}", step["uses"]) for step in used)
    assert all(step["with"]["persist-credentials"] is False for step in used)


@each_workflow
def test_only_what_drafts_a_release_may_write(path: Path) -> None:
    workflow = yaml.safe_load(path.read_text())
    rights = [workflow["permissions"], *(job.get("permissions", {}) for job in workflow["jobs"].values())]
    writes = {name for each in rights for name, right in each.items() if right != "read"}
    assert writes == ({"contents"} if path.stem == "release" else set())


def test_a_change_is_checked_and_tested() -> None:
    assert [step["run"] for step in steps(ROOT / ".github/workflows/ci.yml") if "run" in step] == [
        "make check",
        "make docs",
        ".ci/run",
    ]
    assert (ROOT / ".ci/run").stat().st_mode & 0o111


def test_an_audit_finds_nothing() -> None:
    zizmor = Path(sys.executable).with_name("zizmor")
    audit = subprocess.run([zizmor, "--offline", ROOT / ".github"], capture_output=True, text=True)
    assert audit.returncode == 0, audit.stdout


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.stem)
def test_a_form_asks_one_thing_at_least(path: Path) -> None:
    form = yaml.safe_load(path.read_text())
    assert {"name", "description", "body"} <= form.keys()
    assert any(field.get("validations", {}).get("required") for field in form["body"])
    ids = [field["id"] for field in form["body"] if field["type"] != "markdown"]
    assert len(ids) == len(set(ids))


def test_what_runs_before_a_commit_is_in_the_environment() -> None:
    hooks = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"]
    assert [repo["repo"] for repo in hooks] == ["local"]
    commands = [hook["entry"].split()[0] for hook in hooks[0]["hooks"]]
    assert [command for command in commands if not Path(sys.executable).with_name(Path(command).name).exists()] == []
