"""Which questions compare things, and which things they compare."""

import pytest

from app.answering.comparisons import Alternatives, comparison_of


@pytest.mark.parametrize(
    "question",
    [
        "What is the difference between a macro and a trigger?",
        "difference between macro and trigger",
        "I have both. What's the difference between the macro and the trigger, and when should I use which?",
        "How does a macro differ from a trigger?",
        "How is a macro different from a trigger?",
        "How do a macro and a trigger differ?",
        "How does a macro compare to a trigger?",
        "What distinguishes a macro from a trigger?",
        "Is a macro the same as a trigger?",
        "Are a macro and a trigger the same thing?",
        "Compare a macro with a trigger.",
        "Macro vs. trigger",
        "macro versus trigger: which is better?",
        "Macro or trigger?",
        "Should I use a macro or a trigger?",
        "Should I use a macro instead of a trigger?",
        "When should I use a macro and when a trigger?",
        "Why use a macro rather than a trigger?",
        "Do I need a macro or a trigger?",
        "Which is better, a macro or a trigger?",
        "Which one should I use: a macro or a trigger?",
        "Is it better to use a macro or a trigger?",
        "Is a macro or a trigger better?",
        "What are the advantages of a macro over a trigger?",
        "I can't decide between a macro and a trigger",
        "Was ist der Unterschied zwischen Macro und Trigger?",
        "Soll ich ein Macro oder einen Trigger nehmen?",
    ],
)
def test_people_ask_for_a_comparison_in_many_forms(question: str) -> None:
    comparison = comparison_of(question)
    assert comparison is not None
    assert [side.lower().removesuffix(" nehmen") for side in comparison.sides] == ["macro", "trigger"]


@pytest.mark.parametrize(
    "question",
    [
        "How do I crop or resize an image?",
        "How do I keep a dialog from being moved or closed by accident?",
        "How do I compare two images?",
        "Can I export as PNG or JPEG?",
        "What happens if I use crop, scale or rotate?",
        "What should I do if my password is lost or stolen?",
        "Where do I add or remove a user?",
        "Do I need to restart or log out after an update?",
        "When I use the eraser, why is it white or grey?",
        "Why is my image small compared to the original?",
        "Is there a limit to the number or size of attachments?",
        "Should I install updates?",
        "crop or scale an image",
    ],
)
def test_other_questions_with_the_same_little_words_compare_nothing(question: str) -> None:
    assert comparison_of(question) is None


@pytest.mark.parametrize("question", ["on or off?", "What is the difference between Save and Save as?"])
def test_what_no_meaningful_word_tells_apart_is_not_compared(question: str) -> None:
    assert comparison_of(question) is None


def test_several_things_are_compared() -> None:
    comparison = comparison_of("What are the differences between JPEG, PNG and WebP for the web?")
    assert comparison == Alternatives(("JPEG", "PNG", "WebP"), "the web")


def test_each_side_is_searched_for_with_the_circumstance_that_all_share() -> None:
    comparison = comparison_of("Should I use PNG or JPEG for screenshots?")
    assert comparison is not None
    assert [comparison.query(side) for side in comparison.sides] == ["PNG\nscreenshots", "JPEG\nscreenshots"]


def test_a_word_between_all_sides_is_no_circumstance() -> None:
    assert comparison_of("Scale to fit or crop to selection?") == Alternatives(("Scale to fit", "crop to selection"))


@pytest.mark.parametrize(
    ("question", "first"),
    [("push vs pull subscriptions", "push\nsubscriptions"), ("layers vs channel masks", "layers")],
)
def test_a_kind_that_only_the_last_side_names_is_that_of_all(question: str, first: str) -> None:
    comparison = comparison_of(question)
    assert comparison is not None
    assert comparison.query(comparison.sides[0]) == first
