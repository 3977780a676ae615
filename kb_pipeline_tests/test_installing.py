"""The wheel, with what pip brings for it, is the whole product; and what pip brings is what the lock files say."""

import os
import re
import subprocess
import sys
import sysconfig
import tomllib
import venv
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from zipfile import ZipFile

import pytest
from hatchling.builders.wheel import WheelBuilder
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from kb_pipeline import __version__
from kb_pipeline_tests.deploy.files import ROOT, pins

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
HEAVY = re.compile(r"torch|torchvision|transformers|sentence-transformers|triton|tensorflow|(nvidia|cuda)-.*")


def locked(lock: str) -> set[str]:
    return {canonicalize_name(pin.partition("==")[0].partition("[")[0]) for pin in pins(ROOT / lock)}


def required_by(requirement: Requirement) -> Iterator[Requirement]:
    """What an installed package asks for here, with the extras that it is asked for with."""
    try:
        texts = metadata.requires(requirement.name) or []
    except metadata.PackageNotFoundError:
        return
    for text in texts:
        needed = Requirement(text)
        if not needed.marker or any(needed.marker.evaluate({"extra": extra}) for extra in ("", *requirement.extras)):
            yield needed


def brought() -> dict[str, str]:
    """Every package that pip installs with ours, and which one asks for it."""
    found: dict[str, str] = {}
    seen: set[tuple[str, frozenset[str]]] = set()
    waiting = [(Requirement(text), "kb-pipeline") for text in PROJECT["project"]["dependencies"]]
    while waiting:
        requirement, asking = waiting.pop()
        key = (canonicalize_name(requirement.name), frozenset(requirement.extras))
        if key not in seen and (not requirement.marker or requirement.marker.evaluate({"extra": ""})):
            seen.add(key)
            found.setdefault(key[0], asking)
            waiting += [(needed, key[0]) for needed in required_by(requirement)]
    return found


@pytest.mark.slow("builds a whole knowledge base")
def test_pip_brings_what_is_locked_and_nothing_else() -> None:
    assert {name: asking for name, asking in brought().items() if name not in locked("requirements.lock")} == {}


@pytest.mark.parametrize(
    "lock", ["requirements.lock", "requirements-dev.lock", "deploy/requirements.lock", "deploy/app-requirements.lock"]
)
def test_nothing_that_is_installed_is_pytorch_or_alike(lock: str) -> None:
    assert [name for name in locked(lock) if HEAVY.fullmatch(name)] == []


def test_the_lock_files_leave_nothing_out_that_pip_would_bring() -> None:
    assert "uv" not in PROJECT["tool"]
    assert "no-emit-package" not in (ROOT / "scripts/lock.sh").read_text()


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    (built,) = WheelBuilder(str(ROOT)).build(directory=str(folder), versions=["standard"])
    return Path(built)


@pytest.mark.slow("builds a whole knowledge base")
def test_the_wheel_holds_the_samples_and_is_small(wheel: Path) -> None:
    names = set(ZipFile(wheel).namelist())
    assert {"kb_pipeline/.env.example", "kb_pipeline/samples/staging/rest-api/index.html"} <= names
    assert {name.partition("/")[0] for name in names} == {"app", "kb_pipeline", f"kb_pipeline-{__version__}.dist-info"}
    assert wheel.stat().st_size < 4_000_000


@pytest.fixture(scope="module")
def bin_folder(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with the wheel, where the packages of others are those of the tests."""
    folder = tmp_path_factory.mktemp("installed") / "venv"
    venv.create(folder, symlinks=True)
    scheme = sysconfig.get_paths("venv", vars={"base": str(folder), "platbase": str(folder)})
    packages = Path(scheme["purelib"])
    others = [path for path in sys.path if any(Path(path).glob("*.dist-info"))]
    (packages / "others.pth").write_text("\n".join(others))
    pip = [
        sys.executable,
        "-m",
        "pip",
        "--python",
        str(folder / "bin" / "python"),
        "install",
        "--no-deps",
        "--no-index",
    ]
    subprocess.run([*pip, "--ignore-installed", "--quiet", str(wheel)], check=True)
    return folder / "bin"


@pytest.mark.slow("makes an environment, installs the wheel in it, and asks")
def test_from_an_empty_environment_to_a_cited_answer(bin_folder: Path, tmp_path: Path) -> None:
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("KB_", "DAGSTER_", "PYTHON"))}

    def run(*command: str, folder: Path) -> str:
        ran = subprocess.run(
            [bin_folder / command[0], *command[1:]], cwd=folder, env=clean, capture_output=True, text=True, check=False
        )
        assert ran.returncode == 0, ran.stderr
        return ran.stdout

    where = run("python", "-c", "import kb_pipeline; print(kb_pipeline.__file__)", folder=tmp_path)
    assert where.startswith(str(bin_folder.parent))
    run("kb", "init", "mine", folder=tmp_path)
    mine = tmp_path / "mine"
    questions = mine / "samples/evaluation/wrendesk.jsonl"
    questions.write_text("".join(questions.read_text().splitlines(keepends=True)[:3]))  # enough to be asked
    run("kb", "ingest", "--article", "rest-api", folder=mine)
    answer = run("kb", "ask", "How is a request to the REST API authenticated?", folder=mine)
    assert "[Ref #1]" in answer
    assert "REST API" in answer
    assert "wrendesk" in run("kb", "evaluate", folder=mine)  # by the settings that kb init wrote
