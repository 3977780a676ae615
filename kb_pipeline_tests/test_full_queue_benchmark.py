"""`benchmarks.full_queue` compares answers of the same round, and names how much longer they took."""

from pathlib import Path

import pytest

from benchmarks.full_queue import CONDITIONS, measure, row, table
from kb_pipeline_tests.app.collections import publish_collections

pytestmark = pytest.mark.rare("a benchmark, small")


def test_what_is_added_is_the_median_of_the_differences_within_rounds() -> None:
    usual = [10.0, 20.0, 30.0, 40.0]
    slower = row("ill", [each + 6 for each in usual], usual)
    assert (slower["added_ms"], slower["ratio"], slower["within_bar"]) == (6.0, 1.24, False)
    assert row("well", usual, usual)["within_bar"]
    assert "| ill | 31.0 |" in table([slower], 4)


def test_every_condition_answers(tmp_path: Path) -> None:
    took = measure(publish_collections(tmp_path), rounds=2)
    assert {name: len(times) for name, times in took.items()} == dict.fromkeys(CONDITIONS, 2)
