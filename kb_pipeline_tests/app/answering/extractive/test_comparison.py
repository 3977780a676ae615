"""What is quoted for a question that compares things."""

from collections.abc import Iterator

import pytest

from app.answering.base import Finished
from app.answering.extractive.answer import NOTHING, NOTHING_ABOUT
from app.retrieval import Retrieval
from app.schema.answers import CLOSEST
from kb_pipeline_tests.app.answering.extractive.asking import ask
from kb_pipeline_tests.app.answering.extractive.staging import searching

ARTICLES = {
    "macro": "<h1>Macros</h1><p>An agent applies a macro by hand to one ticket, and it fills in the usual reply.</p>"
    "<h2>Share a macro</h2><p>Choose who may see the macro in the list of the whole team.</p>",
    "trigger": "<h1>Triggers</h1><p>A trigger runs by itself after every change of a ticket that meets its rules.</p>",
    "form": "<h1>Forms and fields</h1><p>A form lists the fields, and a field holds one value of a ticket.</p>",
    "view": "<h1>Views</h1><p>A view shows the tickets of many people. Unlike a view, a queue gives them one.</p>",
    "queue": "<h1>Queues</h1><p>A queue hands out tickets in the order in which they arrived at the desk.</p>",
}


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Retrieval]:
    """A help desk whose articles explain one thing each, forms and fields together, and views next to queues."""
    yield from searching(tmp_path_factory.mktemp("desk"), ARTICLES)


def test_each_side_is_named_and_quoted_with_its_reference(desk: Retrieval) -> None:
    asked = ask(desk, "What is the difference between a macro and a trigger?")
    first, second, *_ = asked.text.split("About ")[1:]
    assert first.startswith("*macro*, from *Macros*:\n\n> An agent applies a macro by hand")
    assert second.startswith("*trigger*, from *Triggers*:\n\n> A trigger runs by itself")
    assert first.rstrip().endswith("]")
    assert asked.end == Finished()


def test_a_side_that_no_article_mentions_is_said(desk: Retrieval) -> None:
    text = ask(desk, "Should I use a macro or a zeppelin?").text
    assert "About *macro*, from *Macros*:" in text
    assert f"{NOTHING_ABOUT} *zeppelin*." in text


@pytest.mark.parametrize(
    ("question", "quoted"),
    [
        ("What is the difference between a form and a field?", "A form lists the fields"),
        ("view vs queue", "Unlike a view, a queue gives them one."),
    ],
)
def test_a_section_that_explains_both_is_enough(desk: Retrieval, question: str, quoted: str) -> None:
    asked = ask(desk, question)
    assert asked.text.startswith("From *")
    assert quoted in asked.text
    assert asked.searches == [question]


def test_every_search_is_told(desk: Retrieval) -> None:
    question = "Should I use a macro or a trigger for a reply?"
    assert ask(desk, question).searches == [question, "macro\na reply", "trigger\na reply"]


def test_what_mentions_no_side_is_not_offered_as_the_closest(desk: Retrieval) -> None:
    asked = ask(desk, "Is a zeppelin the same as a balloon?")
    assert asked.end.refused
    assert CLOSEST not in asked.text
    assert NOTHING in asked.text
