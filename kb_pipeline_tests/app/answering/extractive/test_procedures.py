"""Which numbered list of a section is the procedure that answers, also where the section is cut into passages."""

import asyncio
import re
from collections.abc import Iterator

import pytest

from app.answering.extractive.blocks import blocks_of
from app.answering.extractive.procedures import procedure_of
from app.grounding.words import parse_question
from app.principal import Principal
from app.retrieval import Retrieval
from kb_pipeline_tests.app.answering.extractive.asking import ask
from kb_pipeline_tests.app.answering.extractive.staging import searching
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


def _steps(of: str, count: int, words: int) -> str:
    return "".join(f"<li>Turn the {of} wheel {n} {'until it clicks ' * words}.</li>" for n in range(1, count + 1))


@pytest.fixture(scope="module")
def press(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Retrieval]:
    """Sections that are cut into several passages: a procedure, a very long one, and two in one section."""
    articles = {
        "oil": f"<h1>Oil the press</h1><p>Before you begin.</p><ol>{_steps('red', 8, 8)}</ol><p>Wipe it clean.</p>",
        "lift": f"<h1>Lift the press</h1><ol>{_steps('blue', 40, 15)}</ol>",
        "pack": f"<h1>Pack the press</h1><ol>{_steps('pink', 4, 8)}</ol><p>Then:</p><ol>{_steps('grey', 4, 8)}</ol>",
    }
    yield from searching(tmp_path_factory.mktemp("press"), articles, chunk_max_tokens=120)


def quoted_steps(text: str) -> list[int]:
    return [int(number) for number in re.findall(r"^> (\d+)[.)] ", text, re.MULTILINE)]


@pytest.mark.parametrize("question", ["How do I oil the press?", "How do I oil the press and turn the red wheel 8?"])
def test_a_procedure_goes_on_in_the_next_passages_of_its_section(press: Retrieval, question: str) -> None:
    text = ask(press, question, top=1).text
    assert quoted_steps(text) == list(range(1, 9))
    assert "From *Oil the press*, continued:" in text
    assert "[Ref #1]" in text
    assert "[Ref #2]" in text


def test_what_is_too_long_to_be_quoted_names_the_passages_with_the_other_steps(press: Retrieval) -> None:
    text = ask(press, "How do I lift the press?", top=1).text
    steps = quoted_steps(text)
    assert steps == list(range(steps[0], steps[0] + len(steps)))
    assert 1 < len(steps) < 40
    (more,) = (line for line in text.splitlines() if line.startswith("The procedure has more steps: *Lift the press*"))
    assert more.count("[Ref #") > 1


def test_another_procedure_of_the_section_is_not_its_continuation(press: Retrieval) -> None:
    text = ask(press, "How do I pack the press with the pink wheel 1?", top=1).text
    assert quoted_steps(text) == [1, 2, 3, 4]
    assert "grey" not in text


def test_the_passages_of_a_section_are_found_in_order(press: Retrieval) -> None:
    hits = asyncio.run(press.search("oil the press", Principal(), top=1))
    section = asyncio.run(press.section("oil", hits[0].chunk.id))
    assert [hit.chunk.chunk_index for hit in section] == list(range(len(section)))
    assert {hit.chunk.article_id for hit in section} == {"oil"}
    assert asyncio.run(press.section("oil", "removed")) == []
