"""Files of a knowledge base are damaged in every way: nothing is lost, paid again, left over or kept quiet about.

A seventh of the cases; `python -m benchmarks.corruption` runs all of them.
"""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.corruption import DAMAGES, FILES, FOLDERS, Case, make_home, run_case
from benchmarks.paid import LEDGER
from kb_pipeline_tests.pictures import screenshot

pytestmark = pytest.mark.rare("every kind of file; each kind of damage has its own test")


def some_cases() -> Iterator[Case]:
    """Every kind of file once, every kind of damage to four of them; an ingest comes first in half of them."""
    damages = [*DAMAGES]
    for row, file in enumerate(FILES):
        yield Case(file, damages[row % len(damages)], ingest=row % 2 == 0)
    for row, folder in enumerate(FOLDERS):
        yield Case(folder, "with its folder deleted", ingest=row % 2 == 0)


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A whole knowledge base, made once, and the ledger of what it cost."""
    folder = tmp_path_factory.mktemp("corruption")
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv(LEDGER, str(folder / "ledger"))
        make_home(folder / "template", screenshot)
        yield folder / "template"


@pytest.mark.parametrize("case", [*some_cases()], ids=str)
def test_a_damage_is_mended_or_told_and_nothing_is_paid_again(template: Path, tmp_path: Path, case: Case) -> None:
    assert run_case(template, tmp_path / "damaged", case).problems == ()


def test_every_kind_of_file_and_of_damage_is_tried() -> None:
    assert {case.file for case in some_cases()} == FILES.keys() | FOLDERS.keys()
    assert Counter(case.damage for case in some_cases()) == {**dict.fromkeys(DAMAGES, 4), "with its folder deleted": 11}
