"""The two images: what is in them, who they run as, and that it is what was tested."""

import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from kb_pipeline_tests.deploy.files import DEPLOY, DOCKERFILES, ROOT, pins

BIN = Path(sys.executable).parent
each_image = pytest.mark.parametrize("path", DOCKERFILES, ids=lambda path: path.stem)


def instructions(path: Path, name: str) -> list[str]:
    """The arguments of every instruction of that name, lines joined."""
    joined = re.sub(r"\\\n\s*", " ", re.sub(r"^#.*\n", "", path.read_text(), flags=re.MULTILINE))
    return re.findall(rf"^{name} (.+)$", joined, re.MULTILINE)


def copied(path: Path) -> set[str]:
    """What an image takes from the repository."""
    own = [line.split() for line in instructions(path, "COPY") if "--from=" not in line]
    return {word for words in own for word in words[:-1] if not word.startswith("--")}


def test_there_is_one_for_the_pipeline_and_one_for_the_app() -> None:
    assert [path.name for path in DOCKERFILES] == ["app.Dockerfile", "pipeline.Dockerfile"]


@each_image
def test_a_linter_has_nothing_to_say(path: Path) -> None:
    found = subprocess.run([BIN / "hadolint", path], capture_output=True, text=True, check=False)
    assert (found.stdout, found.returncode) == ("", 0)


def test_everything_that_is_copied_is_sent_and_nothing_else() -> None:
    allowed = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line[:1] == "!"}
    assert set.union(*map(copied, DOCKERFILES)) == allowed
    assert all((ROOT / source).exists() for source in allowed)


@each_image
def test_it_does_not_run_as_root_and_tells_its_health(path: Path) -> None:
    assert instructions(path, "USER")[-1] == "1000:1000"
    assert len(instructions(path, "HEALTHCHECK")) == 1


@each_image
def test_its_base_is_pinned_and_its_packages_are_checked_by_hash(path: Path) -> None:
    assert instructions(path, "ARG") == ["PYTHON=python:3.11.15-slim-bookworm"]
    assert {line.split()[0] for line in instructions(path, "FROM")} == {"${PYTHON}"}
    installs = [line for line in instructions(path, "RUN") if "pip install" in line]
    assert len(installs) == 2
    assert "--no-deps --require-hashes -r " in installs[0]
    assert "--no-index" in installs[1]  # our own package, which brings nothing along


def test_they_are_locked_to_what_is_tested() -> None:
    tested = pins(ROOT / "requirements-dev.lock")
    pipeline, app = pins(DEPLOY / "requirements.lock"), pins(DEPLOY / "app-requirements.lock")
    assert pins(ROOT / "requirements.lock") <= pipeline <= tested
    assert app <= tested
    for name in ("dagster-postgres", "dagster-k8s", "dagster-azure", "ray", "mistralai", "playwright"):
        assert f"{name}=={version(name)}" in pipeline


def test_the_app_has_no_dagster_no_text_recognition_and_no_browser() -> None:
    names = {pin.partition("==")[0] for pin in pins(DEPLOY / "app-requirements.lock")}
    assert not [name for name in names if name.startswith(("dagster", "rapidocr", "opencv", "playwright", "ray"))]


ONLY_WHAT_THE_IMAGE_HAS = """
import importlib, pkgutil, re, sys
from importlib.metadata import packages_distributions

held = set(sys.argv[1].split())
by_module = packages_distributions()

class NothingElse:
    def find_spec(self, name, path=None, target=None):
        distributions = by_module.get(name.partition(".")[0])
        if distributions and not any(re.sub(r"[-_.]+", "-", one).lower() in held for one in distributions):
            raise ModuleNotFoundError(f"{name} is not in the image", name=name)

sys.meta_path.insert(0, NothingElse())
import app
from app.conversations import STORES
from app.settings import AppSettings
from kb_pipeline.models import EMBEDDERS
from kb_pipeline.search import CATALOGS
from kb_pipeline.settings import Settings

script = {"app.page.main", "app.page.__main__", "app.__main__"}  # run when they are imported
for module in pkgutil.walk_packages(app.__path__, "app."):
    if module.name not in script:
        importlib.import_module(module.name)

settings = Settings(
    home=sys.argv[2], openai_api_key="k", search_endpoint="https://x.search.windows.net", search_api_key="k",
    embedder="openai/text-embedding-3-small",
)
ours = AppSettings(cosmos_endpoint="https://x.documents.azure.com", chat_model="m", chat_api_key="k")
for name, opener in EMBEDDERS.items():
    if name != "onnx":  # it needs a folder, and no package that minilm does not
        opener(settings)
for name, opener in CATALOGS.items():
    opener(settings)
for name, opener in STORES.items():
    opener(ours, settings)
from app.api.server import create_app
create_app(ours, settings)
print("served")
"""


@pytest.mark.slow
def test_the_app_runs_with_nothing_but_what_its_image_has(tmp_path: Path) -> None:
    held = {re.sub(r"[-_.]+", "-", pin.partition("==")[0]).lower() for pin in pins(DEPLOY / "app-requirements.lock")}
    arguments = [" ".join(sorted(held | {"kb-pipeline"})), str(tmp_path)]
    script = [sys.executable, "-c", ONLY_WHAT_THE_IMAGE_HAS, *arguments]
    ran = subprocess.run(script, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ran.stdout == "served\n", ran.stderr[-2000:]
