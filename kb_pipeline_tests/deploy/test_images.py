"""The two images: what is in them, who they run as, and that it is what was tested."""

import re
import shutil
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
    (base,) = instructions(path, "ARG")
    assert base.partition("@")[0] == "PYTHON=python:3.11.15-slim-bookworm"
    assert {line.split()[0] for line in instructions(path, "FROM")} == {"${PYTHON}"}
    installs = [line for line in instructions(path, "RUN") if "pip install" in line]
    assert len(installs) == 2
    assert "--no-deps --require-hashes -r " in installs[0]
    assert "--no-index" in installs[1]  # our own package, which brings nothing along


UNPINNED = "deploy/unpinned-images.txt"
OURS = ("kb-pipeline", "kb-app", "registry.example.internal/")
"""Images that are made from this repository."""
PINNED = re.compile(r"[a-z0-9./-]+:[A-Za-z0-9._-]+@sha256:[0-9a-f]{64}")


def images_of_others(root: Path) -> set[str]:
    """Every image of somebody else that is named, as it is named."""
    named: set[str] = set()
    for path in (root / "deploy").glob("*.Dockerfile"):
        named |= {line.split("=", 1)[1] for line in instructions(path, "ARG")}
        named |= {line.split()[0] for line in instructions(path, "FROM")} - {"${PYTHON}"}
    manifests = (root / "compose.yaml", *sorted((root / "deploy/kubernetes").glob("*.yaml")))
    for path in (*manifests, *sorted((root / "infra").rglob("*.bicep"))):
        named |= set(
            re.findall(r"^\s*(?:- )?image: ([^\s{&*]+)$", re.sub(r" +#.*", "", path.read_text()), re.MULTILINE)
        )
        named |= set(re.findall(r"^param \w*[iI]mage string = '(.+)'$", path.read_text(), re.MULTILINE))
    parameters = {"image", "initImage", "app.image"}  # of Bicep
    return {name for name in named if not name.startswith(OURS)} - parameters


def unpinned(root: Path) -> list[str]:
    return [line for line in (root / UNPINNED).read_text().splitlines() if not line.startswith("#")]


def test_images_of_others_are_pinned_by_digest_or_listed_as_not_pinned() -> None:
    others = images_of_others(ROOT)
    assert {name.partition(":")[0] for name in others} == {
        "python",
        "postgres",
        "mcr.microsoft.com/azurelinux/base/core",
    }
    assert {name for name in others if not PINNED.fullmatch(name)} == set(unpinned(ROOT))


DIGESTS = """#!/bin/sh
for last; do :; done
printf '%s' "$last" | sha256sum | sed 's/^/sha256:/; s/ .*//'
"""


def deployment(folder: Path, docker: str) -> dict[str, str]:
    """A copy of what names images, and an environment with a Docker of our own."""
    for name in ("compose.yaml", "deploy", "infra", "scripts/pin_images.sh"):
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        (folder / name).parent.mkdir(exist_ok=True, parents=True)
        copy(ROOT / name, folder / name)
    (folder / "bin").mkdir()
    (folder / "bin/docker").write_text(docker)
    (folder / "bin/docker").chmod(0o755)
    return {"PATH": f"{folder / 'bin'}:/usr/bin:/bin"}


def test_the_script_pins_all_that_are_listed_and_renews_one_that_is_named(tmp_path: Path) -> None:
    environment = deployment(tmp_path, DIGESTS)
    script = tmp_path / "scripts/pin_images.sh"
    subprocess.run([script], env=environment, check=True, capture_output=True)
    others = images_of_others(tmp_path)
    assert len(others) == 3
    assert all(PINNED.fullmatch(name) for name in others)
    assert unpinned(tmp_path) == []
    told = (tmp_path / "compose.yaml").read_text()
    (tmp_path / "compose.yaml").write_text(
        re.sub(r"postgres:17-bookworm@sha256:\w+", "postgres:17-bookworm@sha256:0", told)
    )
    subprocess.run([script, "postgres:17-bookworm"], env=environment, check=True, capture_output=True)
    assert (tmp_path / "compose.yaml").read_text() == told


@pytest.mark.parametrize("answer", ["", "sha256:abc", "error", "sha256:" + "g" * 64])
def test_what_is_no_digest_is_written_nowhere(tmp_path: Path, answer: str) -> None:
    environment = deployment(tmp_path, f"#!/bin/sh\necho '{answer}'\n")
    ran = subprocess.run([tmp_path / "scripts/pin_images.sh"], env=environment, check=False, capture_output=True)
    assert ran.returncode
    assert images_of_others(tmp_path) == images_of_others(ROOT)
    assert unpinned(tmp_path) == unpinned(ROOT)


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


@pytest.mark.slow("starts the program")
def test_the_app_runs_with_nothing_but_what_its_image_has(tmp_path: Path) -> None:
    held = {re.sub(r"[-_.]+", "-", pin.partition("==")[0]).lower() for pin in pins(DEPLOY / "app-requirements.lock")}
    arguments = [" ".join(sorted(held | {"kb-pipeline"})), str(tmp_path)]
    script = [sys.executable, "-c", ONLY_WHAT_THE_IMAGE_HAS, *arguments]
    ran = subprocess.run(script, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ran.stdout == "served\n", ran.stderr[-2000:]
