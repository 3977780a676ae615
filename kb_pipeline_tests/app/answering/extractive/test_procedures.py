"""Procedures that were cut into several passages."""

import pytest

from app.answering.extractive.selection import procedure_around
from kb_pipeline_tests.app.grounding.passages import citation, image

SECTION = [
    citation(passage, number)
    for number, passage in enumerate(
        [
            "It is easy.",
            "To begin:\n\n1. One.\n2. Two.",
            f"More of two.\n\n{image('two')}",
            "3. Three.\n   1. Inside.\n   2. Inside.\n4. Four.",
            "Between two procedures.",
            "1. Another one.",
            "2. Its end.",
        ],
        start=1,
    )
]


@pytest.mark.parametrize(
    ("passage", "parts"), [(1, []), (2, [2, 3, 4]), (3, [2, 3, 4]), (4, [2, 3, 4]), (5, []), (6, [6, 7]), (7, [6, 7])]
)
def test_a_passage_leads_to_its_whole_procedure(passage: int, parts: list[int]) -> None:
    assert [part.number for part in procedure_around(f"guide-{passage}", SECTION)] == parts


def test_a_passage_of_another_section_has_none() -> None:
    assert procedure_around("elsewhere", SECTION) == []
