"""A document whose author names no topics has those that it speaks of again and again, as its headings call them."""

import pytest

from kb_pipeline.steps.summary import topics_of

RESPONSES = """# Canned responses

A canned response saves typing. Insert the canned response from the menu.

## Share a canned response

Agents of the team see the canned response when its owner shares it. The menu lists the shared responses.
"""
PRINTING = """# Drucken

## Der Drucker

Der Drucker steht im Keller. Die Tinte des Druckers ist teuer. Wer den Drucker braucht, fragt.
"""


def test_a_thing_is_called_by_both_of_its_words() -> None:
    assert topics_of(RESPONSES, "Canned responses") == ("canned response",)


def test_german_things_keep_their_capitals_and_lose_their_endings() -> None:
    assert topics_of(PRINTING, "Drucken") == ("Drucker",)


def test_names_keep_their_letters() -> None:
    text = "The MongoDB needs a server. Stop the MongoDB first. The MongoDB logs what it does, and the logs are long."
    assert topics_of(text, "MongoDB") == ("MongoDB",)


@pytest.mark.parametrize(
    "text",
    [
        "Create it. Then create another one. Create all of them, and create more.",  # what is done is no thing
        "The press prints. The press stops. The press starts again and again.",  # no heading calls it so
        "印刷機は紙に印刷します。印刷機は止まります。",
        "",
    ],
)
def test_no_topics(text: str) -> None:
    assert topics_of(f"# Create\n\n{text}", "Create") == ()


def test_another_section_changes_no_topic_of_the_title() -> None:
    assert topics_of(f"{RESPONSES}\n## Print\n\nThe response prints.\n", "Canned responses")[0] == "canned response"
