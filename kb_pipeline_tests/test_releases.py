"""One version, told the same everywhere, with what changed."""

import re
import tomllib

from typer.testing import CliRunner

import kb_pipeline
from kb_pipeline.cli import app
from kb_pipeline_tests.deploy.files import ROOT

CHANGES = re.findall(r"^## (\S+)(?: - (\d{4}-\d\d-\d\d))?$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)


def test_the_package_has_the_version_that_the_code_says() -> None:
    assert tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"] == kb_pipeline.__version__


def test_the_command_prints_it() -> None:
    assert CliRunner().invoke(app, ["--version"]).stdout == f"kb {kb_pipeline.__version__}\n"


def test_the_newest_entry_of_the_changelog_is_this_version() -> None:
    (unreleased, none), (newest, day), *_ = CHANGES
    assert (unreleased, none, newest) == ("Unreleased", "", kb_pipeline.__version__)
    assert day


def test_versions_of_the_changelog_descend() -> None:
    versions = [tuple(map(int, version.split("."))) for version, _ in CHANGES[1:]]
    assert versions == sorted(set(versions), reverse=True)


def test_manifests_and_guides_name_its_images() -> None:
    files = [*(ROOT / "deploy/kubernetes").glob("*.yaml"), ROOT / "deploy/README.md"]
    tags = re.findall(r"/kb-(?:app|pipeline):(\S+)", "\n".join(path.read_text() for path in files))
    assert tags
    assert set(tags) == {kb_pipeline.__version__}
