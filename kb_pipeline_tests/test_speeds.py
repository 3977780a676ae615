"""A test over a second says why, or it fails; what is busy beside it is not its fault."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import hypothesis
import pytest

Suite = Callable[..., str]
pytestmark = pytest.mark.slow("starts pytest")

BUSY = """
import time
from pathlib import Path
from kb_pipeline_tests import speeds

waited = speeds._waited
speeds._RECORD = Path(__file__).with_name("seconds.json")
speeds._waited = lambda: {waited}
speeds.LIMIT = 0.6
"""
SECONDS = {"usual": {"test_module.py": 1.0, "test_other.py": 2.0}, "rare": {"test_module.py": 5.0}}
SLEEPS = "import time\nimport pytest\n\n{mark}\ndef test_it():\n    time.sleep(0.7)\n"


@pytest.fixture
def suite(tmp_path: Path) -> Suite:
    """Run pytest on a module with the plugin, with a lower limit, and as if nobody waited for a core.

    Returns what it writes.
    """

    def run(module: str, *asked: str, waited: str = "0.0") -> str:
        (tmp_path / "conftest.py").write_text(BUSY.format(waited=waited))
        (tmp_path / "test_module.py").write_text(module)
        (tmp_path / "seconds.json").write_text(json.dumps(SECONDS))
        command = [sys.executable, "-m", "pytest", "-p", "kb_pipeline_tests.speeds", f"--rootdir={tmp_path}"]
        root = Path(__file__).parents[1]
        environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}  # it has none but this one to load
        result = subprocess.run(
            [*command, str(tmp_path), *asked],
            cwd=root,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        return result.stdout + result.stderr

    return run


def test_a_test_over_a_second_without_a_mark_fails_and_says_what_to_do(suite: Suite) -> None:
    written = suite(SLEEPS.format(mark=""))
    assert "1 failed" in written
    assert " s: make it cheaper, or say why not: @pytest.mark.slow('why')" in written


@pytest.mark.parametrize("mark", ["slow", "rare"])
def test_with_a_reason_it_may(suite: Suite, mark: str) -> None:
    assert "1 passed" in suite(SLEEPS.format(mark=f"@pytest.mark.{mark}('waits')"))


def test_a_mark_without_a_reason_is_refused(suite: Suite) -> None:
    written = suite(SLEEPS.format(mark="@pytest.mark.slow"))
    assert "say why it takes so long: @pytest.mark.slow('why')" in written
    assert "passed" not in written


def test_what_takes_long_only_the_first_times_is_no_fault(suite: Suite) -> None:
    first = "import time\ntimes = []\n\ndef test_it():\n    times.append(1)\n    len(times) > 2 or time.sleep(0.7)\n"
    assert "1 passed" in suite(first)


@pytest.mark.parametrize(("scope", "outcome"), [("module", "1 failed, 1 passed"), ("session", "2 passed")])
def test_what_is_set_up_for_a_module_counts_and_for_the_session_does_not(
    suite: Suite, scope: str, outcome: str
) -> None:
    shared = f"import time\nimport pytest\n\n@pytest.fixture(scope='{scope}')\ndef server():\n    time.sleep(0.7)\n\n"
    assert outcome in suite(shared + "def test_it(server): pass\n\ndef test_another(server): pass\n")


SHARED = """
import time
import pytest

@pytest.fixture(scope="module")
def server():
    time.sleep(0.7)
    yield
    time.sleep(0.7)

@pytest.mark.slow("starts a server")
def test_first(server): pass

def test_last(server): pass
"""


@pytest.mark.parametrize("asked", [(), ("-k", "test_last")])
def test_what_a_marked_test_says_holds_for_what_its_module_sets_up_and_tears_down(
    suite: Suite, asked: tuple[str, ...]
) -> None:
    assert "failed" not in suite(SHARED, *asked)


@pytest.mark.parametrize("place", ["pathlib.Path", "builtins"])
def test_a_test_that_lets_nothing_be_opened_is_measured(suite: Suite, place: str) -> None:
    closed = f"def test_it(monkeypatch): monkeypatch.setattr('{place}.open', None)\n"
    written = suite(closed, waited="waited()")
    assert "1 passed" in written
    assert "error" not in written


def test_a_busy_machine_is_no_fault(suite: Suite) -> None:
    assert "1 passed" in suite(SLEEPS.format(mark=""), waited="time.perf_counter() / 2")


@pytest.mark.parametrize(("asked", "first"), [((), "test_module.py"), (("-m", "not rare"), "test_other.py")])
def test_the_module_comes_first_whose_tests_take_longest_of_those_that_were_asked_for(
    suite: Suite, tmp_path: Path, asked: tuple[str, ...], first: str
) -> None:
    (tmp_path / "test_other.py").write_text("def test_it(): pass\n")
    module = "import pytest\n\n@pytest.mark.rare('kills')\ndef test_it(): pass\n\ndef test_another(): pass\n"
    written = suite(module, "-vv", *asked)
    assert re.findall(r"(test_\w+\.py)::", written)[0] == first


def test_what_is_rare_is_recorded_by_itself_and_what_was_not_asked_for_stays(suite: Suite, tmp_path: Path) -> None:
    suite(SLEEPS.format(mark="@pytest.mark.slow('waits')"), "--record-seconds")
    assert json.loads((tmp_path / "seconds.json").read_text()) == SECONDS | {"usual": {}}


def test_no_example_of_hypothesis_has_a_deadline() -> None:
    assert hypothesis.settings().deadline is None


def test_a_test_that_fails_says_why_and_not_how_long_it_took(suite: Suite) -> None:
    written = suite("import time\n\ndef test_it():\n    time.sleep(0.7)\n    assert 1 == 2\n")
    assert "assert 1 == 2" in written
    assert "make it cheaper" not in written
