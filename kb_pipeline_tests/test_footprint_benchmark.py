"""`benchmarks.footprint` bills a program for what it took, and not for what the benchmark itself has in memory."""

import os
import subprocess
import sys
import time

import pytest

from benchmarks.footprint import table
from benchmarks.footprints.processes import serving, take

MEASURED = (sys.executable, "-I", "-S", "-c")


def test_a_program_pays_for_itself_alone() -> None:
    import numpy as np

    _mine = np.ones(8_000_000)
    small, large = (take([*MEASURED, code], os.environ, repeats=1) for code in ("pass", "x = b'x' * 80_000_000"))
    assert small.peak_mb < 40
    assert large.peak_mb - small.peak_mb == pytest.approx(76, abs=10)


def test_cpu_is_not_wall() -> None:
    asleep = take([*MEASURED, "import time; time.sleep(.3)"], os.environ, repeats=1)
    assert asleep.wall_s > 0.3 > asleep.cpu_s


def test_a_program_that_fails_is_no_measurement() -> None:
    with pytest.raises(subprocess.CalledProcessError):
        take([*MEASURED, "raise SystemExit(3)"], os.environ, repeats=1)


def test_a_server_that_ends_is_not_waited_for() -> None:
    begun = time.monotonic()
    with serving([*MEASURED, "pass"], os.environ) as server, pytest.raises(TimeoutError, match="did not come up"):
        server.until(lambda: False)
    assert time.monotonic() - begun < 30


def test_a_server_is_looked_at_while_it_serves() -> None:
    with serving([*MEASURED, "import time; x = b'x' * 50_000_000; time.sleep(60)"], os.environ) as server:
        server.until(lambda: server.memory_mb() > 45)
        assert server.memory_mb() < 90
        assert 45 < server.peak_mb() < 90
        assert server.cpu_seconds() < 10


def test_every_figure_has_a_line() -> None:
    visit = {"first_paint_s": 0.5, "question_box_s": 0.75}
    report = {
        "machine": {"cpus": 2, "processor": "any", "python": "3.11", "packages": {"dagster": "1"}},
        "at": "2026-01-01T00:00:00+00:00",
        "articles": 10,
        "results": {
            "commands": {"kb --help": {"wall_s": 0.25, "cpu_s": 0.2, "peak_mb": 30}},
            "page": {"healthy_s": 1.5, "first_visit": visit},
        },
    }
    said = table(report)
    assert "| kb --help | 0.25 | 0.2 | 30 |" in said
    assert "first visit: painted after 0.5 s, usable after 0.75 s" in said
    assert "answers that it is healthy after s: 1.5" in said
