"""Temporary folders lie in memory where that is possible, and are gone after a run in which all passed."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from kb_pipeline_tests.in_memory import is_place_for_tests

RUN = [sys.executable, "-m", "pytest", "-p", "kb_pipeline_tests.in_memory"]


@pytest.fixture
def told(tmp_path: Path) -> str:
    """The conftest.py of a run that finds memory in a folder of ours, and what a test of it does."""
    (tmp_path / "memory").mkdir()
    imports = "from pathlib import Path\nfrom kb_pipeline_tests import in_memory\n"
    (tmp_path / "conftest.py").write_text(
        f"{imports}in_memory._MEMORY = Path('{tmp_path}/memory')\nin_memory.ROOM = 0\n"
    )
    return "def test_it(tmp_path):\n    (tmp_path / 'left').touch()\n    print(tmp_path)\n    assert {passes}\n"


def left(folder: Path, module: str, *asked: str) -> list[Path]:
    """What the run leaves in memory."""
    (folder / "test_module.py").write_text(module)
    environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    environment.pop("PYTEST_DEBUG_TEMPROOT", None)
    root = Path(__file__).parents[1]
    command = [*RUN, f"--rootdir={folder}", str(folder / "test_module.py"), *asked]
    subprocess.run(command, cwd=root, env=environment, capture_output=True, check=False, timeout=120)
    return list((folder / "memory").rglob("left"))


def test_what_a_failing_test_made_is_left_to_look_at_and_nothing_else(tmp_path: Path, told: str) -> None:
    assert left(tmp_path, told.format(passes=True)) == []
    assert len(left(tmp_path, told.format(passes=False))) == 1


def test_whoever_names_a_place_gets_it(tmp_path: Path, told: str) -> None:
    assert left(tmp_path, told.format(passes=False), f"--basetemp={tmp_path / 'mine'}") == []
    assert len(list((tmp_path / "mine").rglob("left"))) == 1


def test_a_folder_without_room_or_that_is_none_is_not_taken(tmp_path: Path) -> None:
    assert is_place_for_tests(tmp_path, 1)
    assert not is_place_for_tests(tmp_path, 1 << 60)
    assert not is_place_for_tests(tmp_path / "gone", 1)
