"""Temporary folders of tests lie in memory where there is room: what commits waits for a disk longer than it computes.

After a run in which all passed they are gone; of others those of the last run are left to look at. ``--basetemp`` and
``PYTEST_DEBUG_TEMPROOT`` put them elsewhere.
"""

import os
import shutil
from pathlib import Path

import pytest

ROOM = 4 << 30
"""Bytes that must be free; a run of all tests takes about two GB."""

_MEMORY = Path("/dev/shm")
_NAMED = "PYTEST_DEBUG_TEMPROOT"


def pytest_configure(config: pytest.Config) -> None:
    """Let pytest make temporary folders in memory."""
    if is_place_for_tests(_MEMORY, ROOM):
        os.environ.setdefault(_NAMED, str(_MEMORY))


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Leave no folder in memory if there is nothing to look at."""
    is_first = not hasattr(session.config, "workerinput") and session.config.option.basetemp is None
    if is_first and exitstatus == pytest.ExitCode.OK and os.environ.get(_NAMED) == str(_MEMORY):
        shutil.rmtree(session.config._tmp_path_factory.getbasetemp(), ignore_errors=True)  # type: ignore[attr-defined]


def is_place_for_tests(folder: Path, room: int) -> bool:
    """Whether it exists, has room, and lets programs run that tests write there."""
    if not (folder.is_dir() and os.access(folder, os.W_OK)):
        return False
    return shutil.disk_usage(folder).free >= room and not os.statvfs(folder).f_flag & os.ST_NOEXEC
