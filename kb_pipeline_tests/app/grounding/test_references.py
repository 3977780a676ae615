import pytest

from app.grounding.references import (
    find_references,
    read_lenticular,
    read_round,
    read_square,
    used_numbers,
    without_references,
)
from kb_pipeline_tests.growth import grows_in_proportion

NUMBERS = frozenset({1, 2, 3})


@pytest.mark.parametrize(
    ("inner", "found"),
    [
        ("Ref #3", (3,)),
        ("Ref 3", (3,)),
        ("ref #3", (3,)),
        ("REF#3", (3,)),
        ("#3", (3,)),
        ("3", (3,)),
        ("1, 3", (1, 3)),
        ("1,3", (1, 3)),
        ("Ref #1, #2", (1, 2)),
        ("Ref #1, Ref #2", (1, 2)),
        ("Ref #1 and 2", (1, 2)),
        ("Refs 1; 2", (1, 2)),
        ("Ref #1-3", (1, 2, 3)),
        ("1-3", (1, 2, 3)),
        ("Source: 2", (2,)),
        ("citation:2", (2,)),
        ("9", (9,)),
    ],
)
def test_a_reference_in_square_brackets_is_read(inner: str, found: tuple[int, ...]) -> None:
    reference = read_square(inner, NUMBERS)

    assert reference and reference.numbers == found


@pytest.mark.parametrize(
    "inner", ["", " ", "x", "0", "2024", "0-9", "4-7", "a-z", "Ref", "Refill 3", "3 items", "1.2", "Ref #", "-1", "^1"]
)
def test_what_is_no_reference_is_not_read_as_one(inner: str) -> None:
    assert read_square(inner, NUMBERS) is None


def test_a_number_without_a_word_counts_when_there_is_such_a_passage() -> None:
    assert read_square("120", NUMBERS) is None
    assert read_square("120", {120}) is not None


@pytest.mark.parametrize(("inner", "found"), [("3", (3,)), ("3†source", (3,)), ("1, 2", (1, 2)), ("4:0†file.md", ())])
def test_annotations_of_other_assistants_are_read(inner: str, found: tuple[int, ...]) -> None:
    reference = read_lenticular(inner)

    assert reference and reference.numbers == found


def test_lenticular_brackets_around_words_are_words() -> None:
    assert read_lenticular("注意") is None


@pytest.mark.parametrize(("inner", "found"), [("Ref #3", (3,)), ("[3]", (3,)), ("[1], [2]", (1, 2)), ("Ref 1", (1,))])
def test_references_in_round_brackets_are_read(inner: str, found: tuple[int, ...]) -> None:
    reference = read_round(inner, NUMBERS)

    assert reference and reference.numbers == found


@pytest.mark.parametrize("inner", ["3", "#3", "see [3]", "1, 2", "Red"])
def test_a_number_in_round_brackets_is_a_number(inner: str) -> None:
    assert read_round(inner, NUMBERS) is None


def test_references_of_an_answer_are_found_outside_of_code() -> None:
    text = "One [Ref #2].\n\n```\n[Ref #1]\n```\n`[Ref #1]` and \\[Ref #1] two [Ref #3][Ref #2]"

    assert [(text[start:end], number) for start, end, number in find_references(text)] == [
        ("[Ref #2]", 2),
        ("[Ref #3]", 3),
        ("[Ref #2]", 2),
    ]
    assert used_numbers(text) == [2, 3]


def test_an_old_answer_loses_what_belonged_to_its_passages_and_keeps_its_words() -> None:
    answer = (
        "Press OK [Ref #1][Ref #2].\n\n![The dialog](/api/images/a/images/b.png)\n\n"
        "See [the menu](/api/images/a/images/c.png) and [the site](https://a.example).\n\n```\n x [Ref #1]\n```"
    )

    assert without_references(answer) == (
        "Press OK.\n\nSee the menu and [the site](https://a.example).\n\n```\n x [Ref #1]\n```"
    )


@pytest.mark.parametrize("unit", ["[Ref #1] ", " ", "`", "```\n", "![", "![a](", "[a](/api/images/", "`a``"])
def test_reading_long_answers_takes_time_in_proportion(unit: str) -> None:
    def read(characters: int) -> None:
        text = unit * (characters // len(unit))
        without_references(text)
        used_numbers(text)

    assert grows_in_proportion(read, 200_000)
