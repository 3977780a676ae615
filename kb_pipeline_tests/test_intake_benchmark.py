"""`benchmarks.intake` says what each run over a tree cost, and fails where a run did something else."""

from pathlib import Path

import pytest

from benchmarks.intake import measure, table
from benchmarks.measure import Cost

pytestmark = pytest.mark.rare("a benchmark, small")


def test_a_row_has_the_cost_of_each_page() -> None:
    text = table({10_000: {"first run": Cost(wall_s=82.6, cpu_s=13.8, peak_mb=156, exit_code=0)}})
    assert text.endswith("| 10,000 | first run | 13.8 | 1.38 | 82.6 | 156 |\n")


def test_each_run_takes_in_what_it_should(tmp_path: Path) -> None:
    costs = measure(5, tmp_path)
    assert [(name, cost.exit_code) for name, cost in costs.items()] == [
        ("first run", 0), ("nothing changed", 0), ("100 changed", 0)
    ]  # fmt: skip
