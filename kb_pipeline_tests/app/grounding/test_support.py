"""Which passages an answer uses, and which of their sentences support it."""

import pytest

from app.grounding.references import MARKS
from app.grounding.support import mark_used
from kb_pipeline_tests.app.grounding.passages import citation
from kb_pipeline_tests.growth import grows_in_proportion

DOCK = """The [Tool Options](tools.html) can get closed by accident. To get it back click on the little triangle on the
top right of the dock. This opens a menu.

From that menu choose Add Tab and then Tool Options."""
KEYS = """While you drag:

- holding down the **Ctrl** key toggles to the Extend from Center option,
- holding down the **Shift** key toggles to the Fixed option.

| Key | Effect |
|---|---|
| F11 | Shows the image on the full screen |"""
TRIANGLE = "To get it back click on the little triangle on the\ntop right of the dock."
ADD_TAB = "From that menu choose Add Tab and then Tool Options."


def quotes(answer: str, *passages: str) -> list[tuple[str, ...]]:
    citations = [citation(passage, number) for number, passage in enumerate(passages, 1)]
    marked = mark_used(answer, citations)
    assert [each.used for each in marked] == [f"[Ref #{each.number}]" in answer for each in citations]
    return [each.quotes for each in marked]


def test_a_sentence_is_supported_by_those_that_say_its_words() -> None:
    answer = "Click the small triangle on the top right of the dock, then choose **Add Tab** and Tool Options [Ref #1]."
    assert quotes(answer, DOCK, KEYS) == [(TRIANGLE, ADD_TAB), ()]


def test_quotes_stand_in_the_passage_as_they_are() -> None:
    for quote in quotes(f"> {TRIANGLE} [Ref #1]\n\nChoose Add Tab, then Tool Options. [Ref #1]", DOCK)[0]:
        assert quote in DOCK


def test_a_reference_also_stands_for_the_sentences_before_it() -> None:
    answer = "1. Click on the triangle on top of the dock.\n2. Choose Add Tab and Tool Options. [Ref #1]"
    assert quotes(answer, DOCK) == [(TRIANGLE, ADD_TAB)]


def test_a_reference_at_the_end_of_a_quotation_stands_for_all_of_it() -> None:
    many = "\n\n".join(f"Sentence {chr(97 + number) * 3} is about {chr(97 + number) * 4}." for number in range(20))
    shown = many.replace("\n\n", "\n>\n> ")
    assert len(quotes(f"From *Guide*:\n\n> {shown} [Ref #1]", many)[0]) == 20


def test_quoted_code_is_the_code_as_a_whole_and_not_other_code_that_shares_a_line() -> None:
    passage = "```\nstop\npatch one\n```\n\nAnd to apply it:\n\n```\n$ push\nApplying\npatch one\n```"
    answer = "> And to apply it:\n>\n> ```\n> $ push\n> Applying\n> patch one\n> ```\n>\n> [Ref #1]"
    assert quotes(answer, passage) == [("And to apply it:", "```\n$ push\nApplying\npatch one\n```")]


def test_references_side_by_side_stand_for_the_same() -> None:
    answer = "Holding Shift toggles to the Fixed option [Ref #1][Ref #2]."
    shift = "holding down the **Shift** key toggles to the Fixed option."
    assert quotes(answer, KEYS, KEYS) == [(shift,), (shift,)]


def test_a_reference_in_the_middle_stands_for_what_follows() -> None:
    answer = "As [Ref #1] says, F11 shows the image on the full screen."
    assert quotes(answer, KEYS) == [("| F11 | Shows the image on the full screen |",)]


@pytest.mark.parametrize(
    "answer",
    [
        "Bananas are yellow and grow in bunches. [Ref #1]",
        "From *Guide*: [Ref #1]",
        "[Ref #1]",
        "![A dock with a triangle and a menu](/api/images/a/images/b.png) [Ref #1]",
    ],
)
def test_what_the_passage_does_not_say_has_no_quote(answer: str) -> None:
    assert quotes(answer, DOCK) == [()]


@pytest.mark.parametrize("mark", MARKS)
def test_a_mark_is_no_part_of_what_a_sentence_says(mark: str) -> None:
    answer = f"To get it back {mark} click on the little triangle {mark}. [Ref #1]"
    assert quotes(answer, DOCK) == [(TRIANGLE,)]


def test_a_reference_inside_code_is_none() -> None:
    (marked,) = mark_used("`[Ref #1]`\n\n```\n[Ref #1]\n```", [citation(DOCK)])
    assert (marked.used, marked.quotes) == (False, ())


def test_an_answer_that_is_marked_again_forgets_the_first_time() -> None:
    once = mark_used(f"{ADD_TAB} [Ref #1]", [citation(DOCK)])
    assert mark_used("Nothing.", once) == (citation(DOCK),)


@pytest.mark.parametrize("part", ["[Ref #1]", "Dock menu tab. [Ref #1] ", " \n", "[", "**a ", "`", "![", "dock. Menu "])
def test_hostile_answers_take_time_in_proportion(part: str) -> None:
    def mark(characters: int) -> None:
        text = part * (characters // len(part))
        mark_used(text + "[Ref #1]", [citation(text)])

    assert grows_in_proportion(mark, 200_000)
