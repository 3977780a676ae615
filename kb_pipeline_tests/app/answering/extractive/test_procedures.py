"""Which numbered list of a section is the procedure that answers."""

import pytest

from app.answering.extractive.blocks import blocks_of
from app.answering.extractive.selection import procedure_of
from app.grounding.words import parse_question
from kb_pipeline_tests.app.grounding.passages import citation, image

SECTION = citation(
    f"""It is easy.

To begin:

1. One.
2. Two.

More of two.

{image("two")}

3. Three.
   1. Inside.
4. Four.

Between two procedures.

1. Another one.

Its note.

2. Its end.
"""
)
FIRST = ["To begin:", "More of two.", "Three."]
SECOND = ["Another one.", "Its note.", "Its end."]


@pytest.mark.parametrize(
    ("question", "block", "parts"),
    [
        ("What is easy?", "It is easy.", []),
        ("What is easy?", "More of two.", FIRST),
        ("What is easy?", "Three.", FIRST),
        ("What is easy?", "Its note.", SECOND),
        ("How do I begin?", "It is easy.", FIRST),
    ],
)
def test_a_block_leads_to_its_whole_procedure_and_to_the_nearest_who_asks_how(
    question: str, block: str, parts: list[str]
) -> None:
    (best,) = (each for each in blocks_of(SECTION) if each.units[0].text == block)
    assert [each.units[0].text for each in procedure_of(parse_question(question), best)] == parts


def test_a_section_without_steps_has_none() -> None:
    (best,) = blocks_of(citation("Nothing to do."))
    assert procedure_of(parse_question("How do I begin?"), best) == []
